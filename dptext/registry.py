"""Find components by (stage, name): the file name in the stage's folder is the name.

A stage may lie in the folder of another: budgets.scores. A component of another package
is found by the entry point group `dptext.<stage>`, the last part of the stage's name.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import pkgutil
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from dptext.errors import UsageError

STAGES = (
    *("formats", "spaces", "budgets", "budgets.scores", "mechanisms", "mappings"),
    "metrics",
)


@cache
def names(stage: str) -> tuple[str, ...]:
    """Return the names of all components of a stage, sorted, with `_` as `-`."""
    package = importlib.import_module(f"dptext.{stage}")
    own = {
        info.name.replace("_", "-")
        for info in pkgutil.iter_modules(package.__path__)
        if not info.ispkg and not info.name.startswith("_")
    }
    return tuple(sorted(own | {entry.name for entry in outside(stage)}))


def find(stage: str, name: str) -> ModuleType:
    """Import one component and nothing else.

    Raises UsageError for an unknown name, with the nearest known one.
    """
    known = names(stage)
    if name not in known:
        one = stage.rpartition(".")[2].rstrip("s")
        msg = f"no {one} named {name!r}; {suggest(name, known)}"
        raise UsageError(msg)
    for entry in outside(stage):
        if entry.name != name:
            continue
        module = entry.load()
        if isinstance(module, ModuleType):
            return module
    return importlib.import_module(f"dptext.{stage}.{name.replace('-', '_')}")


def code(stage: str, name: str) -> str:
    """Name the code of another package's component; "" for one of dptext.

    Distribution, version, and the sha256 of the file that the component is.
    """
    for entry in outside(stage):
        if entry.name != name:
            continue
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""
        path = getattr(find(stage, name), "__file__", None)
        data = Path(path).read_bytes() if path else b""
        return f"{entry.value} {package} {hashlib.sha256(data).hexdigest()}"
    return ""


@cache
def outside(stage: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of other packages' components; a scan takes a while."""
    return tuple(entry_points(group=f"dptext.{stage.rpartition('.')[2]}"))


def suggest(name: str, known: tuple[str, ...]) -> str:
    """Say what is known, the nearest name first if one is near."""
    near = difflib.get_close_matches(name, known, n=1)
    choices = ", ".join(known)
    return f"did you mean {near[0]!r}?" if near else f"known: {choices}"
