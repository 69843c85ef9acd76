"""A public epsilon for each class of word, agreed before any text is read.

The class follows from the word alone and a public table (by frequency, by part of
speech, or a table of one's own), so that a text has no say in the epsilon of its other
words. Two words of different classes are drawn under different epsilons: what they lose
is in docs/guarantees.md, 5.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dptext import budgets
from dptext.errors import UsageError
from dptext.randomness import RandomBits
from dptext.settings import Prepared, content_of, digest_of_bytes
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
    """epsilons by class; by frequency, part-of-speech or table (a CSV file).

    Classes by frequency are top-100, top-1000, top-10000 and rare, by part of speech
    noun, verb, adjective, adverb, name and function-word; every table also has the
    classes number and unknown; "other" stands for classes that are not named.
    """

    epsilons: dict[str, budgets.Epsilon]
    by: str = "frequency"
    table: str = ""

    def listed(self) -> str:
        """Write the epsilons in one line."""
        return ", ".join(f"{name} {value:g}" for name, value in self.epsilons.items())

    def used(self) -> str:
        """Say by what epsilons go."""
        return f"Epsilon by {self.by.replace('-', ' ')}: {self.listed()}."


@dataclass(frozen=True, slots=True)
class Classes:
    """names (c,); of (V + 1,) int64, the class of each row, the last for unknown.

    content: the digest of the table, by the setting that names it.
    """

    names: tuple[str, ...]
    rows: Ints
    content: Mapping[str, str]

    def epsilons(self, by_name: Mapping[str, float]) -> Eps:
        """Return the epsilon of each class: (c,) float64; "other" for the rest.

        Raises UsageError for a class that does not exist and one without epsilon.
        """
        for name in by_name:
            if name != OTHER and name not in self.names:
                known = ", ".join(dict.fromkeys((*self.names, OTHER)))
                raise UsageError(f"budget: epsilons: no class {name!r}; known: {known}")
        missing = [name for name in self.names if name not in by_name]
        if missing and OTHER not in by_name:
            raise UsageError(
                f"budget: epsilons: none for {', '.join(missing)}; give one, or one "
                f"for {OTHER}"
            )
        return np.array([by_name.get(name, by_name.get(OTHER)) for name in self.names])


@dataclass(frozen=True, slots=True)
class ByClass(Prepared):
    """What budgets by classes have in common."""

    classes: Classes

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digest of the table, where there is one."""
        return self.classes.content


def classes(lexicon: Lexicon, by: str, table: str) -> Classes:
    """Return the classes of a lexicon's words.

    table is the path of a CSV file with the columns word and class, for by "table".
    """
    if by not in BY:
        raise UsageError(f"budget: by: {by!r} is not one of {', '.join(BY)}")
    if (by == "table") != bool(table):
        raise UsageError("budget: give table: FILE together with by: table")
    content: dict[str, str] = {}
    # A small vocabulary may have no word of a class; its name is known all the same.
    fixed: tuple[str, ...] = ()
    if by == "frequency":
        fixed = (*(name for name, _ in _BANDS), _RARE)
        named = [_RARE] * len(lexicon.words)
        for name, end in reversed(_BANDS):
            named[:end] = [name] * min(end, len(named))
    elif by == "table":
        data = content_of(table, "table")
        named = _by_table(lexicon, table, data)
        content["table"] = digest_of_bytes(data)
    elif lexicon.parts is None:
        raise UsageError(
            f"lexicon {lexicon.name} holds no parts of speech; use by: frequency, or "
            "by: table with a file of your own"
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


def _by_table(lexicon: Lexicon, path: str, data: bytes) -> list[str]:
    """Take the rows of a table, path for messages; others are of class other."""
    rows: dict[str, str] = {}
    try:
        # Excel begins such a file with a mark of its encoding.
        reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        if {"word", "class"} - set(reader.fieldnames or ()):
            raise UsageError(f"{path}: needs a header with the columns word and class")
        for row in reader:
            if not row["word"] or not row["class"]:
                raise UsageError(f"{path}:{reader.line_num}: give a word and its class")
            if rows.setdefault(row["word"].lower(), row["class"]) != row["class"]:
                raise UsageError(
                    f"{path}:{reader.line_num}: this word has another class above"
                )
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text") from None
    except csv.Error as error:
        raise UsageError(f"{path}: {error}") from None
    return [rows.get(word.lower(), OTHER) for word in lexicon.words]


@dataclass(frozen=True, slots=True, kw_only=True)
class Params(ClassParams):
    """epsilons by class, and what the classes go by."""

    EXAMPLE: ClassVar = {"epsilons": {"top-100": 10.0, "top-1000": 9.0, "other": 7.0}}

    def prepare(self, lexicon: Lexicon) -> Declared:
        """Look the epsilon of each word of the vocabulary up."""
        classes_ = classes(lexicon, self.by, self.table)
        epsilons = classes_.epsilons(self.epsilons)[classes_.rows]
        return Declared(classes_, epsilons, self.used())


@dataclass(frozen=True, slots=True)
class Declared(ByClass, budgets.Budget):
    """epsilons of the rows, (V + 1,) float64; used, where they come from."""

    epsilons: Eps
    used: str

    @property
    def description(self) -> BudgetDescription:
        """Say that epsilon follows from the word, by a public table."""
        low, high = float(self.epsilons.min()), float(self.epsilons.max())
        return BudgetDescription(BudgetKind.TYPE, low, high, used=(self.used,))

    def spread(self, words: Words, bits: RandomBits) -> Eps:
        """Return the epsilon of each word's class, (n,) float64."""
        return self.epsilons[words.ids]
