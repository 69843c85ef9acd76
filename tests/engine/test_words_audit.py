"""The audit of a list of words finds a law that does not keep its promise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dptext.engine import words_audit
from dptext.partition import Law
from tests.made_words import LISTED


def test_a_list_passes_its_audit() -> None:
    """Claims hold with little room: half of delta for words of one person alone."""
    found = words_audit.audit_words(LISTED)
    assert not found.refuted
    assert found.alone == pytest.approx(5e-7, rel=0.01)
    assert found.shared == pytest.approx(5e-7, rel=0.01)
    assert found.neighbours <= 1e-6
    assert found.words == 64


@pytest.mark.parametrize(
    ("sigma", "rho"), [(LISTED.sigma, LISTED.rho - 1), (LISTED.sigma * 0.9, LISTED.rho)]
)
def test_too_little_noise_is_refuted(sigma: float, rho: float) -> None:
    """A lower threshold, or less noise, exceeds delta."""
    assert words_audit.audit_words(replace(LISTED, sigma=sigma, rho=rho)).refuted


def test_a_program_that_draws_otherwise_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that releases at half a standard deviation less."""
    chance = words_audit.release_chance

    def shifted(law: Law, total: int) -> float:
        return chance(law, total - 2048)

    monkeypatch.setattr(words_audit, "release_chance", shifted)
    assert words_audit.audit_words(LISTED).p_value < 1e-3
