"""The reader who knows public text of the same kind, and epsilons by what readers find.

The reader has the pairs of words of a public text, on top of those that ship. It never
reads a text whose pairs it has counted: public texts are divided by their hashes, so
that equal ones fall into the same half, and private texts that occur in the public one
are left out (`KnownTexts`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import pipeline, progress, streams
from dptext.budgets import uniform
from dptext.errors import InputError, UsageError
from dptext.evaluation.rows import one_text, records, texts_of
from dptext.lexicons.from_text import Texts
from dptext.measures import context_risk
from dptext.measures.context_risk import PUBLIC_TEXT, SAME_KIND, InContext, Reading
from dptext.pipeline import Pipeline
from dptext.profile import Part, Profile
from dptext.randomness import RunKey
from dptext.readers import Reader, ngrams
from dptext.readers.ngrams import Ngrams
from dptext.readers.training import PairCounts, SameKindReader
from dptext.types import Lexicon, Selection

# Words of a public text whose pairs are counted, and that are read, about.
_COUNTED, _READ = 2_000_000, 50_000
_CHARACTERS = 6  # of a word, with its space


@dataclass(frozen=True, slots=True)
class PublicText:
    """A file of public texts in these fields; digest is its sha256.

    format is that of the file, None where its name or content tells it.
    """

    path: str
    fields: tuple[str, ...]
    digest: str
    format: str | None = None

    @classmethod
    def of(
        cls, path: str, fields: Sequence[str] | None, format: str | None = None
    ) -> PublicText:
        """Take a file; of fields, `text` where none is named.

        Raises OSError, and UsageError for standard input.
        """
        if streams.is_standard(path):
            msg = "public text is read more than once: give a file, not standard input"
            raise UsageError(msg)
        streams.check_file(path, "public text")
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path, tuple(fields or ("text",)), digest, format)

    @classmethod
    def named(cls, path: str | None, fields: Sequence[str] | None) -> PublicText | None:
        """Take the file of an option, None where it is not given."""
        return None if path is None else cls.of(path, fields)

    @property
    def name(self) -> str:
        """Return the name of the file as JSON can hold it."""
        name = os.fsencode(Path(self.path).name)
        return name.decode("utf-8", "backslashreplace")

    def texts(self) -> Iterator[Sequence[str]]:
        """Read the texts, some at a time."""
        return texts_of([self.path], self.fields, self.format, 256)

    def joined(self) -> Iterator[Sequence[str]]:
        """Read the texts of each record as one."""
        selection = Selection(fields=self.fields, missing="pass")
        for row in records(self.path, selection, (), self.format):
            yield [one_text(row.texts)]

    def known(self) -> KnownTexts:
        """Return what tells which texts occur here, alone or as a whole record."""
        several = [self.joined] if len(self.fields) > 1 else []
        return KnownTexts(self.texts, *several)

    def none(self) -> InputError:
        """Return the error of a file without texts to count or to read."""
        named = ", ".join(self.fields)
        return InputError(
            f"{self.path}: no words to count or to read; give more text, or its field "
            f"with --field (read as {named})"
        )


class KnownTexts:
    """Tells which texts occur in public ones, whatever their capitals and spaces."""

    def __init__(self, *public: Texts) -> None:
        batches = [_hashes(batch) for texts in public for batch in texts()]
        self._hashes = np.unique(np.concatenate([np.empty(0, np.uint64), *batches]))

    def hold(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Tell which of these texts occur; none without words does."""
        hashes = _hashes(texts)
        if not len(self._hashes):
            return np.zeros(len(hashes), bool)
        at = np.searchsorted(self._hashes, hashes).clip(max=len(self._hashes) - 1)
        blank = np.array([not text.strip() for text in texts], bool)
        return np.asarray((self._hashes[at] == hashes) & ~blank)


