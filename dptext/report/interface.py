"""The way in which a reader called dptext, and how options are written there."""

from __future__ import annotations

from dataclasses import dataclass

# Arguments of functions that have other names than the options.
_ARGUMENTS = {"key-file": "key"}


@dataclass(frozen=True, slots=True)
class Interface:
    """The command line, or Python functions."""

    is_python: bool

    def name(self, name: str) -> str:
        """Write the name of an option as a noun."""
        return _ARGUMENTS.get(name, name) if self.is_python else f"--{name}"

    def option(self, name: str, value: str = "") -> str:
        """Write an option, with its value if there is one."""
        if self.is_python:
            argument = _ARGUMENTS.get(name, name).replace("-", "_")
            return f'{argument}="{value}"' if value else f"{argument}="
        return f"--{name} {value}" if value else f"--{name}"


COMMAND_LINE, PYTHON = Interface(is_python=False), Interface(is_python=True)
