"""What tests of commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import running


@pytest.fixture
def options(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the options of a quick run."""
    folder = tmp_path_factory.getbasetemp() / "lexicon"
    folder.mkdir(exist_ok=True)
    return running.small(folder)


@pytest.fixture
def key(tmp_path: Path) -> str:
    """Write a key file."""
    path = tmp_path / "key"
    path.write_bytes(bytes(range(7, 7 + 64)))
    path.chmod(0o600)
    return str(path)
