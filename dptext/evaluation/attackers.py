"""Attacker with public text of the same kind, and epsilons chosen by its success.

The attacker has the word pairs of a public text in addition to the shipped ones. It
never attacks a text whose pairs it has counted: a public text is divided into halves by
units, groups of records independent of each other (dptext.measures.independence),
and private texts that occur in the public text are left out.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from dptext import calibration, progress, streams
from dptext.attackers import Attacker, ngrams
from dptext.attackers.contexts import TextKind
from dptext.attackers.reader import SameKindAttacker
from dptext.attackers.training import KindCounts, PairCounts
from dptext.budgets import uniform
from dptext.errors import InputError, UsageError
from dptext.evaluation.rows import one_text, records
from dptext.lexicons.from_text import Texts
from dptext.measures import context_risk
from dptext.measures.context_risk import (
    PUBLIC_TEXT,
    SAME_KIND,
    ContextAttack,
    InContext,
    Reading,
)
from dptext.measures.independence import Recurring, Units
from dptext.pipeline import Pipeline
from dptext.profile import Part, Profile
from dptext.randomness import RunKey
from dptext.run.interface import noun, option
from dptext.run.selection import Selection
from dptext.types import Lexicon

# About how many words of a public text to count pairs of, and to read.
_COUNTED, _READ = 2_000_000, 50_000
_CHARACTERS = 6  # of a word, with its space
# The texts of records, read anew at each call, in batches.
Records = Callable[[], Iterable[Sequence[tuple[str, ...]]]]
Counts = TypeVar("Counts", PairCounts, KindCounts)
# No smaller epsilon is tried; how far a larger one than the first is sought.
_LEAST, _GROWTH, _LARGEST = 0.05, 1.2, 2.4
# The search ends where its limits are so near each other.
_NEAR = 0.01


@dataclass(frozen=True, slots=True)
class PublicText:
    """A file of public texts, read by a selection; digest is its sha256."""

    path: str
    selection: Selection
    digest: str

    @classmethod
    def from_file(
        cls, path: str, fields: Sequence[str] | None, format: str | None = None
    ) -> PublicText:
        """Describe a file; the field is `text` by default.

        Raises OSError, and UsageError for standard input.
        """
        if streams.is_stream(path):
            raise UsageError(
                "public text is read several times: give a file, not a pipe"
            )
        streams.check_file(path, "public text")
        digest = streams.digest_of_file(path)
        named = tuple(fields or ("text",))
        return cls(path, Selection(named, format=format, missing="pass"), digest)

    @classmethod
    def named(cls, path: str | None, fields: Sequence[str] | None) -> PublicText | None:
        """Return the public text named by an option, or None."""
        return None if path is None else cls.from_file(path, fields)

    @property
    def name(self) -> str:
        """Return the name of the file in a form that JSON can hold."""
        return os.fsencode(Path(self.path).name).decode("utf-8", "backslashreplace")

    def texts(self) -> Iterator[Sequence[str]]:
        """Yield the texts in batches."""
        for batch in self.records():
            yield list(chain.from_iterable(batch))

    def records(self) -> Iterator[Sequence[tuple[str, ...]]]:
        """Yield the texts of records in batches."""
        rows = iter(records(self.path, self.selection))
        while batch := [row.texts for row in islice(rows, 256)]:
            yield batch

    def hashes(self) -> frozenset[int]:
        """Return the hashes of the texts, and of each record's joined text."""
        every = chain.from_iterable(self.records())
        each = (text for texts in every for text in (*texts, one_text(texts)))
        return frozenset(text_hash(text) for text in each if text.strip())

    def recurring(self) -> Recurring:
        """Return a detector of exact or near repeats of its texts and records."""
        recurring = Recurring()
        for texts in chain.from_iterable(self.records()):
            recurring.add(texts)
        return recurring

    def none(self) -> InputError:
        """Return the error for a file that has no texts to count or read."""
        named = ", ".join(self.selection.fields)
        return InputError(
            f"{self.path}: too few distinct records with words to learn from some and "
            f"attack others; give more, or their field with {option('field')} (read as "
            f"{named})"
        )


def text_hash(text: str) -> int:
    """Return the hash of a text, ignoring case and white space."""
    same = " ".join(text.split()).casefold().encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(same, digest_size=8).digest(), "little")


class Halves:
    """Two halves of the records, 0 and 1, without repeats across them."""

    def __init__(self, records: Records) -> None:
        self._records = records
        units = Units()
        for batch in records():
            for texts in batch:
                units.add(texts)
        self._half = units.halves()
        labels = units.labels()
        # How many units with words each half has: fewer than two give no interval.
        self.units = [len({*labels[self._half == half].tolist()}) for half in (0, 1)]

    def records(self, half: int) -> Iterator[Sequence[tuple[str, ...]]]:
        """Yield the records of a half in batches."""
        number = 0
        for batch in self._records():
            in_half = self._half[number : number + len(batch)] == half
            number += len(batch)
            yield [texts for texts, one in zip(batch, in_half, strict=True) if one]

    def texts(self, half: int) -> Iterator[Sequence[str]]:
        """Yield the texts of a half in batches."""
        for batch in self.records(half):
            yield list(chain.from_iterable(batch))


def sample(records: Records, words: int = _READ) -> list[tuple[str, ...]]:
    """Return the first records, totalling about `words` words."""
    chosen: list[tuple[str, ...]] = []
    remaining = words * _CHARACTERS
    for texts in chain.from_iterable(records()):
        if remaining <= 0:
            break
        chosen.append(texts)
        remaining -= sum(map(len, texts))
    return chosen


