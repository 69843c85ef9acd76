"""The oldest supported versions are those of pyproject.toml."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tools.oldest import constraints

pytestmark = pytest.mark.quick


def test_each_dependency_has_one_floor() -> None:
    """The higher one of two extras counts; tools of developers have none."""
    project = {
        "dependencies": ["numpy>=1.26"],
        "optional-dependencies": {
            "parquet": ["pyarrow>=15"],
            "spark": ["pyspark>=4", "pyarrow>=16.1"],
            "dev": ["pytest"],
        },
    }
    assert list(constraints(project)) == ["numpy==1.26", "pyarrow==16.1", "pyspark==4"]


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy>=1,<3"])
def test_a_dependency_without_a_floor_is_refused(requirement: str) -> None:
    """Nobody could say with what it was tested."""
    project = {"dependencies": [requirement], "optional-dependencies": {}}
    with pytest.raises(ValueError, match="give the oldest version"):
        list(constraints(project))


def test_those_of_this_project_are_printed() -> None:
    """As pip reads them."""
    lines = subprocess.check_output(
        [sys.executable, "-m", "tools.oldest"], text=True
    ).splitlines()
    assert {line.partition("==")[0] for line in lines} >= {"numpy", "typer", "pyarrow"}
