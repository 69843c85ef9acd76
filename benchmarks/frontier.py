"""Every mechanism at equal risk and at equal worst-case loss, on real text.

Three steps, of which the first two can be interrupted and go on where they were:

    python benchmarks/frontier.py epsilons --jobs 8
    python benchmarks/frontier.py cells --jobs 8 [--only rank] [--seeds 2]
    python benchmarks/frontier.py page

`epsilons` finds the epsilon of each mechanism at each level, from public data alone;
`cells` privatizes held-out rows with it, trains and tests classifiers on the private
texts and counts what can still be read; `page` writes docs/frontier.md and its figures
from docs/frontier.jsonl. Reads text/ and nltk_data/ of the test data
(DPTEXT_TEST_DATA, else ../shared/data); benchmarks/bigrams.py says what it needs.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import json
import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext import lexicons, pipeline, profile
from dptext.adversaries import _rule, _sampled, prior
from dptext.errors import DptextError
from dptext.evaluation.words import Meter
from dptext.guarantees import audit
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import assemble
from dptext.types import Record

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("DPTEXT_TEST_DATA", ROOT.parent / "shared" / "data"))
RISKS = (0.02, 0.05, 0.1, 0.2, 0.35)
LOSSES = (6.0, 8.0, 10.0, 12.0)
# Which words are replaced: all, or content words (stop words left out, numbers
# masked), as most papers do.
POLICIES: dict[str, dict[str, str]] = {
    "all words": {},
    "content words": {"stop_word": "drop", "number": "mask"},
}
MECHANISMS: dict[str, dict[str, Any]] = {
    "rank": {"name": "rank"},
    "santext": {"name": "santext"},
    "custext": {"name": "custext", "mapping": "one_set"},
    "custext, published": {"name": "custext", "mapping": "balanced", "k": 20},
    "syntf": {"name": "syntf"},
    "syntf, published": {"name": "syntf", "published": True},
    "diffractor": {"name": "diffractor"},
    "laplace": {"name": "laplace"},
    "mahalanobis": {"name": "mahalanobis"},
    "gaussian": {"name": "gaussian"},
    "gumbel": {"name": "gumbel", "low_epsilon": True},
    "vickrey": {"name": "vickrey"},
}
# Its loss is known exactly over all pairs of words: it is not held to what it claims.
# tem is the same law at these levels, its gamma being above the largest distance.
AUDITED = ("santext",)
AUDITS = (5.0, 8.0, 11.0, 13.0, 15.0, 18.0)
EPSILONS_OF_NOISE = (6.0, 10.0, 14.0, 18.0, 22.0, 26.0, 31.0, 37.0, 44.0, 60.0, 90.0)
# At a worst loss rank takes the law of this risk; chosen on training rows.
LAW_AT_LOSS = {6.0: 0.1, 8.0: 0.175, 10.0: 0.3, 12.0: 0.35}
# Corpus -> training and test rows as (file, from, to), what to learn, is it an attack?
CORPORA: dict[str, tuple[tuple[str, int, int], tuple[str, int, int], str, bool]] = {
    "AG News": (
        ("agnews_train19k", 0, 2500),
        ("agnews_test5600", 0, 1200),
        "label",
        False,
    ),
    "SST-2": (("sst2_train20k", 0, 6000), ("sst2_dev", 0, 872), "label", False),
    "IMDb": (("imdb_5k", 0, 500), ("imdb_5k", 2000, 2400), "label", False),
    "Trustpilot": (
        ("trustpilot_en_train", 0, 2500),
        ("trustpilot_en_test", 0, 403),
        "gender",
        True,
    ),
}
EPSILONS = ROOT / "docs" / "frontier-epsilons.json"
ROWS = ROOT / "docs" / "frontier.jsonl"


def made(policy: str, mechanism: dict[str, Any], budget: dict[str, Any]) -> Pipeline:
    """Make a pipeline as profile balanced is but for what is given."""
    recipe = {
        "name": "frontier",
        "lexicon": "builtin",
        "mechanism": mechanism,
        "budget": {"name": "uniform", **budget},
        "tokens": {"case": "restore", **POLICIES[policy]},
    }
    return pipeline.build(profile.parse(recipe, "frontier"), lexicons.find("builtin"))


def levels() -> Iterator[tuple[str, str]]:
    """Yield policies with levels: what cannot be reached is refused later."""
    for risk in RISKS:
        yield "all words", f"risk {risk:.0%}"
    for loss in LOSSES:
        yield "all words", f"loss {loss:g}"
    for risk in RISKS[:4]:
        yield "content words", f"risk {risk:.0%}"


# Epsilons ----------------------------------------------------------------------------


class Search:
    """The epsilons of one mechanism under one policy, level by level."""

    def __init__(self, policy: str, name: str) -> None:
        self.policy, self.mechanism = policy, dict(MECHANISMS[name])
        self._worst: dict[float, float] = {}
        self._attacked: dict[float, float] = {}

    def at(self, level: str) -> dict[str, Any]:
        """Return mechanism, epsilon, worst loss and risk; or the reason of none."""
        try:
            return self._at(level)
        except DptextError as error:
            return {"reason": str(error)}

    def _at(self, level: str) -> dict[str, Any]:
        kind, _, value = level.partition(" ")
        if kind == "loss":
            mechanism, epsilon = self._at_loss(float(value))
        else:
            mechanism, epsilon = self._at_risk(float(value[:-1]) / 100)
        found = self._made(mechanism, {"epsilon": epsilon})
        if found.channel.exact:
            risk, _ = assemble.risk_of(found)
            shown = None if risk is None else risk.success
        else:
            shown = self.attacked(epsilon)
        if kind == "loss":
            loss = float(value)
        elif mechanism["name"] in AUDITED:
            loss = self.worst(epsilon)
        else:
            loss = _claimed(found, epsilon)
        return {
            "mechanism": mechanism,
            "epsilon": round(epsilon, 6),
            "worst_loss": round(loss, 3) if math.isfinite(loss) else None,
            "risk": None if shown is None else round(shown, 4),
            "exact": found.channel.exact,
        }

    def _made(self, mechanism: dict[str, Any], budget: dict[str, Any]) -> Pipeline:
        return made(self.policy, mechanism, budget)

    def _at_risk(self, risk: float) -> tuple[dict[str, Any], float]:
        known = self._made(self.mechanism, {"epsilon": 1.0})
        guess = float(prior.replaced(known.lexicon, known.profile.tokens).max())
        if risk <= guess:
            msg = f"below the {guess:.1%} of a guess without any output"
            raise DptextError(msg)
        if not known.channel.exact:
            return self.mechanism, self._noise(risk)
        if not math.isfinite(_claimed(known, 1.0)):
            least = self._made(self.mechanism, {"epsilon": 0.01})
            lowest, _ = assemble.risk_of(least)
            if lowest is not None and lowest.success > risk:
                msg = f"its candidates alone give {lowest.success:.0%} of words away"
                raise DptextError(msg)
        found = self._made(self.mechanism, {"risk": risk})
        return _fixed(found, self.mechanism), found.spending.high

    def _at_loss(self, loss: float) -> tuple[dict[str, Any], float]:
        if self.mechanism["name"] == "rank":
            found = self._made(self.mechanism, {"risk": LAW_AT_LOSS[loss]})
            return _fixed(found, self.mechanism), loss
        claimed = _claimed(self._made(self.mechanism, {"epsilon": 1.0}), 1.0)
        if not math.isfinite(claimed):
            msg = "the loss of a word has no bound"
            raise DptextError(msg)
        if self.mechanism["name"] not in AUDITED:
            return self.mechanism, loss / claimed
        return self.mechanism, _crossing(self.worst, AUDITS, loss)

    def _noise(self, risk: float) -> float:
        return _crossing(self.attacked, EPSILONS_OF_NOISE, risk)

    def attacked(self, epsilon: float) -> float:
        """Return how often the best attack known succeeds: its 95% lower limit."""
        if epsilon not in self._attacked:
            by = self._made(self.mechanism, {"epsilon": epsilon})
            words = prior.replaced(by.lexicon, by.profile.tokens)
            test = _sampled.plays(words, _sampled.DRAWS, "test")
            vectors, plays = by.channel.space.vectors, _sampled.plays
            right = _rule.wins(vectors, epsilon, words, by.draw, test, plays)
            found = max(_sampled.limits(right)[0], float(words.max()))
            self._attacked[epsilon] = found
        return self._attacked[epsilon]

    def worst(self, epsilon: float) -> float:
        """Return the exact worst loss of two words; between audits, by lines."""
        for point in AUDITS:
            if point not in self._worst:
                by = self._made(self.mechanism, {"epsilon": point})
                draw = assemble.public_draw(by, point)
                self._worst[point] = float(audit.audit(by.channel, point, draw).worst)
        return float(np.interp(epsilon, AUDITS, [self._worst[p] for p in AUDITS]))


def _crossing(
    value: Callable[[float], float], points: Sequence[float], target: float
) -> float:
    """Return where a growing value crosses a target, between points by its logarithm.

    Raises DptextError where it does not up to the last.
    """
    before = points[0]
    for point in points:
        if value(point) >= target:
            if point == before:
                msg = f"{value(point):.0%} already at epsilon {point:g}"
                raise DptextError(msg)
            low, high = math.log(value(before)), math.log(value(point))
            share = (math.log(target) - low) / (high - low)
            return round(before + share * (point - before), 3)
        before = point
    msg = f"not reached up to epsilon {points[-1]:g}"
    raise DptextError(msg)


def _fixed(found: Pipeline, mechanism: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a mechanism as they ran."""
    if mechanism["name"] != "rank":
        return mechanism
    return {**found.profile.settings()["mechanism"], "name": "rank"}


