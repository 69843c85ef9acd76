"""A run's profile and overrides; how vectors are pooled."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dptext.errors import UsageError
from dptext.overrides import make_overrides
from dptext.run.interface import noun, option, refuse_both
from dptext.run.marks import (
    GUARANTEE,
    LEDGER,
    MEASURES,
    PYTHON,
    ByFile,
    NotIn,
    Number,
    Option,
    one_of,
)
from dptext.settings import read_value

if TYPE_CHECKING:
    from dptext.types import JsonObject

#: The profile of a run that names none.
DEFAULT = "readable"
#: The profile for programs, which replaces every word. A run that names a risk or a
#: mechanism and no profile starts from it: they are about all words.
FOR_PROGRAMS = "balanced"
#: The profile of topics.
_FOR_TOPICS = "topics"
#: The parts of a profile, and their settings, that choices decide.
DECIDED = {
    "risk": ("budget", "risk"),
    "epsilon": ("budget", "epsilon"),
    "mechanism": ("mechanism", "name"),
    "decode": ("decoder", "name"),
    "lexicon": ("lexicon", "name"),
    "topics": ("lexicon", "name"),
    "words": ("tokens", "words"),
}


def read_keys(
    typed: Iterable[str], name: str = "set", example: str = "tokens.number=mask"
) -> JsonObject:
    """Parse an option's keys and values. Raises UsageError."""
    keys: JsonObject = {}
    for each in typed:
        path, equals, text = each.partition("=")
        *parents, key = path.split(".")
        shown = option(name, each)
        if not equals or not all((*parents, key)):
            raise UsageError(f"{shown}: write KEY=VALUE, such as {example}")
        inner = keys
        for parent in parents:
            part = inner.setdefault(parent, {})
            if not isinstance(part, dict):
                raise UsageError(f"{shown}: {parent} has no keys of its own")
            inner = part
        inner[key] = read_value(text)
    return keys


def is_yaml(value: str, path: Path) -> bool:
    """Return whether a profile is given as a file."""
    return path.suffix in (".yaml", ".yml")


def is_word_file(value: str, path: Path) -> bool:
    """Return whether a typed word is the name of a file of words."""
    return value.endswith(".txt") or ("/" in value and path.is_file())


