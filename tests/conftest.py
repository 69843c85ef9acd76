"""Fixtures of all tests; a run has its own folders for caches and stored lexicons."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from dptext.types import Lexicon
    from tools.english.wordnet import WordNet

# As in `dptext.__main__`: looking for garbage in all tests and lexicons takes as long
# as collecting the tests.
gc.set_threshold(50_000)
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


# A file for the names of the tests that run and of those that are skipped, and one of
# an earlier run: `.ci/run` runs all tests in two environments, each test in one of
# them.
_RAN = os.environ.get("DPTEXT_TEST_RAN")
_SKIPPED = "skipped "
_EARLIER = os.environ.get("DPTEXT_TEST_LEAVE_OUT")
_NOTED = Path(_EARLIER).read_text(encoding="utf-8").splitlines() if _EARLIER else []
_LEFT_OUT = {line for line in _NOTED if not line.startswith(_SKIPPED)}
#: The files of which a test was skipped, or all.
_UNFINISHED = {
    line.removeprefix(_SKIPPED).partition("::")[0]
    for line in _NOTED
    if line.startswith(_SKIPPED)
}

#: Characters of a value in the id of a test.
_ID = 40


def pytest_configure(config: pytest.Config) -> None:
    """Leave the slow tests out of quick files, too."""
    if config.option.markexpr == "quick":
        config.option.markexpr = "quick and not slow"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the files unread that have no quick test, where only these are wanted.

    Those of which all tests ran in another environment, too. Importing all of them
    takes longer than the tests that are left.
    """
    is_test = collection_path.name.startswith("test_")
    if _EARLIER and is_test:
        name = collection_path.relative_to(config.rootpath).as_posix()
        return None if name in _UNFINISHED else True
    if config.option.markexpr != "quick and not slow" or not is_test:
        return None
    is_quick = "pytest.mark.quick" in collection_path.read_text(encoding="utf-8")
    return None if is_quick else True


def pytest_make_parametrize_id(val: object) -> str | None:
    """Cut the ids of long values, and name settings by their text."""
    if not isinstance(val, str | bytes | int | dict):
        return None
    text = str(val)
    if len(text) <= _ID and not isinstance(val, dict):
        return None
    return ascii(text[:_ID])[1:-1]


def _note(line: str) -> None:
    # The processes of pytest-xdist report to the first one, which notes all tests.
    if _RAN and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(_RAN).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note each test that ran, and each that was skipped."""
    if report.skipped:
        _note(f"{_SKIPPED}{report.nodeid}")
    elif report.when == "call":
        _note(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note each file that was skipped as a whole."""
    if report.skipped:
        _note(f"{_SKIPPED}{report.nodeid}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Leave out the tests that ran in another environment; begin with the longest.

    These may take longer than others (`timeout`): one that is left for the end would
    keep one process busy while the others wait.
    """
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)
    if _LEFT_OUT:
        config.hook.pytest_deselected(
            items=[item for item in items if item.nodeid in _LEFT_OUT]
        )
        items[:] = [item for item in items if item.nodeid not in _LEFT_OUT]


@pytest.fixture(scope="session", autouse=True)
def run_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Point caches and data at a folder of this run, so that no run feeds another."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_DATA_HOME", "DPTEXT_HOME"):
            patch.setenv(name, str(home / name.lower()))
        # The processes of a run share it: what one has computed no other computes.
        base = tmp_path_factory.getbasetemp()
        cache = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        patch.setenv("XDG_CACHE_HOME", str(cache / "cache"))
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
