"""Long work is named on standard error, short work is not, and a library is silent."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from dptext import progress


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let lines come soon, and switch them off in the end."""
    monkeypatch.setattr(progress, "_WAITS", (0.02, 0.05))
    yield
    progress.enable(False)


def test_a_long_step_is_named_again_and_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Lines name the step; standard output stays free."""
    progress.enable()
    with progress.step("counting stars"):
        time.sleep(0.3)
    out, err = capsys.readouterr()
    assert not out
    lines = err.splitlines()
    assert len(lines) >= 2
    assert all("counting stars" in line for line in lines)


def test_the_innermost_step_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Of steps within steps only one is written at a time."""
    progress.enable()
    with progress.step("outer"), progress.step("inner"):
        time.sleep(0.2)
    err = capsys.readouterr().err
    assert "inner" in err
    assert "outer" not in err


def test_short_steps_and_libraries_say_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Steps that end before the first line, or without progress, write none."""
    with progress.step("quiet"):
        time.sleep(0.1)
    progress.say("quiet")
    progress.enable()
    with progress.step("short"):
        pass
    assert not capsys.readouterr().err


def test_notebooks_show_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook gets a bar that it draws anew; elsewhere there is no bar."""
    updates: list[dict[str, str]] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            updates.append(data)

    def display(data: dict[str, str], raw: bool, display_id: bool) -> Handle:
        updates.append(data)
        return Handle()

    shell = SimpleNamespace(kernel=object())
    fake = SimpleNamespace(
        get_ipython=lambda: shell, display=SimpleNamespace(display=display)
    )
    monkeypatch.setitem(sys.modules, "IPython", fake)
    with progress.visible(True):
        progress.share("<texts>", 0.5)
    shown = [each["text/plain"] for each in updates]
    assert shown == ["starting", "<texts>: 50%", "<texts>: 100%"]
    assert 'value="0.500"' in updates[1]["text/html"]
    assert "&lt;texts&gt;" in updates[1]["text/html"]
    assert not progress.enabled()
    shell = SimpleNamespace()
    with progress.visible(True):
        progress.share("texts", 0.5)
    assert len(updates) == 3


def test_shares_are_written_now_and_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Off a terminal: a line now and then, and no line for short or unknown work."""
    with progress.shares():
        progress.share("reading", 0.5)
    progress.enable()
    with progress.step("outer"), progress.shares():
        progress.share("reading", 0.5)
        time.sleep(0.1)
        progress.share("reading", 0.75)
        progress.share("folding", 0.0)
        time.sleep(0.2)
        progress.share("folding", 0.0)
    progress.share("reading", 1.0)
    err = capsys.readouterr().err
    assert err == "dptext: reading: 75%\n"


def test_lines_of_processes_side_by_side_are_told_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each line of a process begins with the name of its work."""
    progress.enable(about="rank, risk 0.1: ")
    progress.say("counting")
    assert capsys.readouterr().err == "dptext: rank, risk 0.1: counting\n"
