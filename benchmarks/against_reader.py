"""Weights of rank that are best against a reader who reads, by a linear program.

The program of `dptext.mechanisms.rank.best_weights` bounds the success of the best
guess of a word alone, by the public word frequencies. Here it bounds that of a reader
of the whole text instead: each sampled position has a prior of its own, that of the
model of pairs given the draws around it and what the text is about. Prints, for weights
that are best alone at a risk, what that reader finds and what they are worth (mean
cosine with the word), and the same for weights that are best against the reader at the
same success, with the same epsilon. Needs scipy.

    python benchmarks/against_reader.py [CORPUS ...] [--positions 200]
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from private_rows import rows_of

from dptext import lexicons, pipeline, profile
from dptext.measures import prior
from dptext.mechanisms import Aim, rank
from dptext.mechanisms.rank import best_weights
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.readers import locations, ngrams, topic
from dptext.readers.pairs import PairReader
from dptext.tokens.policy import Policy
from dptext.types import Record, Released

RISKS = (0.1, 0.14, 0.2)
TEXTS = 200
# Likeliest words of a position that are told apart; what else it may be is one guess.
LIKELIEST = 300
_SLACK = 1e-4
Floats = NDArray[np.float64]


class Positions(NamedTuple):
    """Outputs of positions, one after another: those that a likely word lists.

    best (m, steps + 1) as in best_weights.Problem, by the position's own prior; floor,
    the sum over positions and their other outputs of the largest prior; total: how
    many positions there are.
    """

    best: NDArray[np.float32]
    floor: float
    total: int


def released(ready: Pipeline, texts: list[str]) -> Released:
    """Draw texts and return what a reader sees of them."""
    seen: list[Released] = []

    def observe(words: object, drawn: object, joined: object, eps: object) -> None:
        seen.append(ready.releaser.released(words, np.array(drawn), np.array(eps)))  # type: ignore[arg-type]

    records = [Record(number, (text,), None) for number, text in enumerate(texts)]
    for _ in ready.run(
        records, RunKey.from_seed(5), batch_size=len(texts), observe=observe
    ):
        pass
    (one,) = seen
    return one


class Priors:
    """The prior of a position over V, given all that was drawn around it."""

    def __init__(self, ready: Pipeline, batch: Released) -> None:
        channel = ready.channel
        self._model = locations.find(locations.ENGLISH, channel)
        reader = PairReader.strongest(channel, self._model)
        self._rows, self._likely = reader.posterior(batch)
        about = topic.Topic(channel.lexicon, topic.POWER)
        self._topics = about._topics(batch)
        self._directions = about._directions
        size = self._model.size
        self._backoff = np.exp(self._model.backoff.astype(np.float64))
        self._alone = np.exp(self._model.alone[:size].astype(np.float64))
        contexts, following = self._model.contexts, np.asarray(self._model.following)
        gains = ngrams.decoded(np.asarray(self._model.gains))
        self._begins = np.concatenate(([0], self._model.ends.astype(np.int64)))
        self._following, self._gains = following, gains
        order = np.argsort(following, kind="stable")
        self._before, self._before_gains = contexts[order], gains[order]
        counts = np.bincount(following, minlength=size + 2)
        self._before_begins = np.concatenate(([0], np.cumsum(counts)))

    def of(self, position: int) -> Floats:
        """Return it: (V,), sums to 1."""
        size = self._model.size
        backoff = self._backoff
        after = np.zeros(size + 2)
        for row, share in self._beside(position - 1):
            after += share * backoff[row]
            part = slice(self._begins[row], self._begins[row + 1])
            after[self._following[part]] += (
                share * backoff[row] * (self._gains[part] - 1.0)
            )
        before = np.zeros(size + 2)
        for row, share in self._beside(position + 1):
            before += share
            part = slice(self._before_begins[row], self._before_begins[row + 1])
            before[self._before[part]] += share * (self._before_gains[part] - 1.0)
        near = self._directions[:size] @ self._topics[position]
        weights = self._alone * after[:size] * (before * backoff)[:size]
        weights *= np.exp(topic.POWER * near / topic._LENGTH**2)
        return np.asarray(weights / weights.sum())

    def _beside(self, position: int) -> list[tuple[int, float]]:
        likely = self._likely[:, position]
        some = np.flatnonzero(likely > 1e-3)
        shares = likely[some] / likely[some].sum()
        return list(
            zip(self._rows[some, position].tolist(), shares.tolist(), strict=True)
        )


def positions_of(
    priors: Priors,
    chosen: list[int],
    orders: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> Positions:
    """Return what the program needs of positions; orders (V, k), ends (steps,)."""
    outputs, width = int(orders.max()) + 1, len(ends) + 1
    step = np.searchsorted(ends, np.arange(orders.shape[1]), side="right")
    parts: list[NDArray[np.float32]] = []
    floor = 0.0
    for position in chosen:
        weights = priors.of(position)
        words = np.argsort(-weights)[:LIKELIEST]
        best = np.zeros((outputs, width), np.float32)
        at = orders[words] * width + step
        np.maximum.at(best.ravel(), at.ravel(), np.repeat(weights[words], len(step)))
        listed = best.any(axis=1)
        best[:, -1] = weights[words[0]]
        parts.append(best[listed])
        floor += float(weights[words[0]]) * int((~listed).sum())
    return Positions(np.concatenate(parts), floor, len(chosen))


def success(at: Positions, q: Floats) -> tuple[float, Floats]:
    """Return the share that the best guess is right, and its slope in q."""
    guess = (at.best * q.astype(np.float32)).argmax(axis=1)
    values = at.best[np.arange(len(guess)), guess].astype(np.float64)
    slope = np.bincount(guess, values, len(q)).astype(np.float64)
    slope[-1] += at.floor
    slope /= at.total
    return float(slope @ q), slope


def best_against(
    problem: best_weights.Problem, at: Positions, risk: float, cap: float
) -> Floats:
    """Return the q of most worth at which the reader's success is at most risk."""
    steps, size = len(problem.ends), len(problem.best)
    order = np.diff(np.eye(steps + 1), axis=0)
    bound = np.zeros((1, steps + 1))
    bound[0, 0], bound[0, -1] = np.exp(-cap), -1.0
    rows, limits = np.vstack((order, bound)), np.zeros(steps + 1)
    while True:
        # q in units of the uniform probability, as the program takes it.
        q = best_weights._linear(
            problem.worth / size, rows, limits, problem.widths / size
        )
        reached, slope = success(at, q / size)
        if reached <= risk * (1.0 + _SLACK):
            return q
        rows, limits = np.vstack((rows, slope / size)), np.append(limits, risk)


