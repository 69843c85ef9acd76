"""Wrong use and bad input: one line on stderr, an exit code, nothing written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.running import MARKER, Ran, here

GOOD = b'{"text":"the film was good"}\n'


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Write one record."""
    path = tmp_path / "in.jsonl"
    path.write_bytes(GOOD)
    return str(path)


def _refused(ran: Ran, code: int, *said: str) -> None:
    """Check the exit code, that there is one line, and what it says."""
    assert ran.code == code, ran.err
    assert ran.out == b""
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("dptext: ")
    assert "Traceback" not in ran.err
    assert MARKER not in ran.err
    for part in said:
        assert part in ran.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--epsilon", "nan"), "epsilon"),
        (("--epsilon", "inf"), "epsilon"),
        (("--epsilon", "0"), "epsilon"),
        (("--epsilon", "-1"), "epsilon"),
        (("--epsilon", "1e300"), "epsilon"),
        (("--epsilon", "501"), "too large to mean anything"),
        (("--epsilon-per-text", "1"), "No such option"),
        (("--risk", "0"), "--risk"),
        (("--risk", "nan"), "--risk"),
        (("--risk", "100%"), "--risk"),
        (("--risk", "-5%"), "--risk"),
        (("--risk", "1e300"), "--risk"),
        (("--risk", "lots"), "--risk"),
        (("--risk", "10%", "--epsilon", "1"), "only one of"),
        (("--profile", "balancd"), "did you mean 'balanced'"),
        (("--profile", "missing.yaml"), "missing.yaml"),
        (("--mechanism", "rnk"), "did you mean 'rank'"),
        (("--lexicon", "no-such-lexicon"), "no-such-lexicon"),
        (("--format", "xml"), "xml"),
        (("--missing", "skip"), "fail or pass"),
        (("--on-error", "ignore"), "fail, skip or quarantine"),
        (("--on-error", "quarantine"), "--quarantine FILE"),
        (("--set", "tokens.numbr=mask"), "number"),
        (("--set", "tokens.number=hide"), "'hide'; known: perturb"),
        (("--set", "tokens.number=maks"), "'maks'; did you mean 'mask'?"),
        (("-o", ""), "a file name is empty"),
        (("--quarantine", ""), "a file name is empty"),
        (("--set", "tokens"), "KEY=VALUE"),
        (("--set", "=x"), "KEY=VALUE"),
        (("--set", "mechanism.k=0"), "mechanism"),
        (("--set", "mechanism.k=x"), "mechanism"),
        (("--set", "mechanism.k=2001-99-99"), "mechanism.k"),
        (("--set", "budget.name=nothing"), "nothing"),
        (("--set", "colour=red"), "colour"),
        (("--set", "mapping=nearest"), "remove it"),
        (("--set", "space=nowhere"), "nowhere"),
        (("--key-file", "no-such-key"), "no-such-key"),
        (("--key-file", "x", "--seed", "1"), "not both"),
        (("-o", "nowhere/at/all.jsonl", "-f", "a", "--id", "a"), ""),
    ],
)
def test_wrong_option(given: tuple[str, ...], said: str, source: str) -> None:
    """A wrong option is named in one line with exit code 2."""
    _refused(
        here("sanitize", "-f", "text", source, *given),
        1 if "nowhere/at" in given[1] else 2,
        said,
    )


@pytest.mark.parametrize(
    "given",
    [
        ("--epsilon", "x"),
        ("--nonsense",),
        ("--batch-size", "0"),
        ("--max-record-bytes", "0"),
    ],
)
def test_what_the_parser_refuses(given: tuple[str, ...], source: str) -> None:
    """A wrong number or an unknown option ends with exit code 2 as well."""
    ran = here("sanitize", "-f", "text", source, *given)
    assert ran.code == 2
    assert ran.out == b""
    assert given[0] in ran.err
    assert "Traceback" not in ran.err


