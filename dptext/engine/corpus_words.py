"""Builds a list of words that many people wrote, from private files, in one pass.

Per person it holds only the numbers of at most `partition.CAP` words, and of texts
nothing: a sum for each distinct word and, without a person field, nothing else.
"""

from __future__ import annotations

import contextlib
import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np

from dptext import ledger, lexicons, pipeline, profile, word_file
from dptext._version import __version__
from dptext.engine.job import Job, Warn
from dptext.engine.source import Source, find_subject
from dptext.errors import UsageError
from dptext.ledger import Amount, Charge, Limit
from dptext.lexicons import topics
from dptext.partition import CAP, Law
from dptext.profile import Profile
from dptext.randomness import Randomness, RunKey
from dptext.run.interface import option
from dptext.run.work import LedgerUse
from dptext.settings import digest_of_data
from dptext.streams.outputs import Release
from dptext.tokens.candidates import Candidates
from dptext.types import Lexicon, Record
from dptext.word_file import JOINED, OFFERED, PERSON, RECORD, Entry, WordFile

#: The promise of a list, where nothing else is asked for.
EPSILON, DELTA = 1.0, 1e-6
# Delta is at most this share of a person.
_SHARE = 10
# Changed whenever the same key, words and settings give other bits.
_ALGORITHM = "dptext words 1"


class Persons:
    """The words of each person, at most CAP, and their weighted sums.

    If a person has more words, those with the smallest keyed hashes are kept.
    """

    def __init__(self, law: Law, randomness: Randomness) -> None:
        self._law, self._randomness = law, randomness
        self._numbers: dict[str, int] = {}  # of each distinct word
        self._words: list[str] = []
        self._sums = array("q")
        self._held: dict[str, array[int]] = {}
        # Hashes of the words of persons that have CAP words.
        self._hashes: dict[str, array[int]] = {}
        # The first record of each person, for messages.
        self._first = array("q")
        self._digest = 0
        self._count = 0

    def add_record(self, words: Iterable[str]) -> None:
        """Count a record as a separate person."""
        name = str(self._count)
        self._held[name] = array("q")
        for word in words:
            self._hold(name, word)
        self._settle(self._held.pop(name))
        self._hashes.pop(name, None)

    def add_to(self, person: str, record: int, words: Iterable[str]) -> None:
        """Add the words of a record to its person; record: its number, from 0."""
        if person not in self._held:
            self._held[person] = array("q")
            self._first.append(record)
        for word in words:
            self._hold(person, word)

    def note(self, person: str, texts: Sequence[str]) -> None:
        """Make the draw depend on a record, so that two corpora with one key differ.

        If only words mattered, equal lists would reveal that an added record has
        no words that count.
        """
        parts = (part.encode("utf-8", "surrogatepass") for part in (person, *texts))
        self._add_digest(b"t" + b"".join(b"%d:" % len(part) + part for part in parts))

    def _add_digest(self, data: bytes) -> None:
        # A sum does not depend on the order of persons and records.
        hashed = int.from_bytes(self._randomness.keyed(data))
        self._digest = (self._digest + hashed) % 2**256

    def _hold(self, person: str, word: str) -> None:
        number = self._numbers.get(word)
        if number is None:
            number = self._numbers[word] = len(self._words)
            self._words.append(word)
            self._sums.append(0)
        held = self._held[person]
        if number in held:
            return
        if len(held) < CAP:
            held.append(number)
            return
        hashes = self._hashes.get(person)
        if hashes is None:
            known = (self._rank(person, self._words[each]) for each in held)
            hashes = self._hashes[person] = array("Q", known)
        rank, largest = self._rank(person, word), max(hashes)
        if rank < largest:
            position = hashes.index(largest)
            held[position], hashes[position] = number, rank

    def _rank(self, person: str, word: str) -> int:
        named = person.encode("utf-8", "surrogatepass")
        data = b"c%d:" % len(named) + named + word.encode()
        return int.from_bytes(self._randomness.keyed(data)[:8])

    def _settle(self, held: array[int]) -> None:
        """Add the weights of a person's words once all are known."""
        self._count += 1
        if not held:
            return
        weight = self._law.weight(len(held))
        for number in held:
            self._sums[number] += weight
        words = "\n".join(sorted(self._words[number] for number in held))
        self._add_digest(b"s" + words.encode())

    @property
    def subjects(self) -> Iterable[tuple[int, str]]:
        """Yield the named persons, each with one of their records."""
        return zip(self._first, self._held, strict=True)

    def finish(self) -> Sums:
        """Return the sums over all persons."""
        for held in self._held.values():
            self._settle(held)
        counted = sorted(
            (word, total)
            for word, total in zip(self._words, self._sums, strict=True)
            if total
        )
        return Sums(
            persons=self._count,
            words=tuple(word for word, _ in counted),
            sums=np.array([total for _, total in counted], np.int64),
            digest=self._digest.to_bytes(32),
        )


