"""Keep lists, mask lists and declared forms, from the command line to `check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import here, small

KEEP = "tokens.keep.files=[{}]"
TEXT = "Bob Ross of Acme paid 4111 1111 1111 1111 for a good film, ann@x.org"


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Write lists and one record; return the options of a run."""
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")
    Path("keep.txt").write_text("acme\n")
    Path("mask.txt").write_text("bob ross\n")
    lists = ("--set", KEEP.format("keep.txt"), "--set", "tokens.mask.files=[mask.txt]")
    forms = ("--set", "tokens.forms=[card, email]")
    return ("in.jsonl", *small(tmp_path), *lists, *forms, "-o", "out.jsonl", "-q")


def test_lists_and_forms_write_what_the_report_says(options: tuple[str, ...]) -> None:
    """Kept, masked and random of their form; digests of the lists in the report."""
    assert here("sanitize", "-f", "text", *options).code == 0
    words = json.loads(Path("out.jsonl").read_text())["text"].split()
    assert words[0] == "[masked]"
    assert words[2] == "Acme"
    assert [len(word) for word in words[4:8]] == [4] * 4
    assert words[4:8] != TEXT.split()[5:9]
    assert words[-1].endswith(".example")
    report = json.loads(Path("out.jsonl.dptext.json").read_bytes())
    assert set(report["words"]["list_files"]) == {"keep.txt", "mask.txt"}
    shown = report["guarantee"]["scope"]["unprotected"]
    assert shown == ["punctuation", "keep-list", "mask-list", "forms"]
    said = " ".join(report["guarantee"]["scope"]["not_covered"])
    for part in (
        "keep list names (1 word or phrase)",
        "[masked]",
        "payment card",
        "e-mail",
    ):
        assert part in said


def test_check_asks_for_what_lists_leave_open(options: tuple[str, ...]) -> None:
    """A policy has to allow them; a list that changed since is named as a part."""
    assert here("sanitize", "-f", "text", *options).code == 0
    bare = here("check", "out.jsonl")
    assert bare.code == 1
    assert b"are not listed in the policy: acme;" in bare.out
    allowed = ("--set", "allow=[punctuation, keep-list, mask-list, forms]")
    accepted = ("check", "out.jsonl", *allowed, *options[1:3])
    ran = here(*accepted)
    assert ran.code == 0, ran.out
    Path("keep.txt").write_text("acme\nfilm\n")
    ran = here(*accepted)
    assert ran.code == 1
    assert b"file of a list (keep.txt" in ran.out
    assert here(*accepted, "--set", "unverified=parts").code == 0


def test_another_list_draws_anew_and_another_path_does_not(
    options: tuple[str, ...],
) -> None:
    """With one seed, the content of a list decides the draws, not where it lies."""
    outs = []
    for content, path in (
        ("acme\n", "keep.txt"),
        ("acme\n", "k2"),
        ("acme\nx\n", "k2"),
    ):
        Path(path).write_text(content)
        usual = KEEP.format("keep.txt")
        chosen = [KEEP.format(path) if each == usual else each for each in options]
        assert here("sanitize", "-f", "text", *chosen, "--seed", "1").code == 0
        outs.append(Path("out.jsonl").read_bytes())
    assert outs[0] == outs[1] != outs[2]


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        (("--set", "tokens.forms=cards"), "'cards'"),
        (("--set", KEEP.format("nowhere")), "No such file"),
        (("--set", "tokens.keep.patterns=['(']"), "not a regular expression"),
        (("--set", "tokens.mask={wrods: [x]}"), "unknown key"),
    ],
)
def test_wrong_lists_are_one_line(
    setting: tuple[str, ...], reason: str, options: tuple[str, ...]
) -> None:
    """The message names the setting; exit code 2, no output."""
    ran = here("sanitize", "-f", "text", *options, *setting)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "tokens" in ran.err
    assert reason in ran.err
    assert not Path("out.jsonl").exists()
