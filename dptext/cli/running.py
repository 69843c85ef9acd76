"""What `sanitize` and `embed` share: key, faulty records, warnings, progress."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dptext.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from dptext.engine.job import Progress
    from dptext.randomness import RunKey
    from dptext.report.blocks import Page
    from dptext.report.document import Document
    from dptext.report.signatures import Key
    from dptext.streams import Output


def on_error(on_error: str, quarantine: str | None) -> str:
    """Return what happens to faulty records: --quarantine alone says it, too."""
    if on_error == "quarantine" and quarantine is None:
        msg = "--on-error quarantine: name the file with --quarantine FILE"
        raise UsageError(msg)
    if on_error == "fail" and quarantine is not None:
        return "quarantine"
    return on_error


def check_buffering(jobs: int, *, line_buffered: bool) -> None:
    """Refuse several processes where every record is to be written at once."""
    if jobs > 1 and line_buffered:
        msg = "--line-buffered writes every record at once: leave --jobs out"
        raise UsageError(msg)


def key(key_file: Path | None, seed: int | None) -> RunKey:
    """Return the key of a run. Raises UsageError."""
    from dptext.randomness import RunKey

    if key_file is not None and seed is not None:
        msg = "give --key-file or --seed, not both"
        raise UsageError(msg)
    if key_file is not None:
        return RunKey.from_file(key_file)
    return RunKey.fresh() if seed is None else RunKey.from_seed(seed)


def check_resume(key: RunKey, out_dir: str | None) -> None:
    """Refuse to resume what cannot be resumed. Raises UsageError."""
    if out_dir is None:
        raise UsageError(
            "--resume is for folders of outputs (--out-dir); a single file is simply "
            "run again: with --key-file that writes the same bytes"
        )
    if key.origin == "system":
        raise UsageError(
            "--resume: without a key every run draws anew, so there is nothing to go "
            "on with; give --key-file"
        )


def signing(sign_key: Path | None, key_file: Path | None) -> Key | None:
    """Return the key that signs reports, if any. Raises UsageError."""
    from dptext.report import signatures

    if sign_key is None:
        return None
    if key_file is not None and os.path.samefile(sign_key, key_file):
        msg = "--sign-key: give another file than --key-file, which nobody may have"
        raise UsageError(msg)
    return signatures.signing(sign_key)


def warn(console: Console, line: str) -> None:
    """Print a line for people."""
    console.print(f"dptext: {line}", soft_wrap=True)


@contextlib.contextmanager
def progress_bar(console: Console, shown: bool) -> Iterator[Progress | None]:
    """Show records and words so far; yield what is to be told of them."""
    if not shown:
        yield None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.fields[records]:,} records, {task.fields[words]:,} words"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, records=0, words=0)
        yield lambda records, words: bar.update(task, records=records, words=words)


def write_internal(
    result: Document, view: Page, sinks: Sequence[Output | None]
) -> None:
    """Write the internal report, as JSON and as a page, to those that are named."""
    from dptext.report import document, html

    internal, page = sinks
    if internal is not None:
        internal.stream.write(document.encode(result))
    if page is not None:
        page.stream.write(html.render(view))
