"""Parts of texts that a policy wants protected: the finding names the key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dptext import profile
from dptext.checking.policy import usually_allowed
from dptext.guarantees import claims
from tests.cli.running import here

TEXT = '{"id":1,"text":"My doctor said 3 good words about the new hospital"}\n'


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write an export that people can read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text(TEXT * 3)
    run = ("sanitize", "in.jsonl", "-f", "text")
    assert here(*run, "-o", "out.jsonl", "-q").code == 0
    return "out.jsonl"


def test_the_default_policy_accepts_what_the_default_writes(export: str) -> None:
    """The parts of texts that the default profile shows, and no others."""
    assert here("check", export).code == 0
    usual = profile.load(profile.DEFAULT)
    shown = claims.unprotected(usual.tokens, usual.strategy)
    assert usually_allowed(usual.tokens) == shown
    Path(".dptext.yaml").write_text("check: {allow: {identifying: id}, copy: id}")
    assert here("check", export).code == 0


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("tokens.number=keep", "number"),
        ("tokens.number=mask", "number"),
        ("tokens.common=12001", "common-words"),
        ("tokens.unknown=keep", "unknown"),
        ("tokens.stop_word=keep", "stop_word"),
        ("tokens.keep.patterns=[doctor]", "keep-list"),
        ("strategy=record", "equal-words"),
    ],
)
def test_the_default_policy_refuses_what_shows_more(
    setting: str, part: str, export: str
) -> None:
    """Also more of a part that the default profile shows: all numbers, more words."""
    run = ("sanitize", "in.jsonl", "-f", "text", "--set", setting)
    assert here(*run, "-o", "more.jsonl", "-q").code == 0
    ran = here("check", "more.jsonl")
    assert ran.code == 1
    (line,) = ran.out.decode().splitlines()
    usual = part in usually_allowed(profile.load(profile.DEFAULT).tokens)
    end = ", except as readable shows it; if" if usual else "; if"
    assert f"the policy does not allow {part}{end} this part may be released" in line


def test_the_default_policy_refuses_words_of_a_keep_list(export: str) -> None:
    """Words of a list are named, and the key that accepts them is one that does."""
    run = ("sanitize", "in.jsonl", "-f", "text", "--set", "tokens.keep.words=[doctor]")
    assert here(*run, "-o", "more.jsonl", "-q").code == 0
    ran = here("check", "more.jsonl")
    assert ran.code == 1
    (line,) = ran.out.decode().splitlines()
    assert "the keep list are not listed in the policy: doctor;" in line
    assert here("check", "more.jsonl", "--set", 'keep_words=["doctor"]').code == 0


def test_no_part_is_allowed_of_settings_that_are_invalid() -> None:
    """Numbers and common words are accepted by the settings that show them."""
    assert not {"number", "common-words"} & {*usually_allowed(None)}


def test_the_default_policy_names_the_option_that_accepts(export: str) -> None:
    """The printed option and the printed key each make the check pass."""
    more = ("--set", "tokens.number=keep", "--set", "tokens.unknown=keep")
    run = ("sanitize", "in.jsonl", "-f", "text", *more, "-o", "more.jsonl", "-q")
    assert here(*run).code == 0
    export = "more.jsonl"
    ran = here("check", export)
    assert ran.code == 1
    *others, last = ran.out.decode().splitlines()
    assert len(others) == 1
    assert not any("may be released" in line for line in others)
    found = re.search(r"give --set '(allow=\[.*?\])' or put (allow: \[.*?\]) in", last)
    assert found is not None, last
    assert here("check", export, "--set", found[1]).code == 0
    Path(".dptext.yaml").write_text(f"check:\n  {found[2]}\n")
    assert here("check", export).code == 0


def test_another_policy_is_added_to(export: str) -> None:
    """The parts are named, since a list of columns may stand there, too."""
    Path(".dptext.yaml").write_text(
        "check:\n  allow: [punctuation, forms, number, case, classes, grammar]\n"
    )
    ran = here("check", export)
    assert ran.code == 1
    assert ran.out.decode().endswith(
        "if this part may be released, add to allow in the policy: common-words\n"
    )
