"""`dptext explain` as a process: what it prints, and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import WORDS, here, small

TEXT = f"{WORDS[0]} zq!"


def test_a_table_for_people(tmp_path: Path) -> None:
    """Tokens, epsilons and replacements; nothing on standard error."""
    ran = here("explain", TEXT, *small(tmp_path))
    assert (ran.code, ran.err) == (0, "")
    shown = ran.out.decode()
    assert WORDS[0] in shown
    assert "Epsilon of the words together  6" in shown
    assert "locally differentially private" in " ".join(shown.split())


def test_json_for_machines(tmp_path: Path) -> None:
    """Every token with its figures, marked as the owner's."""
    ran = here(
        "explain", "-", *small(tmp_path), "--json", "--top", "2", given=TEXT.encode()
    )
    explained = json.loads(ran.out)
    assert explained["audience"] == "for the owner of the text only"
    assert [token["text"] for token in explained["tokens"]] == [WORDS[0], "zq", "!"]
    assert [len(token["likeliest"]) for token in explained["tokens"]] == [2, 2, 0]
    assert explained["epsilon"] == pytest.approx(6.0)


def test_a_wrong_option_is_one_line(tmp_path: Path) -> None:
    """As everywhere."""
    ran = here("explain", TEXT, "-p", "nothing")
    assert ran.code == 2
    assert ran.err.count("\n") == 1


def test_treatments_have_their_colours(tmp_path: Path) -> None:
    """The legend names the treatments that occur and no others, on both outputs."""
    page = tmp_path / "page.html"
    ran = here("explain", TEXT, *small(tmp_path))
    assert "tokens: replaced, unchanged\n" in ran.out.decode()
    assert here("explain", TEXT, *small(tmp_path), "--html", str(page)).code == 0
    shown = page.read_text()
    assert f'<mark class="t s1">{WORDS[0]}</mark>' in shown
    assert '<mark class="t s2">!</mark>' in shown
    legend = shown.partition('class="legend"')[2].partition("</ul>")[0]
    assert "replaced" in legend
    assert "unchanged" in legend
    assert "masked" not in legend
    assert 'class="t s0"' not in shown


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_text_is_refused(text: str) -> None:
    """One line, and no explanation of no words."""
    ran = here("explain", text)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert "the text is empty" in ran.err
    assert here("explain", "-", given=text.encode()).code == 2
