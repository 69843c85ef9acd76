"""Options and arguments shared by several commands, and checks of their files.

An output is never a file that the command reads; output names differ. Options that none
of the input formats supports are refused. Settings of the environment and of a file
apply only to inputs that support them, so only typed options are checked, and one input
that supports an option is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.errors import UsageError
from dptext.run.interface import noun, refuse_both
from dptext.run.marks import MEASURES, OUTPUT, Option

if TYPE_CHECKING:
    from dptext.checking.contents import StopAtIdentifying
    from dptext.cli.configuration import Configuration

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dptext import streams
from dptext.errors import InputError, OutputError
from dptext.run.marks import Names, Needs, Writes, find_mark
from dptext.run.selection import CHANGES

if TYPE_CHECKING:
    from dptext.formats import Format

Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", help="Files to read. Default: standard input (-)."),
]
PublicFiles = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Public texts: JSONL, CSV, text.")
]
PublicText = Annotated[
    str | None,
    Option(
        "Public text of the same kind, to measure an additional attacker.",
        MEASURES,
        metavar="FILE",
    ),
]
AsJson = Annotated[bool, Option("Print JSON.", OUTPUT, spelled="json")]
Quiet = Annotated[bool, Option("Show errors only.", OUTPUT, short="-q")]
# Of public data that are made.
SavedName = Annotated[str, Option("Name to save it under.", metavar="NAME")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a run prints."""

    quiet: Quiet = False
    verbose: Annotated[
        bool, Option("Show the whole report, not the short answer.", OUTPUT, short="-v")
    ] = False
    json: Annotated[
        bool,
        Option("Print JSON: the short answer, on standard error.", OUTPUT, hidden=True),
    ] = False

    def __post_init__(self) -> None:
        """Raise UsageError if both kinds of output are requested."""
        refuse_both("quiet", self.quiet, "verbose", self.verbose)
        refuse_both("quiet", self.quiet, "json", self.json)
        refuse_both("verbose", self.verbose, "json", self.json)


def check_public_text(public_text: str | None, fields: Sequence[str]) -> None:
    """Raise UsageError for fields of public text if none is read."""
    if fields and public_text is None:
        raise UsageError(
            f"{noun('field')}: it names a field of the public text; give "
            f"{noun('public-text')}, or leave it out"
        )


def inspection(
    fail_on: str | None, find: Callable[[], Configuration], subject: str | None = None
) -> StopAtIdentifying | None:
    """Return the inspection of outputs before release (--fail-on), if requested.

    find: returns the configuration with the policy; subject: the field that identifies
    people.
    """
    if fail_on is None:
        return None
    from dptext.checking import policy
    from dptext.checking.contents import StopAtIdentifying

    configured = find()
    accepted = policy.from_section(configured.policy, configured.label)
    return StopAtIdentifying(accepted.identifying, subject)


# Key of the result of `check_named` in a context.
READ = "dptext.read"
# Words of --set that may be paths.
_WORD = re.compile(r"[^=\[\]{},:\s]+")
# Arguments that name one file.
_ONE = ("original", "private", "file")


def check_named(
    params: Mapping[str, Any],
    marks: Mapping[str, Sequence[object]],
    configuration: Path | None,
) -> tuple[str, ...]:
    """Raise UsageError if an output is also named by another option.

    params: options and arguments by name; marks: their marks. Returns the files
    that the command reads in addition to its inputs.
    """
    no_files = {"files"} | {
        name for name, each in marks.items() if find_mark(each, Writes, Names)
    }
    reads = [] if configuration is None else [str(configuration)]
    for name, value in params.items():
        if name not in no_files:
            texts = map(str, value if isinstance(value, list | tuple) else [value])
            words = (word for text in texts for word in (text, *_WORD.findall(text)))
            reads += filter(os.path.exists, words)
    if params.get("ledger"):
        reads += [str(params["ledger"]), f"{params['ledger']}.key"]
    files = params.get("files") or ()
    writes = {
        name: params[name]
        for name, each in marks.items()
        if find_mark(each, Writes) and params.get(name) is not None
    }
    inputs = map(params.get, ("file", "original", "private"))
    if "" in (*files, *inputs, *writes.values()):
        raise UsageError(
            "a file name is empty (is a variable unset?); give a file name"
        )
    # A run without --output writes to standard output, and so does --json; so does a
    # plan, as JSON or not, unless it is a page.
    is_plan = bool(params.get("plan"))
    alone = "out_dir" in params and not (
        is_plan or any(params[name] for name in ("output", "out_dir", "in_place"))
    )
    as_json = params.get("as_json") or (is_plan and params.get("json"))
    names = [str(each) for each in writes.values()]
    if names.count("-") + alone + bool(as_json) > 1:
        raise UsageError(
            "only one output can go to standard output: name files for the others, as "
            "in --html FILE"
        )
    streams.check_distinct([*files, *reads], *names)
    for each in names:
        if each != str(params.get("output")) and not Path(each).parent.is_dir():
            raise OutputError(f"{each}: No such file or directory")
    return tuple(reads)


def check_formats(values: Mapping[str, Any], needs: Mapping[str, Needs]) -> None:
    """Raise UsageError for a typed option that no input format supports.

    values: parameters of the command by name; needs: of the typed options. The format
    of standard input is checked later, by its content (dptext.engine.source).
    """
    from dptext import formats

    # Without files, fields are those of public text, which none of them changes.
    is_plan = values.get("plan") and not values.get("files")
    is_public = is_plan or "format" not in values
    concerned = {
        name: need
        for name, need in needs.items()
        if not (is_public and need == CHANGES)
    }
    layouts = list(_formats(values, is_public=is_public)) if concerned else []
    if layouts and None not in layouts:
        formats.check_needs(concerned, [each for each in layouts if each])


def _formats(values: Mapping[str, Any], *, is_public: bool) -> Iterator[Format | None]:
    """Yield the format of each input, or of public text; None if not yet known."""
    from dptext import formats

    named: list[Any] = [*filter(None, map(values.get, _ONE))]
    named += values.get("files") or ()
    if values.get("format") is not None:
        yield formats.find(None, values["format"])
        return
    if is_public:
        named = [*filter(None, [values.get("public_text")])]
    elif not named and "format" in values and "files" in values:
        named = ["-"]
    # The format of the output of `embed` is another.
    output = None if "pool" in values else values.get("output")
    for name in named:
        yield from _path_formats(str(name), output, values)


def _path_formats(
    name: str, output: str | None, values: Mapping[str, Any]
) -> Iterator[Format | None]:
    from dptext import formats

    if streams.is_stream(name):
        # The output says the format of standard input.
        yield formats.by_suffix(output or "")
    elif os.path.isdir(name):
        with contextlib.suppress(UsageError, InputError):
            from dptext.engine.files import find_files
            from dptext.run.work import Outputs

            include, exclude = (
                tuple(values.get(each) or ()) for each in ("include", "exclude")
            )
            chosen = Outputs(include=include, exclude=exclude)
            yield from map(formats.by_suffix, find_files([name], chosen=chosen))
    else:
        with contextlib.suppress(UsageError, InputError, OSError):
            yield formats.find(name)
