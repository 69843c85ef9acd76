"""Keep public results that are slow to compute: in the package, then in a folder.

Only functions of public data (lexicon, settings) may be kept here, never of a text.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def folder() -> Path:
    """Return the folder for public, recomputable results."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "dptext"


def shipped() -> Path:
    """Return the file of results that ship with the package."""
    return Path(__file__).parent / "data" / "results.json"


def key_of(*parts: object) -> str:
    """Return the name under which a result is kept, from all it depends on."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def digest(values: NDArray[Any]) -> str:
    """Return the sha256 of the values of an array, as a part of a key."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def arrays(
    key: str, compute: Callable[[], Mapping[str, NDArray[Any]]]
) -> Mapping[str, NDArray[Any]]:
    """Return the arrays of a key, from the folder or computed now.

    A folder that cannot be read or written is no error: the result is then computed
    each time.
    """
    path = folder() / f"{key}.npz"
    try:
        with np.load(path) as stored:
            return {item: stored[item] for item in stored.files}
    except (OSError, ValueError, EOFError, KeyError):
        found = compute()
    _keep(path, lambda file: np.savez(file, **found))  # type: ignore[arg-type]
    return found


def numbers(key: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the plain numbers of a key, shipped, kept or computed now."""
    for known in (_load(shipped()).get(key), _load(folder() / f"{key}.json")):
        if known:
            return dict(known)
    found = compute()
    _keep(folder() / f"{key}.json", lambda file: file.write(json.dumps(found).encode()))
    return found


def _load(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _keep(path: Path, write: Callable[[Any], object]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.replace(beside, path)
    except OSError:
        return
