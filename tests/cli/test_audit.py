"""`dptext audit` on a small lexicon: table, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Ran, lexicon, small
from tests.cli.running import here as run_here
from tests.outside import install, run

QUICK = ("--draws", "50000", "--runs", "500")


def here(*arguments: str) -> Ran:
    """Run an audit with few draws."""
    return run_here(*arguments, *QUICK)


def test_a_true_claim_passes(tmp_path: Path) -> None:
    """Rank attains its epsilon exactly, and the audit says that it holds."""
    ran = here("audit", "balanced", *small(tmp_path)[:-2])
    assert ran.code == 0
    shown = " ".join(ran.out.decode().split())
    assert "holds for every audited pair" in shown
    assert "Program against formula no deviation in" in shown
    assert "false alarms in at most 0.1% of audits" in shown
    assert "copies of the input" in shown
    assert "Not tested" in shown


def test_progress_goes_to_standard_error(tmp_path: Path) -> None:
    """Off a terminal, too: lines with the time; -q is silent."""
    ran = here("audit", "balanced", *small(tmp_path)[:-2])
    lines = ran.err.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("dptext: audit: ") for line in lines)
    assert here("audit", "balanced", *small(tmp_path)[:-2], "-q").err == ""


def test_a_mechanism_is_audited_by_its_name(tmp_path: Path) -> None:
    """With its own defaults at the epsilon given; a profile goes first."""
    where = ("--lexicon", lexicon(tmp_path), "-q", "--json")
    for name in ("rank", "laplace"):
        audited = json.loads(here("audit", name, "--epsilon", "5", *where).out)
        assert (audited["mechanism"], audited["epsilon"]) == (name, 5.0)
    changed = ("--set", "mechanism.k=4")
    ran = here(
        "audit", "custext", "--mechanism", "rank", "--epsilon", "5", *changed, *where
    )
    assert json.loads(ran.out)["profile"].startswith("custext with ")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("rank",), "give --epsilon"),
        (("rank", "--epsilon", "3", "--mechanism", "tem"), "leave --mechanism"),
        (
            ("rnak", "--epsilon", "3"),
            "no profile or mechanism named 'rnak'",
        ),
    ],
)
def test_a_wrong_name_is_one_line(
    options: tuple[str, ...], wanted: str, tmp_path: Path
) -> None:
    """The mistake and its remedy, with exit code 2."""
    ran = here("audit", *options, "--lexicon", lexicon(tmp_path))
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert wanted in ran.err


COPIES = """
from dataclasses import dataclass
import numpy as np
from dptext.mechanisms import rank

@dataclass(frozen=True, slots=True)
class Params(rank.Params):
    def prepare(self, space, aim):
        honest = rank.Params.prepare(self, space, aim)
        return Copies(honest.params, honest.space, honest.orders, honest.outputs)

class Copies(rank.Rank):
    def sample(self, ids, eps, bits):
        drawn = super().sample(ids, eps, bits)
        strikes = (bits.uniform(50)[:, 0] < 0.05) & (ids >= 0)
        return np.where(strikes, ids, drawn)
