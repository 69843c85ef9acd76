"""`dptext evaluate` on a file that dptext has privatized."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import WORDS, here, small

pytest.importorskip("sklearn")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Write 60 labelled records, and privatize them."""
    one, two = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [
        {"id": n, "text": f"{WORDS[n % 2]} {WORDS[2]} zq", "label": n % 2}
        for n in range(60)
    ]
    one.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = here("sanitize", str(one), "-o", str(two), "-q", *small(tmp_path))
    assert ran.code == 0
    return str(one), str(two)


def test_all_figures(files: tuple[str, str], tmp_path: Path) -> None:
    """Metrics, utility, attacks; as JSON, in a file and as a page."""
    report, page = tmp_path / "r.json", tmp_path / "p.html"
    options = small(tmp_path)
    ran = here(
        *("evaluate", *files, "--label", "label", "--attribute", "label", "--id", "id"),
        *("-p", "balanced", *options, "--alpha", "0.3", "--json", "--splits", "2"),
        *("--report", str(report), "--html", str(page)),
    )
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert json.loads(report.read_bytes()) == found
    assert found["kept"]["texts"] == 60
    assert found["utility"][0]["original"]["accuracy"] == 1.0
    assert [each["name"] for each in found["word_attacks"]] == [
        "nearest guess",
        "Bayes",
    ]
    assert found["composite"][0]["alpha"] == 0.3
    # One label in both parts: what utility loses, the attack loses, too.
    assert found["trade_off"] == pytest.approx(0.0)
    assert b"What a private file keeps" in page.read_bytes()


def test_tables_for_people(files: tuple[str, str], tmp_path: Path) -> None:
    """A file against itself keeps everything."""
    lexicon = small(tmp_path)[:2]
    ran = here("evaluate", files[0], files[0], "--label", "label", *lexicon)
    assert ran.code == 0
    shown = " ".join(ran.out.decode().split())
    assert "PP, words that changed 0.0%" in shown
    assert "owner of the text" in shown


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--epsilon", "3"), "give --profile"),
        (("--classifier", "nothing", "--label", "label"), "give tfidf"),
        (("--label", "id"), "'id' is no label"),
        (("--masked-model", "nowhere"), "no model there"),
        (("--encoder", "nowhere"), "finds no sentence model"),
    ],
)
def test_wrong_options(
    files: tuple[str, str], arguments: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    """One line each."""
    pytest.importorskip("sentence_transformers")
    ran = here("evaluate", *files, *small(tmp_path)[:2], *arguments)
    assert ran.code == 2
    assert reason in ran.err
    assert ran.err.count("\n") == 1
