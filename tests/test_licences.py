"""The list of licences that ships is that of the files in a wheel."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
LISTED: dict[str, Any] = tomllib.loads(
    (ROOT / "dptext/data/licences.toml").read_text("utf-8")
)
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def wheel_files() -> list[str]:
    """Return the paths that a wheel holds, apart from its own records."""
    package = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "dptext").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    profiles = [
        f"dptext/profiles/{path.name}" for path in (ROOT / "profiles").iterdir()
    ]
    return sorted([*package, *profiles])


def test_these_are_the_files_of_a_wheel() -> None:
    """As the program that builds it lists them."""
    wheel = pytest.importorskip("hatchling.builders.wheel")
    files = wheel.WheelBuilder(str(ROOT)).recurse_included_files()
    built = {each.distribution_path for each in files}
    assert {path for path in wheel_files() if "/kernel-" not in path} == {
        path for path in built if "/kernel-" not in path
    }


def is_in(path: str, pattern: str) -> bool:
    """Tell whether a pattern, of which * stands for a part of a name, fits a path."""
    return path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)


def test_each_file_of_a_wheel_has_one_licence() -> None:
    """A new file of data fails here until its source and licence are listed."""
    wrong = {}
    for path in wheel_files():
        fitting = [
            part["source"]
            for part in LISTED["parts"]
            if any(is_in(path, pattern) for pattern in part["files"])
        ]
        if len(fitting) != 1:
            wrong[path] = fitting
    assert wrong == {}


def test_each_entry_has_files_and_the_text_of_its_licence() -> None:
    """Texts of licences are in the wheel as well, as the project says."""
    files, licences = wheel_files(), PROJECT["project"]["license-files"]
    for part in LISTED["parts"]:
        for pattern in part["files"]:
            if "kernel" not in pattern:  # compiled where there is a compiler
                assert any(is_in(path, pattern) for path in files), pattern
        for text in part["texts"]:
            assert (ROOT / text).is_file(), text
            assert any(fnmatchcase(text, each) for each in licences), text
        assert part["source"]
        assert part["licence"]


def test_the_package_names_every_licence_of_its_data() -> None:
    """Its expression has each licence of the list, as SPDX or packaging spells it."""
    licenses = pytest.importorskip("packaging.licenses")
    expression = PROJECT["project"]["license"]
    parts = {
        each for part in LISTED["parts"] for each in part["licence"].split(" AND ")
    }
    assert {*expression.split(" AND ")} == parts
    assert licenses.canonicalize_license_expression(expression) == expression


def test_each_package_that_is_required_has_a_licence() -> None:
    """Packages that an installation without extras brings along."""
    required = PROJECT["project"]["dependencies"]
    names = {re.split(r"[^\w-]", each)[0] for each in required}
    assert names == {*LISTED["packages"]}
