"""Lexicons imported with and without English resources, compared at equal risk.

    python -m benchmarks imported make FILE [FILE ...] --wordnet FOLDER --out FOLDER
    python -m benchmarks imported tasks FOLDER [FOLDER ...] [--seeds 2] [--dev]
        [--risk 0.2]
    python -m benchmarks imported risks FOLDER [FOLDER ...] [--risk 0.2]

`make` imports each file of vectors three times (orders by distance; of 8,000 outputs
without hubs; English) into OUT/NAME-distance, -outputs, -english, each in a process of
its own; prints seconds and largest memory. `tasks` prints for each lexicon, at a
risk: skewness of how often outputs are listed; accuracy of TF-IDF and of mean
vectors trained and tested on privatized text; how many replacements
keep part of speech and inflection. --dev takes rows of the training files only.
`risks`: at a risk by the lexicon's own frequencies, how often the best guess of
a word of real text is right, with these and with the frequencies of other texts of the
same corpus. "builtin" as FOLDER is the built-in lexicon.

Reads text/ and nltk_data/ of the test data (DPTEXT_TEST_DATA, else ../shared/data).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.private_rows import (
    Words,
    learned,
    privatized,
    rows_of,
    same_forms,
    untouched,
)
from dptext import lexicons, pipeline, profile
from dptext.lexicons import english, store
from dptext.lexicons.importing import Settings, make
from dptext.measures import attacks, bayes_risk
from dptext.mechanisms import rank
from dptext.pipeline import Pipeline
from dptext.types import Lexicon

KINDS = ("distance", "outputs", "english")
OUTPUTS = 8_000
_TEXTS = 500
Task = tuple[list[str], list[Any], list[str], list[Any]]


def make_one(file: Path, kind: str, wordnet: Path, out: Path) -> None:
    """Import a file once and print what it took."""
    settings = Settings(outputs=OUTPUTS if kind == "outputs" else None)
    start = time.perf_counter()
    scheme = english.ByWordNet(wordnet) if kind == "english" else None
    lexicon = make(file, f"{file.name} {kind}", settings, scheme=scheme)
    beside = [english.licence()] if kind == "english" else []
    store.save(lexicon, out / f"{file.name}-{kind}", beside)
    took = time.perf_counter() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{lexicon.name}: {len(lexicon.words)} words, {took:.0f} s, {most:.0f} MiB")


def make_all(files: list[Path], wordnet: Path, out: Path) -> None:
    """Import every file in every way."""
    for file in files:
        for kind in KINDS:
            position = ["--wordnet", str(wordnet), "--out", str(out)]
            one = [
                *(sys.executable, "-m", "benchmarks", "imported", "make"),
                str(file),
                *position,
                "--kind",
                kind,
            ]
            subprocess.run(one, check=True)


def skewness(lexicon: Lexicon, ranks: int = 20) -> tuple[float, int]:
    """Return skewness and maximum of how often the first words list an output.

    The 8,000 most frequent words as inputs, their 20 best others.
    """
    best = np.asarray(lexicon.orders[:OUTPUTS, 1 : 1 + ranks]).astype(np.int64)
    outputs = int(lexicon.meta.get("outputs", len(lexicon.words)))
    listed = np.bincount(best.ravel(), minlength=outputs).astype(np.float64)
    centred = listed - listed.mean()
    skew = (centred**3).mean() / (centred**2).mean() ** 1.5
    return float(skew), int(listed.max())


def load(folder: Path) -> Lexicon:
    """Load a folder, or the built-in lexicon."""
    return lexicons.find("builtin") if str(folder) == "builtin" else store.load(folder)


def at_risk(lexicon: Lexicon, risk: float) -> Pipeline:
    """Make a pipeline of rank with the weights that ship for the risk."""
    budget = {"name": "uniform", "risk": risk}
    recipe = {"name": "benchmark", "mechanism": {"name": "rank"}, "budget": budget}
    return pipeline.build(profile.parse(recipe, "benchmark"), lexicon)


def task_of(train: list[Any], test: list[Any]) -> Task:
    """Take texts and labels."""
    return (
        [row["text"] for row in train],
        [row["label"] for row in train],
        [row["text"] for row in test],
        [row["label"] for row in test],
    )


def tasks_of(dev: bool) -> dict[str, Task]:
    """Return the tasks; with dev, of rows of the training files that are not used."""
    news, films = rows_of("agnews_train19k"), rows_of("sst2_train20k")
    if dev:
        return {
            "AG News": task_of(news[-5000:-1500], news[-1500:]),
            "SST-2": task_of(films[-8000:-2000], films[-2000:]),
        }
    reviews = rows_of("imdb_5k")
    return {
        "AG News": task_of(news[:6000], rows_of("agnews_test5600")),
        "SST-2": task_of(films[:8000], rows_of("sst2_dev")),
        "IMDb": task_of(reviews[:2000], reviews[2000:3000]),
    }


def accuracies(
    sanitizer: Pipeline, task: Task, seed: int, change: Callable[..., Words]
) -> tuple[float, float]:
    """Return the accuracy of TF-IDF and of mean vectors, logistic regression."""
    texts, labels, asked, answers = task
    train, test = change(sanitizer, texts, seed), change(sanitizer, asked, seed + 1000)
    return learned(sanitizer, train, labels, test, answers)


def kept(sanitizer: Pipeline, texts: list[str], seed: int) -> tuple[float, float]:
    """Return how many replacements keep part of speech, and the whole Penn tag."""
    return same_forms(sanitizer, texts, privatized(sanitizer, texts, seed), every=5)


def masses(mechanism: rank.Rank, epsilon: float) -> str:
    """Say where the probability goes: to the word itself, the list, the floor."""
    (weights,), (total,) = mechanism.weights(np.array([epsilon]))
    shares = weights[0], (weights - 1).sum(), mechanism.outputs
    return "self {:.3f} list {:.3f} floor {:.3f}".format(*np.divide(shares, total))


def tasks(lexicons: list[Lexicon], seeds: int, dev: bool, risk: float) -> None:
    """Print one line of figures for each lexicon."""
    work = tasks_of(dev)
    texts = [text for task in work.values() for text in task[2][:200]]
    print("columns:", [f"{t} {m}" for t in work for m in ("TF-IDF", "mean vectors")])
    for lexicon in lexicons:
        sanitizer = at_risk(lexicon, risk)
        cells = _cells(sanitizer, work, [1], untouched)
        print(f"{lexicon.name}, unprotected: {cells}", flush=True)
        epsilon = sanitizer.budget.description.high
        cells = _cells(sanitizer, work, list(range(1, seeds + 1)), privatized)
        same, inflected = kept(sanitizer, texts, 1)
        skew, most = skewness(lexicon)
        mechanism = sanitizer.mechanism
        assert isinstance(mechanism, rank.Rank)
        shares = masses(mechanism, epsilon)
        print(
            f"{lexicon.name}: epsilon {epsilon:.2f} {shares}; "
            f"{cells}; part of speech {same:.2f} inflection {inflected:.2f}; hubs: "
            f"skewness {skew:.2f} most {most}",
            flush=True,
        )


CORPORA = {
    "AG News": ("agnews_train19k", "agnews_test5600"),
    "SST-2": ("sst2_train20k", "sst2_dev"),
    "IMDb": ("imdb_5k", "imdb_5k"),
}


def risks(lexicon: Lexicon, risk: float) -> None:
    """Print how often words of real text are guessed, by two kinds of frequencies."""
    sanitizer = at_risk(lexicon, risk)
    public = bayes_risk.replaced(lexicon, sanitizer.profile.tokens)
    cells = []
    for name, (others, asked) in CORPORA.items():
        texts = [row["text"] for row in rows_of(asked)[:_TEXTS]]
        before = sanitizer.tokenizer.words(texts).ids
        after = privatized(sanitizer, texts, 1)[1][before >= 0]
        before = before[before >= 0]
        rows = rows_of(others)[_TEXTS : 8 * _TEXTS]
        likely = sanitizer.tokenizer.words([row["text"] for row in rows]).ids
        counts = np.bincount(likely[likely >= 0], minlength=len(public))
        # What these texts lack is guessed by the lexicon's frequencies.
        real = counts + 0.02 * public * counts.sum()
        rates = [
            attacks.bayes(
                sanitizer.mechanism,
                sanitizer.budget.description.high,
                by,
                before,
                after,
            ).success
            for by in (public, real / real.sum())
        ]
        blind = (before == real.argmax()).mean()
        cells.append(f"{name} {rates[0]:.3f} {rates[1]:.3f} (blind {blind:.3f})")
    blind = public.max()
    print(
        f"{lexicon.name}: epsilon {sanitizer.budget.description.high:.2f}, blind "
        f"{blind:.3f}; ",
        cells,
    )


def _cells(sanitizer: Any, work: dict[str, Any], seeds: list[int], change: Any) -> str:
    cells = []
    for task in work.values():
        runs = [accuracies(sanitizer, task, seed, change) for seed in seeds]
        mean, spread = np.mean(runs, axis=0), np.std(runs, axis=0)
        cells += [f"{m:.3f}±{s:.3f}" for m, s in zip(mean, spread, strict=True)]
    return " ".join(cells)


def main() -> None:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("make", "tasks", "risks"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--out", type=Path, default=Path("/tmp/imported"))
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--risk", type=float, default=0.2)
    parser.add_argument("--dev", action="store_true")
    arguments = parser.parse_args()
    if arguments.what == "tasks":
        lexicons_read = [load(folder) for folder in arguments.paths]
        tasks(lexicons_read, arguments.seeds, arguments.dev, arguments.risk)
    elif arguments.what == "risks":
        for folder in arguments.paths:
            risks(load(folder), arguments.risk)
    elif arguments.kind:
        make_one(arguments.paths[0], arguments.kind, arguments.wordnet, arguments.out)
    else:
        make_all(arguments.paths, arguments.wordnet, arguments.out)


if __name__ == "__main__":
    main()
