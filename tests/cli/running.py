"""Run the command line: in this process where that tells as much, else in another."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from typer.main import get_command

from dptext.cli.app import app

MARKER = "zqxjkmarker7"
# Options of runs with a lexicon without names.
BALANCED = ("--profile", "balanced")
# Words of the lexicon that `lexicon` writes; every text of these tests is made of them.
WORDS = (
    "the and a of to film good bad story actor scene music plot was is very it not old "
    "new long short funny sad dark light house street river stone bread water"
).split()


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: bytes
    err: str


def lexicon(folder: Path) -> str:
    """Write a small file of vectors and return its path."""
    path = folder / "words.vec"
    if not path.exists():
        rng = np.random.default_rng(5)
        rows = rng.normal(size=(len(WORDS), 6))
        lines = [
            " ".join([word, *(f"{value:.4f}" for value in row)])
            for word, row in zip(WORDS, rows, strict=True)
        ]
        path.write_text(f"{len(WORDS)} 6\n" + "\n".join(lines) + "\n")
    return str(path)


def small(folder: Path) -> tuple[str, ...]:
    """Return options of a quick run: a small lexicon and a bare epsilon.

    The profile is balanced: the lexicon has no names, which readable reads.
    """
    return (
        "--lexicon",
        lexicon(folder),
        "--epsilon",
        "3",
        "--set",
        "mechanism.k=8",
        *BALANCED,
    )


@cache
def _program() -> Any:
    """Return the parser of all commands, which a run may change."""
    return get_command(app)


def here(*arguments: str, given: bytes = b"") -> Ran:
    """Run a command in this process, with separate standard streams."""
    source: Any = io.BufferedReader(io.BytesIO(given))
    out, err = io.BytesIO(), io.BytesIO()
    streams = {
        "stdin": io.TextIOWrapper(source, "utf-8"),
        "stdout": io.TextIOWrapper(out, "utf-8", write_through=True),
        "stderr": io.TextIOWrapper(err, "utf-8", write_through=True),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as ended:
            copy.copy(_program())(list(arguments), prog_name="dptext")
        code = ended.value.code
        return Ran(int(code or 0), out.getvalue(), err.getvalue().decode())


def write_policy(keys: str) -> None:
    """Write lines of the section `check` into the configuration of this folder."""
    section = textwrap.indent(keys, "  ")
    Path(".dptext.yaml").write_text(f"check:\n{section}\n", encoding="utf-8")


def command(*arguments: str) -> list[str]:
    """Return the command as other processes run it."""
    return [sys.executable, "-m", "dptext", *arguments]


def environment(**others: str) -> dict[str, str]:
    """Return this process's environment with others, and the package on the path."""
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "TERM": "dumb", **others}


def there(
    *arguments: str, given: bytes = b"", cwd: Path | None = None, **env: str
) -> Ran:
    """Run a command in a new process."""
    done = subprocess.run(
        command(*arguments),
        input=given,
        capture_output=True,
        cwd=cwd,
        env=environment(**env),
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def on_terminal(
    run: Sequence[str],
    env: Mapping[str, str],
    *,
    columns: int = 80,
    typed: bytes = b"",
    given: bytes | None = None,
    cwd: Path | None = None,
) -> Ran:
    """Run a program on a terminal; `err` is all that the terminal shows.

    typed: answers. With given, standard input and output are pipes.
    """
    import pty
    import termios

    upper, lower = pty.openpty()
    termios.tcsetwinsize(lower, (24, columns))
    pipe = lower if given is None else subprocess.PIPE
    with subprocess.Popen(
        run, stdin=pipe, stdout=pipe, stderr=lower, env=env, cwd=cwd
    ) as running:
        os.close(lower)
        os.write(upper, typed)
        out = b"" if given is None else running.communicate(given)[0]
        shown = b""
        with contextlib.suppress(OSError):  # the end, on Linux
            while part := os.read(upper, 2**16):
                shown += part
        code = running.wait(120)
    os.close(upper)
    return Ran(code, out, shown.decode().replace("\r\n", "\n"))
