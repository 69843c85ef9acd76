"""The WordNet 3.0 database: its files, the words of its glosses, the use of its lemmas.

How much a lemma is used divides a word among its parts of speech: the tagged counts of
WordNet (SemCor) and a prior for how ordinary a lemma is, with rules of thumb as its
constants. Verbs, adjectives and adverbs are more ordinary than nouns, several senses
and derived words more than one, names of animals and plants less. No corpus is read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dptext.errors import LexiconError
from dptext.tokens import kinds
from dptext.tokens.regex import key_of, kind_of, split

# Part of speech -> the ending of its files, in the order in which synsets are numbered.
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_TYPES = ("n", "v", "a", "r", "a")  # ss_type 1..5 of a sense key; 5 is a satellite


@dataclass(frozen=True, slots=True)
class Pointer:
    """A relation to another synset; source and target number lemmas, 0 for all."""

    symbol: str
    target: int
    source_lemma: int
    target_lemma: int


@dataclass(frozen=True, slots=True)
class Synset:
    """One meaning: its lemmas as written (spaces for underscores) and its gloss.

    file is the lexicographer's file number: 5 animals, 18 persons, 20 plants.
    """

    pos: str
    file: int
    lemmas: tuple[str, ...]
    pointers: tuple[Pointer, ...]
    gloss: str


@dataclass(frozen=True, slots=True)
class WordNet:
    """The database.

    senses: (lower-case lemma, part of speech) -> (synset, tagged count) by sense;
    exceptions: part of speech -> (irregular form, base form) pairs in file order.
    """

    synsets: tuple[Synset, ...]
    senses: Mapping[tuple[str, str], tuple[tuple[int, int], ...]]
    exceptions: Mapping[str, tuple[tuple[str, str], ...]]


def read_database(folder: Path) -> WordNet:
    """Read the database from a folder that holds data.noun, index.sense and so on."""
    raw = [row for pos in FILES for row in _synsets(folder, pos)]
    numbers = {(pos, offset): i for i, (pos, offset, *_) in enumerate(raw)}
    synsets = tuple(
        Synset(pos, file, lemmas, tuple(_resolved(pointers, numbers)), gloss)
        for pos, _, file, lemmas, pointers, gloss in raw
    )
    exceptions = {pos: tuple(_exceptions(folder, pos)) for pos in FILES}
    return WordNet(synsets, _senses(folder, numbers), exceptions)


def digest_of_database(folder: Path) -> str:
    """Return the sha256 of the names and contents of the files that `read` reads."""
    hasher = hashlib.sha256()
    data = (f"data.{ending}" for ending in FILES.values())
    odd = (f"{ending}.exc" for ending in FILES.values())
    for name in (*data, *odd, "index.sense"):
        content = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        hasher.update(f"{name} {content}\n".encode())
    return hasher.hexdigest()


def _lines(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        msg = (
            f"{path}: {error.strerror}; give the folder of the WordNet 3.0 database "
            "(Debian packages wordnet-base and wordnet-sense-index)"
        )
        raise LexiconError(msg) from None
    except UnicodeDecodeError:
        msg = f"{path}: not a WordNet 3.0 file"
        raise LexiconError(msg) from None
    return iter(text.splitlines())


_Raw = tuple[str, int, int, tuple[str, ...], list[tuple[str, str, int, str]], str]


def _synsets(folder: Path, pos: str) -> Iterator[_Raw]:
    path = folder / f"data.{FILES[pos]}"
    for number, line in enumerate(_lines(path), 1):
        if line.startswith("  "):  # the licence stands in front
            continue
        try:
            yield _synset(pos, line)
        except (ValueError, IndexError):
            msg = f"{path}: line {number} is not a WordNet 3.0 synset"
            raise LexiconError(msg) from None


def _synset(pos: str, line: str) -> _Raw:
    data, _, gloss = line.partition("|")
    parts = data.split()
    count = int(parts[3], 16)
    lemmas = tuple(_plain(parts[4 + 2 * i]) for i in range(count))
    at = 4 + 2 * count
    first = at + 1
    pointers = [
        (parts[i], parts[i + 2], int(parts[i + 1]), parts[i + 3])
        for i in range(first, first + 4 * int(parts[at]), 4)
    ]
    return pos, int(parts[0]), int(parts[1]), lemmas, pointers, gloss.strip()


def _plain(lemma: str) -> str:
    """Drop the adjective's place marker, "(a)", "(p)" or "(ip)"."""
    return lemma.partition("(")[0].replace("_", " ")


def _resolved(
    pointers: list[tuple[str, str, int, str]], numbers: Mapping[tuple[str, int], int]
) -> Iterator[Pointer]:
    for symbol, pos, offset, ends in pointers:
        target = numbers.get((pos, offset))
        if target is not None:
            yield Pointer(symbol, target, int(ends[:2], 16), int(ends[2:], 16))


def _senses(
    folder: Path, numbers: Mapping[tuple[str, int], int]
) -> dict[tuple[str, str], tuple[tuple[int, int], ...]]:
    path = folder / "index.sense"
    senses: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for number, line in enumerate(_lines(path), 1):
        try:
            key, offset, position, count = line.split()
            lemma, _, rest = key.partition("%")
            pos = _TYPES[int(rest[0]) - 1]
            synset = numbers[pos, int(offset)]
            sense = (int(position), synset, int(count))
        except (ValueError, IndexError, KeyError):
            msg = f"{path}: line {number} does not fit the data files"
            raise LexiconError(msg) from None
        senses.setdefault((lemma.replace("_", " "), pos), []).append(sense)
    return {
        key: tuple((synset, count) for _, synset, count in sorted(senses[key]))
        for key in sorted(senses)
    }


