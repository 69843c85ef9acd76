"""Exceptions that nobody expected: whose they are and where they arose.

Never what they say: their messages could hold the text of a record.
"""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import Iterator
from types import FrameType

from dptext import registry
from dptext.errors import ComponentError, DptextError, InternalError


def of(error: BaseException) -> ComponentError | InternalError:
    """Describe an exception: a component's if one was at work, else a bug."""
    if isinstance(error, InternalError):  # described in another process
        return error
    return of_component(error) or _bug(error)


def of_component(error: BaseException) -> ComponentError | None:
    """Describe an exception of a component of another package, or that it led to."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        component = registry.owner(frame.f_globals.get("__name__", ""))
        if component:
            msg = (
                f"{component} failed ({type(error).__name__} at "
                f"{_module_path(frame)}:{line}); report this line to its authors, or "
                "run without it (details are withheld: they could hold your text)"
            )
            return ComponentError(msg)
    return None


def _bug(error: BaseException) -> InternalError:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "dptext" in frame.filename] or frames
    location = "?"
    if ours:
        location = f"{os.path.basename(ours[-1].filename)}:{ours[-1].lineno}"
    msg = (
        f"internal error ({type(error).__name__} at {location}); this is a bug, please "
        "report it with this line (its details are withheld: they could hold your text)"
    )
    return InternalError(msg)


@contextlib.contextmanager
def described() -> Iterator[None]:
    """Raise what is not expected as its description, which other processes can read."""
    try:
        yield
    except (DptextError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the machine
        raise of(error) from None


def _module_path(frame: FrameType) -> str:
    """Return the file of a frame from its top package on, as in pack/meter.py."""
    path = frame.f_code.co_filename
    depth = str(frame.f_globals.get("__name__", "")).count(".") + 1
    if os.path.basename(path) == "__init__.py":
        depth += 1
    return "/".join(path.replace(os.sep, "/").split("/")[-depth:])
