"""Compiles the kernel of the readers into the wheel, where a C compiler is found.

Without one, or where compiling fails, the wheel is a pure one, and numpy does the same
work. In an editable checkout whose kernel.c changed: python hatch_build.py
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).resolve().with_name("dptext") / "readers" / "kernel.c"
# No fused multiplication: sums are to be rounded as numpy's are.
_FLAGS = ("-O3", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fPIC")
_LINK = ("-shared", "-fvisibility=hidden", "-lm")
_SECONDS = 120


def compiled() -> Path | None:
    """Compile kernel.c beside itself; None, and a line that says so, if that fails."""
    # The name that dptext/readers/kernel.py looks for.
    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()
    target = _SOURCE.with_name(f"kernel-{digest[:16]}.so")
    if os.environ.get("DPTEXT_KERNEL") == "numpy":
        return None
    for command in _commands():
        try:
            with tempfile.TemporaryDirectory(dir=_SOURCE.parent) as folder:
                library = Path(folder, "kernel.so")
                _run([*command, *_FLAGS, str(_SOURCE), "-o", str(library), *_LINK])
                load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
                _run([sys.executable, "-c", load, str(library)])
                library.replace(target)
        except (OSError, subprocess.SubprocessError):
            continue
        return target
    print("dptext: no C compiler works here; decoding takes longer", file=sys.stderr)
    return None


def _commands() -> Iterator[list[str]]:
    """Yield compilers, each first with a clone for each kind of x86 processor."""
    named = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    for compiler in dict.fromkeys([named, "cc", "gcc", "clang"]):
        if compiler:
            yield [*shlex.split(compiler), "-DCLONES"]
            yield shlex.split(compiler)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)


if __name__ == "__main__":
    print(compiled() or "nothing was compiled")
else:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
        """Compiles before a wheel is made, editable ones included."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Add the library to the wheel, which then is for this platform alone."""
            library = compiled()
            if library is None:
                return
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform}"
            build_data["artifacts"].append(f"/dptext/readers/{library.name}")
