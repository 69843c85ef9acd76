"""Records in another language: a mark, left out, or set aside; and columns of codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import here

ENGLISH = {"id": "a", "text": "The parcel from Patricia was late again, so call me."}
GERMAN = {
    "id": "b",
    "text": "Der Karton war offen und das Gerät ist leider defekt, bitte rufen Sie an.",
}
MARK = "[text in another language]"
RUN = ("sanitize", "in.jsonl", "-f", "text", "--profile", "readable", "-o", "out.jsonl")
FAST = (*RUN, "--no-bayes-risk", "--report", "r.json")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write records in English, and one in German."""
    monkeypatch.chdir(tmp_path)
    rows = [ENGLISH, GERMAN, {**ENGLISH, "id": "c"}]
    Path("in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def values(field: str, path: str = "out.jsonl") -> list[str]:
    """Return the values of a field in an output."""
    return [json.loads(line)[field] for line in Path(path).read_text().splitlines()]


def test_by_default_a_text_in_another_language_becomes_a_mark() -> None:
    """The answer and the internal report say how many, and how they are read."""
    ran = here(*FAST)
    texts = values("text")
    assert texts[1] == MARK
    assert "parcel" in texts[0]
    assert "--language de" in ran.err
    words = json.loads(Path("r.json").read_text())["private"]["words"]
    assert words["languages"] == {"": 1, "en": 2}
    shown = " ".join(ran.err.split())
    assert "in another language and left as a mark: 1 text" in shown


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("more", [("--language", "en", "--language", "fr"), ()])
def test_records_in_other_languages_are_left_out(
    jobs: str, more: tuple[str, ...]
) -> None:
    """They are counted, and the output of the others is the same as without them."""
    ran = here(*FAST, "--jobs", jobs, *more, "--other-language", "drop", "--seed", "3")
    assert ran.code == 0, ran.err
    assert values("id") == ["a", "c"]
    private = json.loads(Path("r.json").read_text())["private"]
    assert private["others"] == 1
    assert private["records"] == 2
    assert "1 record left out as in no language" in " ".join(ran.err.split())


def test_records_in_other_languages_are_set_aside() -> None:
    """Their originals go to the file of --quarantine, which must be named."""
    asked = (*FAST, "--other-language", "quarantine")
    assert "--quarantine FILE" in here(*asked).err
    assert here(*asked, "--quarantine", "aside.jsonl").code == 0
    assert json.loads(Path("aside.jsonl").read_text()) == GERMAN
    assert values("id") == ["a", "c"]


def test_a_format_without_lines_sets_nothing_aside() -> None:
    """It is refused in one line, and dropping works."""
    Path("in.json").write_text(json.dumps([ENGLISH, GERMAN]))
    run = ("sanitize", "in.json", "-f", "text", "-o", "out.json", "--no-bayes-risk")
    asked = (*run, "--profile", "readable", "--other-language")
    ran = here(*asked, "quarantine", "--quarantine", "aside")
    assert ran.code == 2
    assert "--other-language drop" in ran.err
    assert here(*asked, "drop").code == 0
    (left,) = json.loads(Path("out.json").read_text())
    assert left["id"] == "a"


def test_settings_that_tell_no_language_leave_no_record_out() -> None:
    """Profiles without common words refuse the option."""
    ran = here(*FAST, "--profile", "balanced", "--other-language", "drop")
    assert ran.code == 2
    assert "--profile readable" in ran.err


def test_other_processes_know_the_language_of_a_column() -> None:
    """--language-field has priority with several processes, too."""
    rows = [{**ENGLISH, "lang": "fr"}, {**ENGLISH, "lang": "en"}]
    Path("in.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    codes = ("--language", "en", "--language", "de", "--language-field", "lang")
    assert here(*FAST, *codes, "--jobs", "2").code == 0
    texts = values("text")
    assert texts[0] == MARK
    assert "parcel" in texts[1]


def test_check_names_the_languages() -> None:
    """And those without a list of special categories, which all have now."""
    here(*RUN, "--no-bayes-risk", "--language", "en", "--language", "de")
    ran = here("check", "out.jsonl")
    assert "out.jsonl: its texts are read in English and German\n" in ran.err
