"""Maps errors to one line on standard error and an exit code.

0 done, 1 finding or known failure, 2 usage, profile or lexicon, 3 refused by a
limit, 4 bad record, 70 bug, 129 hung up, 130 interrupted, 141 closed pipe, 143
terminated.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType

import typer

from dptext import failures, progress
from dptext.cli import screen
from dptext.errors import DptextError

# Errors of a name that was asked for, rather than of the machine.
_NAMES = (
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.EACCES,
    errno.EPERM,
    errno.EINVAL,
    errno.EROFS,
)
_FILES = "too many open files; raise their limit (ulimit -n 256)"
# Words for each signal that ends a process, by its number and 128.
_ENDS = {130: "interrupted", 143: "terminated", 129: "the terminal hung up"}
_MEMORY = (
    "out of memory; raise the limit (container: 300 MB for a default run; ulimit -v: "
    "550 MB plus 40 MB per core), lower --jobs and --batch-size (sanitize, embed; "
    "--max-record-bytes for long records) or --jobs and --sample (compare), or use a "
    "smaller lexicon"
)


@contextlib.contextmanager
def reported(describe: Callable[[BaseException], str]) -> Iterator[None]:
    """Run a command; report errors in one line and an exit code, not a traceback.

    `describe` turns a parser error into the message on invalid arguments.
    """
    with screen.screens(), _signals_raise() as raised:
        progress.enable()
        try:
            yield
            if sys.stdout is not None:
                sys.stdout.flush()  # while it can still be reported
        except typer.Exit:
            raise
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            if hasattr(error, "format_message"):  # of the parser of options
                message = describe(error)
                if message:  # a command without arguments has shown its help instead
                    print_line(message)
                raise typer.Exit(getattr(error, "exit_code", 2)) from None
            # Faiss raises its own RuntimeError at a signal instead.
            raise typer.Exit(_code(raised[-1] if raised else error)) from None
        finally:
            progress.enable(False)


def _code(error: BaseException) -> int:
    """Print why a command failed, and return the exit code."""
    # OpenBLAS raises an interrupt where it has no memory for its threads.
    interrupted = isinstance(error, KeyboardInterrupt)
    if interrupted and failures.is_memory_error(error):
        print_line(_MEMORY)
        return 1
    if isinstance(error, Terminated | KeyboardInterrupt | typer.Abort):
        code = int(getattr(error, "code", 130))
        with contextlib.suppress(OSError):  # the terminal may be gone
            print_line(f"{_ENDS[code]}; no unfinished output file was left")
        return code
    # A component of another package must not end a run as if it were done.
    if isinstance(error, SystemExit) and failures.component_failure(error) is None:
        return int(error.code or 0)
    if failures.lacks_files(error):
        print_line(_FILES)
        return 1
    if isinstance(error, DptextError):
        print_line(str(error))
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        # Buffered output must not fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    if failures.is_memory_error(error):
        print_line(_MEMORY)
        return 1
    if isinstance(error, OSError) and error.errno is not None:
        # The message of the error could hold text; the name of a file does not.
        reason = os.strerror(error.errno)
        named = isinstance(error.filename, str)
        print_line(f"{error.filename}: {reason}" if named else reason)
        return 2 if named and error.errno in _NAMES else 1
    described = failures.describe_exception(error)
    print_line(str(described))
    return described.exit_code


def print_line(message: str) -> None:
    """Write a one-line message to standard error."""
    print(f"dptext: {screen.one_line(message)}", file=sys.stderr)  # noqa: T201


class Terminated(SystemExit):
    """The process received a termination signal; exit code 128 + signal number."""


@contextlib.contextmanager
def _signals_raise() -> Iterator[list[BaseException]]:
    """Raise exceptions for interrupt, hang-up and termination signals in a block.

    Yields the list of exceptions raised so far. Ignored signals stay ignored. Before
    and after the block, `dptext.__main__` ends the process.
    """
    raised: list[BaseException] = []

    def handle(number: int, frame: FrameType | None) -> None:
        interrupt = number == signal.SIGINT
        raised.append(KeyboardInterrupt() if interrupt else Terminated(128 + number))
        raise raised[-1]

    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ValueError):  # not in the main thread
            for number in (code - 128 for code in _ENDS):
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    stack.callback(signal.signal, number, signal.signal(number, handle))
        yield raised
