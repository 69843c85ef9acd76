"""The examples of docs/frames.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "frames.md"
PROGRAMS = {
    re.findall(r"(?:import|from) (\w+)", program)[0]: program
    for program in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
}


@pytest.mark.parametrize("library", PROGRAMS)
def test_the_examples_work(library: str) -> None:
    """Each changes its texts; one whose library is not installed is skipped."""
    pytest.importorskip(library)
    names: dict[str, object] = {}
    exec(PROGRAMS[library], names)
    assert "noon" not in str(names["private"])
    assert "Jane" not in str(names["private"])


def test_there_is_one_for_each_library() -> None:
    """No example is left out."""
    libraries = {"pandas", "polars", "pyarrow", "datasets", "presidio_anonymizer"}
    assert set(PROGRAMS) == libraries
