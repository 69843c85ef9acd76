"""Every option of a run is in every interface, or says why it is not."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dptext
from dptext import spark
from dptext.run import groups
from dptext.run.choices import Choices, Noise, Pooling
from dptext.run.marks import FILE, PYTHON, TABLE, ByFile, ByVariable, NotIn, find_mark
from dptext.run.selection import Selection
from dptext.run.work import Keys

pytestmark = pytest.mark.quick
COMMANDS = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"
#: Groups about the rows of a table, and about files.
OF_TABLES = (Selection, Choices, Keys)
OF_FILES = tuple(each for each in groups.GROUPS if each not in (Choices, Keys))


def is_in(interface: str, marks: tuple[object, ...]) -> bool:
    """Tell whether an interface should have an option, by its marks."""
    return not any(
        isinstance(mark, NotIn) and mark.interface == interface for mark in marks
    )


def keywords(*functions: Callable[..., object]) -> Iterator[str]:
    """Yield the keywords of functions."""
    for function in functions:
        yield from inspect.signature(function).parameters


def test_a_setting_of_files_or_a_reason() -> None:
    """An option without a key of the configuration says why."""
    for group in groups.GROUPS:
        for name, _, marks in groups.options(group):
            has_key = find_mark(marks, ByFile, ByVariable) is not None
            assert has_key == is_in(FILE, marks), f"{group.__name__}.{name}"


@pytest.mark.parametrize(
    ("kinds", "interface", "functions"),
    [
        ((Choices, Keys), PYTHON, (dptext.Sanitizer,)),
        (OF_FILES, PYTHON, (dptext.Sanitizer.files,)),
        (groups.GROUPS, PYTHON, (dptext.sanitize_files,)),
        (OF_TABLES, TABLE, (dptext.Sanitizer, dptext.Sanitizer.table)),
        (OF_TABLES, TABLE, (dptext.privatize,)),
        (OF_TABLES, TABLE, (spark.privatize,)),
        ((Pooling, Noise), PYTHON, (dptext.embed,)),
    ],
)
def test_a_keyword_of_python_or_a_reason(
    kinds: tuple[type, ...], interface: str, functions: tuple[Callable[..., object]]
) -> None:
    """Options that a call lacks say why; the fields of a table are its columns."""
    known = {*keywords(*functions)}
    known |= {"fields"} if "columns" in known else set()
    for group in kinds:
        for name, option, marks in groups.options(group):
            keyword = option.python or option.name(name).replace("-", "_")
            wanted = is_in(interface, marks) and is_in(PYTHON, marks)
            assert (keyword in known) == wanted, f"{group.__name__}.{name}"


def test_a_line_in_the_docs() -> None:
    """The reference has every option."""
    page = COMMANDS.read_text("utf-8")
    for group in groups.GROUPS:
        for name, option, _ in groups.options(group):
            assert f"--{option.name(name)}" in page, f"{group.__name__}.{name}"


def test_a_reason_is_a_phrase() -> None:
    """It is more than a word."""
    for group in (*groups.GROUPS, Pooling, Noise):
        for name, _, marks in groups.options(group):
            for mark in marks:
                if isinstance(mark, NotIn):
                    assert len(mark.reason.split()) >= 3, name
                    assert mark.interface in (FILE, PYTHON, TABLE)
