"""Sentences of answer.toml: how blanks are filled, and that the file fits together."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

import pytest

from dptext.report import lines
from dptext.report.blocks import Code
from dptext.report.lines import line, page_rows, say
from dptext.run.interface import shown_in
from dptext.run.python import PYTHON

TEXTS = {
    "plural": "{n:word} {n:is|are} {exact:never|hardly ever} {share:whole}",
    "option": "{option:risk {share:whole}}, {noun:key-file}",
    "part": "In texts[, {rare:span} of rare ones] as [unknown].",
    "path": "[{end.real} of ]{end.imag}[ and {end.other}]",
}
ROWS = {"Digest": "`{digest}`", "Left": "[{left}]", "Right": "{right}"}


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put other sentences in the place of those that ship."""
    data = {"x": TEXTS, "rows": {"y": ROWS}}
    monkeypatch.setattr(lines, "templates", lambda: data)


def test_blanks_are_written_by_their_kind(texts: None) -> None:
    """A number of things, a word by number or condition, a figure."""
    many = say("x.plural", n=2000, exact=False, share=0.004)
    assert many == "2,000 words are hardly ever under 1%"
    assert say("x.plural", n=1, exact=True, share=0.5) == "1 word is never 50%"


def test_options_are_written_for_the_interface(texts: None) -> None:
    """With a value that may be a figure; nouns without the sign of an option."""
    assert say("x.option", share=0.1) == "--risk 10%, --key-file"
    with shown_in(PYTHON):
        assert say("x.option", share=0.1) == "risk='10%', key"


def test_a_part_stands_only_with_its_figures(texts: None) -> None:
    """A share of 0 is a figure, an empty list none; brackets without blanks stay."""
    assert say("x.part", rare=[0.0]) == "In texts, 0% of rare ones as [unknown]."
    assert say("x.part", rare=[]) == "In texts as [unknown]."


def test_blanks_are_attributes_of_an_object(texts: None) -> None:
    """A part with an attribute that is missing is left out."""
    assert say("x.path", type("Made", (), {"end": 2 + 3j})) == "2.0 of 3.0"


def test_values_are_no_templates(texts: None) -> None:
    """Names of files and fields hold any characters."""
    rows = page_rows("y", digest="a`b", left="", right="`{x}[{y}]`")
    assert rows == [("Digest", Code("a`b")), ("Right", "`{x}[{y}]`")]


def test_figures_of_a_line_are_blanks() -> None:
    """They stand in the data for machines, other blanks do not."""
    made = line("people", "ledger", {"limit": 5.0}, field="person")
    assert made.figures == {"limit": 5.0}
    assert 'each "person" loses at most 5 nats' in made.sentence


def test_each_line_has_its_place() -> None:
    """Every line has one place in the order; the last question has the rest."""
    data = lines.templates()
    order = data["order"]
    assert len({*order}) == len(order)
    asked = [name for names in data["questions"].values() for name in names]
    assert {*asked} == {*order} - {"verdict", "report"}
    assert {*data["optional"], *data["pages"]} < {*order}


def entries(table: dict[str, Any]) -> Iterator[str]:
    """Yield the sentences of a table."""
    for value in table.values():
        if isinstance(value, dict):
            yield from entries(value)
        elif isinstance(value, str):
            yield value


def test_every_blank_names_a_known_way_to_write_it() -> None:
    """A writer, two words, a noun, an option, or a format of Python."""
    nouns = {"word", "text", "vector", "number", "common word"}
    for text in entries(lines.templates()):
        for _, name, how, _ in string.Formatter().parse(text):
            if not name or not how or "|" in how or "{" in how:
                continue
            is_option = name in ("option", "noun")
            python = how in ("g", ".2f")
            assert is_option or python or how in {*nouns, *lines._WRITERS}, text
