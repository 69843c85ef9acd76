r"""Terminal output, in which untrusted text is escaped.

Untrusted file names, texts and reports may contain characters that move the cursor,
hide or reverse other text. Inside `screens`, they are printed as in \u001b, which JSON
reads back as the same character; only the styles of `console` pass.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from dptext import progress
from dptext.errors import Urgent
from dptext.run.selection import REPLACEMENT
from dptext.streams.outputs import open_output

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from dptext.cli.options import Shown
    from dptext.engine.job import Progress as Counted
    from dptext.pipeline import Pipeline
    from dptext.randomness import RunKey
    from dptext.report.blocks import Block, Page, Section
    from dptext.report.document import Document
    from dptext.report.layout import RunOutputs
    from dptext.report.notebook import Report
    from dptext.types import Record

# The key, in a context, of a line that is shown to machines, too: as a warning.
NOTICE = "dptext.notice"
# Controls (C0 except tab and line feed, DEL, C1), marks that change the direction of
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
_SIZE = re.compile("[0-9]{1,5}")


def escape(text: str, pattern: re.Pattern[str] = _UNSAFE) -> str:
    r"""Escape terminal control characters, as in \u001b."""
    return pattern.sub(_written_out, text)


def one_line(text: str) -> str:
    """Escape control characters including line feeds and tabs."""
    return escape(text).replace("\n", "\\u000a").replace("\t", "\\u0009")


def _pattern(stream: object) -> re.Pattern[str]:
    """Return the characters to escape, including those the stream cannot encode."""
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    return _UNSAFE if encoding.startswith("utf") else _BEYOND_ASCII


def _written_out(match: re.Match[str]) -> str:
    # As JSON does it: characters beyond 16 bits as two surrogates.
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "\\u" + units.hex("u", 2).replace("u", "\\u")


class Screen:
    """A text stream that escapes untrusted text; bytes pass unchanged.

    raw is the underlying stream. It is written only through this object, whatever its
    encoding: characters that it lacks are escaped, too.
    """

    def __init__(self, raw: Stream) -> None:
        self.raw = raw
        self.encoding = "utf-8"
        self._pattern = _pattern(raw)
        self._styled = False

    def write(self, text: str) -> int:
        """Write a text with terminal control characters escaped."""
        parts = _STYLE.split(text) if self._styled else [text]
        parts[::2] = (escape(each, self._pattern) for each in parts[::2])
        self.raw.write("".join(parts))
        return len(text)

    @contextlib.contextmanager
    def styled(self) -> Iterator[None]:
        """Allow dptext's own styles, and frames if the encoding has them, in a block.

        Untrusted text could use a style to hide itself.
        """
        before, self._styled = self.encoding, True
        self.encoding = getattr(self.raw, "encoding", None) or before
        try:
            yield
        finally:
            self.encoding, self._styled = before, False

    def __getattr__(self, name: str) -> Stream:
        return getattr(self.raw, name)


class Notes:
    """Standard error that ignores write errors instead of ending the run."""

    def __init__(self, raw: Stream) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        """Write a text if possible."""
        with self._dropped():
            self.raw.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush if possible."""
        with self._dropped():
            self.raw.flush()

    @contextlib.contextmanager
    def _dropped(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            # Buffered output must not fail again when Python ends.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.raw.fileno())

    def __getattr__(self, name: str) -> Stream:
        return getattr(self.raw, name)


@contextlib.contextmanager
def screens() -> Iterator[None]:
    """Wrap standard output and standard error in screens of a sensible width."""
    before = sys.stdout, sys.stderr
    if sys.stderr is None:  # closed by the parent process
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


def styled() -> contextlib.AbstractContextManager[None]:
    """Allow styles on standard output in a block, if it is a screen."""
    stream = sys.stdout
    return stream.styled() if isinstance(stream, Screen) else contextlib.nullcontext()


@contextlib.contextmanager
def _size() -> Iterator[None]:
    """Ignore terminal sizes that are too small to print in."""
    aside = {}
    for name, least in _LEAST.items():
        size = os.environ.get(name)
        if size and not (_SIZE.fullmatch(size) and least <= int(size) <= _MOST):
            aside[name] = os.environ.pop(name)
    try:
        yield
    finally:
        os.environ.update(aside)


def console(*, stderr: bool = False, width: int = 0) -> Console:
    """Return a console for tables and panels that escapes untrusted text.

    Strings are not parsed as markup. width: minimum number of columns.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    stream: Stream = sys.stderr if stderr else sys.stdout
    stream = stream.raw if isinstance(stream, Screen) else stream
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

    shown = Harmless(file=stream, markup=False, highlight=False, emoji=False)
    shown.width = max(shown.width, width, _LEAST["COLUMNS"])
    return shown


def show(*blocks: Block | Section | Page, on: Console | None = None) -> None:
    """Print blocks, sections and pages on standard output or the given console."""
    from dptext.report import terminal

    shown = on or console()
    if shown.is_terminal:
        terminal.show(blocks, shown)
        return
    with shown.capture() as capture:
        terminal.show(blocks, shown)
    # Tables fill their columns with blanks, which logs and mails would keep.
    shown.file.write(re.sub(" +$", "", capture.get(), flags=re.MULTILINE))


def deliver(
    data: object,
    as_json: bool,
    *blocks: Block | Section | Page,
    html: Path | None = None,
    extra_files: Mapping[Path | None, str] | None = None,
    width: int = 0,
    infinite: str | None = None,
) -> None:
    """Print data as JSON, show blocks, or write the first block, a page, to html.

    extra_files: further paths and their texts, None for a path not requested; width:
    minimum number of columns; infinite: the text for infinite numbers.
    """
    more = {path: text for path, text in (extra_files or {}).items() if path}
    for path, text in more.items():
        write_file(path, text.encode())
    if html is not None:
        from dptext.report import html as pages

        write_file(html, pages.render(cast("Page", blocks[0])))
    if as_json:
        print(to_json(data, infinite))  # noqa: T201
    elif html is None and "-" not in map(str, more):
        show(*blocks, on=console(width=width))


def write_file(path: Path, data: bytes) -> None:
    """Write a file atomically; - is standard output."""
    with open_output(str(path)) as sink:
        sink.stream.write(data)


def to_json(value: object, infinite: str | None = None) -> str:
    """Convert data, including dataclasses, to JSON without infinite numbers."""
    import msgspec

    text = json.dumps(msgspec.to_builtins(value))
    plain = json.loads(text, parse_constant=lambda number: infinite)
    return json.dumps(plain, ensure_ascii=False, indent=2)


class Answer:
    """Prints a run's summary and its warnings, last, on standard error.

    With --verbose the whole report follows immediate warnings. If a
    run ends without a summary, its warnings are still printed. Fields that are
    copied and look identifying are named at the very end.
    """

    def __init__(self, work: Shown, context: typer.Context) -> None:
        """Begin inside a command; announce slow steps unless quiet."""
        progress.enable(not (work.quiet or work.json))
        self._work = work
        # Each line once, in order: those not yet shown, and all.
        self._waiting: dict[str, None] = {}
        self._said: dict[str, None] = {}
        if line := context.meta.get(NOTICE):
            self.warn(line)
        context.call_on_close(self._leave)

    @functools.cached_property
    def console(self) -> Console:
        """Return the console on standard error; a quiet run does not load it."""
        return console(stderr=True)

    def warn(self, line: str) -> None:
        """Store a warning, which is shown once."""
        if line in self._said:
            return
        self._said[line] = None
        if self._work.verbose:
            self._print(line)
        else:
            self._waiting[line] = None

    def announce(self, line: str) -> None:
        """Show a line immediately; in JSON it is a warning."""
        if self._work.json:
            self.warn(line)
        else:
            self._print(line)

    def identify(self, identifying: Mapping[str, str], advice: str = "") -> None:
        """Store the final warning about unchanged fields that identify people.

        advice as in `identifying.warning`.
        """
        if identifying:
            from dptext.engine.identifying import warning

            line = warning(identifying, advice)
            self._waiting[line] = self._said[line] = None

    def with_warnings(self, document: Report) -> Report:
        """Return the report of a run, with all its warnings."""
        from dptext.engine import documents

        return documents.with_warnings(document, list(map(str, self._said)))

    @contextlib.contextmanager
    def bar(self) -> Iterator[Counted | None]:
        """Show progress in records and words during a block, on a terminal."""
        if not (sys.stderr.isatty() and progress.enabled()):
            yield None
            return
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        text = "{task.fields[records]:,} records, {task.fields[words]:,} words"
        columns = SpinnerColumn(), TextColumn(text), TimeElapsedColumn()
        with Progress(*columns, console=self.console, transient=True) as bar:
            task = bar.add_task("", total=None, records=0, words=0)
            yield lambda records, words: bar.update(task, records=records, words=words)

    def show(self, report: Callable[[], Document], released: RunOutputs) -> None:
        """Print the summary of a run; `report` builds its report."""
        if self._work.quiet:
            return
        from dptext.report import answer

        document = report()

        if self._work.verbose:
            from dptext.report import views

            show(views.report(document, released=released), on=self.console)
            return
        lines = answer.answer(document, released)
        self._waiting = {}
        if self._work.json:
            plain = answer.data(lines, answer.run_warnings(document))
            print(to_json(plain), file=sys.stderr)  # noqa: T201
        else:
            shown = answer.blocks(lines, answer.run_warnings(document))
            show(*shown, on=self.console)

    def _leave(self) -> None:
        for line in self._waiting:
            self._print(line)

    def _print(self, line: str) -> None:
        if not self._work.quiet or isinstance(line, Urgent):
            self.console.print(f"dptext: {line}", soft_wrap=True)


_LONGEST = 2000  # characters of a text that are shown
_TOKEN = re.compile(r"\w+|\W")


def preview(
    batch: Sequence[Record],
    pipelines: Mapping[str, Pipeline],
    key: RunKey,
    replaced: Sequence[Mapping[str, str]] = (),
    dropped: Sequence[str] = (),
) -> None:
    """Show sanitized records under several settings, one below the other.

    replaced: the new values in each record, by the names of fields; dropped: the
    fields that are left out. Nothing is written, spent or sent. What differs from the
    original is in colour.
    """
    from rich.table import Table

    private = {
        name: pipeline.offline.privatize(batch, pipeline.randomness(key)).texts
        for name, pipeline in pipelines.items()
    }
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for number, record in enumerate(batch):
        for position, before in enumerate(record.texts):
            table.add_row("original", before[:_LONGEST])
            for name, texts in private.items():
                after = texts[number][position]
                table.add_row(name, _changed(before[:_LONGEST], after[:_LONGEST]))
            table.add_row()
        for name, value in replaced[number].items() if replaced else ():
            table.add_row(REPLACEMENT, f"{one_line(name)}: {value or 'none'}")
        if replaced:
            table.add_row()
    shown = console(stderr=True)
    shown.print(table)
    if dropped:
        shown.print(f"Left out: {', '.join(map(one_line, dropped))}")
    if any(each.decoder.offline is not each.decoder for each in pipelines.values()):
        shown.print("A server would write other words.")


def _changed(before: str, after: str) -> Text:
    """Return a text with words that changed in colour."""
    from rich.text import Text

    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    shown = Text()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, _, _, begin, end in matcher.get_opcodes():
        shown.append("".join(new[begin:end]), "" if kind == "equal" else "bold green")
    return shown