@dataclass(frozen=True, slots=True)
class Sums:
    """The weights of words summed over persons; private."""

    persons: int
    #: In order of spelling.
    words: tuple[str, ...]
    #: In steps of the grid: (m,).
    sums: np.typing.NDArray[np.int64]
    #: Digest of the records and words of all persons, under the key.
    digest: bytes

    def release(self, law: Law, randomness: Randomness) -> tuple[str, list[Draw]]:
        """Draw the list: its id, and the released words by descending sum."""
        nonce = randomness.keyed(b"n" + self.digest)[:16]
        bits = randomness.bits([nonce], np.zeros(len(self.words), np.int64))
        noisy = self.sums
        if len(noisy):
            noisy = law.add_noise(noisy, bits)
        kept = np.flatnonzero(noisy >= law.threshold).tolist()
        kept.sort(key=lambda row: (-int(noisy[row]), self.words[row]))
        drawn = [Draw(self.words[row], int(noisy[row])) for row in kept]
        return randomness.keyed(b"d" + nonce)[:16].hex(), drawn


@dataclass(frozen=True, slots=True)
class Draw:
    """A released word and its noisy sum in steps."""

    word: str
    sum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Building:
    """The settings for building a list."""

    job: Job
    recipe: Profile
    key: RunKey
    epsilon: float
    delta: float
    ledger: LedgerUse = field(default_factory=LedgerUse)

    def build(self, warn: Warn, release: Release) -> tuple[WordFile, list[Charge]]:
        """Read the files and draw the list; return it with the charges of its persons.

        The release gets a file for unreadable records if one is requested.
        Raises UsageError for too few persons, a delta too large for them, and a profile
        that copies no common words; nothing has been released then.
        """
        if self.ledger.ledger is not None and self.key.origin == "seed":
            raise UsageError(
                f"{option('seed')}: anyone who knows it can repeat the draw, so a "
                f"ledger has nothing to count; use {option('key-file')}"
            )
        law = Law.calibrate(self.epsilon, self.delta)
        lexicon = lexicons.find(self.recipe.lexicon, warn=warn)
        candidates = _candidates(self.recipe, lexicon)
        subject = self.ledger.subject
        facts = {
            "algorithm": _ALGORITHM,
            "epsilon": law.epsilon,
            "delta": law.delta,
            "cap": CAP,
            "sigma": law.sigma,
            "unit": RECORD if subject is None else PERSON,
            "subject": ascii(subject),
            "lists": candidates.digest,
            "profile": self.recipe.digest(),
            "lexicon": lexicon.digest,
        }
        randomness = Randomness(self.key, digest_of_data(facts))
        persons = Persons(law, randomness)
        self._read(candidates, persons, warn, release)
        sums = persons.finish()
        self._check(sums.persons, law)
        draw, drawn = sums.release(law, randomness)
        listed = WordFile(
            epsilon=law.epsilon,
            delta=law.delta,
            unit=RECORD if subject is None else PERSON,
            subject=subject or "",
            persons=sums.persons,
            cap=CAP,
            sigma=law.sigma,
            rho=round(law.rho, 6),
            lists=candidates.digest,
            profile=self.recipe.digest(),
            version=__version__,
            key=self.key.origin,
            draw=draw,
            entries=tuple(
                Entry(
                    mark=JOINED if candidates.joins(each.word) else OFFERED,
                    word=each.word,
                    weight=f"{each.sum * law.step:.1f}",
                )
                for each in drawn
            ),
        )
        amount = Amount.rounded_up(listed.stated, listed.delta)
        nonce = bytes.fromhex(draw) if self.key.origin == "key-file" else None
        charges = [
            Charge(number, value, amount, nonce) for number, value in persons.subjects
        ]
        return listed, charges

    def _read(
        self, candidates: Candidates, persons: Persons, warn: Warn, release: Release
    ) -> None:
        subject, path = self.ledger.subject, self.job.work.quarantine
        unread = None if path is None else release.open_quarantine(path)
        source = Source(self.job, unread, warn=warn)
        with contextlib.ExitStack() as stack:
            source.open(stack)
            count = 0
            for batch in pipeline.batches(source.records(), self.job.batch_size):
                count += len(batch)
                for record, words in _words_of(batch, candidates):
                    if subject is None:
                        persons.note("", record.texts)
                        persons.add_record(words)
                    else:
                        person = find_subject(record, subject)
                        persons.note(person, record.texts)
                        persons.add_to(person, record.ordinal, words)
            source.check_read(count)
        if source.faults:
            warn(f"unreadable records left out: {source.faults:,}")

    def _check(self, persons: int, law: Law) -> None:
        """Raise UsageError for too few persons, or too large a delta for them."""
        unit = "records" if self.ledger.subject is None else "persons"
        most = 1 / (_SHARE * max(persons, 1))
        if persons < law.rho:
            raise UsageError(
                f"{persons:,} {unit}: too few; with these settings about {law.rho:.0f} "
                "must write a word for it to be listed; give more records, or a "
                f"larger {option('epsilon')}"
            )
        if self.delta > most:
            digits = math.ceil(-math.log10(most))
            raise UsageError(
                f"{option('delta', f'{self.delta:g}')}: too large for {persons:,} "
                f"{unit}; give 1e-{digits} or less"
            )

    def write(
        self,
        listed: WordFile,
        charges: Sequence[Charge],
        output: str | None,
        release: Release,
    ) -> None:
        """Write the file atomically, after its persons were charged.

        Raises RefusedError if a person would lose more than the limit.
        """
        use = self.ledger
        with contextlib.ExitStack() as stack:
            opened = release.open(output, held=use.ledger is not None)
            opened.stream.write(word_file.encode(listed))
            if use.ledger is not None:
                assert use.limit is not None
                assert use.subject is not None
                limit = Limit(use.limit, use.limit_delta or 0.0)
                book = stack.enter_context(ledger.open_ledger(use.ledger, create=True))
                entry = stack.enter_context(
                    ledger.begin(
                        book,
                        limit,
                        field=use.subject,
                        settings=listed.draw,
                        parts=[] if opened.part is None else [opened.part],
                        leaves_words=False,
                    )
                )
                entry.reserve(charges)
                opened.complete()
                entry.leave()
            release.commit()


