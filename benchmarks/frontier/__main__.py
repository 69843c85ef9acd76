"""Every mechanism at equal risk, alone and in context, on real text.

Four steps, of which the first three can be interrupted and go on where they were:

    python -m benchmarks frontier epsilons --jobs 8
    python -m benchmarks frontier cells --jobs 8 [--only rank] [--seeds 2]
    python -m benchmarks frontier attackers [--only rank] [--level "risk 20%"]
    python -m benchmarks frontier page

`epsilons` finds the epsilon of each mechanism at each level, from public data alone;
`cells` privatizes held-out rows with it, trains and tests classifiers on the private
texts and counts what can still be read; `attackers` measures what an attacker with
other public texts of the same kind finds; `page` writes frontier.md from these results,
both in docs/results/. Reads text/ and nltk_data/ of the test data
(DPTEXT_TEST_DATA, else ../shared/data), and what benchmarks.perplexity needs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from benchmarks import perplexity
from benchmarks.frontier.search import READ as KINDS_READ
from benchmarks.frontier.search import find_epsilons, read, read_same_kind
from benchmarks.frontier.setup import (
    CORPORA,
    DECODED,
    MECHANISMS,
    build,
    levels,
    read_part,
)
from benchmarks.private_rows import ROOT, learned, privatized, same_forms, untouched
from dptext.evaluation.run import PairMeter

EPSILONS = ROOT / "docs" / "results" / "frontier-epsilons.json"
ROWS = ROOT / "docs" / "results" / "frontier.jsonl"
ATTACKERS = ROOT / "docs" / "results" / "frontier-attackers.json"
# Mechanisms with noise on vectors.
NOISE = ("laplace", "mahalanobis", "gaussian", "vickrey", "gumbel")
# The suffix of a mechanism with decoded draws.
READ = ", decoded"


def cell(
    name: str, level: str, at: dict[str, Any], corpus: str, seed: int
) -> dict[str, Any]:
    """Measure one mechanism at one level on one corpus."""
    row: dict[str, Any] = {
        "mechanism": name,
        "level": level,
        "corpus": corpus,
        "seed": seed,
    }
    decoder = "ngram" if name.endswith(READ) else "none"
    sanitizer = build(at["mechanism"], {"epsilon": at["epsilon"]}, decoder)
    (texts, labels), (asked, answers) = read_part(corpus, 0), read_part(corpus, 1)
    began = time.perf_counter()
    train, test = (
        privatized(sanitizer, texts, seed, written=True),
        privatized(sanitizer, asked, seed + 1000, written=True),
    )
    seconds = time.perf_counter() - began
    row["tfidf"], row["means"] = learned(sanitizer, train, labels, test, answers)
    plain = untouched(sanitizer, texts)
    both = learned(sanitizer, plain, labels, test, answers)
    row["public_tfidf"], row["public_means"] = both
    before = sanitizer.tokenizer.words(asked).ids
    row["exact"] = float((test[1] == before)[before >= 0].mean())
    if corpus == "AG News" and seed == 1 and sanitizer.mechanism.has_log_probs:
        file, begin, _ = CORPORA[corpus][1]
        row["context"], row["context_content"] = read(sanitizer, (file, begin, 300))
    meter = PairMeter(sanitizer.lexicon, policy=sanitizer.profile.tokens)
    meter.add(asked, test[0])
    kept = meter.result()
    row |= {"pp": kept.pp, "low": kept.low, "cs": kept.mean_cosine}
    row["pos"], row["tag"] = same_forms(sanitizer, asked[:150], test, every=3)
    row["perplexity"] = perplexity.by_pairs(test[0][:400])
    row["words_per_second"] = (len(train[1]) + len(test[1])) / seconds
    row["lexicon"] = sanitizer.lexicon.digest[:12]
    return {
        key: round(value, 4) if isinstance(value, float) else value
        for key, value in row.items()
    }


def unprotected(corpus: str) -> dict[str, Any]:
    """Measure the unchanged texts."""
    sanitizer = build({"name": "rank"}, {"epsilon": 8.0})
    (train, labels), (test, answers) = read_part(corpus, 0), read_part(corpus, 1)
    sides = untouched(sanitizer, train), untouched(sanitizer, test)
    tfidf, means = learned(sanitizer, sides[0], labels, sides[1], answers)
    return {
        "mechanism": "unprotected",
        "level": "",
        "corpus": corpus,
        "seed": 0,
        "tfidf": round(float(tfidf), 4),
        "means": round(float(means), 4),
        "perplexity": round(perplexity.by_pairs(test[:400]), 1),
        "lexicon": sanitizer.lexicon.digest[:12],
    }


# Running -----------------------------------------------------------------------------


def all_epsilons() -> dict[str, dict[str, Any]]:
    """Read the known epsilons."""
    return json.loads(EPSILONS.read_text("utf-8")) if EPSILONS.is_file() else {}


def key_of(*parts: object) -> str:
    """Return a name for a step."""
    return " | ".join(map(str, parts))


def run_epsilons(arguments: argparse.Namespace) -> None:
    """Find all unknown epsilons, in separate processes."""
    known = all_epsilons()
    todo: dict[str, tuple[str, list[str]]] = {}
    for name in arguments.only or MECHANISMS:
        wanted = [level for level in levels() if key_of(name, level) not in known]
        if wanted:
            todo[name] = (name, wanted)
    for key, epsilon_of in _spread(find_epsilons, todo, arguments.jobs):
        known |= {key_of(key, level): at for level, at in epsilon_of.items()}
        EPSILONS.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
        print(key, epsilon_of, flush=True)


def steps(seed: int) -> Iterator[tuple[str, str]]:
    """Yield level and mechanism of a seed; further seeds where it counts."""
    for level in levels():
        if seed > 1 and "20%" not in level:
            continue
        for name in MECHANISMS:
            # At a risk in context others are the same as at that risk alone.
            if level.startswith(("context", "kind")) and name != "rank":
                continue
            # At these losses nothing is left of a text by any noise.
            if level.startswith("loss") and name in NOISE:
                continue
            yield level, name
            if name in DECODED and not level.startswith("loss"):
                yield level, name + READ


def run_cells(arguments: argparse.Namespace) -> None:
    """Measure all missing cells, in separate processes."""
    epsilons = all_epsilons()
    have = {_name(row) for row in rows_read()}
    todo: dict[str, tuple[Any, ...]] = {}
    for seed in range(1, arguments.seeds + 1):
        for level, name in steps(seed):
            mechanism = name.removesuffix(READ)
            at = epsilons.get(key_of(mechanism, level), {"reason": "unknown"})
            for corpus in CORPORA if "reason" not in at else ():
                key = key_of(name, level, corpus, seed)
                if key not in have and (
                    not arguments.only or mechanism in arguments.only
                ):
                    todo[key] = (name, level, at, corpus, seed)
    plain = {
        key: (corpus,)
        for corpus in CORPORA
        if (key := key_of("unprotected", "", corpus, 0)) not in have
    }
    with ROWS.open("a", encoding="utf-8") as file:
        for measure, part in ((unprotected, plain), (cell, todo)):
            for key, row in _spread(measure, part, arguments.jobs):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                file.flush()
                print(key, row["tfidf"], row["means"], flush=True)


def run_attackers(arguments: argparse.Namespace) -> None:
    """Measure the attacker of the kind where it was not measured, one by one."""
    epsilons, known = all_epsilons(), all_attackers()
    for level, name in steps(1):
        key = key_of(name, level)
        at = epsilons.get(key, {"reason": "unknown"})
        if name.endswith(READ) or key in known or "reason" in at or not at["exact"]:
            continue
        if name not in (arguments.only or MECHANISMS):
            continue
        if level not in (arguments.level or levels()):
            continue
        sanitizer = build(at["mechanism"], {"epsilon": at["epsilon"]})
        known[key] = {
            kind: {
                each.name: [
                    *(round(v, 4) for v in (each.success, each.low, each.high)),
                    each.words,
                ]
                for each in classes
            }
            for kind, classes in read_same_kind(sanitizer, KINDS_READ).items()
        }
        text = json.dumps(dict(sorted(known.items())), indent=1)
        ATTACKERS.write_text(text + "\n", encoding="utf-8")
        print(key, {kind: one["all words"] for kind, one in known[key].items()})


def all_attackers() -> dict[str, dict[str, dict[str, list[float]]]]:
    """Read what the attacker of the kind finds: share, limits, words, by class."""
    return json.loads(ATTACKERS.read_text("utf-8")) if ATTACKERS.is_file() else {}


def rows_read(path: Path = ROWS) -> list[dict[str, Any]]:
    """Read the rows that are there."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _name(row: dict[str, Any]) -> str:
    names = ("mechanism", "level", "corpus", "seed")
    return key_of(*(row[name] for name in names))


def _spread(
    measure: Callable[..., Any], todo: dict[str, tuple[Any, ...]], jobs: int
) -> Iterator[tuple[str, Any]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting = {pool.submit(measure, *each): key for key, each in todo.items()}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def main() -> None:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("epsilons", "cells", "attackers", "page"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--level", action="append", help="attackers: such as risk 20%%")
    arguments = parser.parse_args()
    if arguments.what == "page":
        from benchmarks.frontier import page as frontier_page

        frontier_page.write(rows_read(), all_epsilons(), all_attackers())
        return
    # One thread each: the work is spread over processes.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    run = {"epsilons": run_epsilons, "cells": run_cells, "attackers": run_attackers}
    run[arguments.what](arguments)


if __name__ == "__main__":
    main()
