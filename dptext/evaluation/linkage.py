"""Linkage: how often someone with an original text can identify its row.

The attacker has the rows of up to 2,000 records, and either all their originals or a
few words of one. Two kinds of attacker are measured.

- One knows settings and mechanism, and reads new draws of the originals, before any
  decoding: either by layout only (the number of replaced words, their places and
  everything copied), or by the sum of ln P(y|x) among originals with the same layout,
  which no attacker can beat. Knowing only some words of a text, it scores each row by
  how much more likely these words make its draws.
- A layperson compares words of originals and of the private file by TF-IDF cosine.

Ties between candidates are broken at random.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import lexicons
from dptext.evaluation.rows import Pair, one_text
from dptext.guarantees import binomial
from dptext.lexicons import store, topics
from dptext.measures.bayes_risk import Share
from dptext.models import package
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.run.interface import noun
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import (
    BudgetKind,
    Floats,
    Ids,
    Ints,
    Record,
    Strategy,
    blocks,
    records_of_texts,
)

MOST = 2000  # records that are held
# What needs a package, and the extra that brings it.
EXTRA = "evaluate"
TEN, RAREST = 10, 3  # words of a text that are known
_CONFIDENCE = 0.95
_BLOCK = 32  # inputs; their output distributions are held at once
_LEAST = 1e-12  # a likelihood below which no row falls: words that are never drawn
_DIGIT = re.compile(r"\d")
Scores = NDArray[np.float32]

_KNOWS = {
    "all": "all originals",
    "ten": f"{TEN} random words of one",
    "rarest": f"{RAREST} rarest words of one",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkageFigures:
    """How often an attacker picks the right row, or the right original of a row."""

    #: layout, law (of the draws), or cosine (of the private file).
    attack: str
    #: The words that the attacker has.
    knows: str
    #: Records among which the right one is picked.
    records: Annotated[int, Meta(ge=0)]
    #: Share picked right at the first guess, with limits at 95% confidence.
    first: Share
    low: Share
    high: Share
    #: Median place of the right one, 1 the first.
    median_rank: Annotated[float, Meta(ge=0)]
    #: Share picked right of two.
    of_two: Share


def linkage(
    pairs: Sequence[Pair], writer: Pipeline | None
) -> tuple[LinkageFigures, ...]:
    """Measure attackers on the first records; writer is the pipeline, if known."""
    pairs = pairs[:MOST]
    if len(pairs) < 2:
        return ()
    rng = np.random.default_rng(0)
    texts = [one_text(pair.before) for pair in pairs]
    words = _KnownWords(writer)
    known = [words.choose(text, rng) for text in texts]
    return (
        *_by_law(pairs, known, writer),
        *_by_cosine(texts, [one_text(pair.after) for pair in pairs], known),
    )


class _KnownWords:
    """Chooses the words of a text that an attacker knows."""

    def __init__(self, writer: Pipeline | None) -> None:
        lexicon = None if writer is None else writer.lexicon
        if lexicon is None or topics.topic_meta(lexicon) is not None:
            lexicon = lexicons.find(store.BUILTIN)
        self._lexicon = lexicon
        self._tokenizer = Tokenizer(lexicon, Policy(punctuation="drop"))

    def choose(self, text: str, rng: np.random.Generator) -> tuple[list[str], ...]:
        """Return ten random words and the ten rarest words of a text, or fewer."""
        rows = self._tokenizer.words([text]).ids
        rows = np.unique(rows[rows >= 0])
        ten = rng.permutation(rows)[:TEN]
        rarest = rows[np.argsort(self._lexicon.counts[rows], kind="stable")][:RAREST]
        spelled = self._lexicon.words
        return [spelled[row] for row in ten], [spelled[row] for row in rarest]


@dataclass(frozen=True, slots=True)
class _DrawnWords:
    """Drawn words of records: (n,), with their records and inputs."""

    ids: Ids
    drawn: Ids
    records: Ints
    #: Number of the layout of each record, equal where all that is copied is equal.
    layouts: Ints


def _by_law(
    pairs: Sequence[Pair],
    known: Sequence[tuple[list[str], ...]],
    writer: Pipeline | None,
) -> Iterator[LinkageFigures]:
    """Yield attackers who know the settings; fewer without an exact distribution."""
    if writer is None:
        return
    rows = _drawn(pairs, writer)
    count = len(pairs)
    sizes = np.bincount(rows.layouts)[rows.layouts].astype(np.float64)
    yield _figures(
        "layout", "all", first=1.0 / sizes, rank=(sizes + 1.0) / 2.0, count=count
    )
    exact = (
        writer.mechanism.has_log_probs
        and writer.budget.description.kind is BudgetKind.WORD
        and writer.profile.strategy is Strategy.TOKEN
    )
    if not exact:
        return
    epsilon = writer.budget.description.high
    first, rank = np.ones(count), np.ones(count)
    for members, scores in _by_layout(rows, writer, epsilon):
        # The owner of originals asks of each row which one it is of.
        first[members], rank[members] = _places(scores, np.arange(len(members)))
    yield _figures("law", "all", first=first, rank=rank, count=count)
    for number, name in enumerate(("ten", "rarest")):
        weights = _score_known_words(
            rows, writer, epsilon, [each[number] for each in known]
        )
        yield _figures("law", name, *_places(weights, np.arange(count)), count)


def _drawn(pairs: Sequence[Pair], writer: Pipeline) -> _DrawnWords:
    """Draw the words of originals anew, and number their layouts."""
    ready = writer.offline
    records = [Record(n, pair.before, None) for n, pair in enumerate(pairs)]
    words, drawn, eps, _ = ready.draws(records, ready.randomness(RunKey.fresh()))
    seen = ready.released(words, drawn, eps)
    of_text = records_of_texts(records)
    shown: list[list[object]] = [[] for _ in records]
    begin = 0
    replaced = np.zeros(len(seen.pieces), bool)
    replaced[seen.positions] = True
    for text, end in zip(of_text.tolist(), seen.ends.tolist(), strict=True):
        pieces = [_DIGIT.sub("0", piece) for piece in seen.pieces[begin:end]]
        shown[text] += [*pieces, *replaced[begin:end].tolist(), None]
        begin = end
    numbers: dict[tuple[object, ...], int] = {}
    layouts = [numbers.setdefault(tuple(each), len(numbers)) for each in shown]
    return _DrawnWords(
        words.ids, drawn, of_text[words.texts], np.array(layouts, np.int64)
    )


def _by_layout(
    rows: _DrawnWords, writer: Pipeline, epsilon: float
) -> Iterator[tuple[Ints, Floats]]:
    """Yield the records of each layout with ln P(drawn words of i | words of j).

    The scores (m, m) have a row per released record and a column per original.
    """
    starts = np.searchsorted(rows.records, np.arange(len(rows.layouts) + 1))
    groups = []
    uses: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for layout in range(int(rows.layouts.max()) + 1):
        members = np.flatnonzero(rows.layouts == layout)
        length = int(starts[members[0] + 1] - starts[members[0]])
        places = starts[members][:, None] + np.arange(length)
        groups.append((members, rows.drawn[places], np.zeros((len(members),) * 2)))
        if len(members) > 1:
            for column, at in enumerate(places):
                for position, row in enumerate(rows.ids[at].tolist()):
                    uses[row].append((layout, column, position))
    for row, log_probs in _laws(writer, sorted(uses), epsilon):
        for layout, column, position in uses[row]:
            _, drawn, scores = groups[layout]
            scores[:, column] += log_probs[drawn[:, position]]
    for members, _, scores in groups:
        yield members, scores


def _laws(
    writer: Pipeline, inputs: Sequence[int], epsilon: float
) -> Iterator[tuple[int, Floats]]:
    """Yield each input with its ln P(y|x): (V,)."""
    for part in blocks(len(inputs), _BLOCK):
        few = np.array(inputs[part], np.int32)
        laws = writer.mechanism.log_probs(few, np.full(len(few), epsilon))
        yield from zip(few.tolist(), laws, strict=True)


def _score_known_words(
    rows: _DrawnWords, writer: Pipeline, epsilon: float, known: Sequence[Sequence[str]]
) -> Scores:
    """Return how much more likely known words make each row: (attackers, records).

    For each known word it is the mean of P(y|word) / P(y) over a row's drawn words,
    with P(y) the frequency of y over all rows.
    """
    count = len(rows.layouts)
    outputs = np.bincount(rows.drawn, minlength=len(writer.lexicon.words)) + 0.5
    outputs /= outputs.sum()
    lengths = np.maximum(np.bincount(rows.records, minlength=count), 1)
    attackers: dict[int, list[int]] = defaultdict(list)
    held = writer.tokenizer.words([" ".join(words) for words in known])
    for attacker, row in zip(held.texts.tolist(), held.ids.tolist(), strict=True):
        attackers[row].append(attacker)
    scores = np.zeros((count, count), np.float32)
    for row, log_probs in _laws(writer, sorted(attackers), epsilon):
        gains = np.exp(log_probs[rows.drawn]) / outputs[rows.drawn]
        means = np.bincount(rows.records, gains, count) / lengths
        scores[attackers[row]] += np.log(np.maximum(means, _LEAST))
    return scores


def _by_cosine(
    before: Sequence[str],
    after: Sequence[str],
    known: Sequence[tuple[list[str], ...]],
) -> Iterator[LinkageFigures]:
    """Yield the layperson who compares words by TF-IDF, if texts have words."""
    extraction = package("sklearn.feature_extraction.text", noun("linkage"), EXTRA)
    vectorizer = extraction.TfidfVectorizer(sublinear_tf=True)
    try:
        vectorizer.fit([*before, *after])
    except ValueError:  # no word at all
        return
    rows = vectorizer.transform(after)
    held = {
        "all": before,
        "ten": [" ".join(words) for words, _ in known],
        "rarest": [" ".join(words) for _, words in known],
    }
    for name, texts in held.items():
        scores = (vectorizer.transform(texts) @ rows.T).toarray()
        places = _places(scores, np.arange(len(before)))
        yield _figures("cosine", name, *places, len(before))


def _places(scores: Floats | Scores, right: Ints) -> tuple[Floats, Floats]:
    """Return how often the right candidate is picked, and its place, row by row.

    Ties are broken at random, and ranks are means. Sums of logarithms
    that differ only by rounding count as ties.
    """
    own = scores[np.arange(len(scores)), right][:, None]
    rounding = 1e-6 if scores.dtype == np.float32 else 1e-9
    size = np.where(np.isfinite(own), np.abs(own), 0.0)
    slack = rounding * np.maximum(size, 1.0)
    better = (scores > own + slack).sum(axis=1)
    equal = ((scores >= own - slack) & (scores <= own + slack)).sum(axis=1)
    return (better == 0) / np.maximum(equal, 1), better + (equal + 1.0) / 2.0


def _figures(
    attack: str, name: str, first: Floats, rank: Floats, count: int
) -> LinkageFigures:
    """Summarise; ties vary less than draws, so the limits are valid with them too."""
    total = float(first.sum())
    alpha = 1.0 - _CONFIDENCE
    low, _ = binomial.limits(int(np.floor(total + 1e-9)), count, alpha)
    _, high = binomial.limits(min(int(np.ceil(total - 1e-9)), count), count, alpha)
    return LinkageFigures(
        attack=attack,
        knows=_KNOWS[name],
        records=count,
        first=min(total / count, 1.0),
        low=low,
        high=high,
        median_rank=float(np.median(rank)),
        of_two=float(1.0 - (rank.mean() - 1.0) / (count - 1)),
    )
