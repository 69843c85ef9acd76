"""Reading the WordNet database files: synsets, senses with counts, exceptions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dptext.errors import LexiconError

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


def read(folder: Path) -> WordNet:
    """Read the database from a folder that holds data.noun, index.sense and so on."""
    raw = [row for pos in FILES for row in _synsets(folder, pos)]
    numbers = {(pos, offset): i for i, (pos, offset, *_) in enumerate(raw)}
    synsets = tuple(
        Synset(pos, file, lemmas, tuple(_resolved(pointers, numbers)), gloss)
        for pos, _, file, lemmas, pointers, gloss in raw
    )
    exceptions = {pos: tuple(_exceptions(folder, pos)) for pos in FILES}
    return WordNet(synsets, _senses(folder, numbers), exceptions)


def digest(folder: Path) -> str:
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
