"""Options for tests of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import small


@pytest.fixture
def options(
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[str, ...]:
    """Work in an empty folder; return the options of a quick run."""
    monkeypatch.chdir(tmp_path)
    return (*small(tmp_path_factory.getbasetemp()), "--no-bayes-risk")
