"""Refuses options that the formats of the inputs do not support.

Settings of the environment and of a file hold for inputs that support them, so only
typed options are checked, and one input that supports an option is enough.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dptext import streams
from dptext.errors import InputError, UsageError
from dptext.run.marks import Needs

if TYPE_CHECKING:
    from dptext.formats import Format

# Arguments that name one file.
_ONE = ("original", "private", "file")
# Options that are about the files of a run, not about its public text.
_OF_FILES = ("drop", "pseudonym")


def check(values: Mapping[str, Any], needs: Mapping[str, Needs]) -> None:
    """Raise UsageError for a typed option that no input of a command supports.

    values: parameters of the command by name; needs: those of typed options. The format
    of standard input is checked later, by its content (dptext.engine.source).
    """
    from dptext import formats

    # Fields are those of public text where no other text is read.
    is_plan = values.get("plan") and not values.get("files")
    is_public = is_plan or "format" not in values
    concerned = {
        name: need
        for name, need in needs.items()
        if not (is_public and name in _OF_FILES)
    }
    layouts = list(_formats(values, is_public=is_public)) if concerned else []
    if layouts and None not in layouts:
        formats.check_needs(concerned, [each for each in layouts if each])


def _formats(values: Mapping[str, Any], *, is_public: bool) -> Iterator[Format | None]:
    """Yield the format of each input, or of public text; None if not known yet."""
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
            from dptext.run.files import Outputs

            include, exclude = (
                tuple(values.get(each) or ()) for each in ("include", "exclude")
            )
            chosen = Outputs(include=include, exclude=exclude)
            files = find_files([name], chosen=chosen)
            yield from map(formats.by_suffix, files)
    else:
        with contextlib.suppress(UsageError, InputError, OSError):
            yield formats.find(name)
