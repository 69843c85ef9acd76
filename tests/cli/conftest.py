"""Fixtures of tests of commands."""

from __future__ import annotations

import pytest

from tests.cli import running


@pytest.fixture
def options(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the options of a quick run."""
    folder = tmp_path_factory.getbasetemp() / "lexicon"
    folder.mkdir(exist_ok=True)
    return running.small(folder)
