"""`dptext list`, `report` and help: look-ups on standard output."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from dptext import profile, registry
from dptext.cli.list import phrase, sections
from dptext.errors import UsageError
from dptext.lexicons import store
from dptext.report import document
from tests import language_models
from tests.cli.running import here
from tests.conformance.components import MECHANISMS, complete
from tests.mechanisms import masked
from tests.small import cloud


def test_profiles_are_listed_and_shown() -> None:
    """Every shipped profile is in the list, and can be shown as its file."""
    ran = here("list", "profiles")
    assert ran.code == 0
    assert ran.err == ""
    for name in profile.shipped():
        assert name in ran.out.decode()
        shown = here("list", "profiles", name)
        assert shown.out.decode().startswith(f"name: {name}\n")
    rows = json.loads(here("list", "profiles", "--json").out)
    assert [row["name"] for row in rows] == list(profile.shipped())
    assert all(row["about"] and row["source"] and row["mechanism"] for row in rows)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("1-Diffractor", "diffractor"),
        ("DP-MLM", "mlm"),
        ("MLDP", "laplace"),
        ("CMP", "laplace"),
        ("SanText+", "santext"),
        ("CusText+", "custext"),
        ("TEM", "tem"),
        ("truncated gumbel", "gumbel"),
    ],
)
def test_names_of_papers_are_known(name: str, meant: str) -> None:
    """An error suggests the name that a mechanism has here; the list shows both."""
    with pytest.raises(UsageError, match=f"did you mean '{meant}'"):
        registry.find("mechanisms", name)
    ran = here("list", name)
    assert ran.code == 2
    assert "did you mean" in ran.err
    rows = json.loads(here("list", "mechanisms", "--json").out)
    (row,) = (row for row in rows if row["mechanism"] == meant)
    assert name.casefold() in row["known_as"].casefold()
    assert f"Known as: {row['known_as']}" in " ".join(
        here("list", "mechanisms", meant).out.decode().split()
    )


def test_mechanisms_are_listed_and_shown() -> None:
    """Every mechanism is in the list with its guarantee and source."""
    rows = json.loads(here("list", "mechanisms", "--json").out)
    assert [row["mechanism"] for row in rows] == list(registry.names("mechanisms"))
    assert all(row["guarantee"] and row["source"] for row in rows)
    listed = here("list", "mechanisms")
    assert (listed.code, listed.err) == (0, "")
    for row in rows:
        assert row["mechanism"] in listed.out.decode()
        assert all(
            each.keys() == {"name", "default", "values"} for each in row["parameters"]
        )


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_is_shown_in_full(name: str) -> None:
    """Statement, gaps, parameters, a command; what to use where nothing is promised."""
    shown = here("list", "mechanisms", name)
    assert (shown.code, shown.err) == (0, "")
    text = shown.out.decode()
    for title in ("Family", "Guarantee", "Source", "Known gaps", "Example"):
        assert f"\n{title}:" in text
    whole = json.loads(here("list", "mechanisms", name, "--json").out)
    assert whole["mechanism"] == name
    assert whole["known_gaps"]
    assert whole["guarantee"].startswith("none") <= ("instead" in whole)
    for each in whole["parameters"]:
        assert f"- {each['name']}=" in text


@pytest.mark.parametrize("name", ["custext", "gumbel", "syntf", "vickrey"])
def test_a_form_without_a_promise_says_what_to_use(name: str) -> None:
    """There is a section Instead."""
    assert "\nInstead:\n" in here("list", "mechanisms", name).out.decode()


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that is shown works as it stands, here on a small lexicon."""
    example = json.loads(here("list", "mechanisms", name, "--json").out)["example"]
    lexicon = complete(cloud(120, 8))
    if "=DIR" in example:
        language_models.roberta(tmp_path / "DIR")
        lexicon = masked.LEXICON
    store.save(lexicon, tmp_path / "words")
    (tmp_path / "reviews.jsonl").write_text('{"text": "a1x or b1x."}\n' * 3)
    monkeypatch.chdir(tmp_path)
    first, *arguments = shlex.split(example)
    assert first == "dptext"
    assert any(name in each for each in arguments)
    ran = here(*arguments, "--lexicon", str(tmp_path / "words"))
    assert ran.code == 0, ran.err
    assert len(ran.out.splitlines()) == 3


@pytest.mark.parametrize("kind", ["profiles", "mechanisms"])
def test_unknown_names_are_usage_errors(kind: str) -> None:
    """An unknown name is one line and exit code 2."""
    ran = here("list", kind, "nonsense")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.count("\n") == 1


def test_names_and_lists_together() -> None:
    """Both lists without a name; a name of one of them alone shows that one."""
    both = json.loads(here("list", "--json").out)
    for kind, rows in both.items():
        assert rows == json.loads(here("list", kind, "--json").out)
    shown = here("list").out
    assert all(row["name"].encode() in shown for row in both["profiles"])
    assert here("list", "rank").out == here("list", "mechanisms", "rank").out
    assert here("list", "strict").out == here("list", "profiles", "strict").out
    row = json.loads(here("list", "profiles", "strict", "--json").out)
    assert row in both["profiles"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("tem",), "dptext list profiles tem or dptext list mechanisms tem"),
        (("rnk",), "did you mean 'rank'"),
        (("rank", "tem"), "write profiles or mechanisms first"),
    ],
)
def test_a_name_that_says_too_little(given: tuple[str, ...], said: str) -> None:
    """A name of both kinds, or of none, is one line and exit code 2."""
    ran = here("list", *given)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert said in ran.err


def test_schema_is_printed() -> None:
    """`dptext report --schema` prints the schema that ships."""
    assert json.loads(here("report", "--schema").out) == document.schema()


@pytest.mark.parametrize("command", ["sanitize", "check", "report", "list", "lexicon"])
def test_every_command_has_help(command: str) -> None:
    """Each command explains itself on standard output."""
    ran = here(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert command in ran.out.decode()


@pytest.mark.parametrize(
    ("said", "short"),
    [
        ("none. The rest", "none"),
        ("a, b: c", "a, b"),
        ("x 0.5; y", "x 0.5"),
        ("Xu et al. 2020, 1. More", "Xu et al. 2020, 1"),
        ("whole", "whole"),
    ],
)
def test_the_first_phrase(said: str, short: str) -> None:
    """A phrase ends with a mark and a space, but not after et al."""
    assert phrase(said) == short


def test_sections_of_docstrings() -> None:
    """A section ends where the next begins, or at a blank line."""
    text = "One.\n\nGuarantee: a\n  b\nSource: c\n\nd"
    assert sections(text) == {"about": "One.", "guarantee": "a b", "source": "c"}


def test_paragraphs_are_filled_anew() -> None:
    """Lines of a docstring are wider than a terminal; items of a list keep theirs."""
    text = "One\ntwo.\n\nThree\n  four:\n- a\n- b\n\nSource: c"
    assert sections(text)["about"] == "One two.\n\nThree four:\n- a\n- b"
