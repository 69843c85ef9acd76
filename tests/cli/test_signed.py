"""Signed reports: sanitize and embed sign, check refuses what no key has signed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dptext import signatures
from tests.cli.running import MARKER, here
from tests.keys import OTHER, PRIVATE, PUBLIC

SIDE = Path("out.jsonl.dptext.json")


@pytest.fixture
def keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """Work in a folder with keys and one export that is signed with sign.pem."""
    monkeypatch.chdir(tmp_path)
    for name, data in (
        ("sign.pem", PRIVATE),
        ("team.pub", PUBLIC),
        ("other.pem", OTHER),
        ("secret", bytes(range(64))),
    ):
        Path(name).write_bytes(data)
        Path(name).chmod(0o644 if name == "team.pub" else 0o600)
    Path("in.jsonl").write_text('{"text":"the film was good"}\n')
    _sanitize(options, "--sign-key", "sign.pem")


def _sanitize(options: tuple[str, ...], *more: str) -> None:
    run = (
        "sanitize",
        "-f",
        "text",
        "in.jsonl",
        *options,
        "--no-bayes-risk",
        "-q",
        "-o",
        "out.jsonl",
    )
    ran = here(*run, *more)
    assert ran.code == 0, ran.err


def test_signed_exports_pass(keys: None, options: tuple[str, ...]) -> None:
    """By the public key, by one of several; nobody is trusted then."""
    for given in (("team.pub",), ("sign.pem",), ("other.pem", "team.pub")):
        accepted = [each for name in given for each in ("--verify-key", name)]
        ran = here("check", "out.jsonl", *accepted)
        assert (ran.code, ran.out, ran.err) == (0, b"", "")
    assert "trusted" in here("check", "out.jsonl").err
    _sanitize(options, "--sign-key", "other.pem")
    assert here("check", "out.jsonl", "--verify-key", "other.pem").code == 0
    ran = here("check", "out.jsonl", "--verify-key", "team.pub")
    assert (ran.code, ran.out) == (
        1,
        b"out.jsonl: its report is signed with another key\n",
    )


def test_missing_signature(keys: None, options: tuple[str, ...]) -> None:
    """A report without signature is good without keys alone."""
    _sanitize(options)
    ran = here("check", "out.jsonl", "--verify-key", "team.pub")
    assert (ran.code, ran.out) == (1, b"out.jsonl: its report is not signed\n")
    assert here("check", "out.jsonl").code == 0


def test_a_report_that_is_cut_off_is_not_unsigned(keys: None) -> None:
    """Whether it was signed cannot be told, and it fails all the same."""
    SIDE.write_bytes(SIDE.read_bytes()[:500])
    ran = here("check", "out.jsonl", "--verify-key", "team.pub")
    assert ran.code == 1
    assert b"not JSON" in ran.out
    assert b"signed" not in ran.out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"profile": "', f'"profile": "{MARKER}'),
        ('"success": true', '"success":  true'),
        ("\n}\n", "\n}\n\n"),
        ('"key": "system"', '"key":  "system"'),
    ],
)
def test_edits_that_nothing_else_finds(keys: None, old: str, new: str) -> None:
    """After any edit of names or spacing the signature is invalid."""
    text = SIDE.read_text()
    assert old in text
    SIDE.write_text(text.replace(old, new))
    ran = here("check", "out.jsonl", "--verify-key", "team.pub")
    assert ran.code == 1
    assert b"its report was changed: the signature is invalid" in ran.out
    assert MARKER.encode() not in ran.out


def test_forged_as_a_whole(keys: None, options: tuple[str, ...]) -> None:
    """A good report of another run with other settings is found by its signature."""
    ours = json.loads(SIDE.read_bytes())["signature"]
    weaker = [each if each != "3" else "0.1" for each in options]
    _sanitize((*weaker,))
    report = SIDE.read_text()
    SIDE.write_text(
        report.replace('"signature": null', f'"signature": {json.dumps(ours)}')
    )
    assert here("check", "out.jsonl").code == 0
    assert here("check", "out.jsonl", "--verify-key", "team.pub").code == 1


def test_key_of_the_policy(keys: None) -> None:
    """A policy may name keys, from where it lies; options go before it."""
    Path("sub").mkdir()
    Path("sub/.dptext.yaml").write_text("check: {verify_key: ../team.pub}\n")
    policy = ("--policy", "sub/.dptext.yaml")
    ran = here("check", "out.jsonl", *policy)
    assert (ran.code, ran.err) == (0, "")
    assert here("check", "out.jsonl", *policy, "--verify-key", "other.pem").code == 1
    Path("team.pub").unlink()
    ran = here("check", "out.jsonl", *policy)
    assert (ran.code, ran.out) == (2, b"")
    assert "No such file" in ran.err


def test_one_file_for_two_keys(keys: None, options: tuple[str, ...]) -> None:
    """The key of the draws signs nothing: everyone who verifies would have it."""
    run = ("sanitize", "-f", "text", "in.jsonl", *options, "-o", "new.jsonl")
    ran = here(*run, "--key-file", "sign.pem", "--sign-key", "./sign.pem")
    assert ran.code == 2
    assert "a file other than --key-file" in ran.err
    for key in ("team.pub", "secret"):
        assert here(*run, "--sign-key", key).code == 2
    assert not Path("new.jsonl").exists()


def test_vectors_are_signed(keys: None, options: tuple[str, ...]) -> None:
    """Reports of vectors are signed and verified alike."""
    run = (
        "embed",
        "-f",
        "text",
        "in.jsonl",
        "--lexicon",
        options[1],
        "-q",
        "-o",
        "out.npy",
    )
    assert here(*run, "--sign-key", "sign.pem").code == 0
    command: tuple[str, ...]
    command = ("check", "out.npy", "--set", "notion=[eps-delta, metric-DP, LDP]")
    command = (*command, "--verify-key", "team.pub")
    ran = here(*command)
    assert (ran.code, ran.out) == (0, b"")
    side = Path("out.npy.dptext.json")
    side.write_text(side.read_text() + " ")
    assert b"the signature is invalid" in here(*command).out


def test_findings_for_machines(keys: None) -> None:
    """JSON and SARIF say what the lines say, of each export, and hold no text."""
    Path("raw out.csv").write_text(f"id,text\n1,{MARKER}\n")
    run = ("check", "out.jsonl", "raw out.csv", "--set", "max_epsilon=1")
    lines = here(*run).out.decode().splitlines()
    ran = here(*run, "--format", "json")
    assert ran.code == 1
    result = json.loads(ran.out)
    assert (result["success"], "trusted" in result["trust"]) == (False, True)
    assert lines == [
        f"{each['file']}: {finding['message']}"
        for each in result["exports"]
        for finding in each["findings"]
    ]
    rules = [each["findings"][0]["rule"] for each in result["exports"]]
    assert rules == ["policy", "missing-report"]
    sarif = json.loads(here(*run, "--format", "sarif").out)
    assert sarif["version"] == "2.1.0"
    (log,) = sarif["runs"]
    known = [rule["id"] for rule in log["tool"]["driver"]["rules"]]
    for each, line in zip(log["results"], lines, strict=True):
        (location,) = each["locations"]
        physical = location["physicalLocation"]
        assert known[each["ruleIndex"]] == each["ruleId"]
        assert physical["artifactLocation"]["uri"] == line.split(":")[0].replace(
            " ", "%20"
        )
        assert physical["region"] == {"startLine": 1}
    assert MARKER not in json.dumps([sarif, result])
    passed = here("check", "out.jsonl", "--verify-key", "team.pub", "--format", "sarif")
    assert passed.code == 0
    assert json.loads(passed.out)["runs"][0]["results"] == []
    assert here("check", "--format", "xml").code == 2
    nothing = here("check", "--format", "json")
    assert (nothing.code, nothing.out) == (2, b"")
    assert not re.search("dptext check.*null", ran.out.decode())


def test_reports_show_who_signed(keys: None, options: tuple[str, ...]) -> None:
    """Terminal, text and page name the key; only one that verifies is believed."""
    key = signatures.parse(PUBLIC, "key").id
    words = ("--lexicon", options[1])
    for command, output in (("sanitize", "new.jsonl"), ("embed", "new.npy")):
        files = ("in.jsonl", "-f", "text", "-o", output, "--html", "new.html")
        profile = ("--profile", "balanced") if command == "sanitize" else ()
        run = (command, *files, *words, *profile)
        side = Path(f"{output}.dptext.json")
        for signed, said in ((("--sign-key", "sign.pem"), f"by key {key} (Ed25519)"),):
            assert said in _flat(here(*run, *signed).err)
            assert said in Path("new.html").read_text()
        Path(".dptext.yaml").write_text("check: {max_risk: 50%}\n")
        assert f"said to be by key {key}" in _shown(side)
        Path(".dptext.yaml").write_text("check: {verify_key: team.pub}\n")
        assert f"by key {key} (Ed25519), verified" in _shown(side)
        side.write_text(side.read_text().replace('"profile"', ' "profile"'))
        assert "does not hold: the report was changed" in _shown(side)
        assert "verified" not in _shown(side)
        assert "not signed" in _flat(here(*run, "--verbose").err)
        assert "not signed" in _shown(side)


def _shown(side: Path) -> str:
    """Return what both renderers of `report` say, as one text."""
    ran = here("report", str(side))
    assert here("report", str(side), "--html", "page.html").code == 0
    text, page = _flat(ran.out.decode()), Path("page.html").read_text()
    (line,) = re.findall(r"Signature</dt><dd>([^<]*)\. [Ad]", page)
    assert line in text
    return text


def _flat(text: str) -> str:
    return " ".join(text.replace("\u2502", " ").split())
