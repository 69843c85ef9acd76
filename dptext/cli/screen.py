r"""What people see: text of others is made harmless before it reaches a terminal.

File names, texts and reports of others may hold characters that move the cursor, hide
or reverse what is written. Inside `screens` everything that is printed has them
written out, as in \u001b, which JSON reads back as the same character; only the
styles of `console` pass.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from dptext.report.blocks import Block, Page, Section
    from dptext.types import JsonObject

# Controls (C0 but for tab and line feed, DEL, C1), marks that change the direction of
# text, line and paragraph separators, surrogates (bytes of names that are not UTF-8).
_UNSAFE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff]"
)
_BEYOND_ASCII = re.compile(f"{_UNSAFE.pattern}|[^\0-\x7f]")
# Colours and weights of letters.
_STYLE = re.compile("(\x1b\\[[0-9;]*m)")
# Streams of text are of many classes, which are only passed on.
Stream = Any
# The least columns and lines in which something can be printed, and the most.
_LEAST = {"COLUMNS": 40, "LINES": 1}
_MOST = 10_000


def escape(text: str, pattern: re.Pattern[str] = _UNSAFE) -> str:
    r"""Write out characters that a terminal would obey, each as \uXXXX."""
    return pattern.sub(_written_out, text)


def one_line(text: str) -> str:
    """Write out line feeds and tabs, too."""
    return escape(text).replace("\n", "\\u000a").replace("\t", "\\u0009")


def _pattern(stream: object) -> re.Pattern[str]:
    """Return what is to be written out: beside the rest, what cannot be encoded."""
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    return _UNSAFE if encoding.startswith("utf") else _BEYOND_ASCII


def _written_out(match: re.Match[str]) -> str:
    number = ord(match[0])
    if number < 0x10000:
        return f"\\u{number:04x}"
    number -= 0x10000  # as JSON does it: two surrogates
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"


class Screen:
    """A text stream on which foreign text is harmless; bytes pass as they are.

    raw is the stream itself. It is written to through this alone, whatever its
    encoding: what that lacks is written out, too.
    """

    def __init__(self, raw: Stream) -> None:
        self.raw = raw
        self.encoding = "utf-8"
        self._pattern = _pattern(raw)
        self._styled = False

    def write(self, text: str) -> int:
        """Write a text, with what a terminal would obey written out."""
        if self._styled:
            parts = _STYLE.split(text)
            parts[::2] = (escape(each, self._pattern) for each in parts[::2])
            self.raw.write("".join(parts))
        else:
            self.raw.write(escape(text, self._pattern))
        return len(text)

    @contextlib.contextmanager
    def styled(self) -> Iterator[None]:
        """Let styles pass, and frames that the encoding has: for text of dptext's own.

        Text of others could hide itself with a style.
        """
        before = self.encoding
        self.encoding, self._styled = (
            getattr(self.raw, "encoding", None) or before,
            True,
        )
        try:
            yield
        finally:
            self.encoding, self._styled = before, False

    def __getattr__(self, name: str) -> Stream:
        return getattr(self.raw, name)


class Notes:
    """Standard error: lines that cannot be written are dropped, and end no run."""

    def __init__(self, raw: Stream) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        """Write a text, if that can be done."""
        with self._dropped():
            self.raw.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand over what was written, if that can be done."""
        with self._dropped():
            self.raw.flush()

    @contextlib.contextmanager
    def _dropped(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            # What is still buffered must not fail again when Python ends.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.raw.fileno())

    def __getattr__(self, name: str) -> Stream:
        return getattr(self.raw, name)


@contextlib.contextmanager
def screens() -> Iterator[None]:
    """Put a screen before standard output and standard error, in a sensible width."""
    before = sys.stdout, sys.stderr
    if sys.stderr is None:  # closed by whoever started this
        sys.stderr = open(os.devnull, "w")
    if sys.stdout is not None and not isinstance(sys.stdout, Screen):
        sys.stdout = Screen(sys.stdout)
    if not isinstance(sys.stderr, Screen):
        sys.stderr = Screen(Notes(sys.stderr))
    try:
        with _size():
            yield
    finally:
        sys.stdout, sys.stderr = before


@contextlib.contextmanager
def _size() -> Iterator[None]:
    """Leave sizes of the terminal aside that nothing can be printed in."""
    aside = {}
    for name, least in _LEAST.items():
        size = os.environ.get(name, "")
        usual = size.isascii() and size.isdigit() and len(size) < 6
        if size and not (usual and least <= int(size) <= _MOST):
            aside[name] = os.environ.pop(name)
    try:
        yield
    finally:
        os.environ.update(aside)


def raw(stream: Stream) -> Stream:
    """Return a stream without the screen before it."""
    return stream.raw if isinstance(stream, Screen) else stream


def console(*, stderr: bool = False, quiet: bool = False, width: int = 0) -> Console:
    """Return a console for tables and panels on which foreign text is harmless.

    Strings are no markup. width is the least number of columns.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    stream = raw(sys.stderr if stderr else sys.stdout)
    pattern = _pattern(stream)

    class Harmless(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                if segment.control:
                    yield segment
                else:
                    yield Segment(escape(segment.text, pattern), segment.style)

    shown = Harmless(
        file=stream, quiet=quiet, markup=False, highlight=False, emoji=False
    )
    least = max(width, _LEAST["COLUMNS"])
    if shown.width < least:
        shown.width = least
    return shown


def show(
    *blocks: Block | Section | Page, on: Console | None = None, width: int = 0
) -> None:
    """Print blocks, sections and pages on standard output, or on another console."""
    from dptext.report import terminal

    terminal.show(blocks, on or console(width=width))


def deliver(
    page: Page, data: object, html: Path | None, as_json: bool, *, width: int = 0
) -> None:
    """Write a page to a file, print its data as JSON, or else show it."""
    if html is not None:
        from dptext.report import html as pages

        write_file(html, pages.render(page))
    if as_json:
        print_json(data)
    elif html is None:
        show(page, width=width)


def show_data(plain: JsonObject, as_json: bool) -> None:
    """Print plain data, for machines or by dotted names."""
    from dptext.report import figures
    from dptext.report.blocks import Figures

    print_json(plain) if as_json else show(Figures(list(figures.flat(plain))))


def write_file(path: Path, data: bytes) -> None:
    """Write a file, which appears whole or not at all; - is standard output."""
    from dptext.streams.outputs import open_output

    with open_output(str(path)) as sink:
        sink.stream.write(data)


def print_json(value: object, infinite: str | None = None) -> None:
    """Print data for machines."""
    print(to_json(value, infinite))  # noqa: T201


def to_json(value: object, infinite: str | None = None) -> str:
    """Write data, dataclasses in it, as JSON; it has no infinite numbers."""
    import msgspec

    plain = _finite(msgspec.to_builtins(value), infinite)
    return json.dumps(plain, ensure_ascii=False, indent=2)


def _finite(value: object, infinite: str | None) -> object:
    if isinstance(value, dict):
        return {key: _finite(each, infinite) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each, infinite) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return infinite
    return value
