"""The lists of languages are those that the tool makes, with their licences."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tools import languages

ROOT = Path(__file__).parents[2]
DATA = ROOT / "dptext" / "data"


def test_lists_are_made_byte_for_byte() -> None:
    """The tool gives the files that ship, where its packages are installed."""
    for package, version in languages.PACKAGES.items():
        try:
            found = metadata.version(package)
        except metadata.PackageNotFoundError:
            found = "none"
        if found != version:
            pytest.skip(f"needs {package} {version}")
    for name, content in languages.contents():
        assert (languages.FOLDER / name).read_text("utf-8") == content, name


def test_each_language_says_where_its_words_are_from() -> None:
    """Each folder has its sources with their licences, whose texts are there."""
    folders = [languages.FOLDER, *(path.parent for path in _hands())]
    for folder in folders:
        text = (folder / "PROVENANCE.md").read_text("utf-8")
        named = {word.rstrip(".,;:)|") for word in text.split() if "LICENSE." in word}
        assert "CC BY-SA 4.0" in text
        assert named
        assert all((folder / name).is_file() for name in named), folder


def test_sources_have_the_versions_of_the_tool() -> None:
    """PROVENANCE.md names the versions that the tool asks for."""
    text = (languages.FOLDER / "PROVENANCE.md").read_text("utf-8").lower()
    for package, version in languages.PACKAGES.items():
        assert f"{package} {version}" in text
    page = (ROOT / "docs" / "languages.md").read_text("utf-8")
    for package, version in languages.PACKAGES.items():
        assert f"{package}=={version}" in page


def test_packages_carry_every_licence() -> None:
    """All licences of data are named by the package, and their texts are in it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    carried = {path for glob in project["license-files"] for path in ROOT.glob(glob)}
    assert {*DATA.rglob("LICENSE.*")} <= carried
    licences = {*project["license"].split(" AND ")}
    assert {"CC-BY-SA-4.0", "CC-BY-4.0", "MIT", "Unicode-3.0"} < licences
    assert "Apache-2.0" in licences


def _hands() -> list[Path]:
    return sorted(languages.FOLDER.glob("*/hand.txt"))
