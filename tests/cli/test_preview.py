"""A preview shows originals beside private texts: on a terminal, and nowhere else."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from dptext.pseudonyms import Pseudonyms
from dptext.randomness import RunKey
from tests.cli.running import MARKER, Ran, command, environment, here, on_terminal

LINES = [
    {"id": 1, "body": "the film was good"},
    {"id": 2, "body": "a sad \x1b[31m story"},
    {"id": 3, "body": MARKER},
]
DATA = "".join(json.dumps(each) + "\n" for each in LINES).encode()

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")


def _on_terminal(*arguments: str, **more: str) -> Ran:
    """Run sanitize with standard error on a terminal."""
    env = {**environment(), "TERM": "xterm-256color", "COLUMNS": "80", **more}
    for name in {"NO_COLOR", "FORCE_COLOR"} - more.keys():
        env.pop(name, None)
    run = command("sanitize", "-f", "body", *arguments)
    return on_terminal(run, env, given=DATA)


def test_first_records_beside_their_originals(
    options: tuple[str, ...], key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first records are shown, as the run with this key will write them."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    keyed = (*options, "--key-file", key)
    targets = ("-o", "out.jsonl", "--report", "r.json", "--html", "r.html")
    code, out, shown = _on_terminal(*keyed, "--preview", "2", *targets)
    assert (code, out) == (0, b"")
    assert not list(folder.iterdir())
    assert MARKER not in shown
    # Control characters are escaped in texts, and nowhere else.
    assert shown.count("\\u001b") == 1
    assert "\x1b[31m story" not in shown
    assert "\x1b[1;32m" in shown
    ran = here("sanitize", "-f", "body", "--no-bayes-risk", *keyed, "-q", given=DATA)
    written = [json.loads(line)["body"] for line in ran.out.splitlines()]
    _, _, plain = _on_terminal(*keyed, "--preview", "2", NO_COLOR="1")
    assert "\x1b[1;32m" not in plain
    lines = re.sub(r"\x1b\[[0-9;]*m", "", plain).splitlines()
    (row,) = (row for row, line in enumerate(lines) if "the film was good" in line)
    assert lines[row + 1].split(maxsplit=1)[1].strip() == written[0]


def test_refused_off_terminals(options: tuple[str, ...], tmp_path: Path) -> None:
    """Where standard error is a file or a pipe, nothing is read and nothing shown."""
    target = tmp_path / "out.jsonl"
    ran = here(
        "sanitize",
        "-f",
        "text",
        *options,
        "--preview",
        "2",
        "-o",
        str(target),
        given=DATA,
    )
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err == (
        "dptext: --preview shows original text: standard error must be a terminal\n"
    )
    assert not target.exists()


def test_no_records(options: tuple[str, ...], tmp_path: Path) -> None:
    """An empty input has nothing to show, and is no error."""
    source = tmp_path / "in.jsonl"
    source.write_text("")
    code, out, shown = _on_terminal(str(source), *options, "--preview", "2")
    assert (code, out) == (0, b"")
    assert "nothing was written" in shown


@pytest.mark.parametrize("use", ["--pseudonym", "--drop"])
def test_fields_that_change_are_shown(
    use: str, options: tuple[str, ...], key: str
) -> None:
    """Tokens are those of the run; what no record has is said to be absent."""
    keyed = (*options, "--key-file", key)
    code, out, shown = _on_terminal(
        *keyed, "--preview", "3", use, "id", use, "emial", NO_COLOR="1"
    )
    assert (code, out) == (0, b"")
    assert "field 'emial' is in none of these records" in shown
    if use == "--drop":
        assert "Left out: id\n" in shown
    else:
        token = Pseudonyms(RunKey.from_file(key)).token("1")
        assert f"id: {token}" in shown
