"""An interrupt and a termination as exceptions, while a command runs."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

TERMINATED = 143


@contextlib.contextmanager
def as_exceptions() -> Iterator[None]:
    """Turn an interrupt and a termination into exceptions, where they are not ignored.

    Before and after, `dptext.__main__` ends the process at once.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ValueError):  # not in the main thread
            for number, handler in (
                (signal.SIGINT, signal.default_int_handler),
                (signal.SIGTERM, _terminate),
            ):
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    before = signal.signal(number, handler)
                    stack.callback(signal.signal, number, before)
        yield


class Terminated(SystemExit):
    """The process was told to end."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated(TERMINATED)
