"""From errors to one line on standard error and an exit code.

0 done, 1 finding or known failure, 2 usage, profile or lexicon, 3 refused, 4 bad
record, 70 bug, 130 interrupted, 141 closed pipe, 143 terminated.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from types import FrameType

import typer

from dptext import progress
from dptext.errors import DptextError

# The outside world's failures: no room, broken device, too little of what it lends.
_OUTSIDE = (
    *(errno.ENOSPC, errno.EIO, errno.EFBIG, getattr(errno, "EDQUOT", -1)),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
)
BUG, INTERRUPTED, CLOSED_PIPE, TERMINATED = 70, 130, 141, 143


@contextlib.contextmanager
def reported() -> Iterator[None]:
    """Run a command; end with a line and a code, never with a traceback."""
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, _terminate)
    if getattr(sys, "stderr", None) is None:  # closed by whoever started this
        sys.stderr = open(os.devnull, "w")
    progress.on()
    try:
        yield
    except DptextError as error:
        say(str(error))
        raise typer.Exit(error.exit_code) from None
    except BrokenPipeError:
        # What is still buffered must not fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(CLOSED_PIPE) from None
    except KeyboardInterrupt:
        say("interrupted; no unfinished output file was left")
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except MemoryError:
        say("out of memory; try a smaller --batch-size or --max-record-bytes")
        raise typer.Exit(1) from None
    except Exception as error:
        raise typer.Exit(_unforeseen(error)) from None
    finally:
        progress.on(False)


def say(message: str) -> None:
    """Write one line for people."""
    print(f"dptext: {message}", file=sys.stderr)  # noqa: T201


def _terminate(number: int, frame: FrameType | None) -> None:
    raise SystemExit(TERMINATED)


def _unforeseen(error: Exception) -> int:
    """Say what happened and return the exit code."""
    number = getattr(error, "errno", None)
    if isinstance(error, OSError) and number in _OUTSIDE:
        say(os.strerror(number))  # the error's own words could hold text
        return 1
    say(_bug(error))
    return BUG


def _bug(error: Exception) -> str:
    """Name the place of an unexpected error; its message could hold record text."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "dptext" in frame.filename] or frames
    place = f"{os.path.basename(own[-1].filename)}:{own[-1].lineno}" if own else "?"
    return (
        f"internal error ({type(error).__name__} at {place}); this is a bug, please "
        "report it with this line (its details are withheld: they could hold your text)"
    )
