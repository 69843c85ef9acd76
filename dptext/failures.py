"""Describes unexpected exceptions by type, component and location.

Their messages are never shown, as they may contain the text of a record.
"""

from __future__ import annotations

import contextlib
import errno
import os
import traceback
from collections.abc import Iterator

from dptext.errors import ComponentError, DptextError, InternalError
from dptext.registry import owner

_TOO_MANY = (errno.EMFILE, errno.ENFILE)
_LITTLE = 2**26  # bytes; with less the libraries cannot be loaded


def is_memory_error(error: BaseException) -> bool:
    """Return whether memory ran out, which libraries report in many ways."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno == errno.ENOMEM
    try:
        bytearray(_LITTLE)
    except MemoryError:
        return True
    return False


def lacks_files(error: BaseException | None) -> bool:
    """Return whether a file could not be opened because too many are open.

    Errors raised from it, also in another process, are recognised by their text.
    """
    while error is not None:
        code = error.errno if isinstance(error, OSError) else None
        if code in _TOO_MANY or os.strerror(errno.EMFILE) in str(error):
            return True
        error = error.__context__
    return False


def describe_exception(error: BaseException) -> ComponentError | InternalError:
    """Describe an exception: as a component's if one was running, else as a bug."""
    if isinstance(error, InternalError):  # described in another process
        return error
    failure = component_failure(error)
    if failure is not None:
        return failure
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "dptext" in frame.filename] or frames
    location = "?"
    if ours:
        location = f"{os.path.basename(ours[-1].filename)}:{ours[-1].lineno}"
    return InternalError(
        f"internal error ({type(error).__name__} at {location}); this is a bug, please "
        "report it with this line (details are withheld, as they may contain your "
        "text)"
    )


def component_failure(error: BaseException) -> ComponentError | None:
    """Describe an exception raised by, or because of, another package's component."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        component = owner(frame.f_globals.get("__name__", ""))
        if component:
            file = os.path.basename(frame.f_code.co_filename)
            return ComponentError(
                f"{component} failed ({type(error).__name__} at {file}:{line}); report "
                "this line to its authors, or run without it (details are withheld, "
                "as they may contain your text)"
            )
    return None


@contextlib.contextmanager
def describe_failure() -> Iterator[None]:
    """Turn unexpected exceptions into descriptions that other processes can read."""
    try:
        yield
    except (DptextError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the machine
        if is_memory_error(error):
            raise MemoryError from None
        raise describe_exception(error) from None
