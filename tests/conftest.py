"""Fixtures of all tests; a run has its own folders for caches and stored lexicons."""

from __future__ import annotations

import inspect
import os
import re
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from dptext.types import Lexicon
    from tools.english.wordnet import WordNet

# Equal commits give equal results; --hypothesis-profile=default draws new examples, and
# `python -m benchmarks fuzz` as many as one likes.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
# Tests that run at once have a thread each: more of them than processors wait for one
# another, many times as long as they compute.
if "PYTEST_XDIST_WORKER" in os.environ:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
# A shell ignores interrupts of what it starts in the background, and so do children
# of it, to which tests send them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# Packages of extras that are not in `dev`.
_OPTIONAL = re.compile("torch|spacy|nltk|sklearn|transformers|language_models")


def pytest_configure(config: pytest.Config) -> None:
    """Leave the slow tests out of quick files, too."""
    if config.option.markexpr == "quick":
        config.option.markexpr = "quick and not slow"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the files unread that have no quick test, where only these are wanted.

    Importing all of them takes longer than the quick tests run.
    """
    is_test = collection_path.name.startswith("test_")
    if config.option.markexpr != "quick and not slow" or not is_test:
        return None
    is_quick = "pytest.mark.quick" in collection_path.read_text(encoding="utf-8")
    return None if is_quick else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Mark the tests of optional packages, where these are wanted."""
    if "optional" not in config.option.markexpr:
        return
    for item in items:
        fixtures = item._fixtureinfo.name2fixturedefs.values()
        if any(map(needs_optional, (item.function, *(f[-1].func for f in fixtures)))):
            item.add_marker("optional")


@cache
def needs_optional(function: Callable[..., object]) -> bool:
    """Tell whether a test, or a helper of tests that it uses, names such a package."""
    seen, todo = set[object](), [inspect.unwrap(function)]
    while todo:
        each = todo.pop()
        if each in seen or not each.__module__.startswith("tests."):
            continue
        seen.add(each)
        if _OPTIONAL.search(inspect.getsource(each)):
            return True
        names, known = each.__code__.co_names, each.__globals__
        modules = [known[name] for name in names if inspect.ismodule(known.get(name))]
        for scope in (known, *map(vars, modules)):
            used = (scope[name] for name in names if name in scope)
            todo += [inspect.unwrap(one) for one in used if inspect.isfunction(one)]
    return False


@pytest.fixture(scope="session", autouse=True)
def run_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Point caches and data at a folder of this run, so that no run feeds another."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "DPTEXT_HOME"):
            patch.setenv(name, str(home / name.lower()))
        yield home


@pytest.fixture
def empty_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point caches and data at empty folders of this test."""
    monkeypatch.setenv("DPTEXT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def key(tmp_path: Path) -> str:
    """Write a key file."""
    path = tmp_path / "key"
    path.write_bytes(bytes(range(7, 7 + 64)))
    path.chmod(0o600)
    return str(path)


@pytest.fixture
def database(tmp_path: Path) -> WordNet:
    """Return the WordNet of a few synsets."""
    from tests.tools import wordnet_files
    from tools.english.wordnet import read_database

    return read_database(wordnet_files.put(tmp_path))


@pytest.fixture(scope="session")
def builtin() -> Lexicon:
    """Return the built-in lexicon."""
    from dptext.lexicons import store

    return store.load(store.packaged_folder(), verify=False)
