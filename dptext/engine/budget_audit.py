"""Audits a budget: the epsilons that words are drawn with, against the settings.

The texts contain all words of the vocabulary and unknown ones, in many
lengths. The expected values are computed from the settings and the order of the
vocabulary alone, without the budget's code.

Texts and draws are public: words of the lexicon and public random bits. All audits of a
release use them.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dptext.budgets import (
    class_first,
    declared,
    linguistic,
    per_text,
    position,
    uniform,
)
from dptext.budgets import released_past as past
from dptext.budgets.declared import ByClass
from dptext.guarantees.audit.findings import ALARM, MultipleTests
from dptext.mechanisms import WordMechanism
from dptext.pipeline import Draws, Pipeline
from dptext.randomness import RandomBits, RunKey
from dptext.tokens import numbers
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import (
    PARTS,
    BudgetDescription,
    BudgetKind,
    Eps,
    Floats,
    Guarantee,
    Ids,
    Ints,
    Lexicon,
    Record,
    Strategy,
)

SEED = 5
# Texts that are compared at once.
COMPARED = 24
# Words that no vocabulary of a language holds.
UNKNOWN = ("qzxvj", "vkqzz", "xjqwk", "zzgqx", "wqxzk", "jvqzx")
_NUMBERS = ("7", "4711", "1,250", "3.5", "1999")
_IDENTIFIERS = ("a.b@example.org", "2021-03-04", "+44 20 7946 0958", "http://a.b/c")
# Numbers of words of the texts, in turn.
_LENGTHS = (1, 2, 3, 5, 8, 40, 200)
# One word in this many is unknown.
_EVERY = 12
# The vocabulary is repeated until texts have at least this many words.
_LEAST_WORDS = 20_000
# Sums of floats are rounded: a larger deviation, in nats, is a fault.
_ROOM = 1e-8


@dataclass(frozen=True, eq=False)
class PublicDraws(WordMechanism):
    """Draws from a public pool of words, whatever the text, and records requests."""

    #: (m,) rows that the audited mechanism can draw.
    pool: Ids
    #: ids (n,) and eps (n,) of each call.
    asked: list[tuple[Ids, Eps]]

    def guarantee(self, epsilon: float) -> Guarantee:
        """State that there is no guarantee."""
        return Guarantee.nothing("words of an audit", source="dptext audit")

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw words of the pool from the bits alone: (n,)."""
        self.asked.append((ids, eps))
        return self.pool[bits.below(bits.integers(0)[:, 0], len(self.pool))]


