"""One call of a program: settings made ready, a key, what was counted, the report."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, TypedDict

from dptext import choices, lexicons, pipeline
from dptext import profile as profiles
from dptext.engines.tally import Tally
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.randomness import RunKey
from dptext.types import Record, Selection

if TYPE_CHECKING:
    from dptext.report.document import Document

Path = str | os.PathLike[str]
Missing = Literal["fail", "pass"]


class Choices(TypedDict, total=False):
    """What is chosen by name beside a profile, as the options of `dptext sanitize`."""

    risk: str | float | None
    epsilon: float | None
    mechanism: str | None
    lexicon: Path | None
    decode: str | None
    key: bytes | Path | None


def load_profile(name: Path, overrides: Mapping[str, object] | None = None) -> Profile:
    """Read a profile by name or path; overrides are laid over its keys.

    Raises UsageError for an unknown name, key or value.
    """
    return profiles.load(os.fspath(name), overrides)


def open_pipeline(
    profile: Path = profiles.DEFAULT, overrides: Mapping[str, object] | None = None
) -> Pipeline:
    """Make a profile ready, its lexicon opened: the public work, done once.

    Raises UsageError and LexiconError.
    """
    recipe = load_profile(profile, overrides)
    return pipeline.build(recipe, lexicons.find(recipe.lexicon))


def open_key(key: object) -> RunKey:
    """Return the key of a run, fresh for None. Raises TypeError and UsageError."""
    if key is None:
        return RunKey.fresh()
    if isinstance(key, bytes | bytearray):
        return RunKey.from_bytes(bytes(key))
    if isinstance(key, str | os.PathLike):
        return RunKey.from_file(os.fspath(key))
    raise TypeError(f"key: give bytes or the path of a file, not {type(key).__name__}")


class Call:
    """Settings made ready and a key; counts says whether there will be a report.

    Raises TypeError, UsageError and LexiconError for what is wrong with them.
    """

    def __init__(
        self,
        profile: Path = profiles.DEFAULT,
        overrides: Mapping[str, object] | None = None,
        chosen: Choices | None = None,
        *,
        counts: bool = True,
    ) -> None:
        named = chosen or Choices()
        lexicon = named.get("lexicon")
        self.key = open_key(named.get("key"))
        over = choices.overrides(
            risk=named.get("risk"),
            epsilon=named.get("epsilon"),
            mechanism=named.get("mechanism"),
            lexicon=None if lexicon is None else os.fspath(lexicon),
            decode=named.get("decode"),
        )
        merged = profiles.merged(overrides or {}, over)
        self.pipeline = open_pipeline(profile, merged)
        self.tally = Tally.of(self.pipeline.lexicon) if counts else None
        self._began = time.monotonic()

    def texts(self, texts: Iterable[str]) -> Iterator[str]:
        """Give each text with its words replaced, in order."""
        observe = None if self.tally is None else self.tally.observe
        records = (Record(number, (text,), None) for number, text in enumerate(texts))
        for _, (text,) in self.pipeline.run(records, self.key, observe=observe):
            if self.tally is not None:
                self.tally.records += 1
            yield text

    def report(self, selection: Selection, *, finder: str = "") -> Document:
        """Return the internal report of what was done so far.

        Nothing was read from a file or written to one; selection says what is private
        in a record, finder what chose the parts of texts that are.
        """
        from dptext.report import assemble

        assert self.tally is not None
        self.tally.seconds = time.monotonic() - self._began
        return assemble.called(
            self.pipeline,
            self.key,
            self.tally,
            PublicMeasures.of(self.pipeline),
            selection,
            finder=finder,
        )
