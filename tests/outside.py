"""Packages of other people, as an installer lays them, and commands that see them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests import loaded
from tests.cli.running import Ran

ROOT = Path(__file__).resolve().parents[1]


def install(site: Path, package: str, group: str, entries: str, **modules: str) -> None:
    """Lay a package into a folder for packages."""
    facts = site / f"{package}-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
    )
    (facts / "entry_points.txt").write_text(f"[{group}]\n{entries}\n")
    for name, text in modules.items():
        (site / f"{name}.py").write_text(text)


def run(site: Path, *arguments: str, given: bytes = b"") -> Ran:
    """Run a command that sees the packages of a folder."""
    paths = [str(site), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return loaded.run(*arguments, given=given, PYTHONPATH=os.pathsep.join(paths))


def example(heading: str, number: int = 0) -> str:
    """Return a program of a section of docs/extending.md, by default the first."""
    text = (ROOT / "docs" / "extending.md").read_text("utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return str(re.findall(r"```python\n(.*?)```", section, re.DOTALL)[number])
