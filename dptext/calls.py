"""One call from a Python program: its settings and key, its work, its report.

Errors and warnings of a call name parameters, where those of commands name options.
"""

from __future__ import annotations

import inspect
import os
import re
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypedDict

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
from dptext.run.interface import PYTHON, shown_in
from dptext.run.selection import Selection
from dptext.types import JsonObject, Record

StrPath = str | os.PathLike[str]

_OURS = re.compile(r"dptext(\.|$)")


class CallChoices(TypedDict, total=False):
    """Choices on top of a profile, with the names of options of `dptext sanitize`."""

    risk: str | float | None
    epsilon: float | None
    mechanism: str | None
    lexicon: StrPath | None
    topics: str | None
    decode: str | None
    key: bytes | StrPath | None


class TableChoices(CallChoices, total=False):
    """Choices of a call for a table, whose rows have other columns."""

    id: str | None
    missing: Literal["fail", "pass"]
    drop: str | Sequence[str]
    pseudonym: str | Sequence[str]


def load_profile(
    name: str | os.PathLike[str], overrides: Mapping[str, object] | None = None
) -> Profile:
    """Read a profile by name or path; overrides are laid over its keys.

    Raises UsageError for an unknown name, key or value.
    """
    if not isinstance(name, str | os.PathLike):
        raise TypeError(
            "profile: give a name or the path of a .yaml file, not "
            f"{type(name).__name__}"
        )
    with shown_in(PYTHON):
        return profiles.load(os.fspath(name), overrides)


def open_pipeline(
    profile: str | os.PathLike[str] = profiles.DEFAULT,
    overrides: Mapping[str, object] | None = None,
) -> Pipeline:
    """Prepare a profile with its lexicon: the public work, done once.

    Raises UsageError and LexiconError.
    """
    recipe = load_profile(profile, overrides)
    with shown_in(PYTHON):
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


def warn(line: str) -> None:
    """Warn the program, at its line; the warning holds nothing of a text."""
    modules = []
    frame = inspect.currentframe()
    while frame is not None:
        modules.append(str(frame.f_globals.get("__name__")))
        frame = frame.f_back
    # Generators of dptext are run by frames of other modules.
    ours = [level for level, name in enumerate(modules, 1) if _OURS.match(name)]
    warnings.warn(line, stacklevel=ours[-1] + 1)


def listed(names: str | Sequence[str], parameter: str) -> list[str]:
    """Return names as a list; one may stand alone. Raises TypeError for others."""
    is_one = isinstance(names, str) or not isinstance(names, Iterable)
    several: list[object] = [names] if is_one else list(names)
    checked = [name for name in several if isinstance(name, str)]
    if len(checked) < len(several):
        wrong = next(name for name in several if not isinstance(name, str))
        kind = type(wrong).__name__
        raise TypeError(f"{parameter}: give a name or a list of names, not {kind}")
    return checked


def to_path(path: object, parameter: str) -> str:
    """Return a path as text. Raises TypeError for anything else."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{parameter}: give a path, not {type(path).__name__}")
    return os.fspath(path)


class Call:
    """Prepared settings and a key; with counts there can be a report.

    Raises TypeError, UsageError and LexiconError for invalid arguments.
    """

    def __init__(
        self,
        profile: StrPath = profiles.DEFAULT,
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
        warn(line)

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

    def report(
        self,
        selection: Selection | None = None,
        *,
        unchanged: Sequence[str] = (),
        finder: str = "",
    ) -> Report:
        """Return the internal report of the work so far, without files.

        selection: the private columns of a table, None for texts without one;
        unchanged: all others, empty if they are not known; finder: name of the
        component that chose the private parts of texts, "" without one.
        """
        assert self.tally is not None
        self.tally.copied.update(dict.fromkeys(unchanged))
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
    profile: StrPath, overrides: Mapping[str, object] | None, chosen: CallChoices
) -> tuple[StrPath, JsonObject]:
    """Return the profile of a call and the keys laid over it, without those of a run.

    Topics are a lexicon, and without another profile that of topics. Raises UsageError,
    and TypeError for names that are no text.
    """
    lexicon, topics = chosen.get("lexicon"), chosen.get("topics")
    for name, value in (("lexicon", lexicon), ("topics", topics)):
        if not isinstance(value, str | os.PathLike | None):
            raise TypeError(f"{name}: give a name, not {type(value).__name__}")
    if topics is not None:
        if lexicon is not None:
            raise UsageError("give only one of topics, lexicon")
        lexicon = f"{PREFIX}{topics}"
        profile = "topics" if profile == profiles.DEFAULT else profile
    return profile, make_overrides(
        overrides,
        lexicon=lexicon,
        risk=chosen.get("risk"),
        epsilon=chosen.get("epsilon"),
        mechanism=chosen.get("mechanism"),
        decode=chosen.get("decode"),
    )
