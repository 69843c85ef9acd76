"""The choices of a run: a profile, and the keys laid over it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dptext.errors import UsageError
from dptext.overrides import make_overrides
from dptext.run.interface import noun, option, refuse_both
from dptext.run.marks import GUARANTEE, ByFile, Option
from dptext.run.values import Number
from dptext.settings import read_value

if TYPE_CHECKING:
    from dptext.types import JsonObject

#: The profile of a run that names none.
DEFAULT = "balanced"


def read_keys(
    typed: Iterable[str], name: str = "set", example: str = "tokens.number=mask"
) -> JsonObject:
    """Return the keys and values of an option. Raises UsageError."""
    keys: JsonObject = {}
    for each in typed:
        path, equals, text = each.partition("=")
        *parents, key = path.split(".")
        shown = option(name, each)
        if not equals or not all((*parents, key)):
            raise UsageError(f"{shown}: write KEY=VALUE, as in {example}")
        inner = keys
        for parent in parents:
            part = inner.setdefault(parent, {})
            if not isinstance(part, dict):
                raise UsageError(f"{shown}: {parent} has no keys of its own")
            inner = part
        inner[key] = read_value(text)
    return keys


def is_yaml(value: str, path: Path) -> bool:
    """Tell whether a profile is a file."""
    return path.suffix in (".yaml", ".yml")


def _is_lexicon(value: str, path: Path) -> bool:
    return path.suffix != "" and path.exists()


def _is_topics(value: str, path: Path) -> bool:
    """Tell whether topics are a file, as FILE.json or FILE.json/16."""
    return any(each.suffix and each.is_file() for each in (path, path.parent))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """A profile, and what is changed of it."""

    profile: Annotated[
        str,
        Option(
            "Profile of `dptext list`, or a .yaml file.",
            GUARANTEE,
            metavar="NAME",
            short="-p",
        ),
        ByFile(is_yaml),
    ] = DEFAULT
    risk: Annotated[
        str | float | None,
        Option(
            "Choose epsilon so that the best guess of a word is right at most this "
            "often, as in 10%.",
            GUARANTEE,
            metavar="SHARE",
        ),
        ByFile(),
    ] = None
    epsilon: Annotated[
        float | None,
        Option(
            "Epsilon per word.",
            GUARANTEE,
            parse=Number(kind=float, low=0, above=True),
            metavar="NUMBER",
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
        Option(
            "Lexicon of `dptext lexicon list`, or a file.", GUARANTEE, metavar="NAME"
        ),
        ByFile(_is_lexicon),
    ] = None
    topics: Annotated[
        str | None,
        Option(
            "Topics for whole texts, of `dptext topics`.", GUARANTEE, metavar="NAME"
        ),
        ByFile(_is_topics),
    ] = None
    marks: Annotated[
        bool,
        Option(
            r"Marks like \[name 1], no invented words.",
            GUARANTEE,
        ),
        ByFile(),
    ] = False
    #: Keys laid over those of the profile, over the other choices as well.
    overrides: Annotated[
        Mapping[str, object],
        Option(
            "Override one key of the profile or policy, as in tokens.number=mask; "
            "repeatable.",
            GUARANTEE,
            collect=read_keys,
            metavar="KEY=VALUE",
            spelled="set",
        ),
        ByFile(),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise UsageError for two vocabularies, TypeError for names that are none."""
        for name in ("lexicon", "topics"):
            value = getattr(self, name)
            if not isinstance(value, str | os.PathLike | None):
                raise TypeError(f"{name}: give a name, not {type(value).__name__}")
        refuse_both(
            "topics",
            self.topics is not None,
            "lexicon",
            self.lexicon is not None,
        )
        refuse_both("marks", self.marks, "decode", self.decode is not None)

    @property
    def name(self) -> str:
        """Return the name of the profile; topics have another default."""
        is_usual = self.topics is not None and self.profile == DEFAULT
        return "topics" if is_usual else os.fspath(self.profile)

    @property
    def keys(self) -> JsonObject:
        """Return the keys laid over the profile. Raises UsageError on conflicts."""
        topics = self.topics
        return make_overrides(
            self.overrides,
            noun,
            risk=self.risk,
            epsilon=self.epsilon,
            mechanism=self.mechanism,
            decode=self.decode,
            marks=self.marks or None,
            lexicon=self.lexicon if topics is None else f"topics:{topics}",
        )
