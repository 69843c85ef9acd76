"""The short answer of a run on standard error: its size, and that it is true."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape
from rich.console import Console

from dptext import profile
from dptext.report import answer, terminal
from dptext.report.lines import Line
from tests.cli.running import WORDS, Ran, command, environment, here, lexicon
from tests.report.pages import internal_report

LINES = 18
COLUMNS = 80
GIVEN = b'{"id":1,"text":"the film was good","who":{"name":"A B","age":7}}\n' * 3
NAMES = (
    *("private", "copied", "one word", "a person", "written", "attacker", "one draw"),
    *("original", "kept", "send it", "repeat", "report"),
)
# Settings that need a model cannot run everywhere.
# Nor those that need a file of topics (tests/report/test_whole_texts.py).
PROFILES = [
    name
    for name in profile.shipped()
    if name != "dp-mlm" and not name.startswith("topics")
]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write three records as JSON lines into the current folder."""
    monkeypatch.chdir(tmp_path)
    path = Path("in.jsonl")
    path.write_bytes(GIVEN)
    return path


def fits(err: str) -> None:
    """Check the size of an answer."""
    lines = err.splitlines()
    assert 0 < len(lines) <= LINES, err
    assert all(len(line) <= COLUMNS for line in lines), err


def rows(ran: Ran) -> dict[str, str]:
    """Return the sentences of an answer by their names."""
    assert ran.code == 0, ran.err
    parts: dict[str, str] = {}
    last = ""
    for line in ran.err.splitlines():
        name, said = line[1:11].strip(), line[11:].strip()
        last = name or last
        parts[last] = f"{parts.get(last, '')} {said}".strip()
    return parts


def data(*arguments: str, given: bytes = b"") -> dict[str, Any]:
    """Return the answer of a run as JSON."""
    ran = here(*arguments, "--json", given=given)
    assert ran.code == 0, ran.err
    plain = json.loads(ran.err)
    assert isinstance(plain, dict)
    return plain


