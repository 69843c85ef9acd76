"""Text of others never moves the cursor, in any display."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from dptext.cli import screen
from tests.cli.running import Ran, here, there

# Clears the screen (C0 and C1), reverses what follows, goes back in the line.
HOSTILE = "a\x1b[2J\x9b2J\u202eb\rc"


def harmless(ran: Ran) -> None:
    """Check that neither stream holds what a terminal obeys."""
    for text in (ran.out.decode(), ran.err):
        assert screen.escape(text) == text


def test_what_is_written_out_is_read_back_by_json() -> None:
    """In JSON the written-out characters stand for themselves."""
    raw = json.dumps(HOSTILE + "\U000e0001é", ensure_ascii=False)
    assert json.loads(screen.escape(raw)) == HOSTILE + "\U000e0001é"


def test_plain_text_passes() -> None:
    """Letters of all scripts, tabs and line feeds are left alone."""
    text = "naïve – 東京 שלום 👩‍💻\tx\n"
    assert screen.escape(text) == text
    assert screen.one_line("a\tb\nc") == "a\\u0009b\\u000ac"


def test_texts_in_explain(options: tuple[str, ...]) -> None:
    """Control characters of a text are written out in the table and in JSON."""
    for more in ((), ("--json",)):
        ran = here("explain", f"the {HOSTILE} film", *options, *more)
        assert ran.code == 0, ran.err
        harmless(ran)
        assert b"\\u001b" in ran.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("sanitize", "-f", "text", "{}.jsonl"),
        ("sanitize", "-f", "text", "{}"),
        ("lexicon", "info", "{}"),
        ("lexicon", "import", "{}", "--name", "x"),
        ("report", "{}"),
        ("list", "profiles", "{}"),
        ("list", "mechanisms", "{}"),
        ("explain", "the film", "--profile", "{}.yaml"),
        ("{}",),
    ],
)
def test_names_of_files_and_parts(arguments: tuple[str, ...]) -> None:
    """Names in messages are one line of harmless characters."""
    ran = here(*(each.format(HOSTILE + "\n\udcff") for each in arguments))
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("dptext: ")
    harmless(ran)


def test_reports_of_others(options: tuple[str, ...], tmp_path: Path) -> None:
    """A report with control characters in its texts is shown without them."""
    source, path = tmp_path / "in.jsonl", tmp_path / "r.json"
    source.write_text('{"text":"the film"}\n')
    run = ("sanitize", "-f", "text", str(source), *options, "-q", "--no-bayes-risk")
    assert here(*run, "--report", str(path)).code == 0
    report = json.loads(path.read_text())
    report["run"]["profile"] = HOSTILE
    report["run"]["lexicon"] = f"[red]{HOSTILE}"
    report["guarantee"]["wording"]["sentence"] = HOSTILE
    report["guarantee"]["scope"]["not_covered"] = [HOSTILE]
    path.write_text(json.dumps(report))
    for more in ((), ("--html", "-")):
        ran = here("report", str(path), *more)
        assert ran.code == 0, ran.err
        harmless(ran)


@pytest.mark.parametrize("columns", ["0", "1", "²", "99999999999", "-1", ""])
def test_odd_widths(columns: str) -> None:
    """A number of columns in which nothing can be printed is left aside."""
    # Set for the run alone: pytest fills lines of so many columns, too.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", columns)
        patch.setenv("LINES", columns)
        ran = here("list", "mechanisms")
    assert ran.code == 0, ran.err
    lines = ran.out.decode().splitlines()
    assert "laplace" in ran.out.decode()
    assert 40 <= max(map(len, lines)) <= 200


def test_other_encodings_write_out_what_they_lack() -> None:
    """Standard output in ASCII carries everything, and JSON stays JSON."""
    ran = there("explain", "café", "--epsilon", "8", "--json", PYTHONIOENCODING="ascii")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["tokens"][0]["text"] == "café"
    ran = there("explain", "café", "--epsilon", "8", PYTHONIOENCODING="ascii")
    assert ran.code == 0, ran.err
    assert ran.out.isascii()


def test_styles_of_the_console_pass() -> None:
    """Brackets of a text are printed unchanged, its control characters escaped."""
    stream = io.StringIO()
    shown = screen.console()
    shown.file = stream
    shown._color_system = None
    shown.print("[bold]\x1b[31mx")
    assert stream.getvalue() == "[bold]\\u001b[31mx\n"
