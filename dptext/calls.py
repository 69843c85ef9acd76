"""One call from a Python program: its settings and key, its work, its report."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from dptext import calibration, lexicons, pipeline
from dptext import profile as profiles
from dptext.engine import documents
from dptext.engine.language import Language, is_asked_for
from dptext.engine.tally import Tally
from dptext.errors import UsageError
from dptext.lexicons.public_rows import PublicRows
from dptext.lexicons.topics import PREFIX
from dptext.measures.public import PublicMeasures
from dptext.overrides import make_overrides
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.progress import share
from dptext.randomness import RunKey
from dptext.report.notebook import Report
from dptext.types import JsonObject, Record, Selection

Path = str | os.PathLike[str]


class CallChoices(TypedDict, total=False):
    """Choices on top of a profile, with the names of options of `dptext sanitize`."""

    risk: str | float | None
    epsilon: float | None
    mechanism: str | None
    lexicon: Path | None
    topics: str | None
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
    """Prepare a profile with its lexicon: the public work, done once.

    Raises UsageError and LexiconError.
    """
    recipe = load_profile(profile, overrides)
    return calibration.build(recipe, lexicons.find(recipe.lexicon))


def open_key(key: object) -> RunKey:
    """Return the key of a run, fresh for None. Raises TypeError and UsageError."""
    if key is None:
        return RunKey.fresh()
    if isinstance(key, bytes | bytearray):
        return RunKey.from_bytes(bytes(key))
    if isinstance(key, str | os.PathLike):
        return RunKey.from_file(os.fspath(key))
    raise TypeError(f"key: give bytes or the path of a file, not {type(key).__name__}")


def warn(line: str, stacklevel: int = 3) -> None:
    """Warn the caller; the line holds nothing of a text."""
    warnings.warn(line, stacklevel=stacklevel)


def listed(names: str | Sequence[str]) -> list[str]:
    """Return names of columns as a list; one may stand alone."""
    return [names] if isinstance(names, str) else list(names)


class Call:
    """Prepared settings and a key; with counts there can be a report.

    Raises TypeError, UsageError and LexiconError for invalid arguments.
    """

    def __init__(
        self,
        profile: Path = profiles.DEFAULT,
        overrides: Mapping[str, object] | None = None,
        chosen: CallChoices | None = None,
        *,
        counts: bool = True,
    ) -> None:
        self.key = open_key((chosen or {}).get("key"))
        profile, over = combine(profile, overrides, chosen or {})
        self.pipeline = open_pipeline(profile, over)
        tokenizer = None if is_asked_for(over) else self.pipeline.tokenizer
        lexicon = self.pipeline.lexicon
        self.language = Language(
            tokenizer, lexicon.name, self.warn, PublicRows(lexicon)
        )
        # Warnings so far.
        self.warnings: list[str] = []
        self.tally = Tally.begin(self.pipeline.lexicon) if counts else None
        self._began = time.monotonic()

    def warn(self, line: str) -> None:
        """Warn the program, and note it for the report."""
        self.warnings.append(line)
        warn(line, stacklevel=4)

    def texts(self, texts: Iterable[str], total: int = 0) -> Iterator[str]:
        """Give each text with its words replaced, in order.

        total: their number, if it is known.
        """
        done = 0
        randomness = self.pipeline.randomness(self.key)
        records = (Record(number, (text,), None) for number, text in enumerate(texts))
        for batch in pipeline.batches(records):
            self.language.look(batch)
            private = self.pipeline.privatize(batch, randomness)
            if self.tally is not None:
                self.tally.count(private)
            done += len(batch)
            share("texts", done / total if total else 0.0)
            yield from (text for (text,) in private.texts)
        self.language.close()

    def report(self, selection: Selection, *, finder: str = "") -> Report:
        """Return the internal report of the work so far, without files.

        selection: the private fields of a record; finder: name of the component that
        chose the private parts of texts, "" without one.
        """
        assert self.tally is not None
        self.tally.seconds = time.monotonic() - self._began
        document = documents.called(
            pipeline=self.pipeline,
            key=self.key,
            tally=self.tally,
            measures=PublicMeasures.measure(self.pipeline),
            selection=selection,
            finder=finder,
        )
        return documents.with_warnings(document, self.warnings)


def combine(
    profile: Path, overrides: Mapping[str, object] | None, chosen: CallChoices
) -> tuple[Path, JsonObject]:
    """Return the profile of a call and the keys laid over it, without those of a run.

    Topics are a lexicon, and without another profile that of topics. Raises UsageError.
    """
    named: dict[str, Any] = {**chosen}
    named.pop("key", None)
    if (whole := named.pop("topics", None)) is not None:
        if named.get("lexicon") is not None:
            raise UsageError("give only one of topics, lexicon")
        named["lexicon"] = f"{PREFIX}{whole}"
        profile = "topics" if profile == profiles.DEFAULT else profile
    return profile, make_overrides(overrides, **named)
