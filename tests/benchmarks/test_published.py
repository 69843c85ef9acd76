"""The arithmetic of published tables, and that their page is made of its rows."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from benchmarks.published import distributor, page, puc, thesis

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("DPTEXT_TEST_DATA", ROOT.parent / "shared" / "data"))
PUBLISHED = Path(os.environ.get("PUBLISHED", DATA.parent / "published"))

pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"no published figures in {PUBLISHED}"
)


def test_which_scores_follow_from_the_tables() -> None:
    """186 of IMDb's follow; AG News' do once 150 are given to their own mechanism."""
    imdb, news = puc.verdicts(puc.cells())
    assert (imdb.scores, imdb.follow, imdb.of_another, imdb.of_none) == (189, 186, 0, 3)
    assert (news.scores, news.follow, news.of_another, news.of_none) == (
        189,
        39,
        150,
        0,
    )
    assert puc.sorted_columns() == 9


def test_puc_of_a_row_by_hand() -> None:
    """IMDb, 50 dimensions, SynTF at epsilon 1, alpha 0.5: printed as 70.54."""
    parts = {"N_w": 32.1, "S_w": 5.1, "PP": 70.5, "CS": 62.9, "LOW": 70.5}
    by_hand = 0.5 * 100 * 72.58 / 77.30 + 0.5 * (67.9 + 5.1 + 70.5 + 62.9 + 29.5) / 5
    score = puc.puc(72.58, 77.30, parts, 0.5)
    assert score == pytest.approx(by_hand) == pytest.approx(70.54, abs=0.01)


def test_the_regression_of_table_4() -> None:
    """The 126 rows give the printed coefficients."""
    fit = puc.regression()
    assert fit["r_squared"] == pytest.approx(0.905, abs=5e-4)
    assert fit["PP"] == pytest.approx(-0.7728, abs=2e-4)


def test_the_constants_of_the_theses() -> None:
    """Each printed constant is what its formula gives."""
    for printed, value in thesis.bounds().values():
        assert value == pytest.approx(printed, rel=2e-4)
    off = distributor.table_5_1()
    assert off["score"] < 1e-4
    assert off["epsilon_percent"] < 0.3
    assert off["missing"] == pytest.approx(0.0082, abs=1e-4)


def test_the_page_is_that_of_its_rows() -> None:
    """replication.md is made by `published page` from replication.jsonl."""
    text = (ROOT / "docs" / "results" / "replication.jsonl").read_text("utf-8")
    written = page.page([json.loads(line) for line in text.splitlines()])
    assert written == (ROOT / "docs" / "results" / "replication.md").read_text("utf-8")
