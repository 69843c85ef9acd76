"""Orders and weights of the mechanism rank, compared on real text and by figures.

    python benchmarks/orders.py lists FOLDER [FOLDER ...]
    python benchmarks/orders.py weights FOLDER
    python benchmarks/orders.py tasks NEW OLD [--seeds 3] [--dev]

FOLDERs are lexicons. `lists`: hubs, and what weights amount to at a risk. `weights`:
the best for expected public closeness by a linear program, and closed forms. `tasks`:
classifiers trained and tested on privatized text, an attribute attack, and how many
replacements keep part of speech and inflection, at equal risk and equal worst loss.
--dev takes rows of the training files only: everything was chosen on these.

Reads text/ and nltk_data/ of the test data (DPTEXT_TEST_DATA, else ../shared/data).
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from private_rows import (
    Words,
    learned,
    privatized,
    rows_of,
    same_forms,
    untouched,
)

from dptext import pipeline, profile
from dptext.lexicons import orders, store
from dptext.mechanisms import rank
from dptext.mechanisms.rank import best_weights
from dptext.pipeline import Pipeline
from dptext.types import Lexicon

RISKS = (0.1, 0.2, 0.35)
LOSSES = (6.0, 8.0, 10.0, 12.0)
OLD_WEIGHTS = {"weights": "power", "k": 96, "c": 10.0}
# The best closed forms at each risk; the default takes tables (docs/rank.md).
WEIGHTS = {
    0.1: {"weights": "arch", "k": 96, "p": 4.0},
    0.2: {"weights": "arch", "k": 48, "p": 2.0},
    0.35: {"weights": "arch", "k": 16, "p": 1.5},
}
Task = tuple[list[str], list[Any], list[str], list[Any]]


def build(lexicon: Lexicon, mechanism: dict[str, Any], epsilon: float) -> Pipeline:
    """Make a pipeline of a mechanism at one epsilon for all words."""
    budget = {"name": "uniform", "epsilon": float(epsilon)}
    recipe = {"name": "benchmark", "mechanism": mechanism, "budget": budget}
    return pipeline.build(profile.parse(recipe, "benchmark"), lexicon)


def ranked(lexicon: Lexicon, weights: dict[str, Any], epsilon: float) -> Pipeline:
    """Make a pipeline of rank."""
    return build(lexicon, {"name": "rank", **weights}, epsilon)


def rank_of(lexicon: Lexicon, weights: dict[str, Any]) -> rank.Rank:
    """Return the mechanism rank, which serves at any epsilon."""
    mechanism = ranked(lexicon, weights, 1.0).mechanism
    assert isinstance(mechanism, rank.Rank)
    return mechanism


def risk_of(mechanism: rank.Rank, prior: NDArray[np.float64], epsilon: float) -> float:
    """Return the Bayes vulnerability."""
    best = mechanism.best_guesses(prior, epsilon, [(0, len(prior))])
    return float(best.max(axis=0).sum())


def epsilon_at(lexicon: Lexicon, weights: dict[str, Any], risk: float) -> float:
    """Return the epsilon of a risk, nan if none up to 40 has it."""
    mechanism = rank_of(lexicon, weights)
    low, high = 0.01, 40.0
    if risk_of(mechanism, lexicon.prior, high) < risk:
        return float("nan")
    for _ in range(16):
        middle = (low + high) / 2
        above = risk_of(mechanism, lexicon.prior, middle) > risk
        low, high = (low, middle) if above else (middle, high)
    return low


def masses(mechanism: rank.Rank, epsilon: float) -> str:
    """Say where the probability goes: to the word itself, the list, the floor."""
    (weights,), (total,) = mechanism.weights(np.array([epsilon]))
    shares = weights[0], (weights - 1).sum(), mechanism.outputs
    return "self {:.3f} list {:.3f} floor {:.3f}".format(*np.divide(shares, total))


def plain(lexicon: Lexicon) -> Lexicon:
    """Return the lexicon with orders by distance alone."""
    lists_by_distance, far = orders.build_orders(lexicon.vectors, 97)
    lists_by_distance[-1] = lexicon.orders[-1]
    far[-1] = orders.far_of(lexicon.vectors, len(lexicon.words), lists_by_distance[-1])
    meta = {key: lexicon.meta[key] for key in lexicon.meta if key != "outputs"}
    return dataclasses.replace(
        lexicon,
        orders=lists_by_distance,
        far=far,
        digest=f"plain {lexicon.digest}",
        meta=meta,
    )


# Lists -------------------------------------------------------------------------------


def lists(lexicon: Lexicon) -> None:
    """Print hubs (in-degree of the 20 best others) and the weights at each risk."""
    outputs = int(lexicon.meta.get("outputs", len(lexicon.words)))
    best = lexicon.orders[:outputs, 1:21].astype(np.int64)
    listed = np.bincount(best.ravel(), minlength=outputs)[:outputs].astype(np.float64)
    centred = listed - listed.mean()
    skew = float((centred**3).mean() / (centred**2).mean() ** 1.5)
    print(
        f"{lexicon.name}: {outputs} outputs; of these in the 20 best of others: "
        f"skewness {skew:.2f}, largest {listed.max():.0f}, "
        f"never {(listed == 0).mean():.2%}"
    )
    for risk in RISKS:
        for weights in (OLD_WEIGHTS, *WEIGHTS.values()):
            epsilon = epsilon_at(lexicon, weights, risk)
            mechanism = rank_of(lexicon, weights)
            shown = "cannot be met"
            if not np.isnan(epsilon):
                shown = masses(mechanism, epsilon)
            print(f"  risk {risk:.0%} {weights}: epsilon {epsilon:.3f} {shown}")


# Weights -----------------------------------------------------------------------------


def compare_weights(lexicon: Lexicon) -> None:
    """Print the expected closeness of the best weights and of others, equal bounds."""
    space = rank_of(lexicon, {"weights": "staircase", "k": 1}).space
    prior = lexicon.prior
    problem = best_weights.problem(rank.Params(), space, prior, "closeness")
    shapes = [OLD_WEIGHTS, *WEIGHTS.values(), {"weights": "staircase", "k": 16}]
    for epsilon in (6.0, 8.8, 10.5):
        for weights in shapes:
            other = rank_of(lexicon, weights)
            risk = risk_of(other, prior, epsilon)
            mine = best_weights.achieved(other, prior, epsilon, "closeness")
            best, steps = best_weights.solve(problem, risk, epsilon)
            print(
                f"epsilon {epsilon:g} risk {risk:.3f} {weights}: closeness {mine:.4f}, "
                f"best possible {best:.4f} with ln w {np.round(steps, 1).tolist()}",
                flush=True,
            )


# Tasks -------------------------------------------------------------------------------


def task_of(train: list[Any], test: list[Any], label: str = "label") -> Task:
    """Take texts and labels."""
    return (
        [row["text"] for row in train],
        [row[label] for row in train],
        [row["text"] for row in test],
        [row[label] for row in test],
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
    people = rows_of("trustpilot_en_train")
    return {
        "AG News": task_of(news[:6000], rows_of("agnews_test5600")),
        "SST-2": task_of(films[:8000], rows_of("sst2_dev")),
        "IMDb": task_of(reviews[:2000], reviews[2000:3000]),
        "gender": task_of(people, rows_of("trustpilot_en_test"), "gender"),
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


def santext_curve(lexicon: Lexicon) -> list[tuple[float, float, float]]:
    """Return (epsilon, risk, worst loss) of SanText over all words, single precision.

    TEM is the same here: its gamma exceeds the diameter below epsilon 20.
    """
    rows = lexicon.vectors.astype(np.float32)
    size, squares = len(rows) - 1, (rows.astype(np.float32) ** 2).sum(axis=1)
    prior = lexicon.prior.astype(np.float32)
    grid = np.array([6, 8, 9, 10, 11, 12, 13, 14, 15, 16], np.float32)
    totals, best = np.zeros((len(grid), size + 1)), np.zeros((len(grid), size))

    def blocks() -> Iterator[tuple[slice, NDArray[np.float32]]]:
        for begin in range(0, size + 1, 256):
            part = slice(begin, min(begin + 256, size + 1))
            near = squares[part, None] + squares[None] - 2 * rows[part] @ rows.T
            yield part, np.sqrt(np.maximum(near, 0))

    for part, distances in blocks():
        words = min(part.stop, size) - part.start
        for number, epsilon in enumerate(grid):
            weights = np.exp(distances[:, :size] * (-epsilon / 2))
            totals[number, part] = weights.sum(axis=1)
            weights = (
                weights[:words] * (prior[part] / totals[number, part][:words])[:, None]
            )
            np.maximum(best[number], weights.max(axis=0), out=best[number])
    logs, worst = np.log(totals).astype(np.float32), np.zeros(len(grid))
    for part, distances in blocks():
        for number, epsilon in enumerate(grid):
            gap = np.abs(logs[number, part, None] - logs[number][None])
            worst[number] = max(worst[number], (gap + distances * (epsilon / 2)).max())
    risks = best.sum(axis=1)
    return [
        (float(e), float(r), float(w))
        for e, r, w in zip(grid, risks, worst, strict=True)
    ]


def tasks(new: Lexicon, old: Lexicon, seeds: int, dev: bool) -> None:
    """Print accuracy and readability of all systems at each risk and worst loss."""
    work = tasks_of(dev)
    texts = [text for task in list(work.values())[:2] for text in task[2][:200]]
    by_distance = plain(new)
    curve = np.array(santext_curve(new)).T
    print("SanText (epsilon, risk, loss):", np.round(curve.T, 3).tolist(), flush=True)

    def show(name: str, sanitizer: Pipeline, change: Callable[..., Words]) -> None:
        cells = []
        for task in work.values():
            runs = [accuracies(sanitizer, task, s, change) for s in range(1, seeds + 1)]
            mean, spread = np.mean(runs, axis=0), np.std(runs, axis=0)
            cells += [f"{m:.3f}±{s:.3f}" for m, s in zip(mean, spread, strict=True)]
        forms = ""
        if change is not untouched:
            forms = "pos {:.2f} tag {:.2f}".format(*kept(sanitizer, texts, 1))
        print(f"{name:34} {' '.join(cells)} {forms}", flush=True)

    print("columns:", [f"{t} {m}" for t in work for m in ("TF-IDF", "mean vectors")])
    show("unprotected", ranked(new, OLD_WEIGHTS, 1.0), untouched)
    for risk in RISKS:
        epsilons = {
            "old": epsilon_at(old, OLD_WEIGHTS, risk),
            "plain orders": epsilon_at(by_distance, OLD_WEIGHTS, risk),
            "new": epsilon_at(new, WEIGHTS[risk], risk),
        }
        for name, lexicon, weights in (
            ("old", old, OLD_WEIGHTS),
            ("plain orders", by_distance, OLD_WEIGHTS),
            ("new", new, WEIGHTS[risk]),
        ):
            epsilon = epsilons[name]
            show(
                f"risk {risk:.0%} {name} eps {epsilon:.2f}",
                ranked(lexicon, weights, epsilon),
                privatized,
            )
        epsilon = float(np.interp(risk, curve[1], curve[0]))
        loss = float(np.interp(risk, curve[1], curve[2]))
        show(
            f"risk {risk:.0%} santext loss {loss:.1f}",
            build(by_distance, {"name": "santext"}, epsilon),
            privatized,
        )
    for loss in LOSSES:
        weights = WEIGHTS[0.1 if loss < 7 else 0.2 if loss < 9 else 0.35]
        risk = risk_of(rank_of(new, weights), new.prior, loss)
        before = risk_of(rank_of(old, OLD_WEIGHTS), old.prior, loss)
        show(
            f"loss {loss:g} old risk {before:.2f}",
            ranked(old, OLD_WEIGHTS, loss),
            privatized,
        )
        name = f"loss {loss:g} new risk {risk:.2f}"
        show(name, ranked(new, weights, loss), privatized)
        epsilon = float(np.interp(loss, curve[2], curve[0]))
        hit = float(np.interp(loss, curve[2], curve[1]))
        show(
            f"loss {loss:g} santext risk {hit:.2f}",
            build(by_distance, {"name": "santext"}, epsilon),
            privatized,
        )


def main() -> None:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("lists", "weights", "tasks"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--dev", action="store_true")
    arguments = parser.parse_args()
    lexicons = [store.load(folder) for folder in arguments.folders]
    if arguments.what == "tasks":
        tasks(lexicons[0], lexicons[1], arguments.seeds, arguments.dev)
        return
    for lexicon in lexicons:
        {"lists": lists, "weights": compare_weights}[arguments.what](lexicon)


if __name__ == "__main__":
    main()
