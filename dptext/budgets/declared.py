"""A public epsilon for each class of words, fixed before any text is read.

The class depends on the word alone, by a public table (by frequency, by part of speech,
or a file), so that the epsilon of a word does not depend on the rest of its text. Two
words of different classes are drawn under different epsilons: docs/guarantees.md, 5,
has their loss.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dptext import budgets, randomness, settings
from dptext.errors import UsageError
from dptext.tokens import numbers
from dptext.types import PARTS, BudgetDescription, BudgetKind, Eps, Ints, Lexicon, Words

BY = ("frequency", "part-of-speech", "table")
OTHER = "other"
# Classes that every table has.
UNKNOWN, A_NUMBER = "unknown", "number"
_BANDS = (("top-100", 100), ("top-1000", 1000), ("top-10000", 10_000))
_RARE = "rare"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassParams(budgets.Params):
    """Settings of budgets with an epsilon per class of words.

    Classes by frequency are top-100, top-1000, top-10000 and rare, by part of speech
    noun, verb, adjective, adverb, name and function-word; number and unknown are
    classes of every table.
    """

    #: By class; "other" is for classes that are not named.
    epsilons: dict[str, budgets.Epsilon]
    #: frequency, part-of-speech or table.
    by: str = "frequency"
    #: A CSV file, for by "table".
    table: str = ""

    def listed(self) -> str:
        """Format the epsilons on one line."""
        return ", ".join(f"{name} {value:g}" for name, value in self.epsilons.items())

    def used(self) -> str:
        """Describe where the epsilons come from, for reports."""
        return f"Epsilon by {self.by.replace('-', ' ')}: {self.listed()}."


@dataclass(frozen=True, slots=True)
class Classes:
    """The class of each word of a lexicon."""

    names: tuple[str, ...]
    #: The number of the class of each row, (V + 1,), the last for the unknown word.
    rows: Ints
    #: The digest of the table, by the setting that names it.
    content: Mapping[str, str]

    def epsilons(self, by_name: Mapping[str, float]) -> Eps:
        """Return the epsilon of each class: (c,) float64.

        Raises UsageError for an unknown class, and for a class without epsilon.
        """
        for name in by_name:
            if name != OTHER and name not in self.names:
                known = ", ".join(dict.fromkeys((*self.names, OTHER)))
                raise UsageError(f"budget: epsilons: no class {name!r}; known: {known}")
        missing = [name for name in self.names if name not in by_name]
        if missing and OTHER not in by_name:
            raise UsageError(
                f"budget: epsilons: missing for {', '.join(missing)}; add them, or a "
                f"value for {OTHER}"
            )
        return np.array([by_name.get(name, by_name.get(OTHER)) for name in self.names])


@dataclass(frozen=True, slots=True)
class ByClass(settings.Prepared):
    """What budgets with word classes have in common."""

    classes: Classes

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digest of the class table, if there is one."""
        return self.classes.content


def classes(lexicon: Lexicon, by: str, table: str) -> Classes:
    """Return the class of each word of a lexicon.

    table: path of a CSV file with the columns word and class; for by="table".
    """
    if by not in BY:
        raise UsageError(f"budget: by: {by!r} is not one of {', '.join(BY)}")
    if (by == "table") != bool(table):
        raise UsageError("budget: give table: FILE together with by: table")
    content: dict[str, str] = {}
    # Valid names even if a small vocabulary has no word of the class.
    fixed: tuple[str, ...] = ()
    if by == "frequency":
        fixed = (*(name for name, _ in _BANDS), _RARE)
        named = [_frequency_class(row) for row in range(len(lexicon.words))]
    elif by == "table":
        data = settings.read_content(table, "table")
        named = _by_table(lexicon, table, data)
        content["table"] = settings.digest_of_bytes(data)
    elif lexicon.parts is None:
        raise UsageError(
            f"lexicon {lexicon.name} has no parts of speech; use by: frequency, or by: "
            "table with your own file"
        )
    else:
        fixed = PARTS
        named = [PARTS[number] for number in lexicon.parts]
    for row in numbers.rows(lexicon).tolist():
        named[row] = A_NUMBER
    named.append(UNKNOWN)
    names = tuple(dict.fromkeys((*fixed, *sorted(set(named)), UNKNOWN, A_NUMBER)))
    number = {name: position for position, name in enumerate(names)}
    return Classes(names, np.array([number[name] for name in named]), content)


def _frequency_class(row: int) -> str:
    """Return a word's class from its frequency rank, counted from 0."""
    return next((name for name, end in _BANDS if row < end), _RARE)


def _by_table(lexicon: Lexicon, path: str, data: bytes) -> list[str]:
    """Return each word's class from a CSV file; "other" for words not in it."""
    rows: dict[str, str] = {}
    try:
        # Excel begins such files with a byte order mark.
        reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        if {"word", "class"} - set(reader.fieldnames or ()):
            raise UsageError(f"{path}: needs a header with the columns word and class")
        for row in reader:
            if not row["word"] or not row["class"]:
                raise UsageError(
                    f"{path}:{reader.line_num}: expected a word and its class"
                )
            if rows.setdefault(row["word"].lower(), row["class"]) != row["class"]:
                raise UsageError(
                    f"{path}:{reader.line_num}: this word already has another class; "
                    "remove one line"
                )
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text") from None
    except csv.Error as error:
        raise UsageError(f"{path}: {error}") from None
    return [rows.get(word.lower(), OTHER) for word in lexicon.words]


@dataclass(frozen=True, slots=True, kw_only=True)
class Params(ClassParams):
    """Settings of the budget."""

    EXAMPLE: ClassVar = {"epsilons": {"top-100": 10.0, "top-1000": 9.0, "other": 7.0}}

    def prepare(self, lexicon: Lexicon) -> Declared:
        """Look up the epsilon of each word of the vocabulary."""
        word_classes = classes(lexicon, self.by, self.table)
        epsilons = word_classes.epsilons(self.epsilons)[word_classes.rows]
        return Declared(word_classes, epsilons, self.used())


@dataclass(frozen=True, slots=True)
class Declared(ByClass, budgets.Budget):
    """Budget with a public epsilon per class of words."""

    #: Of the rows: (V + 1,).
    epsilons: Eps
    #: The source of the epsilons, for reports.
    used: str

    @property
    def description(self) -> BudgetDescription:
        """Describe a budget with a public table of epsilons."""
        low, high = float(self.epsilons.min()), float(self.epsilons.max())
        return BudgetDescription(BudgetKind.TYPE, low, high, used=(self.used,))

    def spread(self, words: Words, bits: randomness.RandomBits) -> Eps:
        """Return the epsilon of each word's class, (n,) float64."""
        return self.epsilons[words.ids]