def _hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hash of each text, the same for texts that are written alike."""
    return np.array([_hash(text) for text in texts], np.uint64)


def _hash(text: str) -> int:
    same = " ".join(text.split()).casefold().encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(same, digest_size=8).digest(), "little")


def halves(texts: Texts) -> tuple[Texts, Texts]:
    """Return two halves of texts that have no text in common."""

    def part(which: int) -> Texts:
        def read() -> Iterator[Sequence[str]]:
            for batch in texts():
                yield [text for text in batch if _hash(text) % 2 == which]

        return read

    return part(0), part(1)


def sample(texts: Texts, words: int = _READ) -> list[str]:
    """Return the first texts, of about so many words together."""
    chosen: list[str] = []
    left = words * _CHARACTERS
    for batch in texts():
        for text in batch:
            if left <= 0:
                return chosen
            chosen.append(text)
            left -= len(text)
    return chosen


def counted(lexicon: Lexicon, texts: Texts, most: float = _COUNTED) -> PairCounts:
    """Count the pairs of texts, of about so many words at most."""
    counts = PairCounts(lexicon)
    for batch in texts():
        counts.add(batch)
        if counts.words >= most:
            break
    return counts


class Pairs(NamedTuple):
    """The pairs of a kind of text, on top of those that ship; words, how many."""

    model: Ngrams
    words: int

    @classmethod
    def of(cls, pipeline: Pipeline, public: PublicText, texts: Texts) -> Pairs:
        """Count texts of a public file. Raises InputError without any, UsageError."""
        if not pipeline.channel.mechanism.has_log_probs:
            raise UsageError(
                f"--public-text: {pipeline.mechanism.name} has no exact output "
                "distribution of a word, which a reader needs; leave the option out, "
                "or take a mechanism that has one, such as rank"
            )
        counts = counted(pipeline.lexicon, texts)
        if not counts.words:
            raise public.none()
        background = ngrams.shipped(pipeline.channel)
        return cls(counts.model(1, {}, background), counts.words)

    def reader(self, pipeline: Pipeline) -> SameKindReader:
        """Return the reader with these pairs, as strong as it can be."""
        return SameKindReader.strongest(pipeline.channel, self.model)


def read_by_halves(pipeline: Pipeline, public: PublicText) -> InContext:
    """Return what a reader with one half of a public text finds in the other half.

    Of the other half about 50,000 words are read, drawn with a fixed seed.
    """
    first, second = halves(public.texts)
    pairs = Pairs.of(pipeline, public, first)
    readings = _read(pipeline, [pairs.reader(pipeline)], sample(second))
    if not readings:
        raise public.none()
    return InContext(public.name, "", readings, PUBLIC_TEXT, pairs.words)


def _read(
    ready: Pipeline, readers: Sequence[Reader], texts: Sequence[str]
) -> tuple[Reading, ...]:
    # Public texts: a fixed seed, so that a search can be repeated.
    randomness = ready.randomness(RunKey.from_seed(0))
    return context_risk.measure(ready, readers, [texts], randomness)


def calibrated(
    recipe: Profile, lexicon: Lexicon, target: float, reader: str, public: PublicText
) -> Crossing:
    """Return the epsilon of a profile at which a reader finds target of a public text.

    About 50,000 words are read. Raises UsageError and InputError.
    """
    if reader != SAME_KIND and public.digest in lexicon.meta.get("adapted_sha256", ()):
        raise UsageError(
            f"--reader {reader}: the pairs of lexicon {lexicon.name!r} have counted "
            f"{public.name}; leave the option out, which divides the text into halves"
        )
    ready = pipeline.build(recipe, lexicon)
    pairs = None
    if reader == SAME_KIND:
        first, second = halves(public.texts)
        pairs, texts = Pairs.of(ready, public, first), sample(second)
    else:
        texts = sample(public.texts)

    def read(epsilon: float) -> Reading:
        params = uniform.Params(epsilon=epsilon)
        ready = pipeline.build(replace(recipe, budget=Part("uniform", params)), lexicon)
        one: Reader = (
            pairs.reader(ready) if pairs else context_risk.named(ready, reader)
        )
        readings = _read(ready, [one], texts)
        if not readings:
            raise public.none()
        every = readings[0].classes[0]
        progress.say(
            f"epsilon {epsilon:.4g}: {reader} finds {every.success:.1%} of words "
            f"(95% interval: up to {every.high:.1%})"
        )
        return readings[0]

    return search_by_reader(read, target, ready.budget.description.high)


# No smaller epsilon is tried; how far a larger one than the first is sought.
_LEAST, _GROWTH, _LARGEST = 0.05, 1.2, 2.4
# The search ends where its limits are so near each other.
_NEAR = 0.01


class Crossing(NamedTuple):
    """An epsilon, and what the reader finds at it."""

    epsilon: float
    reading: Reading


def search_by_reader(
    read: Callable[[float], Reading], target: float, start: float
) -> Crossing:
    """Return about the largest epsilon at which a reader finds at most target.

    The upper limit of what it finds counts. read returns what the reader finds at an
    epsilon, the same each time; start, an epsilon at which it may find more. Raises
    UsageError where target is below or above all that it finds.
    """
    best, high = None, start
    while (reading := read(high)).high <= target:
        best = Crossing(high, reading)
        if high > start * _LARGEST:
            raise UsageError(
                f"risk {target:.2%} is out of reach: at epsilon {high:.3g} the reader "
                f"finds at most {reading.high:.2%} of this text; give a smaller risk"
            )
        high *= _GROWTH
    low = best.epsilon if best is not None else 0.0
    while high - low > _NEAR * high and high > _LEAST:
        middle = (low + high) / 2.0
        reading = read(middle)
        if reading.high > target:
            high = middle
        else:
            low, best = middle, Crossing(middle, reading)
    if best is None:
        msg = (
            f"risk {target:.2%} is out of reach: even at epsilon {high:.2g} the reader "
            "may find more; give a larger risk"
        )
        raise UsageError(msg)
    return best
