"""Explains how epsilon is divided over one text, and what may replace each word.

Everything here depends on the text: only for its owner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np

from dptext.budgets import SequentialBudget
from dptext.engine import documents
from dptext.guarantees.statement import Statement
from dptext.lexicons import topics
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import views
from dptext.report.blocks import (
    Block,
    Bullets,
    Column,
    Figures,
    Mark,
    Page,
    Section,
    Table,
    Tokens,
)
from dptext.report.figures import CLASSES, count, share, short
from dptext.report.sections import treatment
from dptext.tokens import kinds
from dptext.types import BudgetKind, Eps, Record, Words

_LISTED_ELSEWHERE = ("text", "position", "token", "replaced", "epsilon", "proportion")


@dataclass(frozen=True, slots=True)
class Replacement:
    """A possible replacement and its probability."""

    word: str
    probability: float


@dataclass(frozen=True, slots=True)
class Token:
    """A token with its class and treatment, and figures if it is replaced.

    treatment is as reports name it (replaced, unchanged, masked, left out, random
    digits, made new, layout unchanged).
    known is the vocabulary word, None if it has none; stays the probability
    that the word is drawn again; scores as named in the budget's table; proportion
    is the share is the share of the text's epsilon.
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
    #: Of a word that becomes a random one of its class: how many these are, else 0.
    any_of: int = 0


@dataclass(frozen=True, slots=True)
class Explanation:
    """A text, token by token, and its total epsilon."""

    audience: str
    profile: str
    mechanism: str
    guarantee: Statement
    epsilon: float
    notes: tuple[str, ...]
    tokens: tuple[Token, ...]
    #: Whether the text as a whole becomes a topic.
    of_topics: bool = False


def explain(pipeline: Pipeline, text: str, listed: int) -> Explanation:
    """Explain one text, naming up to `listed` replacements per word."""
    words = pipeline.tokenizer.words([text])
    eps = _epsilons(pipeline, words)
    scores = _scores(pipeline, words)
    outputs = _outputs(pipeline, words, eps, listed)
    numbers = {position: n for n, position in enumerate(words.positions.tolist())}
    treated = treatment(pipeline.profile.tokens)
    tokens = []
    for position, piece in enumerate(words.pieces):
        kind = kinds.NAMES[int(words.flags[position]) & kinds.KIND]
        if kind == "space":
            continue
        token = Token(
            text=piece.strip(" "),
            kind=kind,
            treatment=treated[kind],
            replaced=position in numbers,
            scores=scores.get(position, {}),
            any_of=len(pipeline.joiner.candidates(words, position)),
        )
        if token.replaced:
            number = numbers[position]
            row, (stays, likeliest) = int(words.ids[number]), outputs[number]
            token = replace(
                token,
                known=pipeline.lexicon.words[row] if row >= 0 else None,
                epsilon=float(eps[number]),
                proportion=float(eps[number] / eps.sum()),
                stays=stays,
                likeliest=likeliest,
            )
        tokens.append(token)
    return Explanation(
        audience="for the owner of the text only",
        profile=pipeline.profile.name,
        mechanism=pipeline.mechanism.name,
        guarantee=documents.promised(pipeline),
        epsilon=float(eps.sum()),
        notes=tuple(_notes(pipeline)),
        tokens=tuple(tokens),
        of_topics=topics.topic_meta(pipeline.lexicon) is not None,
    )


def _epsilons(pipeline: Pipeline, words: Words) -> Eps:
    """Divide epsilon over the words of a text, with fresh draws where needed."""
    budget = pipeline.budget
    if not len(words.ids):
        return np.empty(0)
    randomness = pipeline.randomness(RunKey.fresh())
    nonce = randomness.nonce(Record(0, (), None))
    bits = randomness.bits([nonce], np.zeros(len(words.ids), np.int64))
    if isinstance(budget, SequentialBudget):
        return pipeline.release(budget, words, bits)[1]
    return budget.spread(words, bits)


def _scores(pipeline: Pipeline, words: Words) -> dict[int, dict[str, float]]:
    """Return the scores of each token, keyed by its position in the pieces."""
    budget = pipeline.budget
    if isinstance(budget, SequentialBudget) or not len(words.ids):
        return {}
    columns = budget.columns(words)
    names = [name for name in columns if name not in _LISTED_ELSEWHERE]
    return {
        int(position): {name: float(columns[name][row]) for name in names}
        for row, position in enumerate(columns.get("position", ()))
    }


