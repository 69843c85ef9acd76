"""The names of files among the options of a command.

An output is never a file that the command reads; all have names, and different ones.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dptext import streams
from dptext.errors import OutputError, UsageError

# Key of the result of `check_named` in a context.
READ = "dptext.read"
# Options of any command that name files to write.
OUTPUTS = (
    "output",
    "report",
    "html",
    "public_report",
    "quarantine",
    "csv",
    "latex",
    "figure",
    "resume",
)
# Options with other values than files to read.
_NO_FILES = (
    *OUTPUTS,
    "files",
    "out_dir",
    "field",
    "id",
    "subject",
    "label",
    "attribute",
    "missing",
    "delimiter",
    "encoding",
    "format",
    "drop",
    "pseudonym",
)
# Words of --set that may be paths.
_WORD = re.compile(r"[^=\[\]{},:\s]+")


def check_named(
    params: Mapping[str, Any], configuration: Path | None
) -> tuple[str, ...]:
    """Raise UsageError for an output that other options or arguments name as well.

    params: options and arguments by name. Returns the files in them that the command
    reads beside its inputs.
    """
    reads = [] if configuration is None else [str(configuration)]
    for name, value in params.items():
        if name not in _NO_FILES:
            texts = map(str, value if isinstance(value, list | tuple) else [value])
            words = (word for text in texts for word in (text, *_WORD.findall(text)))
            reads += filter(os.path.exists, words)
    if params.get("ledger"):
        reads += [str(params["ledger"]), f"{params['ledger']}.key"]
    files = params.get("files") or ()
    writes = {name: params[name] for name in OUTPUTS if params.get(name) is not None}
    inputs = map(params.get, ("file", "original", "private"))
    if "" in (*files, *inputs, *writes.values()):
        raise UsageError("the name of a file is empty (a variable that is not set?)")
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
            "standard output carries one thing only: name files for the others, as in "
            "--html FILE"
        )
    streams.check_distinct([*files, *reads], *names)
    for each in names:
        if each != str(params.get("output")) and not Path(each).parent.is_dir():
            raise OutputError(f"{each}: No such file or directory")
    return tuple(reads)
