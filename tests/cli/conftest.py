"""Fixtures of tests of commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli import running


class Result(NamedTuple):
    """A run that succeeded."""

    output: bytes
    #: The internal report.
    report: dict[str, Any]
    err: str


#: Takes the input and further options.
Sanitize = Callable[..., Result]


@pytest.fixture
def options(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the options of a quick run."""
    folder = tmp_path_factory.getbasetemp() / "lexicon"
    folder.mkdir(exist_ok=True)
    return running.small(folder)


@pytest.fixture
def sanitize(tmp_path: Path, options: tuple[str, ...]) -> Sanitize:
    """Return a function that sanitizes the field `text` of lines of JSON."""
    report = tmp_path / "sanitize.report.json"

    def run(text: bytes, *more: str) -> Result:
        named = ("-f", "text", *options, "--report", str(report), *more)
        ran = running.here("sanitize", *named, given=text)
        assert ran.code == 0, ran.err
        return Result(ran.out, json.loads(report.read_bytes()), ran.err)

    return run
