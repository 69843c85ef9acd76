"""The table of companies whose names are common words."""

from __future__ import annotations

import sys

import pytest

from benchmarks import companies


@pytest.mark.slow
def test_each_company_has_its_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A share for each profile: in lower case `readable` copies what is common.

    With another seed none of twelve outputs has the name with a probability of 4e-4.
    """
    monkeypatch.setattr(companies, "COMPANIES", ("Best Buy", "Bank of America"))
    monkeypatch.setattr(sys, "argv", ["companies", "--draws", "4"])
    companies.main()
    _, _, best, bank, mean = capsys.readouterr().out.splitlines()
    _, _, _, drawn, _, copied, _ = (cell.strip() for cell in best.split("|"))
    assert float(drawn.removesuffix("%")) > 0.0
    assert copied == "100.0%"
    assert bank.startswith("| Bank of America |")
    assert mean.startswith("| mean |")
