"""Draw the terminal of README, a real run: docs/pictures/terminal.svg.

    python -m tools.terminal

Every run draws other words, so each picture has other ones. The fonts of the reader
are used: the picture loads nothing.
"""

from __future__ import annotations

import html
import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "pictures" / "terminal.svg"
WIDTH = 80
COMMANDS = (
    "dptext sanitize examples/tickets.jsonl --field text -o tickets.private.jsonl",
    "grep -hF 'My name is' examples/tickets.jsonl tickets.private.jsonl",
)
TITLE = "A run of dptext, and one record before and after"
_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_LINE = re.compile(r'<text[^>]*\by="([\d.]+)"[^>]*>(.*?)</text>', re.DOTALL)


def main() -> None:
    """Run the commands and draw what they print."""
    shown = Console(record=True, width=WIDTH, file=io.StringIO(), color_system=None)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        for command in COMMANDS:
            shown.print(Text(f"$ {command}", style="bold green"), highlight=False)
            shown.print(Text(printed(command, folder).rstrip()), highlight=False)
    drawn = _FACE.sub("", shown.export_svg(title=TITLE, theme=MONOKAI))
    PICTURE.write_text(drawn, encoding="utf-8")


def printed(command: str, folder: str) -> str:
    """Return what a command prints in a folder."""
    name, *arguments = shlex.split(command)
    program = [sys.executable, "-m", "dptext"] if name == "dptext" else [name]
    done = subprocess.run(
        [*program, *arguments],
        cwd=folder,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout


def text_of(picture: str) -> str:
    """Return the words of a picture of a terminal, line by line."""
    lines: dict[float, list[str]] = defaultdict(list)
    for height, part in _LINE.findall(picture):
        words = html.unescape(part).replace("\N{NO-BREAK SPACE}", " ")
        lines[float(height)].append(words)
    return "\n".join("".join(lines[height]).rstrip() for height in sorted(lines))


if __name__ == "__main__":
    main()