def _exceptions(folder: Path, pos: str) -> Iterator[tuple[str, str]]:
    for line in _lines(folder / f"{FILES[pos]}.exc"):
        form, *bases = line.split()
        for base in bases:
            yield form.replace("_", " "), base.replace("_", " ")


# An example is running English, a definition is not.
EXAMPLE_WEIGHT = 2.0
DEFINITION_WEIGHT = 1.0
# A lemma of several words ("New York") speaks for its parts.
PART_WEIGHT = 0.5


@dataclass(slots=True)
class Evidence:
    """Weighted counts by key, and of each key its written forms.

    used: gloss tokens; part_of: lemmas of several words that hold the word;
    written: (key, form) -> weight, sentence beginnings left out.
    """

    used: Counter[str] = field(default_factory=Counter)
    part_of: Counter[str] = field(default_factory=Counter)
    written: dict[str, Counter[str]] = field(default_factory=dict)

    def write(self, form: str, weight: float) -> None:
        """Count one written form."""
        self.written.setdefault(key_of(form), Counter())[form] += weight  # type: ignore[assignment]

    def display(self, key: str) -> str:
        """Return the commonest written form; of equals the first in the alphabet."""
        forms = self.written.get(key)
        if not forms:
            return key
        return min(forms, key=lambda form: (-forms[form], form))


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text as the splitter of dptext sees them."""
    for piece in split(text):
        if kind_of(piece) == kinds.WORD:
            yield piece.strip().replace("’", "'")


def divided(gloss: str) -> tuple[list[str], list[str]]:
    """Divide a gloss into definitions and quoted examples."""
    parts = gloss.split('"')
    return parts[::2], parts[1::2]


def gather_evidence(wordnet: WordNet) -> Evidence:
    """Count the words of all glosses and lemmas."""
    evidence = Evidence()
    for synset in wordnet.synsets:
        _gather_gloss(synset.gloss, evidence)
        _gather_lemmas(synset, evidence)
    for (lemma, _), senses in wordnet.senses.items():
        tagged = sum(count for _, count in senses)
        if tagged and " " not in lemma:
            for position, (synset_number, count) in enumerate(senses):
                weight = 3.0 * count + (position == 0)
                form = _as_in(wordnet.synsets[synset_number], lemma)
                evidence.write(form, weight)
    return evidence


def _as_in(synset: Synset, lemma: str) -> str:
    return next((form for form in synset.lemmas if form.lower() == lemma), lemma)


def _gather_gloss(gloss: str, evidence: Evidence) -> None:
    definitions, examples = divided(gloss)
    for text in definitions:
        for word in words_of(text):
            evidence.used[key_of(word)] += DEFINITION_WEIGHT  # type: ignore[assignment]
            evidence.write(word, DEFINITION_WEIGHT)
    for text in examples:
        for position, word in enumerate(words_of(text)):
            evidence.used[key_of(word)] += EXAMPLE_WEIGHT  # type: ignore[assignment]
            if position:
                evidence.write(word, EXAMPLE_WEIGHT)


def _gather_lemmas(synset: Synset, evidence: Evidence) -> None:
    for lemma in synset.lemmas:
        words = list(words_of(lemma))
        for word in words:
            evidence.write(word, 1.0)
            if words != [lemma]:
                evidence.part_of[key_of(word)] += PART_WEIGHT  # type: ignore[assignment]


TAGGED_WEIGHT = 3.0
# SemCor tags names with these lemmas, so that their counts are not those of the words.
NAME_TAGS = frozenset({"person", "group", "location"})
# Short words are used more (Zipf's law of abbreviation); up to these lengths.
_BREVITY = ((5, 2.5), (7, 2.0), (9, 1.4), (11, 1.0))
_LONG = 0.6
_ORDINARY = {"n": 0.5, "v": 1.0, "a": 0.8, "r": 0.8}
# Lexicographer files: animal, body, plant, substance; Latin and chemistry.
_TECHNICAL_FILES = frozenset({5, 20, 27})
_TECHNICAL = 0.25


def lemma_weights(wordnet: WordNet) -> dict[tuple[str, str], float]:
    """Return (lemma, part of speech) -> tagged use plus the prior for ordinariness."""
    return {
        (lemma, pos): TAGGED_WEIGHT * _tagged(lemma, senses)
        + _brevity(lemma) * _ordinary(wordnet, pos, [number for number, _ in senses])
        for (lemma, pos), senses in wordnet.senses.items()
        if " " not in lemma
    }


def _tagged(lemma: str, senses: tuple[tuple[int, int], ...]) -> int:
    return 0 if lemma in NAME_TAGS else sum(count for _, count in senses)


def _ordinary(wordnet: WordNet, pos: str, numbers: list[int]) -> float:
    synsets = [wordnet.synsets[number] for number in numbers]
    derived = sum(p.symbol in "+\\" for synset in synsets for p in synset.pointers)
    several = len(synsets) - 1
    prior = _ORDINARY[pos] + 0.7 * several + 0.15 * min(derived, 6)
    if all(synset.file in _TECHNICAL_FILES for synset in synsets):
        prior *= _TECHNICAL
    return prior


def _brevity(lemma: str) -> float:
    return next((factor for most, factor in _BREVITY if len(lemma) <= most), _LONG)
