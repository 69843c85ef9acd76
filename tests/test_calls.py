"""Errors and warnings of calls name parameters of Python, where the program calls."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext.errors import UsageError
from dptext.run.interface import COMMAND_LINE, noun, option, shown_in, unit
from dptext.run.python import PYTHON, TABLE
from tests.cli.running import lexicon

pytestmark = pytest.mark.quick
KEY = bytes(range(40))


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("field", "NAME", ("--field NAME", "fields=", "columns=")),
        ("key-file", "FILE", ("--key-file FILE", "key=", "key=")),
        ("mu", "", ("--mu", "mu=", "`dptext sanitize --mu`")),
        (
            "format",
            "csv",
            ("--format csv", "format='csv'", "`dptext sanitize --format csv`"),
        ),
        (
            "set",
            "tokens.unknown=mask",
            (
                "--set tokens.unknown=mask",
                "overrides={'tokens': {'unknown': 'mask'}}",
                "overrides={'tokens': {'unknown': 'mask'}}",
            ),
        ),
        (
            "quarantine",
            "FILE",
            (
                "--quarantine FILE",
                "quarantine=",
                "`dptext sanitize --quarantine FILE`",
            ),
        ),
        (
            "no-header",
            "",
            (
                "--no-header",
                "header=False",
                "`dptext sanitize --no-header`",
            ),
        ),
    ],
)
def test_options_become_parameters(
    name: str, value: str, shown: tuple[str, ...]
) -> None:
    """With a value where there is one; an option of the command line alone stays."""
    found = []
    for each in (COMMAND_LINE, PYTHON, TABLE):
        with shown_in(each):
            found.append(option(name, value))
    assert tuple(found) == shown


def test_the_interface_of_a_block_ends_with_it() -> None:
    """Messages after a call of Python are those of the command line again."""
    with shown_in(TABLE):
        assert (noun("field"), noun("id"), unit()) == ("columns", "id", "column")
    assert (noun("field"), unit()) == ("--field", "field")


def test_several_values_of_an_option() -> None:
    """A command repeats an option, Python gives a list."""
    line = COMMAND_LINE.repeated("field", ["a", "b"])
    assert line == "give --field once for each value: --field a --field b"
    assert PYTHON.repeated("field", ["a", "b"]) == (
        "a list names several: fields=['a', 'b']"
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"mechanism": "gumbel", "risk": 0.2}, "give epsilon= instead of a risk"),
        ({"decode": "causal-lm"}, "overrides={'decoder': {'model': 'PATH'}}, a "),
        ({"epsilon": True}, "epsilon True: give a finite number above 0, not bool"),
        ({"epsilon": "8"}, "epsilon '8': give a finite number above 0, not str"),
        ({"profile": 5}, "profile: give a name or the path of a .yaml file, not int"),
        ({"lexicon": 5}, "lexicon: give a name, not int"),
        ({"topics": 5}, "topics: give a name, not int"),
        (
            {"report": "report.json"},
            "report: give True or False; the report is returned as a second result, "
            "and report.to_json()",
        ),
        ({"key": 5}, "key: give bytes or the path of a file, not int"),
    ],
)
def test_a_wrong_call_is_one_line_about_its_parameter(
    given: dict[str, Any], expected: str
) -> None:
    """Without an option of the command line."""
    with pytest.raises((UsageError, TypeError)) as raised:
        dptext.privatize("the film was good", **given)
    assert expected in str(raised.value)
    assert "--" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_warnings_point_to_the_program(tmp_path: Path) -> None:
    """Whatever frames of generators and blocks lie between."""
    pandas = pytest.importorskip("pandas")
    words: dict[str, Any] = {"lexicon": lexicon(tmp_path), "epsilon": 3}
    settings = {"profile": "balanced", **words}
    frame = pandas.DataFrame({"mail": ["a@b.org", "c@d.org"], "text": "the film"})
    frame.to_csv(tmp_path / "in.csv", index=False)
    unknown = ["xylo quor zim blar"] * 60
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dptext.privatize(frame, columns="text", **settings)
        dptext.privatize(unknown, **settings)
        dptext.embed(unknown, **words)
        dptext.sanitize_files(
            tmp_path / "in.csv", tmp_path / "out.csv", fields="text", **settings
        )
    assert {each.filename for each in caught} == {__file__}
    lines = [str(each.message) for each in caught]
    assert sum("column 'mail' was left unchanged" in line for line in lines) == 2
    assert sum("are not in lexicon" in line for line in lines) == 2
    assert any("make it private (columns=) or a pseudonym" in line for line in lines)
    assert any("make it private (fields=) or a pseudonym" in line for line in lines)
    assert not any("--" in line for line in lines)


def test_results_have_a_short_repr(tmp_path: Path) -> None:
    """A notebook shows the last value of a cell: not 12,000 characters of a report."""
    words: dict[str, Any] = {"lexicon": lexicon(tmp_path), "epsilon": 3}
    settings = {"profile": "balanced", **words}
    (tmp_path / "in.txt").write_text("the film was good\n")
    _, report = dptext.privatize(["the film"], report=True, **settings)
    assert repr(report) == (
        "Report(audience='internal', profile='custom, from balanced', "
        "notion='LDP', epsilon=3.0)"
    )
    files = dptext.sanitize_files(tmp_path / "in.txt", tmp_path / "o.txt", **settings)
    assert len(repr(files)) < 300
    assert len(repr(dptext.embed(["the film"], **words))) < 500