def _is_topics(value: str, path: Path) -> bool:
    """Return whether topics are given as a file: FILE.json or FILE.json/16."""
    return any(each.suffix and each.is_file() for each in (path, path.parent))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """A profile and the overrides for it."""

    profile: Annotated[
        str | os.PathLike[str] | None,
        Option(
            f"Profile of `dptext list`, or a .yaml file. Default: {DEFAULT} "
            f"({FOR_PROGRAMS} for a risk).",
            GUARANTEE,
            metavar="NAME",
            short="-p",
        ),
        ByFile(is_yaml),
    ] = None
    risk: Annotated[
        str | float | None,
        Option(
            "Epsilon for a share of right guesses: 10%.",
            GUARANTEE,
            metavar="SHARE",
        ),
        ByFile(),
    ] = None
    epsilon: Annotated[
        float | None,
        Option(
            "Epsilon per word.", GUARANTEE, parse=Number(kind=float, low=0, above=True)
        ),
        ByFile(),
    ] = None
    mechanism: Annotated[
        str | None,
        Option("Mechanism with its default parameters.", GUARANTEE, metavar="NAME"),
        ByFile(),
    ] = None
    decode: Annotated[
        str | None,
        Option("Decoder: ngram, none (words as drawn), ...", GUARANTEE, metavar="NAME"),
        ByFile(),
    ] = None
    lexicon: Annotated[
        str | os.PathLike[str] | None,
        Option("Lexicon of `dptext lexicon list`, or file.", GUARANTEE, metavar="NAME"),
        ByFile(lambda value, path: path.suffix != "" and path.exists()),
    ] = None
    topics: Annotated[
        str | None,
        Option(
            "Topics for whole texts, of `dptext topics`.",
            GUARANTEE,
            metavar="NAME",
        ),
        ByFile(_is_topics),
    ] = None
    words: Annotated[
        str | os.PathLike[str] | None,
        Option("Keep words of a `dptext words` file.", GUARANTEE, metavar="FILE"),
        ByFile(lambda value, path: True),
    ] = None
    languages: Annotated[
        tuple[str, ...],
        Option(
            "Language of records, as in de; repeatable.",
            GUARANTEE,
            metavar="CODE",
            spelled="language",
            python="languages",
        ),
        ByFile(),
    ] = ()
    marks: Annotated[
        bool, Option(r"Marks like \[name 1], no invented words.", GUARANTEE), ByFile()
    ] = False
    #: Added to the keep list of the profile.
    keep_words: Annotated[
        tuple[str, ...],
        Option(
            "Public word to keep, or .txt file of words.",
            GUARANTEE,
            metavar="WORD|FILE",
        ),
        ByFile(is_word_file),
    ] = ()
    #: Keys laid over those of the profile, over the other choices as well.
    overrides: Annotated[
        Mapping[str, object],
        Option(
            "Set a key: tokens.number=mask; repeatable.",
            GUARANTEE,
            collect=read_keys,
            metavar="KEY=VALUE",
            spelled="set",
            python="overrides",
        ),
        ByFile(),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise UsageError for two vocabularies, TypeError for invalid names."""
        for name in ("lexicon", "topics", "words"):
            value = getattr(self, name)
            if not isinstance(value, str | os.PathLike | None):
                raise TypeError(f"{name}: give a name, not {type(value).__name__}")
        refuse_both(
            "topics", self.topics is not None, "lexicon", self.lexicon is not None
        )
        refuse_both("marks", self.marks, "decode", self.decode is not None)

    @property
    def name(self) -> str:
        """Return the profile's name; by default it depends on the other choices.

        Raises TypeError for anything other than a name or a path.
        """
        if not isinstance(self.profile, str | os.PathLike | None):
            raise TypeError(
                "profile: give a name or the path of a .yaml file, not "
                f"{type(self.profile).__name__}"
            )
        if self.profile is not None:
            return os.fspath(self.profile)
        if self.topics is not None:
            return _FOR_TOPICS
        laid = self.keys
        about_all = [_setting(laid, *DECIDED[name]) for name in ("risk", "mechanism")]
        return DEFAULT if about_all == [None, None] else FOR_PROGRAMS

    @property
    def keys(self) -> JsonObject:
        """Return the keys that override the profile. Raises UsageError on conflicts."""
        return self._laid(self.overrides)

    def check(self) -> None:
        """Raise UsageError for an override that replaces another choice of this run."""
        without, laid = self._laid({}), self.keys
        for name, (part, key) in DECIDED.items():
            value = _setting(without, part, key)
            if getattr(self, name) is not None and _setting(laid, part, key) != value:
                raise UsageError(
                    f"{noun(name)}: {noun('set')} has another {part}; give only one of "
                    "them"
                )

    def _laid(self, overrides: Mapping[str, object]) -> JsonObject:
        topics = self.topics
        return make_overrides(
            overrides,
            noun,
            risk=self.risk,
            epsilon=self.epsilon,
            mechanism=self.mechanism,
            decode=self.decode,
            marks=self.marks or None,
            keep_words=self.keep_words or None,
            words=self.words,
            languages=self.languages or None,
            lexicon=self.lexicon if topics is None else f"topics:{topics}",
        )


def _setting(keys: JsonObject, part: str, key: str) -> object:
    """Return a setting of a profile part; a part may be just its name."""
    value = keys.get(part)
    if isinstance(value, dict):
        return value.get(key)
    return value if key == "name" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooling:
    """What a vector represents: a word, a text or all texts of a person."""

    pool: Annotated[
        str,
        Option(
            "word: a vector per word. mean, sif (weighted by frequency) or sentence "
            "(needs a model): a vector per text.",
            GUARANTEE,
            parse=one_of("word", "mean", "sif", "sentence"),
            metavar="NAME",
        ),
    ] = "mean"
    model: Annotated[
        str | None,
        Option("Sentence model: a folder or package.", GUARANTEE, metavar="NAME"),
    ] = None
    most: Annotated[
        int,
        Option(
            "Maximum number of vectors per subject, which share epsilon (or mu).",
            LEDGER,
            parse=Number(kind=int, low=1, high=1_000_000),
            hidden=True,
        ),
        NotIn(PYTHON, "the texts of a call have no subjects"),
    ] = 1
    public: Annotated[
        str | None,
        Option(
            "Public texts, one per line, for the directions of privunit and to "
            "measure sentence vectors. Default: frequent words.",
            MEASURES,
            metavar="FILE",
            hidden=True,
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The noise of vectors."""

    mu: Annotated[
        float | None,
        Option(
            "Mu of Gaussian differential privacy, instead of an epsilon.",
            GUARANTEE,
            parse=Number(kind=float, low=1e-6, high=1000),
            hidden=True,
        ),
    ] = None
    clip: Annotated[
        float | None,
        Option(
            "Clip longer vectors to this length. Default: 1.",
            GUARANTEE,
            parse=Number(kind=float, low=1e-6, high=1e5),
        ),
    ] = None
