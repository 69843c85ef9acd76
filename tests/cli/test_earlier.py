"""Outputs of earlier runs: none is drawn anew without a word."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from pathlib import Path

import pytest

from tests.cli.running import Ran, here, lexicon
from tests.keys import PRIVATE, PUBLIC, put

LINES = "".join(
    json.dumps({"id": number, "text": f"the film was good {word} day"}) + "\n"
    for number, word in enumerate(("one", "old", "new", "bad", "long", "first"))
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a folder of two files of records."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / "in" / name).write_text(LINES)
    return tmp_path


@pytest.fixture
def other_key(tmp_path: Path) -> str:
    """Write another key."""
    path = tmp_path / "other-key"
    path.write_bytes(secrets.token_bytes(32))
    path.chmod(0o600)
    return str(path)


def private(options: tuple[str, ...], *more: str, out: str = "out") -> Ran:
    """Make the folder private."""
    run = ("sanitize", "in", "-f", "text", *options, "--no-bayes-risk")
    return here(*run, "--out-dir", out, *more)


def outputs(folder: Path) -> dict[str, bytes]:
    """Return the outputs without the manifest."""
    return {
        path.name: path.read_bytes()
        for path in (folder / "out").iterdir()
        if path.name != ".dptext-manifest"
    }


def in_line(ran: Ran) -> str:
    """Return what a run told its user, without line ends."""
    return " ".join(ran.err.split())


def refused(ran: Ran, reason: str) -> None:
    """Assert that a run stopped in one line that tells why, and what to do."""
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert ran.err.startswith("dptext: out: this run would draw ")
    assert reason in ran.err
    assert "write to another folder, or remove outputs that nobody has" in ran.err


def test_without_a_key_finished_outputs_stay(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """A folder is not made twice, with a key or without, until outputs are removed."""
    assert private(options).code == 0
    before = outputs(folder)
    for quiet in ((), ("--quiet",), ("--json",)):
        refused(private(options, *quiet), "2 finished outputs anew (first a.jsonl)")
    keyed = ("--key-file", key)
    for more in (keyed, (*keyed, "--resume")):
        refused(private(options, *more), "made without this key")
    assert outputs(folder) == before
    (folder / "out" / "b.jsonl").unlink()
    refused(
        private(options), "1 finished output anew (a.jsonl), because runs without a key"
    )
    shutil.rmtree("out")
    assert private(options).code == 0
    assert outputs(folder) != before


def test_the_same_key_and_settings_make_the_same(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """A repeated run is no second release, with --resume or without."""
    keyed = ("--key-file", key)
    assert private(options, *keyed).code == 0
    before = outputs(folder)
    for more in ((), ("--resume",), (), ("--resume",)):
        ran = private(options, *keyed, *more, "-q")
        assert (ran.code, ran.err) == (0, "")
        assert outputs(folder) == before
    (folder / "in" / "0.jsonl").write_text(LINES)
    assert private(options, *keyed, "--resume").code == 0
    after = outputs(folder)
    assert after.items() > before.items()
    assert len(set(after.values())) == len(after)


@pytest.mark.parametrize("resume", [(), ("--resume",)])
@pytest.mark.parametrize("earlier", [(), ("--resume",)])
@pytest.mark.parametrize(
    "changed", [("--epsilon", "4"), ("--id", "id"), ("--field", "id"), ("--seed", "3")]
)
def test_other_settings_stop_before_anything_is_drawn(
    changed: tuple[str, ...],
    earlier: tuple[str, ...],
    resume: tuple[str, ...],
    folder: Path,
    options: tuple[str, ...],
    key: str,
) -> None:
    """Finished outputs stay, whether their run kept a manifest or not."""
    for name in ("a.jsonl", "b.jsonl"):
        text = LINES.replace('"id": ', '"id": "n').replace(', "text"', '", "text"')
        (folder / "in" / name).write_text(text)
    keyed = ("--key-file", key)
    assert private(options, *keyed, *earlier).code == 0
    before = outputs(folder)
    secret = () if changed[0] == "--seed" else keyed
    ran = private(options, *secret, *changed, *resume)
    refused(ran, "2 finished outputs anew (first a.jsonl)")
    assert ", made with" in ran.err
    assert outputs(folder) == before


def test_another_key_stops_before_anything_is_drawn(
    folder: Path, options: tuple[str, ...], key: str, other_key: str
) -> None:
    """A manifest tells the key of its outputs; new files alone need no old key."""
    assert private(options, "--key-file", key, "--resume").code == 0
    before = outputs(folder)
    for resume in ((), ("--resume",)):
        ran = private(options, "--key-file", other_key, *resume)
        refused(ran, "made with another key (or .dptext-manifest was edited)")
    assert outputs(folder) == before
    (folder / "in" / "c.jsonl").write_text(LINES)
    run = ("--key-file", other_key, "--include", "c.jsonl", "--resume")
    assert private(options, *run).code == 0
    assert outputs(folder).items() > before.items()


def test_the_answer_tells_which_records_are_drawn_anew(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """In a folder the name of a file counts, too; with ids neither name nor place."""
    named = "of their file, and all of a renamed file, are drawn anew"
    ran = private(options, "--key-file", key)
    assert named in " ".join(ran.err.split())
    ran = private(options, "--key-file", key, "--id", "id", out="by id")
    said = " ".join(ran.err.split())
    assert "Records with a changed text are drawn anew. Send only one version" in said
    for name, more in (("out", ()), ("by id", ("--id", "id"))):
        before = Path(name, "a.jsonl").read_bytes()
        os.rename("in/a.jsonl", "in/c.jsonl")
        assert private(options, "--key-file", key, *more, out=name).code == 0
        assert (Path(name, "c.jsonl").read_bytes() == before) == bool(more)
        os.rename("in/c.jsonl", "in/a.jsonl")


def test_a_changed_input_is_named_before_it_is_made_again(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """The line says which records keep their words, and they do."""
    keyed = ("--key-file", key, "--resume")
    first, *rest = LINES.splitlines(keepends=True)
    new = '{"id":9,"text":"the film was a new one"}\n'
    for name, by_id, said in (
        ("plain", (), "records keep their words up to the first added or removed"),
        ("by id", ("--id", "id"), "records with the same id and text keep their words"),
    ):
        (folder / "in" / "a.jsonl").write_text(LINES)
        assert private(options, *keyed, *by_id, out=name).code == 0
        before = Path(name, "a.jsonl").read_text().splitlines()
        (folder / "in" / "a.jsonl").write_text("".join((first, new, *rest)))
        ran = private(options, *keyed, *by_id, out=name)
        assert ran.code == 0
        line = ran.err.splitlines()[0]
        assert line.startswith(
            f"dptext: {name}: 1 finished output will be written again"
        )
        assert "(a.jsonl), because the input, the columns or the format changed" in line
        assert said in line
        after = Path(name, "a.jsonl").read_text().splitlines()
        assert after[0] == before[0]
        assert (after[2:] == before[1:]) == bool(by_id)


def test_another_on_error_makes_only_files_with_faults_again(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """A finished file without faulty records stays; of another the line tells why."""
    (folder / "in" / "b.jsonl").write_text(f"{LINES}no record\n")
    keyed = ("--key-file", key, "--resume")
    assert private(options, *keyed, "--on-error", "skip").code == 0
    before = outputs(folder)
    ran = private(options, *keyed, "--quarantine", "aside")
    assert ran.code == 0
    line = ran.err.splitlines()[0]
    assert (
        "1 finished output will be written again (b.jsonl), because an earlier run"
        in line
    )
    assert "treated faulty records differently; records keep" in line
    assert "1 of 2 files were already finished" in ran.err
    assert outputs(folder)["b.jsonl"] == before["b.jsonl"]
    assert Path("aside").read_bytes() == b"no record\n"
    ran = private(options, *keyed, "--quarantine", "aside")
    assert "2 of 2 files were already finished" in ran.err
    (folder / "in" / "b.jsonl").write_text(LINES)
    ran = private(options, *keyed)
    assert "(b.jsonl), because the input, the columns or the format changed" in ran.err
    for more in ((), ("--on-error", "skip"), ("--quarantine", "aside")):
        ran = private(options, *keyed, *more)
        assert "2 of 2 files were already finished" in ran.err
        assert "made again" not in ran.err


def test_a_resumed_run_names_outputs_that_it_made(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """The report that the answer names is one of this run."""
    keyed = ("--key-file", key, "--resume")
    assert private(options, *keyed).code == 0
    (folder / "in" / "c.jsonl").write_text(LINES)
    ran = private(options, *keyed, "--json")
    answer = json.loads(ran.err)
    assert answer["output"]["outputs"] == ["out/c.jsonl"]
    assert answer["report"]["public"] == "out/c.jsonl.dptext.json"


def test_reports_of_finished_files_stay_unsigned_and_a_line_says_so(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """The run that the line advises signs them, and the line goes."""
    keyed = ("--key-file", key)
    signed = ("--sign-key", str(put(folder / "sign.pem", PRIVATE)))
    verify = str(put(folder / "team.pub", PUBLIC, 0o644))
    assert private(options, *keyed, "--resume").code == 0
    ran = private(options, *keyed, "--resume", *signed)
    assert "2 of 2 files were already finished" in ran.err
    assert "2 reports are not signed with this key, as finished files keep" in ran.err
    assert private(options, *keyed, *signed).code == 0
    policy = ("--lexicon", options[options.index("--lexicon") + 1])
    verified = here("check", "out", *policy, "--verify-key", verify)
    assert verified.code == 0
    ran = private(options, *keyed, "--resume", *signed)
    assert "2 of 2 files were already finished" in ran.err
    assert "not signed" not in ran.err


@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_outputs_without_an_input_are_named(
    folder: Path, options: tuple[str, ...], key: str, resume: tuple[str, ...]
) -> None:
    """After a deletion a line names the copy; other files are none of dptext."""
    keyed = ("--key-file", key, *resume)
    (folder / "in" / "deep").mkdir()
    (folder / "in" / "deep" / "c.jsonl").write_text(LINES)
    assert private(options, *keyed).code == 0
    Path("out", "other.jsonl").write_text(LINES)
    Path("out", "wrong.jsonl").write_text(LINES)
    Path("out", "wrong.jsonl.dptext.json").write_text("{}")
    said = "no input in this run"
    assert said not in in_line(private(options, *keyed))
    ran = private(options, *keyed, "--exclude", "deep/*")
    assert said not in in_line(ran)
    (folder / "in" / "deep" / "c.jsonl").unlink()
    ran = private(options, *keyed)
    line = f"out: 1 output (deep/c.jsonl) has {said}; if an original was deleted"
    assert line in in_line(ran)
    (folder / "in" / "b.jsonl").unlink()
    ran = private(options, *keyed)
    line = f"out: 2 outputs (first b.jsonl) have {said}; if an original was deleted"
    assert line in in_line(ran)
    run = ("sanitize", "in/a.jsonl", "-f", "text", *options, "--no-bayes-risk")
    assert said not in in_line(here(*run, "--out-dir", "out", *keyed))
    for name in ("b.jsonl", "deep/c.jsonl"):
        Path("out", name).unlink()
    assert said not in in_line(private(options, *keyed))


def test_a_file_that_lacks_a_field_is_named(
    folder: Path, options: tuple[str, ...]
) -> None:
    """Of a folder the error says which file it is about."""
    (folder / "in" / "b.jsonl").write_text('{"id":1}\n' * 3)
    for more, code in ((), 4), (("--on-error", "skip"), 4):
        ran = private(options, "--missing", "pass", *more, out=f"out-{len(more)}")
        assert ran.code == code
        assert "in/b.jsonl: field 'text' is in none of the 3 records" in ran.err
    (folder / "in" / "b.jsonl").write_text('{"text":"the film"}\n')
    ran = private(options, "--drop", "id", out="dropped")
    assert "in/b.jsonl: drop 'id': the input has no such field" in ran.err


def test_a_single_output_that_is_replaced_is_named_before(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """One line, and the run goes on; the same draws need no word."""
    run = ("sanitize", "in/a.jsonl", "-f", "text", *options, "--no-bayes-risk")
    said = (
        "dptext: o.jsonl: this output would replace an earlier one with different draws"
    )
    keyed = ("--key-file", key)
    for number, (more, is_said) in enumerate(
        (
            ((), False),
            ((), True),
            (keyed, True),
            (keyed, False),
            ((*keyed, "--id", "id"), True),
        )
    ):
        ran = here(*run, "-o", "o.jsonl", *more)
        assert ran.code == 0
        assert (said in ran.err) == is_said, number
        assert ran.err.startswith(said) == is_said
    ran = here(*run, "-o", "o.jsonl", "--json")
    assert any(
        f"dptext: {each}".startswith(said) for each in json.loads(ran.err)["warnings"]
    )
    assert here(*run, "-o", "o.jsonl", "-q").err == ""
    os.remove("o.jsonl.dptext.json")
    assert said not in here(*run, "-o", "o.jsonl").err


def test_check_passes_over_the_manifest(
    folder: Path, options: tuple[str, ...], key: str
) -> None:
    """It is no export; under its name nothing else hides."""
    assert private(options, "--key-file", key, "--resume").code == 0
    policy = ("--lexicon", options[options.index("--lexicon") + 1])
    ran = here("check", "out", *policy)
    assert (ran.code, ran.out) == (0, b"")
    assert "manifest" not in ran.err
    named = here("check", "out/.dptext-manifest")
    assert (named.code, named.out) == (0, b"")
    assert "not checked (the list of finished outputs for --resume" in named.err
    path = Path("out", ".dptext-manifest")
    path.write_text(path.read_text() + LINES)
    ran = here("check", "out", *policy)
    assert ".dptext-manifest: not checked" in ran.err
    assert here("check", "out/.dptext-manifest").code == 1


def test_vectors_that_are_replaced_are_named_before(folder: Path, key: str) -> None:
    """The same of embed."""
    words = lexicon(folder)
    run = ("embed", "in/a.jsonl", "-f", "text", "--lexicon", words, "-o", "o.npy")
    said = (
        "dptext: o.npy: this output would replace an earlier one with different draws"
    )
    keyed = ("--key-file", key)
    for more, is_said in (((), False), ((), True), (keyed, True), (keyed, False)):
        ran = here(*run, *more)
        assert ran.code == 0, ran.err
        assert ran.err.startswith(said) == is_said, more