@pytest.mark.slow
@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_is_answered_on_one_screen(name: str, source: Path) -> None:
    """At most 18 lines of 80 columns; data for machines says the same."""
    run = ("sanitize", "-f", "text", str(source), "-p", name, "--no-bayes-risk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        ran = here(*run)
    said = [line for line in ran.err.splitlines() if not line.startswith("dptext: ")]
    fits("\n".join(said))
    parts = rows(ran._replace(err="\n".join(said)))
    named: tuple[str, ...] = NAMES
    if "anonymous" in parts:  # it says that originals find their rows
        named = ("anonymous", *(each for each in NAMES if each in parts))
        assert "original finds its row" in parts["anonymous"]
        assert set(NAMES) - set(named) <= {"original", "repeat"}
    assert tuple(parts) == named
    plain = data(*run)
    claims = plain["one_word"]["notion"] != "none"
    assert ("no guarantee" in parts["one word"]) != claims
    assert ("no guarantee" in parts["a person"]) != claims


@pytest.mark.parametrize("pool", ["word", "mean"])
def test_vectors_are_answered_on_one_screen(pool: str, source: Path) -> None:
    """The same of embed, for words and texts."""
    out = source.with_name("o.npy")
    words = lexicon(source.parent)
    run = ("embed", "-f", "text", str(source), "--lexicon", words, "--pool", pool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        ran = here(*run, "-o", str(out))
    fits(ran.err)
    named = "one word" if pool == "word" else "one text"
    words_alone = ("written", "one draw", "original")
    wanted = [each for each in NAMES if each not in words_alone]
    wanted[wanted.index("one word")] = named
    assert list(rows(ran)) == wanted
    plain = data(*run, "-o", str(out), "--seed", "1")
    assert plain["private"]["vectors"] == (12 if pool == "word" else 3)
    assert "no guarantee" in plain[named.replace(" ", "_")]["sentence"]
    assert plain["attacker"]["found"] is None


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("name", ["sanitize", "embed"])
def test_a_terminal_shows_no_more(
    name: str, source: Path, options: tuple[str, ...]
) -> None:
    """In a terminal of 80 columns it is the same, progress gone when it ends."""
    import fcntl
    import pty
    import termios

    upper, lower = pty.openpty()
    fcntl.ioctl(lower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    suffix = "jsonl" if name == "sanitize" else "npy"
    chosen = options if name == "sanitize" else ("--lexicon", lexicon(source.parent))
    out = str(source.with_name(f"o.{suffix}"))
    run = command(name, "-f", "text", str(source), *chosen, "-o", out)
    set_ = environment(TERM="xterm", COLUMNS="", LINES="")
    set_ = {key: value for key, value in set_.items() if value}
    with subprocess.Popen(run, stdin=lower, stdout=lower, stderr=lower, env=set_) as on:
        os.close(lower)
        shown = b""
        try:
            while part := os.read(upper, 65_536):
                shown += part
        except OSError:  # the end, on Linux
            pass
        assert on.wait(60) == 0, shown
    os.close(upper)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    after = plain[plain.rindex(" private  ") :].replace("\r\n", "\n")
    fits(after)
    assert after.rstrip().splitlines()[-1].startswith(" report ")


def test_copied_fields_are_named(source: Path, options: tuple[str, ...]) -> None:
    """Those of JSON, too: of any type, at any depth, from the records that are read."""
    run = ("sanitize", "-f", "text", str(source), *options)
    parts = rows(here(*run))
    assert parts["copied"].startswith("id, who.name, who.age; in the texts: ")
    assert parts["private"] == '3 records, 12 words of "text" replaced: standard output'
    assert data(*run)["copied"]["fields"] == ["id", "who.name", "who.age"]
    with_id = data(*run, "--id", "who.age", "--on-error", "skip")
    assert set(with_id["copied"]["fields"]) == {"id", "who.name", "who.age"}


def test_only_first_records_are_looked_at_and_that_is_said(
    source: Path, options: tuple[str, ...]
) -> None:
    """A field of record 201 is not named; the answer says which records it is of."""
    source.write_bytes(b'{"text":"the film","a":1}\n' * 200 + b'{"text":"old","b":1}\n')
    for jobs in ("1", "2"):
        run = ("sanitize", "-f", "text", str(source), *options, "-j", jobs)
        assert rows(here(*run))["copied"].startswith("a (in the first 200 records)")
        assert data(*run)["copied"]["of_first_records"] == 200


def test_many_and_strange_names_stay_on_two_lines(
    source: Path, options: tuple[str, ...]
) -> None:
    """Names are cut and counted; line feeds in them and empty ones are written out."""
    fields = {f"a_rather_long_name_{number}" * 3: number for number in range(50)}
    record = {"text": "the film", "": 0, "line\nfeed": 1, **fields}
    source.write_text(json.dumps(record) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        ran = here("sanitize", "-f", "text", str(source), *options)
    fits(ran.err)
    copied = rows(ran)["copied"]
    assert copied.startswith("'', line\\nfeed, a_rather_long")
    assert re.search(r" and \d+ more", copied)


@pytest.mark.parametrize("columns", [COLUMNS, 40])
def test_long_lines_are_cut_and_warnings_are_not(tmp_path: Path, columns: int) -> None:
    """Warnings stand in full below other lines, on a telephone, too."""
    lines = [Line(name, f"{name} " * 60) for name in NAMES]
    lines[0] = Line("private", f"3 records: {'x' * 200}")
    for count in (0, 1, 3, 9):
        warnings = [f"warning {number} " * 12 for number in range(count)]
        with open(tmp_path / "out", "w+") as out:
            console = Console(width=columns, file=out)
            terminal.show(answer.blocks(lines, warnings), console)
            out.seek(0)
            shown = out.read()
        lines_shown = [line.rstrip() for line in shown.splitlines()]
        assert all(len(line) <= columns for line in lines_shown)
        before = list(takewhile(lambda line: "warning" not in line, lines_shown))
        if columns == COLUMNS:
            fits("\n".join(before))
        names = dict.fromkeys(re.findall(r"^ (\w.*?)  ", shown, re.M))
        assert [each for each in names if each != "warning"] == [
            each for each in NAMES if each != "repeat"
        ], "what goes first"
        said = " ".join(" ".join(lines_shown[len(before) :]).split())
        assert said.replace("warning warning", "warning") == " ".join(
            each.strip() for each in warnings
        )


def test_an_answer_is_a_part_of_a_page(tmp_path: Path) -> None:
    """Notebooks show the same sentences, with text of others made harmless."""
    document = internal_report("rank", tmp_path)
    document = replace(document, run=replace(document.run, profile="<script>"))
    part = answer.to_html(document)
    for line in answer.answer(document):
        assert escape(line.sentence) in part
    assert part.startswith('<div class="dptext">')
    assert "<script" not in part


def test_attackers_and_the_guarantee_of_the_default_profile(source: Path) -> None:
    """Written words come first, then the strongest attacker, then the single guess."""
    out = source.with_name("o.jsonl")
    run = ("sanitize", "-f", "text", str(source), "-o", str(out))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        ran = here(*run)
    fits(ran.err)
    assert len(Path(f"{out}.dptext.json").read_bytes()) <= 7_000
    parts = rows(ran)
    report = json.loads(Path(f"{out}.dptext.json").read_bytes())
    risk = report["words"]["risk"]["success"]
    assert f"right for {risk:.0%}" in parts["one draw"]
    plain = data(*run)
    readings = [
        each["success"]
        for each in report["words"]["attackers"]
        if each["attacker"] == plain["attacker"]["attacker"]
    ]
    assert plain["attacker"]["found"] == [min(readings), max(readings)]
    written = [each["success"] for each in report["words"]["written"]]
    assert plain["written"]["found"] == [min(written), max(written)]
    assert parts["original"] == "Anyone who has an original text can find its row."
    assert plain["one_word"]["epsilon"] == report["guarantee"]["epsilon"]
    assert parts["one word"].endswith("the output proves no word (LDP, epsilon 9.499)")
    assert parts["a person"].startswith("not protected as a whole")
    assert parts["kept"].endswith("of meaning kept (unrelated: 0%; private)")
    assert plain["kept"]["meaning"] < plain["kept"]["similarity"]
    assert parts["send it"].startswith("if what is copied may leave")


@pytest.mark.parametrize(
    ("more", "name", "said"),
    [
        (
            ("--seed", "1"),
            "one word",
            "no guarantee: anyone who knows or",
        ),
        (("--seed", "1"), "a person", "no guarantee"),
        (("--seed", "1"), "written", "not measured: with the seed"),
        (("--seed", "1"), "attacker", "not measured: with the seed"),
        ((), "written", "not measured for these settings: dptext evaluate ORIGINAL"),
        ((), "attacker", "not measured for these settings: dptext evaluate ORIGINAL"),
        (
            ("--set", "budget={name: per-text, epsilon: 2}"),
            "original",
            "may find its row by the number of words",
        ),
        (("--seed", "1"), "repeat", "by anyone who knows or guesses the seed"),
        ((), "repeat", "a new run draws other words, and losses add up"),
        (("--seed", "1"), "send it", "no, unless the original could be sent"),
        (("--epsilon", "31"), "one word", "no guarantee: these settings allow"),
        (
            ("--mechanism", "gaussian", "--epsilon", "31"),
            "one word",
            "no meaningful protection (",
        ),
        (
            ("--set", "budget={name: per-text, epsilon: 2}"),
            "one word",
            "(LDP, epsilon 2 for a text)",
        ),
        (
            ("--set", "budget={name: per-text, epsilon: 2}"),
            "a person",
            "one text (at most 2 nats), not in",
        ),
        (
            ("--set", "budget={name: per-text, epsilon: 12}"),
            "a person",
            "not protected as a whole",
        ),
        (("--no-bayes-risk",), "one draw", "not measured (--no-bayes-risk)"),
        (("--mechanism", "vickrey"), "one word", "no guarantee: the input word is"),
        (("--mechanism", "santext"), "one word", "(metric DP, epsilon 3 per unit"),
        (
            ("--mechanism", "gaussian"),
            "one word",
            "hardly ever proves a word (approximate LDP, epsilon 3, delta",
        ),
    ],
)
def test_sentences_follow_the_settings(
    more: tuple[str, ...], name: str, said: str, source: Path
) -> None:
    """Seeds, noise, budgets of texts and each notion have sentences of their own."""
    epsilon = () if {"--epsilon", "--set"} & {*more} else ("--epsilon", "3")
    words = lexicon(source.parent)
    ran = here(
        *("sanitize", "-f", "text", str(source), "--lexicon", words), *epsilon, *more
    )
    assert said in rows(ran)[name]


def test_where_outputs_and_reports_lie(source: Path, options: tuple[str, ...]) -> None:
    """One file, several, the originals' places, standard output; and the reports."""
    other = Path("b c.jsonl")
    other.write_bytes(GIVEN)
    run = ("sanitize", "-f", "text", *options)
    for more, where, report in (
        (("-",), ": standard output", "not written: --report FILE writes it, "),
        ((str(source), "-o", "o"), ": o", "dptext report o"),
        (
            (str(source), "-o", "o", "--no-sidecar"),
            ": o",
            "not written: --report FILE",
        ),
        (
            (str(source), "-o", "o", "--report", "r.json", "--html", "r.html"),
            ": o",
            "dptext report o; not signed; private: r.json and r.html",
        ),
        (
            (str(other), str(source), "--out-dir", "out"),
            ": 2 files in out",
            "dptext report 'out/b c.jsonl'; not signed; one beside each of 2 files",
        ),
        (
            (str(other), str(source), "--in-place"),
            ": 2 files, in the place of the originals",
            "dptext report 'b c.jsonl'; not signed; one beside ",
        ),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", "1000")
            parts = rows(here(*run, *more, given=GIVEN))
        assert parts["private"].endswith(where)
        assert parts["report"].startswith(report)


def test_what_in_a_text_is_not_replaced(tmp_path: Path) -> None:
    """Copied and masked words are counted, and the copied ones named by class."""
    run = ("sanitize", "--lexicon", lexicon(tmp_path), "--epsilon", "3")
    over = ("--set", "tokens.stop_word=keep", "--set", "tokens.number=mask")
    said = rows(here(*run, *over, given=b"the film, 12 scenes\n"))
    assert said["copied"] == "in the texts: punctuation, stop words"
    assert said["private"].startswith("1 line, ")
    assert "1 copied" in said["private"]
    assert "1 masked" in said["private"]


def test_warnings_come_last_and_once(
    source: Path, options: tuple[str, ...], tmp_path: Path
) -> None:
    """They stay on the screen; a run that fails says them all the same."""
    lines = []
    for number in range(20):
        words = [WORDS[(number * 7 + k) % len(WORDS)] + "word" for k in range(8)]
        record = {"text": " ".join(words), "title": " ".join(words[:4])}
        lines.append(json.dumps(record) + "\n")
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text("".join(lines))
    run = ("sanitize", "-f", "text", "a.jsonl", "b.jsonl", *options, "--out-dir", "o")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        ran = here(*run)
    assert list(rows(ran))[-1] == "warning"
    left = "column 'title' was left unchanged and repeats"
    assert " ".join(ran.err.split()).count(left) == 1
    plain = data(*run)
    assert sum("left unchanged" in line for line in plain["warnings"]) == 1
    assert left in plain["warnings"][0]
    assert f"dptext: {left}" in here(*run, "-v").err
    (tmp_path / "b.jsonl").write_text("{broken\n")
    failed = here(*run)
    assert failed.code != 0
    assert failed.err.splitlines()[0].startswith(f"dptext: {left}")


def test_settings_of_a_file_do_not_spoil_the_data(
    source: Path, options: tuple[str, ...]
) -> None:
    """With --json standard error is JSON, though settings come from a file."""
    Path(".dptext.yaml").write_text("sanitize:\n  field: [text]\n")
    assert data("sanitize", str(source), *options)["private"]["records"] == 3
    assert "field" in here("sanitize", str(source), *options).err.splitlines()[0]


def test_how_much_is_said_is_chosen_once(
    source: Path, options: tuple[str, ...]
) -> None:
    """--quiet says nothing, --verbose all; two of three are refused."""
    run = ("sanitize", "-f", "text", str(source), *options)
    assert here(*run, "--quiet").err == ""
    assert "Privacy report" in here(*run, "--verbose").err
    for pair in (("-q", "-v"), ("-v", "--json"), ("--json", "-q")):
        ran = here(*run, *pair)
        assert (ran.code, ran.out) == (2, b"")
        assert ran.err.startswith("dptext: give --")
        assert ran.err.endswith(", not both\n")


def test_the_answer_for_people_names_the_output(tmp_path: Path) -> None:
    """Counts of classes do not push the name of the output off the screen."""
    text = (
        "My name is Martha Keller, call 555-0142 in Berlin on Monday. Sony and Toyota "
        "wrote in March about 7 zyxlos and 12 refunds."
    )
    (tmp_path / "in.txt").write_text(f"{text}\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        patch.setenv("COLUMNS", str(COLUMNS))
        ran = here("sanitize", "in.txt", "-p", "readable", "-o", "out.txt")
    assert ran.code == 0, ran.err
    private = rows(ran)["private"]
    assert "made new" in private
    assert private.endswith(": out.txt")
