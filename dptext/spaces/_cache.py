"""Keep public tables that are slow to compute in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def cache_folder() -> Path:
    """Return the folder for public, recomputable tables."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "dptext"


def cached(
    key: str, compute: Callable[[], Mapping[str, NDArray[Any]]]
) -> Mapping[str, NDArray[Any]]:
    """Return the tables of a key, from the cache or computed now.

    Only functions of public data may be kept here. A cache that cannot be read or
    written is no error: the tables are then computed each time.
    """
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    path = cache_folder() / f"{name}.npz"
    try:
        with np.load(path) as stored:
            return {item: stored[item] for item in stored.files}
    except (OSError, ValueError, EOFError, KeyError):
        tables = compute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, suffix=".npz")
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **tables)  # type: ignore[arg-type]
        os.replace(beside, path)
    except OSError:
        pass
    return tables
