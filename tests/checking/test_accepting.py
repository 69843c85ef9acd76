"""Parts of texts that a policy wants protected: the finding names the key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.running import here

TEXT = '{"id":1,"text":"My doctor said 3 good words about the new hospital"}\n'


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write an export that people can read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text(TEXT * 3)
    run = ("sanitize", "in.jsonl", "-f", "text", "--profile", "readable")
    assert here(*run, "-o", "out.jsonl", "-q").code == 0
    return "out.jsonl"


def test_the_default_policy_names_the_option_that_accepts(export: str) -> None:
    """The printed option and the printed key each make the check pass."""
    ran = here("check", export)
    assert ran.code == 1
    *others, last = ran.out.decode().splitlines()
    assert (
        "common words are unchanged; the policy does not allow common-words"
        in (others[0])
    )
    assert not any("may leave" in line for line in others)
    found = re.search(
        r"give --set '(allow=\[.*?\])' or put (allow: \[.*?\]) into", last
    )
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
        "if this part may leave, add to allow of the policy: common-words\n"
    )
