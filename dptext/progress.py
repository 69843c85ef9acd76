"""Reports slow steps on standard error in a few plain lines, on any device.

If the finished share is known, a terminal shows a bar with the time left, and a
notebook a bar. Commands switch this on; as a library dptext is silent unless a call
asks. Only names of public steps are written, never text.
"""

from __future__ import annotations

import contextlib
import html
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

# Takes the name of a phase and the share of it that is done, 0 to 1.
Shares = Callable[[str, float], None]

# Seconds after which a step is named, and named again; the last one repeats.
_WAITS = (3.0, 10.0, 20.0, 30.0, 60.0)

_on = False
_about = ""
_steps: list[object] = []
# Where phases are shown, the innermost last.
_shown: list[Shares] = []


def enable(enabled: bool = True, about: str = "") -> None:
    """Switch the lines on or off for this process; `about` precedes each."""
    global _on, _about
    _on, _about = enabled, about


def enabled() -> bool:
    """Return whether lines are on."""
    return _on


def say(line: str) -> None:
    """Write a line now if lines are on."""
    if _on and sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(f"dptext: {_about}{line}", file=sys.stderr, flush=True)  # noqa: T201


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Announce a step if it takes long; of nested steps only the innermost."""
    if not _on:
        yield
        return
    done, token, began = threading.Event(), object(), time.monotonic()

    def watch() -> None:
        turn = 0
        while not done.wait(_WAITS[min(turn, len(_WAITS) - 1)]):
            turn += 1
            if _steps and _steps[-1] is token:
                say(f"{name} ({time.monotonic() - began:.0f} s so far)")

    _steps.append(token)
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        _steps.remove(token)


def share(phase: str, done: float) -> None:
    """Record the finished share of a phase, 0 to 1, if `shares` shows it."""
    if _shown:
        _shown[-1](phase, done)


@contextlib.contextmanager
def visible(wanted: bool) -> Iterator[None]:
    """Show lines and shares during a block, if wanted."""
    if not wanted:
        yield
        return
    before = _on, _about
    enable()
    try:
        with shares():
            yield
    finally:
        enable(*before)


def _notebook_bar() -> Shares | None:
    """Return a notebook's progress display, None outside a notebook."""
    ipython: Any = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return None

    def drawn(phase: str, share: float) -> dict[str, str]:
        value = f' value="{share:.3f}"' if share else ""
        bar = f'<progress max="1"{value}></progress>'
        line = f"{phase}: {share:.0%}" if share else phase
        return {"text/plain": line, "text/html": f"{bar} {html.escape(line)}"}

    bar: Any = ipython.display.display(
        drawn("starting", 0.0), raw=True, display_id=True
    )
    return lambda phase, share: bar.update(drawn(phase, share), raw=True)


@contextlib.contextmanager
def shares() -> Iterator[None]:
    """Show phases with their finished shares; outer steps are not named.

    A terminal shows a bar with the time left, a notebook a bar; otherwise lines appear
    at intervals.
    """
    if not _on or sys.stderr is None or _shown:  # shown by the block around this one
        yield
        return
    token = object()
    _steps.append(token)
    try:
        if (bar := _notebook_bar()) is not None:
            last = "starting"

            def follow(phase: str, share: float) -> None:
                nonlocal last
                last = phase
                bar(phase, share)

            _shown.append(follow)
            yield
            bar(last, 1.0)  # full, even where no share of the phase was known
            return
        if not sys.stderr.isatty():
            latest = time.monotonic()

            def line(phase: str, share: float) -> None:
                nonlocal latest
                if share and time.monotonic() - latest > _WAITS[1]:
                    say(f"{phase}: {share:.0%}")
                    latest = time.monotonic()

            _shown.append(line)
            yield
            return
        from rich.console import Console
        from rich.progress import Progress, TimeRemainingColumn

        columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
        # The terminal itself: a screen before it (dptext.cli.screen) would write out
        # what moves the cursor. Nothing but names of phases is shown.
        terminal = Console(file=getattr(sys.stderr, "raw", sys.stderr))
        with Progress(*columns, console=terminal, transient=True) as bars:
            task = bars.add_task("starting", total=None)

            def show(phase: str, share: float) -> None:
                total = 1.0 if share else None  # None: only known to go on
                if phase != bars.tasks[0].description:
                    bars.reset(task, description=phase, total=total)
                bars.update(task, completed=share, total=total)

            _shown.append(show)
            yield
    finally:
        _steps.remove(token)
        _shown.clear()


def duration(seconds: float) -> str:
    """Format a duration for display."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400.0 else f"{seconds / 3600:.1f} h"