def _claimed(found: Pipeline, epsilon: float) -> float:
    promise = found.channel.module.guarantee(found.channel.state, epsilon)
    return float(epsilon * promise.reach) if promise.notion != "none" else math.inf


def epsilons_of(policy: str, name: str, wanted: list[str]) -> dict[str, Any]:
    """Return what was found at each level."""
    search = Search(policy, name)
    return {level: search.at(level) for level in wanted}


# Cells -------------------------------------------------------------------------------


@functools.cache
def rows_of(file: str) -> list[dict[str, Any]]:
    """Read a text file of the test data, in a fixed mixed order."""
    with gzip.open(DATA / "text" / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    order = np.random.default_rng(0).permutation(len(rows))
    return [rows[place] for place in order.tolist()]


def part_of(corpus: str, which: int) -> tuple[list[str], list[Any]]:
    """Return texts and labels for training (0) or testing (1)."""
    file, begin, end = CORPORA[corpus][which]
    rows = rows_of(file)[begin:end]
    return [row["text"] for row in rows], [row[CORPORA[corpus][2]] for row in rows]


class Private:
    """Private texts, and the words drawn with the text that each stands in."""

    def __init__(self, by: Pipeline, texts: Sequence[str], seed: int) -> None:
        ids: list[Any] = []
        places: list[Any] = []
        before = 0

        def observe(words: Any, drawn: Any, eps: Any) -> None:
            nonlocal before
            ids.append(np.array(drawn))
            places.append(words.texts + before)
            before += len(words.ends)

        records = (Record(number, (text,), None) for number, text in enumerate(texts))
        began = time.perf_counter()
        key = RunKey.from_seed(seed)
        self.texts = [new[0] for _, new in by.run(records, key, observe=observe)]
        self.seconds = time.perf_counter() - began
        self.ids, self.places = np.concatenate(ids), np.concatenate(places)


def cell(
    policy: str, name: str, level: str, at: dict[str, Any], corpus: str, seed: int
) -> dict[str, Any]:
    """Measure one mechanism at one level on one corpus."""
    row: dict[str, Any] = {
        "policy": policy,
        "mechanism": name,
        "level": level,
        "corpus": corpus,
        "seed": seed,
    }
    by = made(policy, at["mechanism"], {"epsilon": at["epsilon"]})
    (texts, labels), (asked, answers) = part_of(corpus, 0), part_of(corpus, 1)
    train, test = Private(by, texts, seed), Private(by, asked, seed + 1000)
    row["tfidf"], row["means"] = accuracies(by, train, labels, test, answers)
    meter = Meter(by.lexicon, policy=by.profile.tokens)
    meter.add(asked, test.texts)
    kept = meter.result()
    row |= {"pp": kept.perturbed, "low": kept.low, "cs": kept.similarity}
    if policy == "all words":
        row["pos"], row["tag"] = read(by, asked[:150], test, 150)
    import bigrams

    row["perplexity"] = bigrams.perplexity(test.texts[:400])
    words = len(train.ids) + len(test.ids)
    row["words_per_second"] = words / (train.seconds + test.seconds)
    return {
        key: round(value, 4) if isinstance(value, float) else value
        for key, value in row.items()
    }


def unprotected(corpus: str) -> dict[str, Any]:
    """Measure the texts as they are."""
    by = made("all words", {"name": "rank"}, {"epsilon": 8.0})
    sides = []
    for which in (0, 1):
        texts, labels = part_of(corpus, which)
        words = by.tokenizer.words(texts)
        side = Private.__new__(Private)
        side.texts, side.ids, side.places = texts, words.ids, words.texts
        sides.append((side, labels))
    import bigrams

    (train, labels), (test, answers) = sides
    tfidf, means = accuracies(by, train, labels, test, answers)
    return {
        "policy": "all words",
        "mechanism": "unprotected",
        "level": "",
        "corpus": corpus,
        "seed": 0,
        "tfidf": round(float(tfidf), 4),
        "means": round(float(means), 4),
        "perplexity": round(bigrams.perplexity(test.texts[:400]), 1),
    }


def accuracies(
    by: Pipeline, train: Private, labels: list[Any], test: Private, answers: list[Any]
) -> tuple[float, float]:
    """Return the accuracy of TF-IDF and of mean vectors, logistic regression."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    words = TfidfVectorizer(
        min_df=2, sublinear_tf=True, token_pattern=r"(?u)\b\w[\w']*\b"
    )
    seen = words.fit_transform(train.texts)
    model = LogisticRegression(C=3.0, max_iter=300).fit(seen, labels)
    by_words = float(model.score(words.transform(test.texts), answers))
    means, others = _means(by, train), _means(by, test)
    centre, spread = means.mean(axis=0), means.std(axis=0) + 1e-9
    model = LogisticRegression(C=0.3, max_iter=300)
    model.fit((means - centre) / spread, labels)
    return by_words, float(model.score((others - centre) / spread, answers))


def _means(by: Pipeline, found: Private) -> NDArray[np.float64]:
    """Return the mean vector of the known words of each text."""
    vectors = by.lexicon.vectors.astype(np.float64)
    sums = np.zeros((len(found.texts), vectors.shape[1]))
    known = found.ids >= 0
    np.add.at(sums, found.places[known], vectors[found.ids[known]])
    counts = np.bincount(found.places[known], minlength=len(found.texts))
    return sums / np.maximum(counts, 1)[:, None]


def read(
    by: Pipeline, texts: Sequence[str], test: Private, most: int
) -> tuple[float, float]:
    """Return the share of replacements of the same part of speech, and inflection.

    By nltk's tagger, each replacement alone among the two words on either side; words
    that stay or are unknown do not count. Every third word is looked at.
    """
    tagger = _tagger()
    given = by.tokenizer.words(texts).ids
    inside = test.places < most
    drawn, places, names = test.ids[inside], test.places[inside], by.lexicon.words
    parts, whole = [], []
    for place in range(0, len(given), 3):
        if given[place] < 0 or given[place] == drawn[place]:
            continue
        same = np.flatnonzero(places[max(0, place - 2) : place + 3] == places[place])
        around = same + max(0, place - 2)
        words = [names[row] if row >= 0 else "Smith" for row in given[around]]
        middle = around.tolist().index(place)
        old = tagger.tag(words)[middle][1]
        words[middle] = names[drawn[place]]
        new = tagger.tag(words)[middle][1]
        parts.append(new[:2] == old[:2])
        whole.append(new == old)
    return float(np.mean(parts)), float(np.mean(whole))


@functools.cache
def _tagger() -> Any:
    import nltk
    from nltk.tag.perceptron import PerceptronTagger

    nltk.data.path.insert(0, str(DATA / "nltk_data"))
    return PerceptronTagger()


# Running -----------------------------------------------------------------------------


def all_epsilons() -> dict[str, dict[str, Any]]:
    """Read what is known."""
    return json.loads(EPSILONS.read_text("utf-8")) if EPSILONS.is_file() else {}


def key_of(*parts: object) -> str:
    """Return a name for a step."""
    return " | ".join(map(str, parts))


def run_epsilons(given: argparse.Namespace) -> None:
    """Find all that are not known, in processes of their own."""
    known = all_epsilons()
    todo: dict[str, tuple[str, str, list[str]]] = {}
    for name in MECHANISMS:
        for policy in POLICIES if not given.only or name in given.only else ():
            wanted = [
                level
                for own, level in levels()
                if own == policy and key_of(policy, name, level) not in known
            ]
            if wanted:
                todo[key_of(policy, name)] = (policy, name, wanted)
    for key, found in _spread(epsilons_of, todo, given.jobs):
        known |= {key_of(key, level): at for level, at in found.items()}
        EPSILONS.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
        print(key, found, flush=True)


def run_cells(given: argparse.Namespace) -> None:
    """Measure all cells that are not measured, in processes of their own."""
    epsilons = all_epsilons()
    have = {_name(row) for row in rows_read()}
    todo: dict[str, tuple[Any, ...]] = {}
    for seed in range(1, given.seeds + 1):
        for policy, level in levels():
            for name in MECHANISMS:
                at = epsilons.get(key_of(policy, name, level), {"reason": "unknown"})
                for corpus in CORPORA if "reason" not in at else ():
                    key = key_of(policy, name, level, corpus, seed)
                    if key not in have and (not given.only or name in given.only):
                        todo[key] = (policy, name, level, at, corpus, seed)
    plain = {
        key: (corpus,)
        for corpus in CORPORA
        if (key := key_of("all words", "unprotected", "", corpus, 0)) not in have
    }
    with ROWS.open("a", encoding="utf-8") as file:
        for what, part in ((unprotected, plain), (cell, todo)):
            for key, row in _spread(what, part, given.jobs):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                file.flush()
                print(key, row["tfidf"], row["means"], flush=True)


def rows_read(path: Path = ROWS) -> list[dict[str, Any]]:
    """Read the rows that are there."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _name(row: dict[str, Any]) -> str:
    names = ("policy", "mechanism", "level", "corpus", "seed")
    return key_of(*(row[name] for name in names))


def _spread(
    what: Callable[..., Any], todo: dict[str, tuple[Any, ...]], jobs: int
) -> Iterator[tuple[str, Any]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting = {pool.submit(what, *each): key for key, each in todo.items()}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def main() -> None:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("epsilons", "cells", "page"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", action="append", default=[])
    given = parser.parse_args()
    if given.what == "page":
        import frontier_page

        context = rows_read(ROOT / "docs" / "frontier-context.jsonl")
        frontier_page.write(rows_read(), all_epsilons(), context)
        return
    # One thread each: the work is spread over processes.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    {"epsilons": run_epsilons, "cells": run_cells}[given.what](given)


if __name__ == "__main__":
    main()
