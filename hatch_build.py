"""Compiles the kernel of the readers into the wheel, where a C compiler is found.

Without one, or where compiling fails, the wheel is a pure one, and numpy does the same
work with the same bytes. The environment variable DPTEXT_KERNEL decides otherwise:
`required` fails where nothing can be compiled, `numpy` compiles nothing. In an editable
checkout whose kernel.c changed: python hatch_build.py
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

_SOURCE = Path(__file__).resolve().with_name("dptext") / "attackers" / "kernel.c"
# Without fused multiplication, so that sums are rounded as in numpy.
_FLAGS = ("-O3", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fPIC")
_LINK = ("-shared", "-fvisibility=hidden", "-lm")
_SECONDS = 120
_MODES = ("", "required", "numpy")


def compile_kernel() -> Path | None:
    """Compile kernel.c into a library beside it and return the path of the library.

    None where nothing was compiled. Raises RuntimeError where DPTEXT_KERNEL requires a
    library and no compiler makes one, and ValueError for an unknown DPTEXT_KERNEL.
    """
    mode = os.environ.get("DPTEXT_KERNEL", "")
    if mode not in _MODES:
        raise ValueError(
            f"DPTEXT_KERNEL={mode}: give required or numpy, or leave it out"
        )
    if mode == "numpy":
        return None
    # dptext/_built.py looks for this name.
    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()
    target = _SOURCE.with_name(f"kernel-{digest[:16]}.so")
    problems = []
    for command in _commands():
        try:
            _compile(command, target)
        except (OSError, subprocess.SubprocessError) as error:
            output = getattr(error, "stderr", None) or b""
            problems.append(f"{shlex.join(command)}: {error}\n{output.decode()}")
        else:
            return target
    if mode == "required":
        raise RuntimeError("no C compiler compiles kernel.c:\n" + "\n".join(problems))
    print("dptext: no C compiler works here; decoding takes longer", file=sys.stderr)
    return None


def _compile(command: list[str], target: Path) -> None:
    """Put the library in its place once it is complete and can be loaded.

    The compiler is given names without folders, since some write them into the library,
    which then would differ from build to build.
    """
    with tempfile.TemporaryDirectory(dir=_SOURCE.parent) as folder:
        library = Path(folder, target.name)
        source = Path(folder, _SOURCE.name)
        source.write_bytes(_SOURCE.read_bytes())
        _run([*command, *_FLAGS, source.name, "-o", library.name, *_LINK], folder)
        load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
        _run([sys.executable, "-c", load, str(library)], folder)
        library.replace(target)


def _commands() -> Iterator[list[str]]:
    """Yield compilers, each first with a clone for each kind of x86 processor."""
    configured = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    for compiler in dict.fromkeys([configured, "cc", "gcc", "clang"]):
        if compiler:
            yield [*shlex.split(compiler), "-DCLONES"]
            yield shlex.split(compiler)


def _run(command: list[str], folder: str) -> None:
    subprocess.run(
        command, check=True, capture_output=True, timeout=_SECONDS, cwd=folder
    )


if __name__ == "__main__":
    print(compile_kernel() or "nothing was compiled")
else:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
        """Compiles before a wheel is made, editable ones included."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Add the library to the wheel, which then is for this platform alone."""
            library = compile_kernel()
            if library is None:
                return
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["pure_python"] = False
            # The library is opened by ctypes: one build serves every version of Python.
            build_data["tag"] = f"py3-none-{platform}"
            build_data["artifacts"].append(f"/dptext/attackers/{library.name}")
