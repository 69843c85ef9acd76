"""An interrupt, a hang-up and a termination as exceptions, while a command runs."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

# What is said of each that ends a process, but for an interrupt.
_ENDS = {"SIGHUP": "the terminal hung up", "SIGTERM": "terminated"}


@contextlib.contextmanager
def as_exceptions() -> Iterator[None]:
    """Turn these signals into exceptions, where they are not ignored.

    Before and after, `dptext.__main__` ends the process at once.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ValueError):  # not in the main thread
            handlers: dict[int, Callable[[int, FrameType | None], object]]
            handlers = {signal.SIGINT: signal.default_int_handler}
            for name in _ENDS:
                if hasattr(signal, name):  # Windows has no hang-up
                    handlers[getattr(signal, name)] = _terminate
            for number, handler in handlers.items():
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    before = signal.signal(number, handler)
                    stack.callback(signal.signal, number, before)
        yield


class Terminated(SystemExit):
    """The process was told to end; the exit code is 128 and the signal's number."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.reason = _ENDS[signal.Signals(number).name]


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated(number)
