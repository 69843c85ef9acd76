"""Where lexicons lie: in the package, in the user's store, in the cache."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dptext import cache
from dptext.errors import UsageError

BUILTIN = "builtin"
# Another name of the built-in lexicon, and that of its folder.
ENGLISH = "english"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}")


def packaged() -> Path:
    """Return the folder of the built-in lexicon."""
    return Path(__file__).resolve().parent.parent / "data" / ENGLISH


def stored() -> Path:
    """Return the folder of imported ones: in $DPTEXT_HOME, else XDG's data folder."""
    home = os.environ.get("DPTEXT_HOME")
    base = Path(home) if home else _xdg("XDG_DATA_HOME", ".local/share") / "dptext"
    return base / "lexicons"


def cached() -> Path:
    """Return the folder of lexicons that were imported on the way."""
    return cache.folder() / "lexicons"


def folder_of(name: str) -> Path:
    """Return the folder of an imported lexicon; UsageError for an unfit name."""
    if name in (BUILTIN, ENGLISH):
        msg = f"the name {name!r} is that of the built-in lexicon; choose another"
        raise UsageError(msg)
    if not is_name(name):
        msg = "a lexicon's name is made of letters, digits, '_', '-' and '.'"
        raise UsageError(msg)
    return stored() / name


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of an imported lexicon."""
    return _NAME.fullmatch(text) is not None


def _xdg(variable: str, default: str) -> Path:
    # The XDG rules: a relative path in the variable is to be ignored.
    value = os.environ.get(variable, "")
    return Path(value) if os.path.isabs(value) else Path.home() / default
