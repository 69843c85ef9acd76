"""Prints the oldest supported version of each dependency, as constraints for pip.

python -m tools.oldest > oldest.txt && pip install --constraint oldest.txt -e ".[dev]"
"""

from __future__ import annotations

import itertools
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"
# Extras with packages that only developers install: always the newest ones.
_OF_DEVELOPERS = ("dev", "docs", "all")
_FLOOR = re.compile(r"([\w.-]+)>=([\d.]+)")


def constraints(project: Mapping[str, Any]) -> Iterator[str]:
    """Yield one `name==version` for each dependency of the program and its extras.

    Where two extras need a package, the higher floor counts. Raises ValueError for a
    dependency without a floor.
    """
    extras = project["optional-dependencies"]
    supported = [extras[name] for name in extras if name not in _OF_DEVELOPERS]
    floors: dict[str, str] = {}
    for requirement in itertools.chain(project["dependencies"], *supported):
        match = _FLOOR.fullmatch(requirement)
        if match is None:
            raise ValueError(f"{requirement}: give the oldest version as NAME>=VERSION")
        name, version = match.groups()
        floors[name] = max(floors.get(name, "0"), version, key=_numbers)
    yield from (f"{name}=={version}" for name, version in sorted(floors.items()))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def main() -> None:
    """Write the constraints to standard output."""
    project = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]
    sys.stdout.writelines(f"{line}\n" for line in constraints(project))


if __name__ == "__main__":
    main()
