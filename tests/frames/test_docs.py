"""The examples of docs/frames.md run as they stand."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "frames.md"
PROGRAMS = {
    re.findall(r"(?:import|from) (\w+)", program)[0]: program
    for program in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
}
ORIGINALS = ("Jane Doe",)
# The value of `private` after an example, with all its contents.
CONTENT: dict[str, Callable[[Any], object]] = {
    "pandas": lambda frame: frame.to_dict("list"),
    "polars": lambda frame: frame.to_dicts(),
    "pyarrow": lambda table: table.to_pylist(),
    "datasets": lambda data_set: data_set.to_list(),
    "presidio_anonymizer": lambda result: result.text,
}


@pytest.mark.parametrize("library", PROGRAMS)
def test_the_examples_work(library: str) -> None:
    """Each changes its texts; one is skipped if its library is not installed.

    Any word may stay unchanged by chance, so that each gets eight runs: two words stay
    together in fewer than 30% (false alarm below 1e-4).
    """
    pytest.importorskip(library)
    program = compile(PROGRAMS[library], str(PAGE), "exec")

    def changed() -> bool:
        names: dict[str, Any] = {}
        exec(program, names)
        content = str(CONTENT[library](names["private"]))
        return not any(original in content for original in ORIGINALS)

    assert any(changed() for _ in range(8))


def test_there_is_one_for_each_library() -> None:
    """No example is left out."""
    assert set(PROGRAMS) == set(CONTENT)
