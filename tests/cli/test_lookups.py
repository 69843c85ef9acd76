"""`dptext profiles`, `mechanisms`, `report` and help: look-ups on standard output."""

from __future__ import annotations

import json

import pytest

from dptext import profile, registry
from dptext.cli.mechanisms import section
from dptext.report import document
from tests.cli.running import here


def test_profiles_are_listed_and_shown() -> None:
    """Every shipped profile is in the list, and can be shown as its file."""
    ran = here("profiles")
    assert ran.code == 0
    assert ran.err == ""
    for name in profile.shipped():
        assert name in ran.out.decode()
        shown = here("profiles", name)
        assert shown.out.decode().startswith(f"name: {name}\n")
    rows = json.loads(here("profiles", "--json").out)
    assert [row["name"] for row in rows] == list(profile.shipped())
    assert all(row["about"] and row["source"] and row["mechanism"] for row in rows)


def test_mechanisms_are_listed_and_shown() -> None:
    """Every mechanism is in the list with its guarantee and source."""
    rows = json.loads(here("mechanisms", "--json").out)
    assert [row["mechanism"] for row in rows] == list(registry.names("mechanisms"))
    assert all(row["guarantee"] and row["source"] for row in rows)
    listed = here("mechanisms")
    assert (listed.code, listed.err) == (0, "")
    for row in rows:
        assert row["mechanism"] in listed.out.decode()
        shown = here("mechanisms", row["mechanism"]).out.decode()
        assert "Guarantee:" in shown
        assert f"Family: {row['family']}" in shown


@pytest.mark.parametrize("what", ["profiles", "mechanisms"])
def test_unknown_names_are_usage_errors(what: str) -> None:
    """An unknown name is one line and exit code 2."""
    ran = here(what, "nonsense")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.count("\n") == 1


def test_schema_is_printed() -> None:
    """`dptext report --schema` prints the schema that ships."""
    assert json.loads(here("report", "--schema").out) == document.schema()


@pytest.mark.parametrize(
    "command", ["sanitize", "check", "report", "profiles", "mechanisms", "lexicon"]
)
def test_every_command_has_help(command: str) -> None:
    """Each command explains itself on standard output."""
    ran = here(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert command in ran.out.decode()


def test_sections_of_docstrings() -> None:
    """A section ends where the next begins, or at a blank line."""
    text = "One.\n\nGuarantee: a\n  b\nSource: c\n\nd"
    assert section(text, "Guarantee") == "a b"
    assert section(text, "Source") == "c"
    assert section(text, "Known gaps") == ""
