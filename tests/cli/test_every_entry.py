"""Every entry of a list in options and policies counts: the first, the last, each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dptext.guarantees.claims import Unprotected
from tests import keys
from tests.cli.running import here, small
from tests.cli.test_contents import WRITERS

FIELDS = [f"f{number}" for number in range(4)]
USES = {"--field": "private", "--drop": "left out", "--pseudonym": "pseudonyms"}


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Work in an empty folder; return options of a quick run."""
    monkeypatch.chdir(tmp_path)
    keys.put(tmp_path / "key", bytes(range(64)))
    return (*small(tmp_path), "--key-file", "key", "-q")


def shown(path: Path) -> str:
    """Return all values of a file, with the names of its fields."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return str(parquet.read_table(path).to_pylist())
    if path.suffix == ".xlsx":
        import openpyxl

        sheet: Any = openpyxl.load_workbook(path).active
        return str(list(sheet.iter_rows(values_only=True)))
    return path.read_text()


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_named_field_is_changed(options: tuple[str, ...], suffix: str) -> None:
    """Of four private ones, of four that are left out, of four pseudonyms."""
    rows = [
        {
            "text": "the film",
            **{name: f"QZ{name}{line}" for name in FIELDS},
            "last": "x",
        }
        for line in range(3)
    ]
    WRITERS[suffix](rows, Path(f"in.{suffix}"))
    for option in USES:
        named = [part for name in FIELDS for part in (option, name)]
        run = ("sanitize", f"in.{suffix}", "-f", "text", *named, *options)
        ran = here(*run, "-o", f"out.{suffix}")
        assert ran.code == 0, ran.err
        found = shown(Path(f"out.{suffix}"))
        for name in FIELDS:
            assert f"QZ{name}" not in found, (option, name)
            assert (name in found) is (option != "--drop"), (option, name)
        assert "last" in found
        Path(f"out.{suffix}").unlink()


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize("option", USES)
def test_every_named_field_inside_of_others_is_changed(
    options: tuple[str, ...], suffix: str, option: str
) -> None:
    """In an object, in objects of a list, and all items of a list."""
    inner = {name: f"QZ{name}" for name in FIELDS}
    items = ["QZone", "QZtwo", "QZthree"]
    row = {"text": "the film", "of": inner, "more": [inner] * 3, "all": items, "z": 1}
    WRITERS[suffix]([row] * 2, Path(f"in.{suffix}"))
    names = ["all", *(f"{above}.{name}" for above in ("of", "more") for name in FIELDS)]
    named = [part for name in names for part in (option, name)]
    run = ("sanitize", f"in.{suffix}", "-f", "text", *named, *options)
    ran = here(*run, "-o", f"out.{suffix}")
    assert ran.code == 0, ran.err
    assert "QZ" not in Path(f"out.{suffix}").read_text()


@pytest.fixture
def export(options: tuple[str, ...]) -> dict[str, Any]:
    """Write an export of plain text; return its report."""
    Path("in.txt").write_text("The film was good, and 12 houses!\n")
    assert here("sanitize", "in.txt", *options, "-o", "out.txt").code == 0
    report: dict[str, Any] = json.loads(Path("out.txt.dptext.json").read_text())
    return report


def test_every_lexicon_of_a_policy_counts(export: dict[str, Any]) -> None:
    """At each place of the list; without it the check fails."""
    digest = export["run"]["lexicon_digest"]
    others = ["ab" * 32, "cd" * 32, "ef" * 32]
    known = ("--lexicon", "words.vec")
    for at in range(4):
        listed = ", ".join([*others[:at], digest, *others[at:]])
        ran = here("check", "out.txt", *known, "--set", f"lexicons=[{listed}]")
        assert ran.code == 0, ran.out
    ran = here("check", "out.txt", *known, "--set", f"lexicons=[{', '.join(others)}]")
    assert ran.code == 1


def test_every_part_that_is_shown_must_be_allowed(options: tuple[str, ...]) -> None:
    """Of all parts that a run shows each one that is left out is named."""
    Path("in.txt").write_text("The film was good, and 12 houses!\n")
    shows = [
        f"tokens.{each}"
        for each in ("stop_word=keep", "number=keep", "unknown=keep", "case=copy")
    ]
    shows += ["tokens.keep.words=[house]", "tokens.mask.words=[street]"]
    more = [part for each in shows for part in ("--set", each)]
    ran = here("sanitize", "in.txt", *options, *more, "-o", "out.txt")
    assert ran.code == 0, ran.err
    report = json.loads(Path("out.txt.dptext.json").read_text())
    unprotected = report["guarantee"]["scope"]["unprotected"]
    assert len(unprotected) >= 6
    known = ("check", "out.txt", "--lexicon", "words.vec", "--set", "max_loss=1000")
    every = [str(each) for each in Unprotected]
    assert here(*known, "--set", f"allow=[{', '.join(every)}]").code == 0
    for left in unprotected:
        allowed = ", ".join(each for each in every if each != left)
        ran = here(*known, "--set", f"allow=[{allowed}]")
        said = f"does not allow {left};"
        if left == Unprotected.KEEP_LIST:  # its words may be allowed one by one
            said = "unchanged words of the keep list are not listed in the policy: "
        assert (ran.code, said in ran.out.decode()) == (1, True)


def test_every_key_of_a_policy_verifies(options: tuple[str, ...]) -> None:
    """Of three keys each one; an export that none of them signed fails."""
    sign = keys.put(Path("sign.pem"), keys.PRIVATE)
    Path("in.txt").write_text("The film was good.\n")
    run = ("sanitize", "in.txt", *options, "--sign-key", str(sign), "-o", "out.txt")
    assert here(*run).code == 0
    keys.put(Path("right.pub"), keys.PUBLIC)
    keys.put(Path("a.pem"), keys.OTHER)
    for names in (
        ["right.pub", "a.pem", "a.pem"],
        ["a.pem", "right.pub", "a.pem"],
        ["a.pem", "a.pem", "right.pub"],
    ):
        given = [part for name in names for part in ("--verify-key", name)]
        ran = here("check", "out.txt", "--lexicon", "words.vec", *given)
        assert ran.code == 0, ran.out
    ran = here("check", "out.txt", "--lexicon", "words.vec", "--verify-key", "a.pem")
    assert ran.code == 1


def test_every_file_of_a_list_is_compared(options: tuple[str, ...]) -> None:
    """Any one of four files that has changed since is found, or is missing."""
    names = [f"{use}{number}.txt" for use in ("keep", "mask") for number in range(2)]
    for name in names:
        Path(name).write_text(f"{name[:5]}x\n")
    Path("in.txt").write_text("The film was good.\n")
    use = [
        part
        for key in ("keep", "mask")
        for part in ("--set", f"tokens.{key}.files=[{key}0.txt, {key}1.txt]")
    ]
    assert here("sanitize", "in.txt", *options, *use, "-o", "out.txt").code == 0
    known = ("check", "out.txt", "--lexicon", "words.vec")
    allowed = ("--set", "allow=[punctuation, forms, keep-list, mask-list]")
    assert here(*known, *allowed).code == 0
    for name in names:
        content = Path(name).read_text()
        Path(name).write_text("other\n")
        ran = here(*known, *allowed)
        assert (ran.code, f"({name}, " in ran.out.decode()) == (1, True), ran.out
        Path(name).unlink()
        assert here(*known, *allowed).code == 1
        Path(name).write_text(content)


def test_every_pseudonym_is_held_against_the_policy(options: tuple[str, ...]) -> None:
    """One that must be private, and one that may not be a pseudonym, are named."""
    rows = [{"text": "a", **{name: f"x{line}" for name in FIELDS}} for line in range(3)]
    WRITERS["csv"](rows, Path("in.csv"))
    named = [part for name in FIELDS for part in ("--pseudonym", name)]
    run = ("sanitize", "in.csv", "-f", "text", *named, *options, "-o", "out.csv")
    assert here(*run).code == 0
    known = ("check", "out.csv", "--lexicon", "words.vec", "--set")
    assert here(*known, f"pseudonyms=[{', '.join(FIELDS)}]").code == 0
    for left in FIELDS:
        ran = here(*known, f"fields=[text, {left}]")
        line = f"the policy requires '{left}' to be private; a pseudonym is not"
        assert (ran.code, line in ran.out.decode()) == (1, True)
        others = ", ".join(name for name in FIELDS if name != left)
        ran = here(*known, f"pseudonyms=[{others}]")
        line = f"the policy does not list '{left}' under pseudonyms"
        assert (ran.code, line in ran.out.decode()) == (1, True)


def test_every_pattern_of_a_policy_counts(export: dict[str, Any]) -> None:
    """Files that are included, and files that are excluded, by any of the patterns."""
    Path("folder").mkdir()
    names = [f"a{number}.bin" for number in range(3)]
    for name in names:
        (Path("folder") / name).write_bytes(b"x")
    for key in ("include", "exclude"):
        listed = ", ".join(f"'{name}'" for name in names)
        also = [] if key == "include" else ["--set", "include=['*.bin']"]
        ran = here("check", "folder", "--set", f"{key}=[{listed}]", *also)
        assert ran.code == (key == "include")
        for name in names:
            assert (name in ran.out.decode()) is (key == "include")