def _outputs(
    pipeline: Pipeline, words: Words, eps: Eps, listed: int
) -> list[tuple[float | None, tuple[Replacement, ...]]]:
    """Return each word's probability to stay, and its likely replacements.

    None and () if the output distribution has no closed form.
    """
    mechanism, vocabulary = pipeline.mechanism, pipeline.lexicon.words
    if not mechanism.has_log_probs:
        return [(None, ())] * len(words.ids)

    @cache
    def output(
        row: int, read: int, epsilon: float
    ) -> tuple[float, tuple[Replacement, ...]]:
        probs = mechanism.probs(np.array([read], np.int32), epsilon)[0]
        likeliest = np.argsort(-probs, kind="stable")[:listed]  # ties by smaller row
        replacements = (Replacement(vocabulary[y], float(probs[y])) for y in likeliest)
        return float(probs[row]) if row >= 0 else 0.0, tuple(replacements)

    rows = words.ids.tolist(), words.inputs.tolist()
    return list(map(output, *rows, eps.tolist()))


def _notes(pipeline: Pipeline) -> Iterator[str]:
    yield from pipeline.budget.description.used
    if pipeline.budget.description.kind in (BudgetKind.PAST, BudgetKind.CLASS):
        yield "Epsilon depends on draws: this is one of many ways to draw this text."
    if not pipeline.mechanism.has_log_probs:
        yield (
            f"{pipeline.mechanism.name} has no closed form of a word's output "
            "distribution, so no probabilities are shown."
        )
    if pipeline.profile.decoder.params.reads:
        yield (
            "These are the drawn replacements; the decoder then chooses the written "
            "words from all drawn and kept parts of a text."
        )


def _becomes(token: Token) -> str:
    if token.any_of:
        return f"any of {count(token.any_of)} of its class, equally likely"
    return "; ".join(f"{e.word} {share(e.probability)}" for e in token.likeliest)


_LIKELIEST = Column("likeliest replacements", path=_becomes)
_TOKENS = (
    Column("token", path="text"),
    Column("stays", share),
    _LIKELIEST,
)
_TEXTS = (
    Column("text"),
    Column("nearest topic", share, path="stays"),
    _LIKELIEST,
)


def view(result: Explanation) -> Page:
    """Return an explanation as a page, which shows the text."""
    marks = [_mark(token) for token in result.tokens]
    become = [token for token in result.tokens if token.stays is not None]
    become += [token for token in result.tokens if token.any_of]
    table = Table.from_items(_TEXTS if result.of_topics else _TOKENS, become)
    promised, *_ = views.guarantee(result.guarantee, of_texts=result.of_topics)
    sections = [
        Section("What happens to each token", [Tokens(marks)] if marks else ()),
        Section("How epsilon is spread", _spread(result) if marks else ()),
        Section("What each word may become", [table] if become else ()),
    ]
    if result.of_topics:
        sections = [Section("What the text may become", [table])]
    notes = Section("Notes", [Bullets(result.notes)] if result.notes else ())
    return Page(
        f"How {result.profile} treats a text",
        [*sections, notes, promised],
        lead=(f"{result.audience}; this page shows the text",),
        footer=f"dptext explain, mechanism {result.mechanism}",
    )


def _mark(token: Token) -> Mark:
    return Mark(token.text, token.treatment)


def _score(name: str, token: Token) -> float | None:
    return token.scores.get(name)


def _spread(result: Explanation) -> list[Block]:
    """Return each token's scores and share of epsilon, and the total."""
    tokens = result.tokens
    names = dict.fromkeys(name for token in tokens for name in token.scores)
    # Of a score, its share of the text is shown; the score itself is in the JSON.
    scores = [name for name in names if f"{name} share" not in names]
    largest = max((token.epsilon or 0.0 for token in tokens), default=0.0)
    # Classes are named where a policy asks for more than the usual ones.
    named = any(token.kind in kinds.OPTIONAL for token in tokens)
    columns = [
        Column("token", path=_mark),
        *(
            [Column("class", path=lambda token: CLASSES.get(token.kind, token.kind))]
            if named
            else []
        ),
        Column("treatment"),
        *(
            Column(name.removesuffix(" share"), short, path=partial(_score, name))
            for name in scores
        ),
        Column("part", share, path="proportion"),
        Column("epsilon", short, full=largest),
    ]
    together = ("Epsilon of the words together", f"{result.epsilon:.6g}")
    return [Table.from_items(columns, tokens), Figures([together])]
