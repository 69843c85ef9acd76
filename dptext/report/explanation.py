"""How epsilon is spread over one text, and what each word may become.

Everything here is a function of the text: for its owner only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.budgets import SequentialBudget
from dptext.guarantees import account
from dptext.guarantees.statement import Statement
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report.assemble import treatment
from dptext.tokens import kinds
from dptext.types import BudgetKind, Eps, Ids, Record, Words

_LISTED_ELSEWHERE = ("text", "position", "token", "replaced", "epsilon", "proportion")
_ONE_DRAW = (
    "Epsilon rests on draws: shown is one of many ways in which this text may be drawn."
)


@dataclass(frozen=True, slots=True)
class Replacement:
    """A word that may be written, and how likely it is."""

    word: str
    probability: float


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its class and treatment; for those that are replaced, the rest.

    treatment is as reports name it (replaced, copied, masked, left out, random digits).
    known is the vocabulary's word, None for words that it lacks; stays the probability
    that the word is written again; scores as the budget's table names them; proportion
    of the text's epsilon.
    """

    text: str
    kind: str
    treatment: str
    replaced: bool
    known: str | None = None
    epsilon: float | None = None
    proportion: float | None = None
    scores: dict[str, float] = field(default_factory=dict)
    stays: float | None = None
    likeliest: tuple[Replacement, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """A text, token by token; epsilon is that of all its words together."""

    audience: str
    profile: str
    mechanism: str
    guarantee: Statement
    epsilon: float
    notes: tuple[str, ...]
    tokens: tuple[Token, ...]

    @property
    def treatments(self) -> tuple[str, ...]:
        """Return the treatments that occur, in the order of the text."""
        return tuple(dict.fromkeys(token.treatment for token in self.tokens))


def explain(pipeline: Pipeline, text: str, listed: int) -> Explanation:
    """Explain one text; listed is how many replacements of each word are named."""
    words = pipeline.tokenizer.words([text])
    eps = _epsilons(pipeline, words)
    columns = _columns(pipeline, words, eps)
    laws = _laws(pipeline, words.ids, eps, listed)
    by_place = dict(zip(words.positions.tolist(), range(len(words.ids)), strict=True))
    treated = treatment(pipeline.profile.tokens)
    tokens = []
    for position, piece in enumerate(words.pieces):
        kind = kinds.NAMES[int(words.flags[position]) & kinds.KIND]
        if kind == "space":
            continue
        number = by_place.get(position)
        tokens.append(
            Token(
                text=piece.strip(" "),
                kind=kind,
                treatment=treated[kind],
                replaced=number is not None,
                scores=columns.get(position, {}),
                proportion=_share(eps, number),
                epsilon=None if number is None else float(eps[number]),
                **({} if number is None else _of(pipeline, int(words.ids[number]))),
                **({} if number is None or not laws else laws[number]),
            )
        )
    return Explanation(
        audience="for the owner of the text only",
        profile=pipeline.profile.name,
        mechanism=pipeline.mechanism.name,
        guarantee=account.statement(
            pipeline.profile,
            pipeline.mechanism,
            pipeline.budget.description,
            key="system",
            lexicon_is_custom=pipeline.profile.lexicon not in ("builtin", "english"),
            identified=False,
            fields=None,
        ),
        epsilon=float(eps.sum()),
        notes=_notes(pipeline, bool(laws)),
        tokens=tuple(tokens),
    )


def _epsilons(pipeline: Pipeline, words: Words) -> Eps:
    """Spread epsilon over the words of a text; by fresh draws where it needs any."""
    budget = pipeline.budget
    if not len(words.ids):
        return np.empty(0)
    randomness = pipeline.randomness(RunKey.fresh())
    nonce = randomness.nonce(Record(0, (), None))
    bits = randomness.of([nonce], np.zeros(len(words.ids), np.int64))
    if isinstance(budget, SequentialBudget):
        return pipeline.release(budget, words, bits)[1]
    return budget.spread(words, bits)


def _columns(pipeline: Pipeline, words: Words, eps: Eps) -> dict[int, dict[str, float]]:
    """Return the scores of each token by its place in the pieces."""
    budget = pipeline.budget
    if isinstance(budget, SequentialBudget) or not len(words.ids):
        return {}
    columns = budget.columns(words)
    names = [name for name in columns if name not in _LISTED_ELSEWHERE]
    return {
        int(position): {name: float(columns[name][row]) for name in names}
        for row, position in enumerate(columns.get("position", ()))
    }


def _share(eps: Eps, number: int | None) -> float | None:
    return None if number is None else float(eps[number] / eps.sum())


def _of(pipeline: Pipeline, row: int) -> dict[str, Any]:
    return {"known": pipeline.lexicon.words[row] if row >= 0 else None}


def _laws(pipeline: Pipeline, ids: Ids, eps: Eps, listed: int) -> list[dict[str, Any]]:
    """Return what each word may become, where the law of a word is known."""
    if not pipeline.mechanism.has_log_probs:
        return []
    words = pipeline.lexicon.words
    out: list[dict[str, Any]] = []
    remembered: dict[tuple[int, float], dict[str, Any]] = {}
    for row, epsilon in zip(ids.tolist(), eps.tolist(), strict=True):
        key = (row, epsilon)
        if key not in remembered:
            law = pipeline.mechanism.probs(np.array([row], np.int32), epsilon)[0]
            remembered[key] = {
                "stays": float(law[row]) if row >= 0 else 0.0,
                "likeliest": tuple(
                    Replacement(words[int(y)], float(law[y])) for y in _top(law, listed)
                ),
            }
        out.append(remembered[key])
    return out


def _top(law: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Return the likeliest rows, likeliest first, ties by the smaller row."""
    return np.argsort(-law, kind="stable")[:count]


def _notes(pipeline: Pipeline, known: bool) -> tuple[str, ...]:
    notes = list(pipeline.budget.description.used)
    if pipeline.budget.description.kind in (BudgetKind.PAST, BudgetKind.CLASS):
        notes.append(_ONE_DRAW)
    if not known:
        notes.append(
            f"{pipeline.mechanism.name} has no closed law of a word, so no "
            "probabilities "
            "are shown."
        )
    return tuple(notes)
