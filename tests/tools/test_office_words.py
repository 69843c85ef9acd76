"""The list of words of offices that ships."""

from __future__ import annotations

import sys

import pytest

from tests.outside import ROOT
from tools import office_words


def test_the_shipped_list_is_that_of_the_tool(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, without new words."""
    monkeypatch.setattr(sys, "argv", ["office_words"])
    office_words.main()
    path = ROOT / "dptext/data/words/office_words.txt"
    assert capsys.readouterr().out == path.read_text("utf-8")