def main() -> None:
    """Print both kinds of weights at each risk."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="*", default=["agnews_train19k"])
    parser.add_argument("--positions", type=int, default=200)
    arguments = parser.parse_args()
    lexicon = lexicons.find("builtin")
    recipe = profile.load("balanced", {"decoder": {"name": "none"}})
    ready = pipeline.build(recipe, lexicon)
    space = ready.mechanism.space
    words = prior.replaced(lexicon, Policy())
    problem = best_weights.problem(rank.Params(), space, words, "closeness")
    most = int(problem.ends[-1])
    lists = rank.Params(weights="staircase", k=most).prepare(space, Aim())
    orders = lists.orders[:-1].astype(np.int64)
    for corpus in arguments.corpora:
        texts = [row["text"] for row in rows_of(corpus)[:TEXTS]]
        batch = released(ready, texts)
        priors = Priors(ready, batch)
        inner = np.flatnonzero(
            (batch.texts[1:-1] == batch.texts[:-2])
            & (batch.texts[1:-1] == batch.texts[2:])
        )
        rng = np.random.default_rng(1)
        chosen = (rng.choice(inner, arguments.positions, replace=False) + 1).tolist()
        at = positions_of(priors, chosen, orders, problem.ends)
        print(f"{corpus}: {at.total} positions, {len(at.best):,} outputs")
        size = len(problem.best)
        for risk in RISKS:
            weights = best_weights.find(problem, None, risk)
            _, logs = best_weights.solve(problem, risk, weights.epsilon)
            q = np.exp(np.append(logs, 0.0))
            q *= size / (q @ problem.widths)
            alone = success(at, q / size)[0]
            other = best_against(problem, at, alone, weights.epsilon)
            gain = problem.worth @ other / size
            print(
                f"risk {risk:.0%} alone, {weights.epsilon:g} nats: reader {alone:.1%}, "
                f"worth {problem.worth @ q / size:.4f}; best against the reader: "
                f"worth {gain:.4f}",
                np.round(np.log(other / other[-1])[:12], 2).tolist(),
                flush=True,
            )


if __name__ == "__main__":
    main()