"""


def test_a_program_that_is_not_its_formula_ends_with_1(tmp_path: Path) -> None:
    """A mechanism of another package, by name; the verdict says what it does."""
    install(tmp_path, "copies", "dptext.mechanisms", "mine = copies", copies=COPIES)
    options = ("--epsilon", "2", "--lexicon", lexicon(tmp_path), *QUICK, "--json")
    ran = run(tmp_path, "audit", "mine", *options)
    assert ran.code == 1, ran.err
    audited = json.loads(ran.out)
    assert not audited["refuted"]
    assert audited["program"]["refuted"]
    assert audited["program"]["deviation"]["p_value"] < 1e-6
    assert {each["event"][:6] for each in audited["program"]["power"]} >= {"copies"}


VICKREY = ("--mechanism", "vickrey")


@pytest.mark.parametrize("name", ["santext", "tem"])
def test_json_names_the_worst_pair(name: str, tmp_path: Path) -> None:
    """The worst pair, its claim and the ratio are there for machines."""
    ran = here(
        "audit", name, "--epsilon", "3", "--lexicon", lexicon(tmp_path), "--json"
    )
    assert ran.code == 0
    audited = json.loads(ran.out)
    assert audited["mechanism"] == name
    assert 0.5 <= audited["ratio"] <= 1.0
    assert audited["worst"] <= audited["claim_of_worst"]
    assert len(audited["worst_pair"]) == 2
    assert not audited["refuted"]


def test_noise_gives_a_lower_bound(tmp_path: Path) -> None:
    """A noise mechanism is sampled, and the verdict claims no proof."""
    ran = here(
        "audit",
        "cmp",
        "--epsilon",
        "3",
        "--lexicon",
        lexicon(tmp_path),
    )
    assert ran.code == 0
    assert "cannot prove" in " ".join(ran.out.decode().split())


def test_a_false_published_claim_ends_with_1(tmp_path: Path) -> None:
    """The verdict names the author of the claim; in JSON an infinite loss is a word."""
    where = ("--lexicon", lexicon(tmp_path), "--epsilon", "3")
    custext = ("--mechanism", "custext", "--set", "mechanism.k=5")
    one_set = here("audit", *custext, *where)
    assert one_set.code == 0
    for options in ((*custext, "--set", "mechanism.mapping=balanced"), VICKREY):
        ran = here("audit", *options, *where)
        assert ran.code == 1
        verdict = " ".join(ran.out.decode().split())
        assert "the published claim is refuted" in verdict
        assert "dptext itself claims nothing here" in verdict
        ran = here("audit", *options, *where, "--json")
        assert ran.code == 1
        audited = json.loads(ran.out)
        assert (audited["claims"], audited["refuted"]) == (False, False)
        assert audited["published"]["refuted"] is True
        assert audited["published"]["loss"] == "infinite"
        assert audited["worst"] == "infinite"


def test_the_loss_of_gumbel_is_finite_and_proven(tmp_path: Path) -> None:
    """The exact loss stands beside its proven lower bound."""
    where = ("--lexicon", lexicon(tmp_path), "--mechanism", "gumbel")
    ran = here("audit", *where, "--epsilon", "30", "--json")
    audited = json.loads(ran.out)
    assert 20 < audited["proven"] < audited["worst"]
    assert audited["infinite"] == 0.0
    assert ran.code == int(audited["published"]["refuted"])
    assert "Proven loss" in here("audit", *where, "--epsilon", "30").out.decode()


def test_a_release_is_audited_as_a_whole(tmp_path: Path) -> None:
    """Budget, prior, random bits, nonces and decoder, each with the things examined."""
    where = ("--lexicon", lexicon(tmp_path), "-q")
    budget = ("--set", "budget={name: per-text, epsilon: 9}")
    ran = here("audit", "balanced", *where, *budget)
    assert ran.code == 0
    shown = " ".join(ran.out.decode().split())
    assert "of one word at the largest epsilon of the budget" in shown
    for name in ("budget", "prior", "random bits", "nonces", "decoder"):
        assert f"Release, {name} no fault found: " in shown
    checks = json.loads(here("audit", "balanced", *where, *budget, "--json").out)
    assert [each["fault"] for each in checks["release"]] == [""] * 5


SPENDS_MORE = """
from dataclasses import dataclass
import numpy as np
from dptext.budgets import uniform

@dataclass(frozen=True, slots=True)
class Params(uniform.Params):
    def prepare(self, lexicon):
        return More(self.epsilon)

class More(uniform.Uniform):
    def spread(self, words, bits):
        return np.where(words.ids == 3, 1.4, 1.0) * self.epsilon
"""


def test_a_budget_that_spends_more_than_it_says_ends_with_1(tmp_path: Path) -> None:
    """A budget of another package; the verdict says by how much."""
    install(tmp_path, "spends", "dptext.budgets", "mine = spends", spends=SPENDS_MORE)
    options = ("--lexicon", lexicon(tmp_path), *QUICK, "-q")
    budget = ("--set", "budget={name: mine, epsilon: 3}")
    ran = run(tmp_path, "audit", "balanced", *budget, *options)
    assert ran.code == 1, ran.err
    shown = " ".join(ran.out.decode().split())
    assert "Release, budget REFUTED: " in shown
    assert "is drawn with epsilon 4.2, " in shown
