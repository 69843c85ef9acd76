"""`dptext report`: the same words in the terminal, as JSON and on a page."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.running import BALANCED, command, environment, here, lexicon, on_terminal
from tests.report.pages import closed


@pytest.fixture
def export(tmp_path: Path) -> str:
    """Write an output with its report, and an internal one."""
    source, out = tmp_path / "in.jsonl", str(tmp_path / "out.jsonl")
    source.write_text('{"id": 1, "name": "A", "text": "the film was good"}\n' * 3)
    words = ("--lexicon", lexicon(tmp_path))
    run = ("sanitize", str(source), "-f", "text", *words, *BALANCED)
    internal = str(tmp_path / "internal.json")
    done = here(*run, "--epsilon", "3", "-o", out, "--report", internal)
    assert done.code == 0, done.err
    return out


def test_an_answer_has_one_wording(export: str, tmp_path: Path) -> None:
    """Each sentence of the JSON stands in the terminal and on the page."""
    said = json.loads(here("report", export, "--json").out)
    page = tmp_path / "page.html"
    assert here("report", export, "--html", str(page)).code == 0
    shown = " ".join(here("report", export).out.decode().split())
    text = closed(page.read_bytes()).text
    sentences = [each["sentence"] for each in said.values() if "sentence" in each]
    assert len(sentences) > 10
    for sentence in sentences:
        assert sentence in text
        assert " ".join(sentence.split()) in shown


def test_the_first_screen_answers_the_questions_of_the_signer(export: str) -> None:
    """The verdict, then protection, gaps, findings of attackers and next steps."""
    shown = " ".join(here("report", export).out.decode().split())
    questions = (
        "Hand it at most to a partner's programs, under contract; do not publish it.",
        "What was done:",
        "What is protected:",
        "What is not protected:",
        "What an attacker finds:",
        "Before you send it:",
        "The report:",
        "Guarantee:",
    )
    places = [shown.index(each) for each in questions]
    assert places == sorted(places)


def test_unchanged_columns_are_named_by_the_file(export: str, tmp_path: Path) -> None:
    """A public report does not know those of JSON lines; the file beside it does."""
    said = json.loads(here("report", export, "--json").out)
    assert said["unchanged"]["fields"] == ["id", "name"]
    internal = json.loads((tmp_path / "internal.json").read_text())
    assert internal["private"]["unchanged"] == ["id", "name"]
    Path(export).unlink()
    said = json.loads(here("report", str(tmp_path / "internal.json"), "--json").out)
    assert said["unchanged"]["sentence"].startswith("id, name (in the first records)")
    said = json.loads(here("report", f"{export}.dptext.json", "--json").out)
    assert said["unchanged"]["sentence"].startswith("every other column")


def test_a_file_that_was_changed_after_the_run_is_noticed(export: str) -> None:
    """The report line tells it, whether the output or its report is named."""
    said = "This is not the file that the report describes: it was changed or replaced"
    sidecar = f"{export}.dptext.json"
    for changed in (False, True):
        if changed:
            with Path(export).open("a") as file:
                file.write("{}\n")
        for name in (export, sidecar):
            line = json.loads(here("report", name, "--json").out)["report"]["sentence"]
            assert (said in line) == changed
            assert line.startswith("Not signed")
    assert said in " ".join(here("report", export).out.decode().split())
    Path(export).unlink()
    line = json.loads(here("report", sidecar, "--json").out)["report"]["sentence"]
    assert said not in line


def test_the_first_screen_answers_twelve_questions(tmp_path: Path) -> None:
    """In the terminal, before all figures, and on the page; each by a named line."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": 1, "name": "A", "text": "Anna was so very glad."}\n' * 3)
    run = ("sanitize", str(source), "-f", "text", "-p", "readable", "-o", str(out))
    assert here(*run, "--drop", "name").code == 0
    shown = here("report", str(out)).out.decode()
    page = tmp_path / "page.html"
    assert here("report", str(out), "--html", str(page)).code == 0
    screen = shown[: shown.index("\nGuarantee:")]
    plain = json.loads(here("report", str(out), "--json").out)
    questions = {
        "the treatment of each column": ("output", "unchanged", "left out"),
        "unchanged parts": ("unchanged",),
        "publishing it": ("verdict",),
        "attackers": ("attacker", "delicate", "one guess"),
        "names": ("names",),
        "people": ("people", "for whom", "anonymous"),
        "someone with an original": ("original",),
        "another release": ("again",),
        "a stronger release": ("stronger",),
        "whether the report is genuine": ("report",),
        "undoing it": ("undo",),
        "other languages": ("language",),
    }
    assert len(questions) == 12
    text, flat = closed(page.read_bytes()).text, " ".join(screen.split())
    for names in questions.values():
        for name in names:
            assert name == "verdict" or f" {name} " in screen
            sentence = plain[name.replace(" ", "_")]["sentence"]
            assert sentence in text
            assert sentence in flat
    assert screen.index(" left out ") < screen.index("What is protected:")
    assert len(screen.splitlines()) <= 67
    assert plain["output"]["sentence"].startswith(
        'words, names, numbers, dates or the like of "text", if any, replaced'
    )
    assert plain["left_out"]["fields"] == ["name"]
    assert plain["report"]["sentence"].startswith("Not signed: anyone may have")
    assert all(len(line) <= 80 for line in shown.splitlines())
    digest = json.loads(Path(f"{out}.dptext.json").read_text())["output"]["sha256"]
    assert digest in shown, "on one line of 80 columns"


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_terminal_shows_the_first_screen(export: str) -> None:
    """It ends with the way to all figures, which a pipe has."""
    env = {key: value for key, value in environment(TERM="xterm").items() if value}
    code, _, shown = on_terminal(command("report", export), env)
    assert code == 0, shown
    text = " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).split())
    assert "What an attacker finds:" in text
    assert "Guarantee:" not in text
    assert "| less, or --html PAGE." in text
    assert "Guarantee:" in here("report", export).out.decode()
