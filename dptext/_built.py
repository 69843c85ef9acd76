"""How this installation was built, found without loading it."""

from __future__ import annotations

import os
from enum import Enum, auto
from pathlib import Path

from dptext._version import __version__

VARIABLE = "DPTEXT_KERNEL"
LEXICON = Path(__file__).parent / "data" / "english" / "meta.json"
_SOURCE = Path(__file__).parent / "attackers" / "kernel.c"


class Source(Enum):
    """The origin of an installation."""

    #: A package of an index, or the file of one.
    PACKAGE = auto()
    #: A folder with the source, copied or not installed at all.
    FOLDER = auto()
    #: The same, not copied: edits count at once.
    EDITABLE = auto()


def source() -> Source:
    """Return the origin of this installation, from pip's direct_url.json (PEP 610)."""
    import json
    from importlib import metadata

    try:
        written = metadata.distribution("dptext").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return Source.FOLDER
    folder = json.loads(written or "{}").get("dir_info")
    if folder is None:
        return Source.PACKAGE
    return Source.EDITABLE if folder.get("editable") else Source.FOLDER


def kernel_file() -> Path:
    """Return the path of the compiled library of this version of kernel.c."""
    import hashlib

    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()
    return _SOURCE.with_name(f"kernel-{digest[:16]}.so")


def kernel() -> str:
    """Return which decoding kernel is used: compiled or numpy."""
    off = os.environ.get(VARIABLE) == "numpy" or not kernel_file().is_file()
    return "numpy" if off else "compiled"


def description() -> str:
    """Return the version, the decoding kernel and the digest of the lexicon."""
    import json

    lexicon = json.loads(LEXICON.read_bytes())
    return (
        f"dptext {__version__} (kernel {kernel()}, "
        f"lexicon {lexicon['name']} {lexicon['digest'][:12]})"
    )
