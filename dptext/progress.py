"""Say on standard error what takes long: a few plain lines, on a terminal or not.

Commands switch it on; as a library dptext says nothing. Only names of public steps are
written, never anything of a text.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

# Seconds after which a step is named, and named again; the last one repeats.
_WAITS = (3.0, 10.0, 20.0, 30.0, 60.0)

_on = False
_steps: list[object] = []


def on(enabled: bool = True) -> None:
    """Switch the lines on or off for this process."""
    global _on
    _on = enabled


def enabled() -> bool:
    """Tell whether lines are on."""
    return _on


def say(line: str) -> None:
    """Write a line at once, where lines are on."""
    if _on and sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(f"dptext: {line}", file=sys.stderr, flush=True)  # noqa: T201


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Name a step while it takes long; of steps within steps the innermost."""
    if not _on:
        yield
        return
    done, token, began = threading.Event(), object(), time.monotonic()

    def watch() -> None:
        turn = 0
        while not done.wait(_WAITS[min(turn, len(_WAITS) - 1)]):
            turn += 1
            if _steps and _steps[-1] is token:
                say(f"{what} ({time.monotonic() - began:.0f} s so far)")

    _steps.append(token)
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        _steps.remove(token)