def count_pairs(counts: Counts, texts: Texts, most: float = _COUNTED) -> Counts:
    """Count word pairs of texts, up to about `most` words."""
    for batch in texts():
        counts.add(batch)
        if counts.words >= most:
            break
    return counts


def count_kind(ready: Pipeline, texts: Texts) -> KindCounts:
    """Count n-grams of texts as an attacker on a pipeline does."""
    return count_pairs(KindCounts(ready.lexicon, ready.profile.tokens), texts)


def learn_kind(
    ready: Pipeline, public: PublicText, texts: Texts
) -> tuple[TextKind, int]:
    """Learn a kind of text on top of the shipped pairs; return it and its word count.

    Raises InputError if there are no words, and UsageError.
    """
    if not ready.channel.mechanism.has_log_probs:
        raise UsageError(
            f"{noun('public-text')}: {ready.mechanism.name} has no exact output "
            "distribution, which an attacker needs; leave the option out, or use a "
            "mechanism such as rank"
        )
    counts = count_kind(ready, texts)
    if not counts.words:
        raise public.none()
    return counts.kind(ngrams.shipped_model(ready.channel)), counts.words


def read_by_halves(
    pipeline: Pipeline, public: PublicText
) -> tuple[tuple[InContext, ...], tuple[InContext, ...]]:
    """Attack each half of a public text with what was learned from the other half.

    About 50,000 words are read, drawn with a fixed seed. Returns the success of an
    attacker with the other half's pairs, and the figures for written words: none from a
    third party.
    """
    halves = Halves(public.records)
    kind, words = learn_kind(pipeline, public, partial(halves.texts, 0))
    attacker = SameKindAttacker(pipeline.channel, kind)
    attack = _attack(pipeline, attacker, public, sample(partial(halves.records, 1)))
    read = InContext(
        corpus=public.name,
        model="",
        readings=attack.result(),
        kind=PUBLIC_TEXT,
        counted=words,
    )
    written = attack.written()
    if written is None:
        return (read,), ()
    return (read,), (InContext(public.name, "", (written,), PUBLIC_TEXT),)


def _attack(
    ready: Pipeline,
    attacker: Attacker,
    public: PublicText,
    records: Sequence[tuple[str, ...]],
) -> ContextAttack:
    """Run an attacker on records. Raises InputError if they have no words."""
    # Public texts: a fixed seed, so that a search can be repeated.
    randomness = ready.randomness(RunKey.from_seed(0))
    attack = context_risk.attack_records(ready, [attacker], [records], randomness)
    if not attack.result():
        raise public.none()
    return attack


def calibrate_by_attacker(
    recipe: Profile, lexicon: Lexicon, target: float, attacker: str, public: PublicText
) -> tuple[float, Reading]:
    """Return the epsilon at which an attacker guesses `target` of a public text.

    Also returns its reading. About 50,000 words are read. Raises UsageError and
    InputError.
    """
    if attacker != SAME_KIND and public.digest in lexicon.meta.get(
        "adapted_sha256", ()
    ):
        raise UsageError(
            f"{noun('attacker')} {attacker}: the pairs of lexicon {lexicon.name!r} "
            "have "
            f"counted {public.name}; leave the option out, which "
            "divides the text into halves"
        )
    ready = calibration.build(recipe, lexicon)
    if attacker == SAME_KIND:
        halves = Halves(public.records)
        kind, _ = learn_kind(ready, public, partial(halves.texts, 0))
        chosen = sample(partial(halves.records, 1))
    else:
        kind, chosen = None, sample(public.records)

    def read(epsilon: float) -> Reading:
        budget = Part("uniform", uniform.Params(epsilon=epsilon))
        ready = calibration.build(replace(recipe, budget=budget), lexicon)
        if kind is None:
            tried = context_risk.named(ready, attacker)
        else:
            tried = SameKindAttacker(ready.channel, kind)
        (reading,) = _attack(ready, tried, public, chosen).result()
        progress.say(
            f"epsilon {epsilon:.4g}: {attacker} finds {reading.success:.1%} of words "
            f"(95% interval: up to {reading.high:.1%})"
        )
        return reading

    return search_by_attacker(read, target, ready.budget.description.high)


def search_by_attacker(
    read: Callable[[float], Reading], target: float, start: float
) -> tuple[float, Reading]:
    """Return about the largest epsilon at which an attacker guesses at most target.

    Also returns its reading there; the upper confidence limit counts. read returns what
    the attacker guesses at an epsilon, deterministically; start: an epsilon at which it
    may guess more. Raises UsageError if target is outside the range that it reaches.
    """
    best, high = None, start
    while (reading := read(high)).high <= target:
        best = high, reading
        if high > start * _LARGEST:
            raise UsageError(
                f"risk {target:.2%} is out of reach: at epsilon {high:.3g} the "
                f"attacker finds at most {reading.high:.2%} of this text; "
                "give a smaller risk"
            )
        high *= _GROWTH
    low = best[0] if best else 0.0
    while high - low > _NEAR * high and high > _LEAST:
        middle = (low + high) / 2.0
        reading = read(middle)
        if reading.high > target:
            high = middle
        else:
            low, best = middle, (middle, reading)
    if best is None:
        raise UsageError(
            f"risk {target:.2%} is out of reach: even at epsilon {high:.2g} the "
            "attacker may find more; give a larger risk"
        )
    return best