def test_unknown_profile_key_is_named_with_its_path(
    source: str, tmp_path: Path
) -> None:
    """A profile with a key that is not known is refused by file and key."""
    recipe = tmp_path / "mine.yaml"
    recipe.write_text(
        "mechanism: {name: rank, kk: 3}\nbudget: {name: uniform, epsilon: 1}"
    )
    _refused(
        here("sanitize", "-f", "text", source, "-p", str(recipe)), 2, "mine.yaml", "kk"
    )
    recipe.write_text("mechanism: rank\nmechanism: tem\n")
    _refused(
        here("sanitize", "-f", "text", source, "-p", str(recipe)),
        2,
        "mine.yaml:",
        "duplicate key",
    )
    recipe.write_text("a: [1")
    _refused(here("sanitize", "-f", "text", source, "-p", str(recipe)), 2, "mine.yaml")
    recipe.write_bytes(b"\xff\xfe")
    _refused(here("sanitize", "-f", "text", source, "-p", str(recipe)), 2, "mine.yaml")


def test_weak_keys_are_refused(source: str, tmp_path: Path) -> None:
    """A key that is short, regular or readable by others is refused."""
    path = tmp_path / "key"
    for data, mode in ((b"x" * 64, 0o600), (b"short", 0o600), (os.urandom(32), 0o644)):
        path.write_bytes(data)
        path.chmod(mode)
        _refused(
            here("sanitize", "-f", "text", source, "--key-file", str(path)),
            2,
            str(path),
        )


def test_missing_and_odd_inputs(options: tuple[str, ...], tmp_path: Path) -> None:
    """A missing file, a folder, or a name without a known suffix is exit code 2."""
    _refused(
        here("sanitize", "-f", "text", str(tmp_path / "no.jsonl"), *options),
        2,
        "no.jsonl",
    )
    folder = tmp_path / "folder.jsonl"
    folder.mkdir()
    _refused(here("sanitize", "-f", "text", str(folder), *options), 2, "is a folder")
    odd = tmp_path / "x.docx"
    odd.touch()
    _refused(here("sanitize", "-f", "text", str(odd), *options), 2, ".docx", "--format")


def test_inputs_of_different_formats(options: tuple[str, ...], tmp_path: Path) -> None:
    """Inputs that cannot share an output are refused, standard input included."""
    one, two = tmp_path / "a.jsonl", tmp_path / "b.txt"
    one.write_bytes(GOOD)
    two.write_text("the film\n")
    _refused(
        here("sanitize", "-f", "text", str(one), str(two), *options), 2, "jsonl, text"
    )
    _refused(
        here("sanitize", "-f", "text", "-", str(two), *options, given=GOOD),
        2,
        "jsonl, text",
    )


def test_field_that_is_not_there(source: str, options: tuple[str, ...]) -> None:
    """A record without the field names others, and how to go on without it."""
    ran = here("sanitize", source, *options, "-f", "txet")
    _refused(ran, 2, "in.jsonl:1", "did you mean 'text'?", "--missing pass")
    assert "strings: 'text'" in ran.err
    ran = here("sanitize", source, *options, "-f", "text,id")
    _refused(ran, 2, "give --field once for each value: --field text --field id")
    Path(source).write_bytes(GOOD + b'{"body":"the film"}\n')
    ran = here("sanitize", "-f", "text", source, *options, "-o", f"{source}.out")
    _refused(ran, 4, "in.jsonl:2", "--on-error skip")


