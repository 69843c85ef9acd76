"""The arithmetic of docs/replication.md, and that the page is made of its rows."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("DPTEXT_TEST_DATA", ROOT.parent / "shared" / "data"))
PUBLISHED = Path(os.environ.get("PUBLISHED", DATA.parent / "published"))

pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"no published figures in {PUBLISHED}"
)


@pytest.fixture
def scripts() -> Iterator[dict[str, ModuleType]]:
    """Import the scripts as they import each other: from their folder."""
    import importlib

    names = ("figures", "puc", "distributor", "thesis", "page")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        patch.setenv("DPTEXT_TEST_DATA", str(DATA))
        before = set(sys.modules)
        yield {name: importlib.import_module(f"published_{name}") for name in names}
        for name in set(sys.modules) - before:
            if name.startswith("published"):
                del sys.modules[name]


def test_which_scores_follow_from_the_tables(scripts: dict[str, ModuleType]) -> None:
    """186 of IMDb's follow; AG News' do once 150 are given to their own mechanism."""
    puc = scripts["puc"]
    imdb, news = puc.verdicts(puc.cells())
    assert (imdb.scores, imdb.follow, imdb.of_another, imdb.of_none) == (189, 186, 0, 3)
    assert (news.scores, news.follow, news.of_another, news.of_none) == (
        189,
        39,
        150,
        0,
    )
    assert puc.sorted_columns() == 9


def test_puc_of_a_row_by_hand(scripts: dict[str, ModuleType]) -> None:
    """IMDb, 50 dimensions, SynTF at epsilon 1, alpha 0.5: printed as 70.54."""
    parts = {"N_w": 32.1, "S_w": 5.1, "PP": 70.5, "CS": 62.9, "LOW": 70.5}
    by_hand = 0.5 * 100 * 72.58 / 77.30 + 0.5 * (67.9 + 5.1 + 70.5 + 62.9 + 29.5) / 5
    score = scripts["puc"].puc(72.58, 77.30, parts, 0.5)
    assert score == pytest.approx(by_hand) == pytest.approx(70.54, abs=0.01)


def test_the_regression_of_table_4(scripts: dict[str, ModuleType]) -> None:
    """The 126 rows give the printed coefficients."""
    fit = scripts["puc"].regression()
    assert fit["r_squared"] == pytest.approx(0.905, abs=5e-4)
    assert fit["PP"] == pytest.approx(-0.7728, abs=2e-4)


def test_the_constants_of_the_theses(scripts: dict[str, ModuleType]) -> None:
    """Each printed constant is what its formula gives."""
    for printed, value in scripts["thesis"].bounds().values():
        assert value == pytest.approx(printed, rel=2e-4)
    off = scripts["distributor"].table_5_1()
    assert off["score"] < 1e-4
    assert off["epsilon_percent"] < 0.3
    assert off["missing"] == pytest.approx(0.0082, abs=1e-4)


def test_the_page_is_that_of_its_rows(scripts: dict[str, ModuleType]) -> None:
    """docs/replication.md is what `published.py page` makes of replication.jsonl."""
    lines = (ROOT / "docs" / "replication.jsonl").read_text("utf-8").splitlines()
    page = scripts["page"].page([json.loads(line) for line in lines])
    assert page == (ROOT / "docs" / "replication.md").read_text("utf-8")
