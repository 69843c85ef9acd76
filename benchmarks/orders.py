"""Orders and laws of the rank mechanism, compared on real text and by public figures.

    python benchmarks/orders.py lists FOLDER [FOLDER ...]
    python benchmarks/orders.py laws FOLDER
    python benchmarks/orders.py tasks NEW OLD [--seeds 3] [--dev]

FOLDERs are lexicons. `lists`: hubs, and what laws amount to at a risk. `laws`: the best
law for expected public closeness by a linear program, beside the closed forms. `tasks`:
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
from dptext.adversaries import best_law
from dptext.lexicons import orders, store
from dptext.mechanisms import rank
from dptext.pipeline import Pipeline
from dptext.types import Lexicon

RISKS = (0.1, 0.2, 0.35)
LOSSES = (6.0, 8.0, 10.0, 12.0)
OLD_LAW = {"weights": "power", "k": 96, "c": 10.0}
# The best closed laws at each risk; the default takes tables (docs/rank.md).
LAWS = {
    0.1: {"weights": "arch", "k": 96, "p": 4.0},
    0.2: {"weights": "arch", "k": 48, "p": 2.0},
    0.35: {"weights": "arch", "k": 16, "p": 1.5},
}
Task = tuple[list[str], list[Any], list[str], list[Any]]


def made(lexicon: Lexicon, mechanism: dict[str, Any], epsilon: float) -> Pipeline:
    """Make a pipeline of a mechanism at one epsilon for all words."""
    budget = {"name": "uniform", "epsilon": float(epsilon)}
    recipe = {"name": "benchmark", "mechanism": mechanism, "budget": budget}
    return pipeline.build(profile.parse(recipe, "benchmark"), lexicon)


def ranked(lexicon: Lexicon, law: dict[str, Any], epsilon: float) -> Pipeline:
    """Make a pipeline of rank."""
    return made(lexicon, {"name": "rank", **law}, epsilon)


def risk_of(state: rank.State, prior: NDArray[np.float64], epsilon: float) -> float:
    """Return the Bayes vulnerability."""
    best = rank.best_guesses(state, prior, epsilon, [(0, len(prior))])
    return float(best.max(axis=0).sum())


def epsilon_at(lexicon: Lexicon, law: dict[str, Any], risk: float) -> float:
    """Return the epsilon of a risk, nan if none up to 40 has it."""
    state = ranked(lexicon, law, 1.0).channel.state
    low, high = 0.01, 40.0
    if risk_of(state, lexicon.prior, high) < risk:
        return float("nan")
    for _ in range(16):
        middle = (low + high) / 2
        above = risk_of(state, lexicon.prior, middle) > risk
        low, high = (low, middle) if above else (middle, high)
    return low


def masses(state: rank.State, epsilon: float) -> str:
    """Say where the probability goes: to the word itself, the list, the floor."""
    listed = state.orders.shape[1]
    law = rank.weights(state.params, listed, np.array([epsilon]))[0]
    whole = law.sum() + state.outputs - listed
    parts = law[0] / whole, (law - 1).sum() / whole, state.outputs / whole
    return "self {:.3f} list {:.3f} floor {:.3f}".format(*parts)


def plain(lexicon: Lexicon) -> Lexicon:
    """Return the lexicon with orders by distance alone, synonyms nearer."""
    assert lexicon.synonym_ends is not None
    assert lexicon.synonyms is not None
    found, far = orders.build_orders(lexicon.vectors, 97)
    rows = np.asarray(lexicon.vectors, np.float64)
    for word, synonyms in enumerate(np.split(lexicon.synonyms, lexicon.synonym_ends)):
        if len(synonyms) and word < len(lexicon.words):
            keys = np.linalg.norm(rows[:-1] - rows[word], axis=1)
            keys[synonyms] *= 0.6
            keys[word] = -1.0
            found[word] = np.argsort(keys, kind="stable")[:97]
            far[word] = orders.far_of(lexicon.vectors, word, found[word])
    found[-1] = lexicon.orders[-1]
    far[-1] = orders.far_of(lexicon.vectors, len(lexicon.words), found[-1])
    meta = {key: lexicon.meta[key] for key in lexicon.meta if key != "outputs"}
    return dataclasses.replace(
        lexicon, orders=found, far=far, digest=f"plain {lexicon.digest}", meta=meta
    )


# Lists -------------------------------------------------------------------------------


def lists(lexicon: Lexicon) -> None:
    """Print hubs (in-degree of the 20 best others) and the laws at each risk."""
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
        for law in (OLD_LAW, *LAWS.values()):
            epsilon = epsilon_at(lexicon, law, risk)
            state = ranked(lexicon, law, 1.0).channel.state
            told = "out of reach" if np.isnan(epsilon) else masses(state, epsilon)
            print(f"  risk {risk:.0%} {law}: epsilon {epsilon:.3f} {told}")


# Laws --------------------------------------------------------------------------------


def laws(lexicon: Lexicon) -> None:
    """Print the expected closeness of the best law and of others, equal bounds."""
    channel = ranked(lexicon, {"weights": "staircase", "k": 1}, 1.0).channel
    prior = lexicon.prior
    given = best_law.problem(rank.Params(), channel.space, prior, "closeness")
    shapes = [OLD_LAW, *LAWS.values(), {"weights": "staircase", "k": 16}]
    for epsilon in (6.0, 8.8, 10.5):
        for law in shapes:
            other = ranked(lexicon, law, 1.0).channel
            risk = risk_of(other.state, prior, epsilon)
            mine = best_law.achieved(other, prior, epsilon, "closeness")
            best, steps = best_law.solve(given, risk, epsilon)
            print(
                f"epsilon {epsilon:g} risk {risk:.3f} {law}: closeness {mine:.4f}, "
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
    made: Pipeline, task: Task, seed: int, change: Callable[..., Words]
) -> tuple[float, float]:
    """Return the accuracy of TF-IDF and of mean vectors, logistic regression."""
    texts, labels, asked, answers = task
    train, test = change(made, texts, seed), change(made, asked, seed + 1000)
    return learned(made, train, labels, test, answers)


def kept(made: Pipeline, texts: list[str], seed: int) -> tuple[float, float]:
    """Return how many replacements keep part of speech, and the whole Penn tag."""
    return same_forms(made, texts, privatized(made, texts, seed), every=5)


def santext_curve(lexicon: Lexicon) -> list[tuple[float, float, float]]:
    """Return (epsilon, risk, worst loss) of SanText over all words, single precision.

    TEM is the same law here: its gamma exceeds the diameter below epsilon 20.
    """
    rows = lexicon.vectors.astype(np.float32)
    size, squares = len(rows) - 1, (rows.astype(np.float32) ** 2).sum(axis=1)
    prior = lexicon.prior.astype(np.float32)
    grid = np.array([6, 8, 9, 10, 11, 12, 13, 14, 15, 16], np.float32)
    whole, best = np.zeros((len(grid), size + 1)), np.zeros((len(grid), size))

    def blocks() -> Iterator[tuple[slice, NDArray[np.float32]]]:
        for begin in range(0, size + 1, 256):
            part = slice(begin, min(begin + 256, size + 1))
            near = squares[part, None] + squares[None] - 2 * rows[part] @ rows.T
            yield part, np.sqrt(np.maximum(near, 0))

    for part, apart in blocks():
        words = min(part.stop, size) - part.start
        for number, epsilon in enumerate(grid):
            law = np.exp(apart[:, :size] * (-epsilon / 2))
            whole[number, part] = law.sum(axis=1)
            law = law[:words] * (prior[part] / whole[number, part][:words])[:, None]
            np.maximum(best[number], law.max(axis=0), out=best[number])
    logs, worst = np.log(whole).astype(np.float32), np.zeros(len(grid))
    for part, apart in blocks():
        for number, epsilon in enumerate(grid):
            gap = np.abs(logs[number, part, None] - logs[number][None])
            worst[number] = max(worst[number], (gap + apart * (epsilon / 2)).max())
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

    def show(name: str, made: Pipeline, change: Callable[..., Words]) -> None:
        cells = []
        for task in work.values():
            runs = [accuracies(made, task, s, change) for s in range(1, seeds + 1)]
            mean, spread = np.mean(runs, axis=0), np.std(runs, axis=0)
            cells += [f"{m:.3f}±{s:.3f}" for m, s in zip(mean, spread, strict=True)]
        told = ""
        if change is not untouched:
            told = "pos {:.2f} tag {:.2f}".format(*kept(made, texts, 1))
        print(f"{name:34} {' '.join(cells)} {told}", flush=True)

    print("columns:", [f"{t} {m}" for t in work for m in ("TF-IDF", "mean vectors")])
    show("unprotected", ranked(new, OLD_LAW, 1.0), untouched)
    for risk in RISKS:
        epsilons = {
            "old": epsilon_at(old, OLD_LAW, risk),
            "plain orders": epsilon_at(by_distance, OLD_LAW, risk),
            "new": epsilon_at(new, LAWS[risk], risk),
        }
        for name, lexicon, law in (
            ("old", old, OLD_LAW),
            ("plain orders", by_distance, OLD_LAW),
            ("new", new, LAWS[risk]),
        ):
            epsilon = epsilons[name]
            show(
                f"risk {risk:.0%} {name} eps {epsilon:.2f}",
                ranked(lexicon, law, epsilon),
                privatized,
            )
        epsilon = float(np.interp(risk, curve[1], curve[0]))
        loss = float(np.interp(risk, curve[1], curve[2]))
        show(
            f"risk {risk:.0%} santext loss {loss:.1f}",
            made(by_distance, {"name": "santext"}, epsilon),
            privatized,
        )
    for loss in LOSSES:
        law = LAWS[0.1 if loss < 7 else 0.2 if loss < 9 else 0.35]
        state = ranked(new, law, loss).channel.state
        risk = risk_of(state, new.prior, loss)
        before = risk_of(ranked(old, OLD_LAW, loss).channel.state, old.prior, loss)
        show(
            f"loss {loss:g} old risk {before:.2f}",
            ranked(old, OLD_LAW, loss),
            privatized,
        )
        show(f"loss {loss:g} new risk {risk:.2f}", ranked(new, law, loss), privatized)
        epsilon = float(np.interp(loss, curve[2], curve[0]))
        hit = float(np.interp(loss, curve[2], curve[1]))
        show(
            f"loss {loss:g} santext risk {hit:.2f}",
            made(by_distance, {"name": "santext"}, epsilon),
            privatized,
        )


def main() -> None:
    """Do what the first argument says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("lists", "laws", "tasks"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--dev", action="store_true")
    given = parser.parse_args()
    lexicons = [store.load(folder) for folder in given.folders]
    if given.what == "tasks":
        tasks(lexicons[0], lexicons[1], given.seeds, given.dev)
        return
    for lexicon in lexicons:
        {"lists": lists, "laws": laws}[given.what](lexicon)


if __name__ == "__main__":
    main()