def scripted(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline with draws that do not depend on the text."""
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
    """Return rows of words that tokenize to themselves, and of those never replaced.

    The rest are parts of words, or words that tokenize to another word.
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
    """Return rows of lower-case words that tokenize to themselves."""
    replaced, _ = readable_rows(pipeline)
    words = pipeline.lexicon.words
    plain = [row for row in replaced.tolist() if words[row].isalpha()]
    lower = [row for row in plain if words[row].islower()]
    return np.array(lower or plain or replaced.tolist(), np.int64)


def alike(pipeline: Pipeline, turn: int) -> list[list[str]]:
    """Return variants of texts in which every word has another original."""
    rng = np.random.default_rng((SEED, turn))
    words, rows = pipeline.lexicon.words, plain_rows(pipeline)
    policy, budget = pipeline.profile.tokens, pipeline.budget
    begins = np.concatenate(([0], np.cumsum(rng.integers(1, 12, COMPARED))))
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
    words_of = pipeline.tokenizer.words
    hidden = [each for each in hidden if words_of([each]).by_text() == [1]]
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


def audit_budget(pipeline: Pipeline, public: Pipeline) -> tuple[str, str]:
    """Return a description of the test, and the fault found, "" if none.

    public: the pipeline with `PublicDraws`, which records the requested draws.
    """
    texts = _texts(pipeline)
    records = [Record(number, (text,), None) for number, text in enumerate(texts)]
    draws = public.draws(records, pipeline.randomness(RunKey.from_seed(SEED)))
    covered = (
        f"the epsilons of {len(draws.eps):,} words in {len(texts):,} texts of 1 to "
        f"{max(_LENGTHS)} words, among them every word of the vocabulary that is read "
        f"alone, are those of the settings (budget {pipeline.profile.budget.name}) "
        "and those that the mechanism is given"
    )
    fault = (
        _handed_over(draws, public)
        or _drawn_too_often(draws, public)
        or _passed_limit(draws, pipeline.budget.description)
        or _unlike_settings(draws, pipeline)
    )
    return covered, fault


def _texts(pipeline: Pipeline) -> list[str]:
    """Return texts with all words that tokenize to themselves, and unknown words."""
    rng = np.random.default_rng(SEED)
    rows, _ = readable_rows(pipeline)
    times = -(-_LEAST_WORDS // max(len(rows), 1))
    names = pipeline.lexicon.words
    words = [names[row] for _ in range(times) for row in rng.permutation(rows).tolist()]
    for at in range(0, len(words), _EVERY):
        words.insert(at, UNKNOWN[0])
    texts, begin, turn = [], 0, 0
    while begin < len(words):
        length = _LENGTHS[turn % len(_LENGTHS)]
        texts.append(" ".join(words[begin : begin + length]))
        begin, turn = begin + length, turn + 1
    return texts


def _handed_over(draws: Draws, public: Pipeline) -> str:
    """Describe a mechanism call whose epsilon is not the reported one, else ""."""
    mechanism = public.mechanism
    assert isinstance(mechanism, PublicDraws)
    ids = np.concatenate([each for each, _ in mechanism.asked])
    eps = np.concatenate([each for _, each in mechanism.asked])
    reported = set(zip(draws.words.inputs.tolist(), draws.eps.tolist(), strict=True))
    drawn = set(zip(ids.tolist(), eps.tolist(), strict=True))
    if reported == drawn:
        return ""
    words = public.lexicon.words
    row, epsilon = min(drawn - reported or reported - drawn)
    name = "an unknown word" if row < 0 else repr(words[row])
    return f"{name} is drawn with an epsilon ({epsilon:g}) other than is reported"


def _drawn_too_often(draws: Draws, public: Pipeline) -> str:
    """Describe a word that is drawn for more positions than stated, else ""."""
    mechanism, ids = public.mechanism, draws.words.ids
    assert isinstance(mechanism, PublicDraws)
    asked, due = sum(len(each) for each, _ in mechanism.asked), len(ids)
    if public.profile.strategy is Strategy.RECORD:
        # Each text is a record.
        due = len(np.unique(np.stack([draws.words.texts, ids]), axis=1).T)
    elif public.profile.strategy is Strategy.DATA_SET:
        due = len(np.unique(ids))
    strategy = public.profile.strategy
    if asked == due:
        return ""
    return f"strategy {strategy} draws {asked:,} words where {due:,} are due"


def _passed_limit(draws: Draws, stated: BudgetDescription) -> str:
    """Describe the stated limit that draws exceed, "" if none."""
    eps, texts = draws.eps, draws.words.texts
    most, least = float(eps.max()), float(eps.min())
    if not np.isfinite(eps).all() or most > stated.high * (1.0 + _ROOM):
        return (
            f"a word is drawn with epsilon {most:g}, "
            f"but the statement says {stated.high:g}"
        )
    if least < stated.low * (1.0 - _ROOM):
        return (
            f"a word is drawn with epsilon {least:g}, at least {stated.low:g} is said"
        )
    totals = np.bincount(texts, eps, minlength=len(draws.words.ends))
    if stated.total is not None and totals.max() > stated.total * (1.0 + _ROOM):
        return (
            f"a text spends {totals.max():g} in all, "
            f"but the statement says {stated.total:g}"
        )
    allowed = np.array(draws.words.by_text()) * (stated.rate or 0.0)
    exceeds = totals > allowed * (1.0 + _ROOM)
    if stated.rate is not None and exceeds.any():
        at = int(exceeds.argmax())
        return f"a text spends {totals[at]:g} in all, {allowed[at]:g} is said"
    return ""


def _unlike_settings(draws: Draws, pipeline: Pipeline) -> str:
    """Describe a word drawn with another epsilon than the settings give, else ""."""
    params, lexicon = pipeline.profile.budget.params, pipeline.lexicon
    texts, eps = draws.words.texts, draws.eps
    counts = np.array(draws.words.by_text())[texts]
    expected: Eps | None = None
    if isinstance(params, uniform.Params):
        expected = np.full(len(eps), params.epsilon)
    elif isinstance(params, per_text.Params):
        expected = params.epsilon / counts
    elif isinstance(params, position.Params):
        table = np.array([*params.epsilons, params.rest])
        positions = np.arange(len(texts)) - np.searchsorted(texts, texts)
        expected = table[np.minimum(positions, len(table) - 1)]
    elif isinstance(params, declared.Params):
        expected = _by_class(params, lexicon)[draws.words.ids]
    elif isinstance(params, class_first.Params):
        return _class_drawn_first(draws, params, lexicon)
    elif isinstance(params, past.Params):
        expected = _after_the_past(draws, params, lexicon, counts)
    elif isinstance(params, linguistic.Params):
        return _check_shares(draws, params, counts)
    if expected is None:
        return ""
    off = np.abs(eps - expected) > _ROOM * expected
    if not off.any():
        return ""
    at = int(off.argmax())
    row = int(draws.words.ids[at])
    name = "an unknown word" if row < 0 else repr(lexicon.words[row])
    return f"{name} is drawn with epsilon {eps[at]:g}, by the settings {expected[at]:g}"


def class_names(params: declared.ClassParams, lexicon: Lexicon) -> list[str]:
    """Return the class of each vocabulary word and of unknown words: V + 1."""
    size = len(lexicon.words)
    if params.by == "frequency":
        named = ["rare"] * size
        for row in range(min(size, 10_000)):
            named[row] = "top-10000"
            if row < 1000:
                named[row] = "top-1000"
            if row < 100:
                named[row] = "top-100"
    elif params.by == "table":
        with open(params.table, encoding="utf-8-sig", newline="") as file:
            table = {row["word"].lower(): row["class"] for row in csv.DictReader(file)}
        named = [table.get(word.lower(), "other") for word in lexicon.words]
    else:
        assert lexicon.parts is not None
        named = [PARTS[part] for part in lexicon.parts.tolist()]
    for row in numbers.rows(lexicon).tolist():
        named[row] = "number"
    return [*named, "unknown"]


def _by_class(params: declared.ClassParams, lexicon: Lexicon) -> Floats:
    """Return the epsilon of each row's class: (V + 1,)."""
    epsilons = params.epsilons
    other = epsilons.get("other", np.nan)
    named = class_names(params, lexicon)
    return np.array([epsilons.get(name, other) for name in named])


def _class_drawn_first(
    draws: Draws, params: class_first.Params, lexicon: Lexicon
) -> str:
    """Compare the epsilons of each true class with randomised response."""
    epsilons, named = params.epsilons, np.array(class_names(params, lexicon))
    known = {"number", "unknown", *named.tolist()}
    if params.by == "frequency":
        known |= {"top-100", "top-1000", "top-10000", "rare"}
    elif params.by == "part-of-speech":
        known |= set(PARTS)
    other = epsilons.get("other", np.nan)
    of_class = {name: epsilons.get(name, other) for name in known}
    total = np.exp(params.first) + len(known) - 1.0
    true = named[draws.words.ids]
    tests, values = MultipleTests(), sorted(set(of_class.values()))
    outside = ~np.isin(draws.eps, values)
    if outside.any():
        return f"epsilon {draws.eps[outside][0]:g} is that of no class"
    groups = [draws.eps[true == name] for name in sorted(known)]
    for name, spent in zip(sorted(known), groups, strict=True):
        others = [of_class[each] for each in known if each != name]
        chances = np.array(
            [
                others.count(value) / total
                + (np.exp(params.first) / total if of_class[name] == value else 0.0)
                for value in values
            ]
        )
        hits = np.array([int((spent == value).sum()) for value in values])
        tests.take(
            counts=hits,
            draws=len(spent),
            chances=np.minimum(chances, 1.0),
            alarm=ALARM / len(known),
            named=f"class {name} is drawn as itself or another",
        )
    worst = tests.worst
    if worst is None:
        return ""
    return (
        f"{worst.event}: {worst.count:,} of {worst.draws:,} words, expected "
        f"{worst.probability * worst.draws:.4g}"
    )


def _after_the_past(
    draws: Draws, params: past.Params, lexicon: Lexicon, counts: Floats
) -> Eps:
    """Return the epsilon of each word given the words drawn before it: (n,)."""
    after = _by_class(params, lexicon)
    total = params.epsilon * (1.0 - 1e-9)
    expected = np.empty(len(draws.eps))
    remaining, text, earlier = 0.0, -1, 0
    for at, of_text in enumerate(draws.words.texts.tolist()):
        if of_text != text:
            text, earlier, remaining, wanted = of_text, 0, total, params.start
        least = min(params.min, total / counts[at])
        most = remaining - least * (counts[at] - earlier - 1)
        expected[at] = min(max(wanted, least), max(most, least))
        remaining -= expected[at]
        wanted, earlier = float(after[draws.drawn[at]]), earlier + 1
    return expected


def _check_shares(draws: Draws, params: linguistic.Params, counts: Floats) -> str:
    """Describe the limit of a shared total that a word or text exceeds, else ""."""
    each = params.epsilon_per_word
    totals = np.full(len(counts), params.epsilon) if each is None else each * counts
    sums = np.bincount(draws.words.texts, draws.eps)[draws.words.texts]
    exceeds = sums > totals * (1.0 + _ROOM)
    if exceeds.any():
        at = int(exceeds.argmax())
        return f"a text spends {sums[at]:g} in all, by the settings {totals[at]:g}"
    most = np.full(len(counts), params.max or np.inf)
    if params.max is None and params.variant == "clamped":
        most = np.maximum(3.0 * totals / counts, params.min or 0.0)
    exceeds = draws.eps > most * (1.0 + _ROOM)
    if exceeds.any():
        at = int(exceeds.argmax())
        return f"a word is drawn with epsilon {draws.eps[at]:g}, at most {most[at]:g}"
    return ""
