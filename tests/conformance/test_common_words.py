"""The guarantee of texts with copied common words, tested with changed words.

Two texts are compared as the statement says: equal pieces, marks, forms and copied
words, and classes in the same places. Whole outputs are looked at, decoded and joined,
of the lexicon and the profile that ship.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from dptext import pipeline, profile
from dptext.pipeline import Pipeline
from dptext.randomness import Randomness, RunKey
from dptext.tokens import kinds
from dptext.types import Ids, Lexicon, Record, Words

CLASSES = {
    "person": ("Sarah", "Bob", "Qwertz", "Yilmaz", "McKenzie"),
    "place": ("Berlin", "Florida", "Canada"),
    "nationality": ("Norwegian", "German", "Kenyan"),
    "language": ("Welsh", "Dutch", "French"),
    "nationalities": ("germans", "kenyans"),
    "organisation": ("Sony", "Toshiba"),
    "month": ("May", "June", "February"),
    "weekday": ("Monday", "Friday"),
    "digit": ("1", "8", "5"),
    "digits": ("11", "18", "42", "80"),
    "year": ("1845", "2021"),
    "amount": ("$1", "$8", "$5"),
    "amount in words": ("1 dollars", "8 dollars"),
}
#: Words that are replaced with epsilon, but those that are common where they stand.
REPLACED = (
    "cancer",
    "qzzx",
    "lizard",
    "walrus",
    "heretic",
    "vbnm",
    "Qwzz",
    "IT",
    "J",
    "Captain",
    "Prime",
    "right",
    "Great",
    "lizards",
    "qzzxs",
    "heretics",
    "zyxing",
    "right-wing",
    "unearthly",
)
CONTEXTS = (
    "The {} was great.",
    "It was a {}, an {}! Sarah said so",
    "well-{} and ({}) of {}'s",
    "So Dr. {} met {} {}, and {} {} {} too.",
    "An {} days (an {}) of a {} day, {} day.",
    "hi {} young, talk to {} and mr. {}! Name: {} hill",
    "on May 5, 2021 the {} came to Berlin for $5",
    "No {}\nGreat. The",
    "Prime Minister {} of the {}, J. {} and Captain {} {}",
)


class ByNumber(Randomness):
    """Random bits that follow from the number of a record alone."""

    def nonce(self, record: Record) -> bytes:
        """Return the nonce of an empty record of that number."""
        return super().nonce(Record(record.ordinal, (), None))


@pytest.fixture(scope="module")
def readable(builtin: Lexicon) -> Pipeline:
    """Return the profile that ships, ready."""
    return pipeline.build(profile.load("readable"), builtin)


def outputs(ready: Pipeline, texts: Sequence[str], seed: int) -> list[str]:
    """Return what becomes of texts, all with the same random bits."""
    randomness = ByNumber(RunKey.from_seed(seed), ready.identity)
    records = [Record(0, (text,), None) for text in texts]
    return [text for (text,) in ready.privatize(records, randomness).texts]


@pytest.mark.parametrize("name", CLASSES)
def test_nothing_within_a_class_is_in_the_output(readable: Pipeline, name: str) -> None:
    """Equal random bits give equal outputs: all texts of a pattern have one law.

    Of digits below three the pattern of equal ones is not shown.
    """
    words = CLASSES[name]
    for context, seed in itertools.product(CONTEXTS[:5], range(3)):
        places = context.count("{}")
        some = itertools.islice(itertools.product(words, repeat=places), 40)
        by_pattern: dict[tuple[int, ...], list[str]] = {}
        for chosen in (*some, *((word,) * places for word in words)):
            # A name of the context may be equal, too.
            every = (*chosen, "Sarah")
            pattern = () if "digit" in name else tuple(map(every.index, every))
            by_pattern.setdefault(pattern, []).append(context.format(*chosen))
        for texts in by_pattern.values():
            of_kind = {tuple(flags(readable, text)) for text in texts}
            assert len(of_kind) == 1, "the texts are not of one class"
            assert len({*outputs(readable, texts, seed)}) == 1, texts


def flags(ready: Pipeline, text: str) -> list[int]:
    """Return the kinds of the pieces of a text."""
    return [int(each) & kinds.KIND for each in ready.tokenizer.words([text]).flags]


def copies(words: Words, count: int) -> Words:
    """Return the words of a text, as often as is asked for."""
    size, several = len(words.pieces), np.arange(count)
    assert words.read_as is not None
    assert words.copied is not None
    assert words.grammar is not None
    return Words(
        pieces=words.pieces * count,
        flags=np.tile(words.flags, count),
        ends=(several + 1) * size,
        positions=(words.positions + several[:, None] * size).ravel(),
        texts=np.repeat(several, len(words.ids)),
        ids=np.tile(words.ids, count),
        read_as=np.tile(words.read_as, count),
        copied=None if words.copied is None else np.tile(words.copied, count),
        grammar=None if words.grammar is None else np.tile(words.grammar, count),
        formed={
            at + size * number: layout
            for number in several.tolist()
            for at, layout in words.formed.items()
        },
    )


def written(ready: Pipeline, words: Words, draws: Ids) -> list[str]:
    """Return the output of a text for each row of draws (m, n) of its n words."""
    randomness = ByNumber(RunKey.from_seed(0), ready.identity)
    nonce = [randomness.nonce(Record(0, (), None))]
    anew = ready.joiner.positions_to_redraw(words)
    ready.joiner.redraw(words, randomness.bits(nonce, anew * 0), anew)
    many, drawn = copies(words, len(draws)), draws.ravel().astype(np.int32)
    decoded = ready.decode(many, drawn, np.full(len(drawn), 4.0))
    bits = randomness.bits(nonce, np.zeros(len(drawn), np.int64))
    return ready.joiner.join(many, decoded, bits).texts


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_output_depends_on_draws_alone(readable: Pipeline, context: str) -> None:
    """For equal draws all compared texts have the same output, and draws lose epsilon.

    Compared texts agree in the grammatical forms and capitals of words.
    So no output is more than e^epsilon times as likely for one word as for another.
    """
    places, mechanism = context.count("{}"), readable.mechanism
    epsilon = readable.budget.description.high
    drawn = np.flatnonzero(mechanism.probs(np.zeros(1, np.int32), epsilon)[0])
    # Of one word all draws that there are.
    draws = {1: drawn[:, None]} if places == 1 else {}
    # Texts are compared where they show the same capitals and forms.
    seen: dict[tuple[bytes, bytes], list[str]] = {}
    laws = []
    for word in REPLACED:
        words = readable.tokenizer.words([context.format(*[word] * places)])
        count = len(words.ids)
        if not count:
            # Common at the beginning of a sentence or in lower case, or a name beside
            # words that show one: not compared.
            continue
        if count not in draws:
            draws[count] = np.random.default_rng(5).choice(drawn, (400, count))
        shown = words.flags.tobytes(), np.asarray(words.grammar).tobytes()
        texts = written(readable, words, draws[count].astype(np.int32))
        assert seen.setdefault(shown, texts) == texts, word
        laws.append(mechanism.probs(words.inputs[:1], epsilon)[0, drawn])
    assert len(laws) >= len(seen) + 4, "too few texts are compared"
    law = np.log(np.stack(laws))
    assert (law.max(axis=0) - law.min(axis=0)).max() <= epsilon + 1e-9
