"""Public texts and draws of an audit: of the lexicon's own words, by public bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dptext.budgets.declared import ByClass
from dptext.mechanisms import WordMechanism
from dptext.pipeline import Pipeline
from dptext.randomness import RandomBits, RunKey
from dptext.tokens import numbers
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import BudgetKind, Eps, Guarantee, Ids, Ints, Lexicon, Record

SEED = 5
# Texts that are compared at once.
COMPARED = 24
# Words that no vocabulary of a language holds.
UNKNOWN = ("qzxvj", "vkqzz", "xjqwk", "zzgqx", "wqxzk", "jvqzx")
_NUMBERS = ("7", "4711", "1,250", "3.5", "1999")
_IDENTIFIERS = ("a.b@example.org", "2021-03-04", "+44 20 7946 0958", "http://a.b/c")


@dataclass(frozen=True, eq=False)
class PublicDraws(WordMechanism):
    """Draws words of a public pool for any text, and keeps the requests."""

    #: (m,) rows that the audited mechanism can draw.
    pool: Ids
    #: ids (n,) and eps (n,) of each call.
    asked: list[tuple[Ids, Eps]]

    def guarantee(self, epsilon: float) -> Guarantee:
        """Promise nothing."""
        return Guarantee.nothing("words of an audit", source="dptext audit")

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw words of the pool by the bits alone: (n,)."""
        self.asked.append((ids, eps))
        return self.pool[bits.below(bits.integers(0)[:, 0], len(self.pool))]


def scripted(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline with draws that do not follow from the text."""
    bits = pipeline.randomness(RunKey.from_seed(SEED)).bits(
        [bytes(16)], np.zeros(64, np.int64)
    )
    rows = np.linspace(0, len(pipeline.lexicon.words) - 1, 64).astype(np.int32)
    eps = np.full(64, pipeline.budget.description.high)
    if isinstance(pipeline.mechanism, WordMechanism) or pipeline.mapping is not None:
        # Only words that the mechanism can draw are read by decoders.
        pool = np.unique(pipeline.draw(rows, eps, bits))
    else:
        pool = rows
    mechanism = pipeline.mechanism
    return replace(
        pipeline,
        mechanism=PublicDraws(mechanism.params, mechanism.space, pool, []),
    )


def readable_rows(pipeline: Pipeline) -> tuple[Ints, Ints]:
    """Return rows of words that alone are read as themselves, and those never replaced.

    The rest are parts of words, or words that are read as another one.
    """
    return _readable_rows(pipeline.lexicon, pipeline.tokenizer)


# An audit asks for them many times.
@lru_cache(maxsize=2)
def _readable_rows(lexicon: Lexicon, tokenizer: Tokenizer) -> tuple[Ints, Ints]:
    vocabulary = lexicon.words
    words = tokenizer.words(list(vocabulary))
    counts = np.array(words.by_text())
    pieces = np.diff(words.ends, prepend=0)
    alone = (counts == 1) & (pieces == 1)
    read = np.full(len(vocabulary), -1, np.int64)
    read[words.texts] = words.ids
    rows = np.arange(len(vocabulary))
    kept = (counts == 0) & (pieces == 1)
    # Elements for numbers are never spelled: as text "<number>" is a tag.
    kept[numbers.rows(lexicon)] = False
    return rows[alone & (read == rows)], rows[kept]


def plain_rows(pipeline: Pipeline) -> Ints:
    """Return rows of words in small letters that are read alone."""
    replaced, _ = readable_rows(pipeline)
    words = pipeline.lexicon.words
    plain = [row for row in replaced.tolist() if words[row].isalpha()]
    lower = [row for row in plain if words[row].islower()]
    return np.array(lower or plain or replaced.tolist(), np.int64)


def alike(pipeline: Pipeline, turn: int) -> list[list[str]]:
    """Return lists of texts with other originals of their words, place by place."""
    rng = np.random.default_rng((SEED, turn))
    words, rows = pipeline.lexicon.words, plain_rows(pipeline)
    policy, budget = pipeline.profile.tokens, pipeline.budget
    lengths = rng.integers(1, 12, COMPARED)
    begins = np.concatenate(([0], np.cumsum(lengths)))
    count = int(begins[-1])
    # Where the class of a word is drawn first, it is released: others keep theirs.
    groups = np.zeros(len(words) + 1, np.int64)
    drawn_class = pipeline.budget.description.kind is BudgetKind.CLASS
    if drawn_class and isinstance(budget, ByClass):
        groups = budget.classes.rows
    frequent, rare = rows[: len(rows) // 4 + 1], rows[-(len(rows) // 4 + 1) :]
    first = rng.choice(frequent, count)
    choices = [[words[row] for row in first.tolist()]]
    for pool in (rare, rows):
        other = rng.choice(pool, count)
        other = np.where(groups[other] == groups[first], other, first)
        choices.append([words[row] for row in other.tolist()])
    hidden: list[str] = []
    if policy.unknown == "perturb" and not drawn_class:
        hidden += UNKNOWN
    if policy.number == "perturb" and not drawn_class:
        hidden += _NUMBERS[:2]
    hidden = [each for each in hidden if _is_one_word(pipeline, each)]
    if hidden:
        for seldom in (1, 3):
            picked = rng.choice(hidden, count).tolist()
            swapped = rng.integers(0, seldom, count) == 0
            pairs = zip(picked, choices[0], swapped.tolist(), strict=True)
            choices.append([one if swap else two for one, two, swap in pairs])
    marks = rng.choice([" ", ", ", ". ", " - "], count, p=[0.7, 0.1, 0.1, 0.1]).tolist()
    lists = []
    for chosen in choices:
        pieces = [word + mark for word, mark in zip(chosen, marks, strict=True)]
        ends = zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)
        lists.append(["".join(pieces[begin:end]) for begin, end in ends])
    return lists


def _is_one_word(pipeline: Pipeline, text: str) -> bool:
    return pipeline.tokenizer.words([text]).by_text() == [1]


def records(pipeline: Pipeline) -> list[list[Record]]:
    """Return two batches of records: several texts, equal texts, ids, all tokens."""
    rng = np.random.default_rng(SEED)
    words, rows = pipeline.lexicon.words, plain_rows(pipeline)
    batches: list[list[Record]] = []
    number = 0
    for _ in range(2):
        batch = []
        for _ in range(12):
            texts = []
            for length in rng.integers(1, 14, 3).tolist():
                chosen = [words[row] for row in rng.choice(rows, length).tolist()]
                chosen += rng.choice(UNKNOWN, 1).tolist()
                chosen += rng.choice(_NUMBERS, 2).tolist()
                chosen += rng.choice(_IDENTIFIERS, 1).tolist()
                texts.append(" ".join(chosen))
            same = (texts[0], texts[0], texts[1])
            batch += [
                Record(number, tuple(texts), None),
                Record(number + 1, same, None),
                Record(number + 2, same, None),
                Record(number + 3, tuple(texts), None, f"id {number}"),
            ]
            number += 4
        batches.append(batch)
    return batches
