"""`dptext audit` on a small lexicon: table, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import here, lexicon, small


def test_a_true_claim_passes(tmp_path: Path) -> None:
    """Rank attains its epsilon exactly, and the audit says that it holds."""
    ran = here("audit", "balanced", *small(tmp_path))
    assert ran.code == 0
    assert "holds for every pair" in ran.out.decode()


VICKREY = ("--mechanism", "vickrey")


@pytest.mark.parametrize("name", ["santext", "tem"])
def test_json_names_the_worst_pair(name: str, tmp_path: Path) -> None:
    """The worst pair, its claim and the ratio are there for machines."""
    ran = here(
        "audit", name, "--epsilon", "3", "--lexicon", lexicon(tmp_path), "--json"
    )
    assert ran.code == 0
    found = json.loads(ran.out)
    assert found["mechanism"] == name
    assert 0.5 <= found["ratio"] <= 1.0
    assert found["worst"] <= found["claim_of_worst"]
    assert len(found["worst_pair"]) == 2
    assert not found["refuted"]


def test_noise_gives_a_lower_bound(tmp_path: Path) -> None:
    """A noise mechanism is sampled, and the verdict claims no proof."""
    ran = here(
        "audit",
        "cmp",
        "--epsilon",
        "3",
        "--lexicon",
        lexicon(tmp_path),
        "--runs",
        "500",
    )
    assert ran.code == 0
    assert "cannot prove" in ran.out.decode()


def test_a_false_published_claim_ends_with_1(tmp_path: Path) -> None:
    """The verdict says whose claim it is; in JSON an infinite loss is a word."""
    where = ("--lexicon", lexicon(tmp_path), "--epsilon", "3", "--runs", "400")
    own = ("--mechanism", "custext", "--set", "mechanism.k=5")
    one_set = here("audit", *own, *where)
    assert one_set.code == 0
    for options in ((*own, "--set", "mechanism.mapping=balanced"), VICKREY):
        ran = here("audit", *options, *where)
        assert ran.code == 1
        assert ran.err == ""
        verdict = " ".join(ran.out.decode().split())
        assert "the published claim is refuted" in verdict
        assert "dptext itself claims nothing here" in verdict
        ran = here("audit", *options, *where, "--json")
        assert ran.code == 1
        found = json.loads(ran.out)
        assert (found["claims"], found["refuted"]) == (False, False)
        assert found["published"]["refuted"] is True
        assert found["published"]["loss"] == "infinite"
        assert found["worst"] == "infinite"


def test_the_loss_of_gumbel_is_finite_and_proven(tmp_path: Path) -> None:
    """The exact loss stands beside its proven lower bound."""
    where = ("--lexicon", lexicon(tmp_path), "--mechanism", "gumbel")
    ran = here("audit", *where, "--epsilon", "30", "--json")
    found = json.loads(ran.out)
    assert 20 < found["proven"] < found["worst"]
    assert found["infinite"] == 0.0
    assert ran.code == int(found["published"]["refuted"])
    assert "Proven loss" in here("audit", *where, "--epsilon", "30").out.decode()


def test_a_budget_per_text_needs_an_epsilon(tmp_path: Path) -> None:
    """An audit is of one word; a total per text is refused with a hint."""
    where = ("--lexicon", lexicon(tmp_path))
    ran = here(
        "audit", "balanced", *where, "--set", "budget={name: per-text, epsilon: 9}"
    )
    assert ran.code == 2
    assert ran.err.count("\n") == 1