@pytest.mark.parametrize("output", ["o.jsonl", "-"])
def test_a_field_in_no_record(
    output: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """Texts that pass unchanged because their field was mistyped are no release."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(GOOD * 50)
    target = output if output == "-" else str(tmp_path / output)
    run = (
        "sanitize",
        "-f",
        "text",
        str(source),
        *options,
        "--missing",
        "pass",
        "-o",
        target,
    )
    for fields in (("-f", "txt"), ("-f", "text", "-f", "txt")):
        _refused(here(*run, *fields), 4, "field 'txt' is in none of the 50 records")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    source.write_bytes(GOOD + b'{"text":"the film","txt":null}\n')
    assert here(*run, "-f", "text", "-f", "txt", "-q").code == 0


def test_every_record_left_out(options: tuple[str, ...], tmp_path: Path) -> None:
    """A run of which no record could be read is no release; the first is named."""
    source, aside = tmp_path / "in.jsonl", tmp_path / "aside"
    source.write_bytes(b'{"txt":"%s"}\n' % MARKER.encode() * 3)
    run = ("sanitize", str(source), *options, "-f", "text", "-o")
    run = (*run, str(tmp_path / "o.jsonl"))
    said = ("no record could be read", "the first of 3 is", "in.jsonl:1", "'txt'")
    _refused(here(*run, "--on-error", "skip"), 4, *said)
    _refused(here(*run, "--quarantine", str(aside)), 4, *said)
    aside.write_bytes(b"before\n")
    _refused(here(*run, "--quarantine", str(aside)), 4, *said)
    assert aside.read_bytes() == b"before\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["aside", "in.jsonl"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("i.jsonl", b'{"text": "%s"\n'),
        ("i.jsonl", b"%s\n"),
        ("i.jsonl", b'{"text": "%s \xff"}\n'),
        ("i.jsonl", b'{"text": ["%s", 5]}\n'),
        ("i.jsonl", b'{"text": {"%s": 5}}\n'),
        ("i.jsonl", b'{"text": "%s", "text": "%s"}\n'),
        ("i.jsonl", b'["%s"]\n'),
        ("i.jsonl", b'{"%s": 1}\n'),
        ("i.jsonl", b'{"text": "%s\x00"}\n'),
        ("i.txt", b"%s\x00\n"),
        ("i.txt", b"%s\xe9\n"),
        ("i.csv", b"id,text\n1,%s,%s\n"),
        ("i.csv", b'id,text\n1,"%s\n'),
        ("i.csv", b'id,text\n1,"%s"%s\n'),
        ("i.csv", b"id;body\n1;%s\n"),
        ("i.tsv", b"id\ttext\n%s\n"),
        ("i.jsonl.gz", b"%s"),
        ("i.jsonl.zst", b"%s"),
        ("i.jsonl", b'{"text": "' + b"%s " * 200_000 + b'"}\n'),
    ],
    ids=lambda value: value if isinstance(value, str) else value[:24].decode("latin-1"),
)
def test_bad_records(
    name: str, data: bytes, options: tuple[str, ...], tmp_path: Path
) -> None:
    """Each kind of bad input is exit code 4, one line without its text, no output."""
    source, target = tmp_path / name, tmp_path / "out"
    source.write_bytes(data.replace(b"%s", MARKER.encode()))
    limit = ("--max-record-bytes", "1000000")
    field = () if name == "i.txt" else ("-f", "text")
    ran = here("sanitize", *field, str(source), *options, *limit, "-o", str(target))
    # A field that the header lacks is most likely misspelt.
    code = 2 if data == b"id;body\n1;%s\n" else 4
    _refused(ran, code, name)
    assert not target.exists()
    assert not list(tmp_path.glob("*.part"))
    assert not list(tmp_path.glob(".*"))


def test_over_long_line_of_100_mb_can_be_skipped(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """A line far above the limit is passed over without being kept."""
    source = tmp_path / "long.jsonl"
    with source.open("wb") as file:
        file.write(GOOD + b'{"text":"')
        for _ in range(100):
            file.write(MARKER.encode() * (2**20 // len(MARKER)))
        file.write(b'"}\n' + GOOD)
    ran = here("sanitize", "-f", "text", str(source), *options, "--on-error", "skip")
    source.unlink()
    assert ran.code == 0, ran.err
    assert len(ran.out.splitlines()) == 2
    assert MARKER not in ran.err


def test_output_equal_to_an_input(
    source: str, options: tuple[str, ...], key: str, tmp_path: Path
) -> None:
    """No output, report or quarantine may replace an input, the key or one another."""
    link = tmp_path / "link.jsonl"
    link.symlink_to(source)
    run = ("sanitize", "-f", "text", source, *options)
    _refused(here(*run, "-o", source), 2, "in.jsonl")
    _refused(here(*run, "-o", str(link)), 2, "link.jsonl")
    _refused(here(*run, "--report", source), 2, "in.jsonl")
    _refused(here(*run, "--public-report", source), 2, "in.jsonl")
    _refused(here(*run, "--quarantine", source), 2, "in.jsonl")
    _refused(here(*run, "--key-file", key, "--report", key), 2, "key")
    out = str(tmp_path / "o.jsonl")
    _refused(here(*run, "-o", out, "--report", out), 2, "o.jsonl")
    beside = f"{out}.dptext.json"
    _refused(here(*run, "-o", out, "--report", beside), 2, "o.jsonl.dptext.json")
    assert Path(source).read_bytes() == GOOD
    assert not Path(out).exists()


def test_outputs_that_cannot_be_written(
    source: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """A missing folder, a folder as output or a full disk is one line."""
    run = ("sanitize", "-f", "text", source, *options)
    _refused(here(*run, "-o", str(tmp_path / "no" / "o.jsonl")), 1, "No such file")
    _refused(here(*run, "-o", str(tmp_path)), 2, "directory")
    if os.path.exists("/dev/full"):
        _refused(here(*run, "-o", "/dev/full"), 1, "No space left")
    ran = here(*run, "-q", "--report", str(tmp_path / "no" / "r.json"))
    assert ran.code == 1
    assert ran.err.count("\n") == 1


def test_devices_have_no_sidecar(source: str, options: tuple[str, ...]) -> None:
    """An output that is no regular file gets no sidecar beside it."""
    ran = here("sanitize", "-f", "text", source, *options, "-o", "/dev/null", "-q")
    assert (ran.code, ran.err) == (0, "")
    assert not Path("/dev/null.dptext.json").exists()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_folder_without_rights(
    source: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """A folder that may not be written is one line."""
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    ran = here(
        "sanitize", "-f", "text", source, *options, "-o", str(locked / "o.jsonl")
    )
    _refused(ran, 1, "Permission denied")


def test_failed_run_leaves_the_old_output(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """A run that fails changes nothing: target and sidecar stay as they were."""
    source, target = tmp_path / "in.jsonl", tmp_path / "o.jsonl"
    source.write_bytes(GOOD)
    assert (
        here("sanitize", "-f", "text", str(source), *options, "-o", str(target)).code
        == 0
    )
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    source.write_bytes(GOOD * 500 + b"broken\n")
    before[source] = source.read_bytes()
    assert (
        here("sanitize", "-f", "text", str(source), *options, "-o", str(target)).code
        == 4
    )
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("a/x.txt", "-o", "y.txt"), "not both"),
        (("a/x.txt", "--public-report", "y"), "not both"),
        (("-",), "standard input"),
        ((), "standard input"),
        (("a/x.txt", "b/x.txt"), "two inputs are named x.txt"),
        (("a/x.txt", "b/y.odt"), ".odt"),
    ],
)
def test_out_dir_is_refused(
    given: tuple[str, ...],
    said: str,
    options: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """--out-dir needs inputs of different names, and goes with no other output."""
    monkeypatch.chdir(tmp_path)
    for name in ("a/x.txt", "b/x.txt", "b/y.odt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("PK\0" if name == "b/y.odt" else "the film\n")
    _refused(here("sanitize", *given, *options, "--out-dir", "o"), 2, said)
    assert not Path("o").exists()


def test_out_dir_never_replaces_an_input(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """The folder of the inputs is no place for the outputs."""
    path = tmp_path / "x.txt"
    path.write_text("the film\n")
    ran = here("sanitize", str(path), *options, "--out-dir", str(tmp_path))
    _refused(ran, 2, "x.txt")
    path.with_name("file").touch()
    ran = here(
        "sanitize",
        str(path),
        *options,
        "--out-dir",
        str(tmp_path / "file" / "d"),
    )
    _refused(ran, 1, "cannot create the output folder")


def test_report_command_refuses_what_is_no_report(tmp_path: Path) -> None:
    """`dptext report` on anything else is one line that quotes nothing."""
    path = tmp_path / "r.json"
    _refused(here("report"), 2, "or a report")
    _refused(here("report", str(path)), 2, "No such file")
    path.write_text(f'{{"report": "{MARKER}"}}')
    _refused(here("report", str(path)), 2, "r.json: not a dptext report; name a report")
    path.write_text(MARKER)
    _refused(here("report", str(path)), 2, "not JSON")
    data = path.rename(tmp_path / "data.csv")
    _refused(here("report", str(data)), 2, "no report data.csv.dptext.json beside it")


@pytest.mark.parametrize("given", [("--delimiter", ";"), ("--no-header",)])
@pytest.mark.parametrize("format", [(), ("--format", "jsonl")])
@pytest.mark.parametrize(
    "command", [("sanitize",), ("embed",), ("compare",), ("evaluate", "in.jsonl")]
)
def test_options_of_tables_without_a_table(
    command: tuple[str, ...], format: tuple[str, ...], given: tuple[str, ...]
) -> None:
    """They mean nothing for JSON and text, and are refused before anything is read."""
    ran = here(*command, "in.jsonl", *format, *given)
    _refused(ran, 2, given[0], "for CSV and TSV", "--format csv")


def test_options_of_tables_for_standard_input(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """The format must be named, by option or output; a setting is for tables alone."""
    given = ("--delimiter", ";")
    _refused(here("sanitize", *options, *given, given=GOOD), 2, "--format csv")
    run = ("sanitize", "-f", "text", *options, "-q", *given)
    table = b"id;text\n1;the film\n"
    assert here(*run, "--format", "csv", given=table).code == 0
    assert here(*run, "-o", str(tmp_path / "o.csv"), given=table).code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPTEXT_DELIMITER", ";")
        assert here("sanitize", "-f", "text", *options, "-q", given=GOOD).code == 0


@pytest.mark.parametrize("command", [("evaluate", "in.jsonl"), ("compare",)])
def test_a_classifier_that_is_none(command: tuple[str, ...]) -> None:
    """Its name is looked at before the texts are, also where nothing is to learn."""
    run = (*command, "in.jsonl", "--classifier")
    _refused(here(*run, "nope"), 2, "--classifier nope: give tfidf")
    _refused(here(*run, "vectors"), 2, "--label")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ("sanitize", "--plan", "--json", "--html", "-"),
            "standard output",
        ),
        (
            ("compare", "in.jsonl", "--csv", "-", "--html", "-"),
            "only one output can go",
        ),
        (("compare", "in.jsonl", "-m", "rnak"), "did you mean 'rank'?"),
        (("compare", "in.jsonl", "-m", "rank:k=[", "-m", "rnak"), "'rank'?"),
        (
            ("sanitize", "--plan", "absent.jsonl"),
            "absent.jsonl: No such file or directory",
        ),
        (("evaluate", "in.jsonl", ""), "a file name is empty"),
    ],
)
def test_wrong_arguments_of_other_commands(given: tuple[str, ...], said: str) -> None:
    """Refused before anything is read or written, with exit code 2."""
    _refused(here(*given), 2, said)


def test_an_absent_id_is_not_said_to_be_a_text_field(source: str) -> None:
    """The advice names the option that named it."""
    given = ("-f", "text", "--id", "x", "--no-bayes-risk")
    _refused(here("sanitize", source, *given), 2, "another with --id or --subject")


def test_strings_of_json_are_texts(options: tuple[str, ...], tmp_path: Path) -> None:
    """An array of them is made private whole; an object among them is refused."""
    source, private = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text('["the film", "a good story"]')
    run = ("sanitize", str(source), *options, "-o", str(private))
    assert here(*run).code == 0
    assert len(json.loads(private.read_text())) == 2
    assert here("check", str(private)).code == 0
    source.write_text('["the film", {"note": "a good story"}]')
    ran = here(*run)
    assert (ran.code, "record 2: the record is not a string" in ran.err) == (4, True)
