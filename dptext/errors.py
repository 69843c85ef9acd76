"""What can go wrong, as one tree; each error is also a built-in.

    DptextError                 exit code
      UsageError   ValueError   2   an option, profile or component name is wrong
        UnprovenError           2   a claim would rest on a constant of fewer inputs
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
    """Return the command that adds an extra to this installation."""
    known = source()
    if known is Source.PACKAGE:
        return f'pip install "dptext[{extra}]"'
    editable = "-e " if known is Source.EDITABLE else ""
    return f'pip install {editable}".[{extra}]" (in the folder of dptext)'


class Urgent(str):
    """A warning that a quiet run shows as well: about data that moved unasked."""

    __slots__ = ()


class DptextError(Exception):
    """Root of every error that dptext raises on purpose."""

    exit_code = 1


class UsageError(DptextError, ValueError):
    """An option, a profile or a component name is wrong."""

    exit_code = 2


class UnprovenError(UsageError):
    """A claim would rest on a constant that holds for fewer inputs than come in."""


class LexiconError(DptextError, ValueError):
    """A lexicon cannot be read, or does not fit its use."""

    exit_code = 2


class MissingExtra(DptextError, ImportError):
    """An optional dependency is not installed."""

    exit_code = 2

    @classmethod
    def for_package(cls, package: str, extra: str) -> MissingExtra:
        """Name the extra that brings a missing package."""
        return cls(f'{package} needs the "{extra}" extra: {install_command(extra)}')


class RefusedError(DptextError, RuntimeError):
    """A limit of the run refuses it."""

    exit_code = 3


class InputError(DptextError, ValueError):
    """The input cannot be read; the message names file and line, never text."""

    exit_code = 4


class UnknownFieldError(InputError):
    """A field was named that the input does not have, most likely a misspelling."""

    exit_code = 2


class StoppedError(DptextError, RuntimeError):
    """The output holds a value that the run must not let out (--fail-on)."""

    exit_code = 5


class OutputError(DptextError, OSError):
    """The output cannot be written."""

    exit_code = 1


class ComponentError(DptextError, RuntimeError):
    """A component of another package failed; the message names it and the line."""

    exit_code = 1


class PlatformError(DptextError, RuntimeError):
    """The operating system is not supported."""

    exit_code = 1


def check_platform() -> None:
    """Raise PlatformError on Windows.

    Its files have no permissions that keep a key from other users, and open files
    cannot be replaced there, on which all-or-nothing outputs rest.
    """
    if sys.platform == "win32":
        raise PlatformError(
            "Windows is not supported: run dptext in the Windows Subsystem for Linux "
            "(WSL, installed by wsl --install)"
        )


class InternalError(Exception):
    """A bug of dptext, described without the text of a record."""

    exit_code = 70
