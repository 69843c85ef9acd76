"""The short answer of a run on standard error: its size, and that it is true."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape
from rich.console import Console

from dptext import profile
from dptext.report import answer, terminal
from dptext.report.blocks import Figures
from dptext.report.lines import AnswerLine
from dptext.run.python import PYTHON
from tests.cli.running import (
    BALANCED,
    WORDS,
    Ran,
    command,
    environment,
    here,
    lexicon,
    on_terminal,
)
from tests.report.pages import internal_report

LINES = 20
COLUMNS = 80
GIVEN = b'{"id":1,"text":"The film was good","who":{"name":"A B","age":7}}\n' * 3
# Lines that are left out where there is no room.
OPTIONAL = {"same word", "stronger", "meaning", "one guess"}
VERDICT = ("Hand it at most to ", "Use it at most to ", "Do not hand ")
NAMES = (
    "profile",
    "output",
    "unchanged",
    "own words",
    "words",
    "people",
    "attacker",
    "same word",
    "one guess",
    "original",
    "meaning",
    "stronger",
    "sending",
    "again",
    "report",
)
# Settings that need a model cannot run everywhere.
# Nor those that need a file of topics (tests/report/test_whole_texts.py).
PROFILES = [
    name
    for name in profile.shipped()
    if name != "dp-mlm" and not name.startswith("topics")
]
# Noise in the space of another profile: as slow as that one, and said in its words.
VARIANTS = ("thesis-", "comparative-cmp", "comparative-mahal", "comparative-vickrey")


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
    verdict, *lines = ran.err.splitlines()
    assert verdict.startswith(VERDICT), verdict
    last = ""
    for line in lines:
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


def test_no_line_of_a_log_ends_with_blanks(source: Path) -> None:
    """Tables fill columns with blanks on a terminal only."""
    for run in (("sanitize", "-f", "text", "in.jsonl", "-o", "o.jsonl"), ("list",)):
        ran = here(*run)
        lines = [*ran.err.splitlines(), *ran.out.decode().splitlines()]
        assert len(lines) > 3
        assert not [line for line in lines if line != line.rstrip()]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_is_answered_on_one_screen(
    name: str, source: Path, key: str
) -> None:
    """At most 20 lines of 80 columns; data for machines says the same."""
    keyed = ("--key-file", key, "--no-bayes-risk")
    own = ("--lexicon", lexicon(source.parent)) if name.startswith(VARIANTS) else ()
    run = ("sanitize", "-f", "text", str(source), "-p", name, *keyed, *own)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        ran = here(*run)
    said = [line for line in ran.err.splitlines() if not line.startswith("dptext: ")]
    fits("\n".join(said))
    parts = rows(ran._replace(err="\n".join(said)))
    named: tuple[str, ...] = NAMES
    if "anonymous" in parts:  # it says that originals find their rows
        named = ("anonymous", *NAMES)
        assert "original finds its row" in parts["anonymous"]
    assert [*parts] == [each for each in named if each in parts]
    said_before = {"original"} if "anonymous" in parts else set()
    assert {*NAMES} - {*parts} <= OPTIONAL | said_before
    plain = data(*run)
    assert said[0] == plain["verdict"]["sentence"]
    others = ", the default; --profile balanced for programs"
    called = f"custom, from {name}" if name.startswith(VARIANTS) else name
    named_so = f"{called}{others if name == profile.DEFAULT else ''}."
    assert parts["profile"] == plain["profile"]["sentence"] == named_so
    assert plain["profile"]["profile"] == called
    claims = plain["words"]["notion"] != "none"
    assert ("No guarantee" in parts["words"]) != claims
    assert ("No guarantee" in parts["people"]) != claims
    assert (plain["sending"]["sentence"].startswith("Do not")) == said[0].startswith(
        "Do not hand it on"
    )


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
    named = "words" if pool == "word" else "texts"
    words_alone = ("profile", "own words", "same word", "one guess", "original")
    wanted = [each for each in NAMES if each not in words_alone]
    wanted[wanted.index("words")] = named
    wanted[wanted.index("meaning")] = "distances"
    wanted.remove("stronger")
    wanted.insert(wanted.index("sending"), "stronger")
    assert list(rows(ran)) == wanted
    plain = data(*run, "-o", str(out), "--seed", "1")
    assert plain["output"]["vectors"] == (12 if pool == "word" else 3)
    assert "No guarantee" in plain[named]["sentence"]
    assert plain["attacker"]["found"] is None


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("name", ["sanitize", "embed"])
def test_a_terminal_shows_no_more(
    name: str, source: Path, options: tuple[str, ...]
) -> None:
    """In a terminal of 80 columns it is the same, progress gone when it ends."""
    suffix = "jsonl" if name == "sanitize" else "npy"
    chosen = options if name == "sanitize" else ("--lexicon", lexicon(source.parent))
    out = str(source.with_name(f"o.{suffix}"))
    run = command(name, "-f", "text", str(source), *chosen, "-o", out)
    set_ = environment(TERM="xterm", COLUMNS="", LINES="")
    set_ = {key: value for key, value in set_.items() if value}
    code, _, shown = on_terminal(run, set_, columns=COLUMNS)
    assert code == 0, shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    after = plain[plain.rindex("Hand it at most to") :]
    fits(after)
    lines = after.rstrip().splitlines()
    if name == "sanitize":
        assert lines.pop().startswith(f"dptext evaluate {source} ")
    assert lines[-1].startswith(" report ")


def test_unchanged_fields_are_named(source: Path, options: tuple[str, ...]) -> None:
    """Those of JSON, too: of any type, at any depth, from the records that are read."""
    run = ("sanitize", "-f", "text", str(source), *options)
    parts = rows(here(*run))
    assert parts["unchanged"].startswith("id, who.name, who.age; in the texts: ")
    output = re.sub(r" \(\d+ by the same word\)", "", parts["output"])
    assert output == '3 records, 12 words of "text" replaced: standard output'
    assert data(*run)["unchanged"]["fields"] == ["id", "who.name", "who.age"]
    with_id = data(*run, "--id", "who.age", "--on-error", "skip")
    assert set(with_id["unchanged"]["fields"]) == {"id", "who.name", "who.age"}


def test_only_first_records_are_looked_at_and_that_is_said(
    source: Path, options: tuple[str, ...]
) -> None:
    """A field of record 201 is not named; the answer says which records it is of."""
    source.write_bytes(b'{"text":"the film","a":1}\n' * 200 + b'{"text":"old","b":1}\n')
    for jobs in ("1", "2"):
        run = ("sanitize", "-f", "text", str(source), *options, "-j", jobs)
        assert rows(here(*run))["unchanged"].startswith("a (in the first 200 records)")
        assert data(*run)["unchanged"]["of_first_records"] == 200


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
    unchanged = rows(ran)["unchanged"]
    assert unchanged.startswith("'', line\\nfeed, a_rather_long")
    assert re.search(r" and \d+ more", unchanged)


def test_that_originals_find_their_rows_is_never_left_out() -> None:
    """It warns: other lines make room, else the answer is longer than a screen."""
    for warnings in ((), ["w " * 400] * 9):
        lines = [AnswerLine(each, f"{each} " * 40) for each in NAMES]
        rows = answer.blocks(lines, warnings)[-1]
        assert isinstance(rows, Figures)
        named = [each[0] for each in rows.rows]
        assert "original" in named
        assert not OPTIONAL.intersection(named)


def test_a_warning_on_a_column_hides_no_warning_on_originals(tmp_path: Path) -> None:
    """Both stand in the answer of a profile that replaces every word."""
    records = [{"text": "the film was good and long", "author": "Anna Smith"}] * 25
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    out = str(tmp_path / "o.jsonl")
    ran = here("sanitize", "-f", "text", str(path), "-p", "balanced", "-o", out)
    parts = rows(ran)
    assert "author" in parts["warning"]
    assert parts["original"] == "Anyone who has an original text can find its row."


@pytest.mark.parametrize("columns", [COLUMNS, 40])
def test_lines_are_left_out_but_no_warning_is_cut(tmp_path: Path, columns: int) -> None:
    """Warnings stand in full below other lines, on a telephone, too."""
    lines = [AnswerLine(name, f"{name} " * 8) for name in NAMES]
    lines[NAMES.index("output")] = AnswerLine("output", "3 records: " + "output " * 10)
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
        named = dict.fromkeys(re.findall(r"^ (\w.*?)  ", shown, re.M))
        assert {*NAMES} - {*named} <= OPTIONAL
        for line in lines:
            if line.name in named and line.name != "output":
                assert " ".join(shown.split()).count(line.name) >= 8, "not cut"
        said = " ".join(" ".join(lines_shown[len(before) :]).split())
        assert said.replace("warning warning", "warning") == " ".join(
            each.strip() for each in warnings
        )


def test_an_answer_is_a_part_of_a_page(tmp_path: Path) -> None:
    """Notebooks show the same sentences, with text of others made harmless."""
    document = internal_report("rank", tmp_path)
    document = replace(document, run=replace(document.run, profile="<script>"))
    part = answer.to_html(document)
    for line in answer.answer(document, interface=PYTHON):
        assert escape(line.sentence) in part
    assert part.startswith('<div class="dptext">')
    assert "<script" not in part


def test_attackers_and_the_guarantee_of_balanced(source: Path) -> None:
    """The strongest attacker comes first, then unchanged words, then single guesses."""
    out = source.with_name("o.jsonl")
    run = ("sanitize", "-f", "text", str(source), "-p", "balanced", "-o", str(out))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        ran = here(*run)
    fits(ran.err)
    assert len(Path(f"{out}.dptext.json").read_bytes()) <= 8_500
    parts = rows(ran)
    report = json.loads(Path(f"{out}.dptext.json").read_bytes())
    risk = report["words"]["risk"]["success"]
    plain = data(*run)
    assert f"Right for {risk:.0%}" in plain["one_guess"]["sentence"]
    readings = [
        each["success"]
        for each in report["words"]["attackers"]
        if each["attacker"] == plain["attacker"]["attacker"]
    ]
    assert plain["attacker"]["found"] == [min(readings), max(readings)]
    written = [each["success"] for each in report["words"]["written"]]
    assert plain["same_word"]["found"] == [min(written), max(written)]
    assert parts["original"] == "Anyone who has an original text can find its row."
    assert plain["words"]["epsilon"] == report["guarantee"]["bound"]["epsilon"]
    assert parts["words"].endswith(
        "but the output never proves a word (LDP, epsilon 9.5)."
    )
    assert parts["people"].startswith("Not protected. ")
    assert plain["meaning"]["sentence"].endswith(
        "of the meaning left (do not publish)."
    )
    assert plain["meaning"]["meaning"] < plain["meaning"]["similarity"]
    assert parts["sending"].startswith(
        "May the unchanged columns leave? Read every record. "
    )


@pytest.mark.parametrize(
    ("more", "name", "said"),
    [
        (
            ("--seed", "1"),
            "words",
            "No guarantee: anyone who knows or",
        ),
        (("--seed", "1"), "people", "No guarantee."),
        (("--seed", "1"), "same word", "Not measured."),
        (("--seed", "1"), "attacker", "Not measured: with the seed"),
        ((), "same word", "Not measured for these settings."),
        ((), "attacker", "Not measured for these settings: dptext evaluate measures"),
        (
            ("--set", "budget={name: per-text, epsilon: 2}"),
            "original",
            "may find its row by the number of words",
        ),
        (("--seed", "1"), "again", "knows or guesses the seed"),
        ((), "again", "Release it once: losses add up; "),
        (("--seed", "1"), "sending", "Do not send it unless you could send the"),
        (("--epsilon", "31"), "words", "No guarantee: these settings allow"),
        (
            ("--mechanism", "gaussian", "--epsilon", "31"),
            "words",
            "No meaningful protection. An attacker may be nearly certain",
        ),
        (
            ("--set", "budget={name: per-text, epsilon: 2}"),
            "words",
            "(LDP, epsilon 2 for a text).",
        ),
        (
            ("--set", "budget={name: per-text, epsilon: 2}"),
            "people",
            "one text (a loss of at most 2 nats; above 10 nobody is protected",
        ),
        (
            ("--set", "budget={name: per-text, epsilon: 12}"),
            "people",
            "Not protected. Several records",
        ),
        (("--no-bayes-risk",), "attacker", "Not measured for these settings"),
        (("--mechanism", "vickrey"), "words", "No guarantee: the input word is"),
        (("--mechanism", "santext"), "words", "(metric DP, epsilon 3 per unit"),
        (
            ("--mechanism", "gaussian"),
            "words",
            "but the output hardly ever proves a word (approximate LDP, epsilon 3, "
            "delta",
        ),
    ],
)
def test_sentences_follow_the_settings(
    more: tuple[str, ...], name: str, said: str, source: Path
) -> None:
    """Seeds, noise, budgets of texts and each notion have separate sentences."""
    epsilon = () if {"--epsilon", "--set"} & {*more} else ("--epsilon", "3")
    words = lexicon(source.parent)
    ran = here(
        "sanitize",
        "-f",
        "text",
        str(source),
        *BALANCED,
        "--lexicon",
        words,
        *epsilon,
        *more,
    )
    assert said in rows(ran)[name]


def test_where_outputs_and_reports_lie(source: Path, options: tuple[str, ...]) -> None:
    """One file, several, the originals' places, standard output; and the reports."""
    other = Path("b c.jsonl")
    other.write_bytes(GIVEN)
    run = ("sanitize", "-f", "text", *options)
    for more, where, report in (
        (("-",), ": standard output", "not written: --report FILE writes it, "),
        ((str(source), "-o", "o"), ": o", "dptext report o shows more"),
        (
            (str(source), "-o", "o", "--no-sidecar"),
            ": o",
            "not written: --report FILE",
        ),
        (
            (str(source), "-o", "o", "--report", "r.json", "--html", "r.html"),
            ": o",
            "dptext report o shows more; not signed; private: r.json and r.html",
        ),
        (
            (str(other), str(source), "--out-dir", "out"),
            ": 2 files in out",
            "dptext report 'out/b c.jsonl' shows more; not signed; one ",
        ),
        (
            (str(other), str(source), "--in-place"),
            ": 2 files, in the place of the originals",
            "dptext report 'b c.jsonl' shows more; not signed; one beside ",
        ),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", "1000")
            parts = rows(here(*run, *more, given=GIVEN))
        Path("o").unlink(missing_ok=True)
        assert parts["output"].endswith(where)
        assert parts["report"].startswith(report)


def test_what_in_a_text_is_not_replaced(tmp_path: Path) -> None:
    """Copied and masked words are counted, and the copied ones named by class."""
    run = ("sanitize", *BALANCED, "--lexicon", lexicon(tmp_path), "--epsilon", "3")
    over = ("--set", "tokens.stop_word=keep", "--set", "tokens.number=mask")
    said = rows(here(*run, *over, given=b"the film, 12 scenes\n"))
    assert said["unchanged"] == "in the texts: punctuation, stop words."
    assert said["output"].startswith("1 line, ")
    assert "1 word or number masked, 1 word or number unchanged" in said["output"]


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
    made = ("sanitize", "-f", "text", "a.jsonl", "b.jsonl", *options)
    run = (*made, "--out-dir", "o")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        ran = here(*run)
    assert list(rows(ran))[-1] == "warning"
    left = "column 'title' was left unchanged and repeats"
    assert " ".join(ran.err.split()).count(left) == 1
    plain = data(*made, "--out-dir", "p")
    assert sum("left unchanged" in line for line in plain["warnings"]) == 1
    assert left in plain["warnings"][0]
    assert f"dptext: {left}" in here(*made, "--out-dir", "q", "-v").err
    (tmp_path / "b.jsonl").write_text("{broken\n")
    failed = here(*made, "--out-dir", "s")
    assert failed.code != 0
    assert failed.err.splitlines()[0].startswith(f"dptext: {left}")


def test_settings_of_a_file_do_not_spoil_the_data(
    source: Path, options: tuple[str, ...]
) -> None:
    """With --json standard error is JSON, though settings come from a file."""
    Path(".dptext.yaml").write_text("sanitize:\n  field: [text]\n")
    assert data("sanitize", str(source), *options)["output"]["records"] == 3
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
    private = rows(ran)["output"]
    assert "names, numbers, dates or the like replaced" in private
    assert private.endswith(": out.txt")
