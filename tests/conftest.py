"""Fixtures of all tests; a run has its own folders for caches and stored lexicons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dptext.lexicons.english.wordnet import WordNet
    from dptext.types import Lexicon


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Point caches and data at a folder of this run, so that no run feeds another."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "DPTEXT_HOME"):
            patch.setenv(name, str(home / name.lower()))
        yield home


@pytest.fixture
def database(tmp_path: Path) -> WordNet:
    """Return the WordNet of a few synsets."""
    from dptext.lexicons.english.wordnet import read_database
    from tests.lexicons import wordnet_files

    return read_database(wordnet_files.put(tmp_path))


@pytest.fixture(scope="session")
def builtin() -> Lexicon:
    """Return the built-in lexicon."""
    from dptext.lexicons import store

    return store.load(store.packaged_folder(), verify=False)
