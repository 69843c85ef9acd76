"""Finds components by stage and name; the file name in a stage's folder is the name.

A stage may be inside another stage's folder: budgets.scores. A component of another
package is found by the entry point group `dptext.<stage>`, the last part of the stage's
name. Names of dptext's components are reserved: entry points that use one are refused.
A component of another package that cannot be used is refused only when it is requested.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import hashlib
import importlib
import itertools
import os
import pkgutil
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from dptext.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

STAGES = (
    "formats",
    "spaces",
    "budgets",
    "budgets.scores",
    "mechanisms",
    "mappings",
    "decoders",
    "metrics",
    "views",
)
# Members of the modules of a stage, if not `Params`; each extends the class of the same
# name in the package of the stage.
_MEMBERS = {"formats": ("Format",), "metrics": ("NAME", "Meter")}

_KNOWN_AS = re.compile(r"^Known as: (.+)\.$", re.MULTILINE)


@cache
def names(stage: str) -> tuple[str, ...]:
    """Return the sorted names of a stage's components, with `_` as `-`."""
    return tuple(sorted(_packaged(stage) | _outside(stage).keys()))


def find(stage: str, name: str) -> ModuleType:
    """Import a single component.

    Raises UsageError for an unknown name, suggesting the nearest one, and for one of
    another package that cannot be used, with the package's name and the reason.
    """
    known = names(stage)
    if name not in known:
        hint = suggest(name, known, published(stage))
        raise UsageError(f"no {_kind(stage)} named {name!r}; {hint}")
    entries = _outside(stage).get(name, ())
    if not entries:
        return importlib.import_module(f"dptext.{stage}.{name.replace('-', '_')}")
    if name in _packaged(stage):
        problem = "the name belongs to a component of dptext; remove the package"
    elif len(entries) > 1:
        problem = "several packages use the name; remove all but one"
    else:
        try:
            module = entries[0].load()
        except (Exception, SystemExit) as error:
            reason = str(error).partition("\n")[0]
            problem = f"cannot be imported ({type(error).__name__}: {reason})"
        else:
            unfit = _unfit(stage, module)
            if not unfit:
                assert isinstance(module, ModuleType)
                return module
            problem = f"{entries[0].value} {unfit}"
    packages = " and ".join(sorted({_package(entry) for entry in entries}))
    raise UsageError(f"{_kind(stage)} {name!r} of package {packages}: {problem}")


def _unfit(stage: str, module: object) -> str:
    """Describe a required member missing from a stage's module; "" if none is."""
    if not isinstance(module, ModuleType):
        return "is not a module"
    for member in _MEMBERS.get(stage, ("Params",)):
        kind = getattr(module, member, None)
        if kind is None:
            return f"lacks {member}"
        if member == "NAME":
            continue
        base = getattr(importlib.import_module(f"dptext.{stage}"), member)
        if not (isinstance(kind, type) and issubclass(kind, base)):
            return f"has {member} that does not extend dptext.{stage}.{member}"
        if member != "Meter" and not dataclasses.is_dataclass(kind):
            return f"has {member} that is not a dataclass"
        if lacking := sorted(getattr(kind, "__abstractmethods__", ())):
            return f"has {member} without {' and '.join(lacking)}"
    return ""


@cache
def _packaged(stage: str) -> frozenset[str]:
    """Return the names of dptext's components."""
    package = importlib.import_module(f"dptext.{stage}")
    return frozenset(
        info.name.replace("_", "-")
        for info in pkgutil.iter_modules(package.__path__)
        if not info.name.startswith("_") and f"{stage}.{info.name}" not in STAGES
    )