def repeat_words(records: Sequence[Record], recipe: Profile) -> bool:
    """Return whether a word would be listed in twice as many records.

    The answer depends on the private texts: only for their owner.
    """
    law = Law.calibrate(EPSILON, DELTA)
    persons = Persons(law, Randomness(RunKey.fresh(), "a look at first records"))
    candidates = _candidates(recipe, lexicons.find(recipe.lexicon))
    for _, words in _words_of(records, candidates):
        persons.add_record(words)
    return bool((2 * persons.finish().sums >= law.threshold).any())


def _candidates(recipe: Profile, lexicon: Lexicon) -> Candidates:
    """Return the candidates of a profile. Raises UsageError if it has none."""
    if topics.topic_meta(lexicon) is not None:
        raise UsageError(
            "word lists are only for profiles that replace words; choose "
            "another profile"
        )
    tokens = profile.in_language(recipe, lexicon).tokens
    return Candidates(tokens, lexicon, lexicons.find("builtin"))


def _words_of(
    batch: Sequence[Record], candidates: Candidates
) -> Iterable[tuple[Record, list[str]]]:
    """Yield each record of a batch with its candidate words."""
    texts = [text for record in batch for text in record.texts]
    numbers = [n for n, each in enumerate(batch) for _ in repeat(None, len(each.texts))]
    words: list[list[str]] = [[] for _ in batch]
    for text, word in candidates.find(texts, np.array(numbers, np.int64)):
        words[numbers[text]].append(word)
    return zip(batch, words, strict=True)
