"""The tree of dptext's errors; each is also a built-in exception.

    DptextError                 exit code
      UsageError   ValueError   2   an option, profile or component name is wrong
        UnprovenError           2   a claim would use a constant of fewer inputs
      LexiconError ValueError   2   a lexicon cannot be read or used
      MissingExtra ImportError  2   an optional dependency is not installed
      RefusedError RuntimeError 3   a limit of the run refuses it
      InputError   ValueError   4   an input, or a record in it, cannot be read
        UnknownFieldError       2   a field was named that the input does not have
      StoppedError RuntimeError 5   the output holds what the run was told to stop at
      OutputError  OSError      1   the output cannot be written
      ComponentError RuntimeError 1 a component of another package failed
      PlatformError RuntimeError  1 the system is not supported

InternalError stands apart: it describes a bug of dptext.
Messages name the location and the next action, never the text of a record.
"""

from __future__ import annotations

import sys

from dptext._built import Source, source


def install_command(extra: str) -> str:
    """Return the command that installs an extra into this installation."""
    known = source()
    if known is Source.PACKAGE:
        return f'pip install "dptext[{extra}]"'
    editable = "-e " if known is Source.EDITABLE else ""
    return f'pip install {editable}".[{extra}]" (in the folder of dptext)'


class Urgent(str):
    """A warning that even quiet runs show, about data copied without being selected."""

    __slots__ = ()


class DptextError(Exception):
    """Root of all errors that dptext raises deliberately."""

    exit_code = 1


class UsageError(DptextError, ValueError):
    """An option, a profile or a component name is wrong."""

    exit_code = 2


class UnprovenError(UsageError):
    """A claim would use a constant that is proven only for fewer inputs."""


class LexiconError(DptextError, ValueError):
    """A lexicon cannot be read or does not suit its purpose."""

    exit_code = 2


class MissingExtra(DptextError, ImportError):
    """An optional dependency is not installed."""

    exit_code = 2

    @classmethod
    def for_package(cls, package: str, extra: str) -> MissingExtra:
        """Build the error, naming the extra that provides a missing package."""
        return cls(f'{package} needs the "{extra}" extra: {install_command(extra)}')


class RefusedError(DptextError, RuntimeError):
    """A limit of the run forbids it."""

    exit_code = 3


class InputError(DptextError, ValueError):
    """The input cannot be read; the message names file and line, never text."""

    exit_code = 4


class UnknownFieldError(InputError):
    """A named field does not exist in the input, probably a misspelling."""

    exit_code = 2


class StoppedError(DptextError, RuntimeError):
    """The output contains a value that the run must not release (--fail-on)."""

    exit_code = 5


class OutputError(DptextError, OSError):
    """The output cannot be written."""

    exit_code = 1


class ComponentError(DptextError, RuntimeError):
    """A component of another package failed; the message names it and its line."""

    exit_code = 1


class PlatformError(DptextError, RuntimeError):
    """The operating system is not supported."""

    exit_code = 1


def check_platform() -> None:
    """Raise PlatformError on Windows.

    Windows file permissions do not keep a key from other users, and open files cannot
    be replaced there, which atomic outputs need.
    """
    if sys.platform == "win32":
        raise PlatformError(
            "Windows is not supported: run dptext in the Windows Subsystem for Linux "
            "(WSL, installed by wsl --install)"
        )


class InternalError(Exception):
    """A bug in dptext, described without the text of a record."""

    exit_code = 70