@cache
def _outside(stage: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of a stage's group by name."""
    entries: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in _entries():
        if entry.group == _group(stage):
            entries[entry.name] = (*entries.get(entry.name, ()), entry)
    return entries


@cache
def _entries() -> tuple[EntryPoint, ...]:
    """Return all packages' entry points for dptext, read once."""
    if not any(map(_may_extend, sys.path)):
        return ()
    from importlib.metadata import distributions

    entries: dict[str, tuple[EntryPoint, ...]] = {}
    for package in distributions():
        with contextlib.suppress(Exception):  # metadata that cannot be read
            # Of a package that is installed twice the first is in use.
            entries.setdefault(package.name, tuple(package.entry_points))
    return tuple(itertools.chain.from_iterable(entries.values()))


def _may_extend(folder: str) -> bool:
    """Return whether a folder contains a package with entry points for dptext.

    This takes a tenth of the time of reading all entry points.
    """
    try:
        packages = os.listdir(folder or ".")
    except NotADirectoryError:  # an archive
        return True
    except OSError:
        return False
    for name in packages:
        if name.endswith(".egg"):
            return True
        if name.endswith((".dist-info", ".egg-info")):
            with contextlib.suppress(OSError):
                listed = os.path.join(folder, name, "entry_points.txt")
                if b"[dptext." in Path(listed).read_bytes():
                    return True
    return False


def component_name(stage: str, module: str) -> str:
    """Return the name of the component in a module."""
    within = f"dptext.{stage}."
    if module.startswith(within):
        return module.removeprefix(within).partition(".")[0].replace("_", "-")
    for name, entries in _outside(stage).items():
        if any(entry.value == module for entry in entries):
            return name
    return module


def code(stage: str, name: str) -> str:
    """Identify the code of another package's component; "" for dptext's.

    It names distribution, version, and the sha256 of the component's file.
    """
    for entry in _outside(stage).get(name, ()):
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""
        path = getattr(find(stage, name), "__file__", None)
        data = Path(path).read_bytes() if path else b""
        return f"{entry.value} {package} {hashlib.sha256(data).hexdigest()}"
    return ""


def owner(module: str) -> str:
    """Name the other package, and its component, that a module belongs to.

    Returns Returns "" for all other modules.
    """
    package = ""
    for stage in STAGES:
        for name, entries in _outside(stage).items():
            for entry in entries:
                path = entry.value.partition(":")[0].strip()
                if path == module:
                    return f"{_kind(stage)} {name!r} of package {_package(entry)}"
                if path.partition(".")[0] == module.partition(".")[0]:
                    package = f"package {_package(entry)}"
    return package


def look_again() -> None:
    """Clear the cache of installed packages."""
    for kept in (names, _outside, _entries):
        kept.cache_clear()


def _group(stage: str) -> str:
    return f"dptext.{stage.rpartition('.')[2]}"


def _package(entry: EntryPoint) -> str:
    with contextlib.suppress(Exception):
        if entry.dist is not None and entry.dist.name:
            return str(entry.dist.name)
    return "(unnamed)"


def _kind(stage: str) -> str:
    return stage.rpartition(".")[2].rstrip("s")


def published(stage: str) -> dict[str, str]:
    """Map the names used in papers to dptext's components.

    Docstrings list them: "Known as: 1-Diffractor."; remarks are in parentheses.
    """
    published_names = {}
    for name in sorted(_packaged(stage)):
        module = importlib.import_module(f"dptext.{stage}.{name.replace('-', '_')}")
        if line := _KNOWN_AS.search(module.__doc__ or ""):
            listed = re.sub(r" *\(.*?\)", "", line[1])
            published_names.update(dict.fromkeys(listed.split(", "), name))
    return published_names


def suggest(
    name: str, known: tuple[str, ...], others: Mapping[str, str] | None = None
) -> str:
    """Suggest the known name that was meant, or list all; `others` are aliases."""
    meant = {each.casefold(): each for each in known}
    for other, means in (others or {}).items():
        meant.setdefault(other.casefold(), means)
    near = difflib.get_close_matches(name.casefold(), tuple(meant), n=1)
    choices = ", ".join(known)
    return f"did you mean {meant[near[0]]!r}?" if near else f"known: {choices}"
