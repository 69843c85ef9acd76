"""The pages for contributors name things that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dptext import registry
from tests.test_structure import LAYERS

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
GUIDES = ("CONTRIBUTING.md", "docs/architecture.md")
PAGES = tuple(
    sorted(
        str(page.relative_to(ROOT))
        for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
    )
)
# A path from a folder of the repository on, and a file name in backticks.
FOLDERS = "dptext|tests|docs|benchmarks|profiles|examples|[.]ci"
IN_FOLDER = re.compile(rf"(?<![\w/.-])(?:{FOLDERS})/[\w./-]*")
AT_ROOT = re.compile(r"`([\w.-]+\.(?:py|md|yaml|toml|json))`")
LINK = re.compile(r"\[[^][]*\]\(([^()\s]+)\)")


def paths(text: str) -> set[str]:
    """Return the files and folders that a guide names; of NAME.py, the folder."""
    named = {*IN_FOLDER.findall(text), *AT_ROOT.findall(text)}
    named = {path.rstrip(".") for path in named}
    return {
        str(Path(path).parent) if "NAME" in Path(path).name else path for path in named
    }


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"(?s)```.*?```", "", text), re.M)
    plain = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


def links(text: str) -> list[str]:
    """Return the links of a page to other pages and files, code left out."""
    prose = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", text)
    return [link for link in LINK.findall(prose) if "://" not in link]


@pytest.mark.parametrize("guide", GUIDES)
def test_every_path_in_a_guide_exists(guide: str) -> None:
    """A file or folder that is moved or renamed is renamed in the guides, too."""
    named = paths((ROOT / guide).read_text("utf-8"))
    assert len(named) > 20
    assert not sorted(path for path in named if not (ROOT / path).exists())


@pytest.mark.parametrize("page", PAGES)
def test_every_relative_link_resolves(page: str) -> None:
    """A link leads to a file of the repository, and to a heading that is there."""
    path = ROOT / page
    for link in links(path.read_text("utf-8")):
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text("utf-8")), link


def test_the_layers_are_those_that_the_imports_keep() -> None:
    """The table of docs/architecture.md is that of tests/test_structure.py."""
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+)\. [^|]*\|([^|]*)\|$", text, re.M)
    shown = [
        {
            part.removesuffix(".py").rstrip("/").replace("/", ".")
            for part in re.findall(r"`dptext/([\w/.]+)`", row)
        }
        for _, row in rows
    ]
    assert shown == [set(layer.split()) for layer in LAYERS]


def test_every_folder_of_components_is_explained() -> None:
    """CONTRIBUTING.md names the folder of each kind of component, and its tests."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for stage in registry.STAGES:
        folder = stage.replace(".", "/")
        assert f"`dptext/{folder}/NAME.py`" in text, folder
        assert f"`tests/{folder}/" in text, folder
