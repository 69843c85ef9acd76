"""`dptext sanitize`: data on stdout, the report on stderr, nothing else touched."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Sanitize
from tests.cli.running import WORDS, Ran, here

LINES = (
    b'{"id": 1, "text": "The film was very good.", "n": 12345678901234567890123}\r\n'
    b'{ "text" : "A sad, dark story!" , "other":"kept \\u00e9", "x": 1.50}\n'
    b'{"n":null,"text":"It was 12 long scene(s)","id":"b"}'
)


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Write three records as JSON lines."""
    path = tmp_path / "in.jsonl"
    path.write_bytes(LINES)
    return str(path)


def _ok(ran: Ran) -> bytes:
    assert ran.code == 0, ran.err
    return ran.out


def _texts(data: bytes) -> list[str]:
    return [json.loads(line)["text"] for line in data.splitlines()]


def _without_texts(data: bytes, texts: list[str]) -> bytes:
    for text in texts:
        data = data.replace(json.dumps(text).encode(), b"TEXT", 1)
    return data


def test_foreign_fields_of_jsonl_stay_byte_for_byte(sanitize: Sanitize) -> None:
    """Key order, spaces, numbers, escapes, line ends and a missing last one survive."""
    out = sanitize(LINES).output
    assert _without_texts(out, _texts(out)) == _without_texts(LINES, _texts(LINES))
    assert _texts(out) != _texts(LINES)


def test_standard_input_is_the_default(sanitize: Sanitize) -> None:
    """No file and `-` both mean standard input, and - as output standard output."""
    for arguments in ((), ("-",), ("-", "-o", "-")):
        assert len(_texts(sanitize(LINES, *arguments).output)) == 3


def test_report_goes_to_stderr_and_quiet_silences_it(
    source: str, options: tuple[str, ...]
) -> None:
    """The answer for people is on standard error only; --quiet leaves nothing there."""
    ran = here("sanitize", "-f", "text", source, *options, "--verbose")
    assert "Privacy report" in ran.err
    assert b"privacy report" not in ran.out.lower()
    assert here("sanitize", "-f", "text", source, *options, "-q").err == ""


@pytest.mark.parametrize(
    ("name", "data", "fields"),
    [
        (
            "x.csv",
            b'id;text,"b"\r\n"1",the film,"q""q"\r\n2,"good, bad",  z\r\n',
            ("id;text", "text"),
        ),
        ("x.tsv", b"a\ttext\tc\n 1 \tthe old film\t0.10\n2\tvery good\t1e5\n", ()),
        ("x.txt", b"the film was good\n\nvery bad\r\nit is", ()),
    ],
)
def test_foreign_columns_stay_byte_for_byte(
    name: str,
    data: bytes,
    fields: tuple[str, ...],
    options: tuple[str, ...],
    tmp_path: Path,
) -> None:
    """Columns of CSV and TSV that are not named pass through, as do line ends."""
    path = tmp_path / name
    if name == "x.csv":
        data = data.replace(b"id;text", b"id,text")
    path.write_bytes(data)
    field = () if name == "x.txt" else ("-f", "text")
    out = _ok(here("sanitize", *field, str(path), *options))
    assert out != data
    assert out.count(b"\n") == data.count(b"\n")
    assert out.count(b"\r\n") == data.count(b"\r\n")
    if name == "x.csv":
        assert out.startswith(b'id,text,"b"\r\n"1",')
        assert b',"q""q"\r\n2,' in out
        assert out.endswith(b",  z\r\n")
    if name == "x.tsv":
        first, second = out.splitlines()[1:]
        assert first.startswith(b" 1 \t")
        assert first.endswith(b"\t0.10")
        assert second.endswith(b"\t1e5")


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".bz2", ".xz"])
def test_compressed_files_end_to_end(
    suffix: str, options: tuple[str, ...], key: str, source: str, tmp_path: Path
) -> None:
    """Packed output holds the same bytes, and its sidecar names the packed file."""
    if suffix == ".zst":
        pytest.importorskip("zstandard")
    packed, plain = tmp_path / f"o.jsonl{suffix}", tmp_path / "o.jsonl"
    common = (*options, "--key-file", key, "-q")
    _ok(here("sanitize", "-f", "text", source, *common, "-o", str(plain)))
    _ok(here("sanitize", "-f", "text", source, *common, "-o", str(packed)))
    # The packed output is read again, with nothing masked, to see the same texts.
    for path in (plain, packed):
        side = json.loads(path.with_name(path.name + ".dptext.json").read_bytes())
        assert side["output"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert side["output"]["bytes"] == path.stat().st_size
        assert side["output"]["file"] == path.name
        assert side["audience"] == "public"
        assert side["private"] is None
    again = [
        _ok(here("sanitize", "-f", "text", str(path), *common))
        for path in (plain, packed)
    ]
    assert again[0] == again[1]
    if suffix == ".gz":
        assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()


def test_parquet_end_to_end(options: tuple[str, ...], tmp_path: Path) -> None:
    """Only the named column of a Parquet file changes."""
    arrow: Any = pytest.importorskip("pyarrow")
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    table = arrow.table(
        {"n": [1, 2], "text": ["the film", "very good"], "z": ["a", "b"]}
    )
    source, target = tmp_path / "i.parquet", tmp_path / "o.parquet"
    parquet.write_table(table, source)
    _ok(here("sanitize", "-f", "text", str(source), *options, "-o", str(target)))
    private = parquet.read_table(target)
    assert private.drop_columns(["text"]).equals(table.drop_columns(["text"]))
    assert private["text"].to_pylist() != table["text"].to_pylist()


def test_several_inputs_are_joined(options: tuple[str, ...], tmp_path: Path) -> None:
    """Several inputs become one output; the header of CSV is written once."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_bytes(b"id,text\n1,the film\n2,the film")
    out = _ok(
        here(
            "sanitize",
            "-f",
            "text",
            str(tmp_path / "a.csv"),
            str(tmp_path / "b.csv"),
            *options,
        )
    )
    lines = out.splitlines()
    assert [line.split(b",")[0] for line in lines] == [b"id", b"1", b"2", b"1", b"2"]


def test_same_key_gives_the_same_bytes_for_every_batch_size(
    options: tuple[str, ...], key: str, tmp_path: Path
) -> None:
    """A key file makes a run repeatable, at any batch size."""
    path = tmp_path / "many.jsonl"
    path.write_bytes(
        b"".join(
            b'{"text":"%s"}\n' % " ".join(WORDS[n % 7 : 9 + n % 11]).encode()
            for n in range(60)
        )
    )
    run = ("sanitize", "-f", "text", str(path), *options, "--key-file", key, "-q")
    outs = {_ok(here(*run, "--batch-size", size)) for size in ("1", "7", "4096")}
    outs.add(_ok(here(*run, "--line-buffered")))
    assert len(outs) == 1
    other = _ok(here(*run, "--set", "tokens.case=lower"))
    assert other.lower() not in {each.lower() for each in outs}
    assert _ok(here("sanitize", "-f", "text", str(path), *options, "-q")) not in outs


def test_records_of_equal_text_get_different_noise(
    sanitize: Sanitize, key: str
) -> None:
    """Equal records in different places are drawn anew."""
    text = " ".join(WORDS)
    given = f'{{"text":"{text}"}}\n'.encode() * 5
    out = sanitize(given, "--key-file", key).output
    assert len(set(_texts(out))) == 5


def test_id_names_a_record_whatever_its_place(sanitize: Sanitize, key: str) -> None:
    """With --id and a key, a record's output does not depend on its place."""
    text = " ".join(WORDS)
    rows = [f'{{"id":"{n}","text":"{text}"}}\n'.encode() for n in range(6)]
    keyed = ("--key-file", key, "--id", "id")
    there = sanitize(b"".join(rows), *keyed).output.splitlines()
    back = sanitize(b"".join(reversed(rows)), *keyed).output.splitlines()
    assert there == back[::-1]
    assert len(set(_texts(b"\n".join(there)))) == 6


def test_missing_pass(sanitize: Sanitize, options: tuple[str, ...]) -> None:
    """An absent or null text field stops the run, or passes with --missing pass."""
    given = b'{"a":1}\n{"text":null}\n{"text":"the film"}\n'
    assert here("sanitize", "-f", "text", *options, given=given).code == 4
    out = sanitize(given, "--missing", "pass").output
    assert out.startswith(b'{"a":1}\n{"text":null}\n{"text":')


def test_skip_changes_no_other_record(sanitize: Sanitize, key: str) -> None:
    """A record that cannot be read takes a place, so that others keep their noise."""
    text = " ".join(WORDS)
    good = [f'{{"text":"{text}"}}\n'.encode()] * 3
    bad = [good[0], b"{broken\n", good[2]]
    whole = sanitize(b"".join(good), "--key-file", key).output.splitlines()
    ran = sanitize(b"".join(bad), "--key-file", key, "--on-error", "skip")
    assert ran.output.splitlines() == [whole[0], whole[2]]
    assert "1 record left out as unreadable" in " ".join(ran.err.split())


@pytest.mark.parametrize("more", [(), ("--on-error", "skip")])
def test_quarantine_keeps_the_bytes(
    options: tuple[str, ...], more: tuple[str, ...], tmp_path: Path
) -> None:
    """Unreadable records go unchanged to the quarantine file, for its owner only."""
    aside = tmp_path / "aside"
    bad = b'{"text": 5, "x":"\\u00e9"}\r\n'
    given = b'{"text":"the film"}\n' + bad + b"\xff\xfe\n"
    run = ("sanitize", "-f", "text", *options, *more, "--quarantine", str(aside))
    assert len(_ok(here(*run, given=given)).splitlines()) == 1
    assert aside.read_bytes() == bad + b"\xff\xfe\n"
    assert aside.stat().st_mode & 0o077 == 0


def test_internal_report_and_its_display(
    source: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """--report holds the internal report; `dptext report` shows it again."""
    path = tmp_path / "report.json"
    _ok(here("sanitize", "-f", "text", source, *options, "--report", str(path), "-q"))
    data = json.loads(path.read_bytes())
    assert data["audience"] == "internal"
    assert data["private"]["records"] == 3
    shown = _ok(here("report", str(path))).decode()
    assert "Internal report" in shown
    assert "locally" in shown


@pytest.mark.parametrize(
    "more",
    [
        ("--report", "-"),
        ("--html", "-"),
        ("--public-report", "-"),
        ("-o", "-", "--report", "-"),
        ("--quarantine", "-"),
        ("-o", "out.jsonl", "--quarantine", "-"),
    ],
)
def test_standard_output_carries_one_thing(
    source: str, options: tuple[str, ...], more: tuple[str, ...]
) -> None:
    """Data and report, or two reports, would mix: refused before anything is read."""
    ran = here("sanitize", "-f", "text", source, *options, "-q", *more)
    assert ran.code == 2
    assert ran.out == b""
    assert "standard output" in ran.err


def test_a_report_alone_may_go_to_standard_output(
    source: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """Where the data go to a file."""
    run = (
        "sanitize",
        "-f",
        "text",
        source,
        *options,
        "-q",
        "-o",
        str(tmp_path / "o.jsonl"),
    )
    assert json.loads(_ok(here(*run, "--report", "-")))["audience"] == "internal"


def test_public_report_elsewhere_and_no_sidecar(
    source: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """The public report goes where it is asked for, or nowhere."""
    out, public = tmp_path / "o.jsonl", tmp_path / "public.json"
    run = ("sanitize", "-f", "text", source, *options, "-q", "-o", str(out))
    _ok(here(*run, "--public-report", str(public)))
    assert json.loads(public.read_bytes())["audience"] == "public"
    assert not out.with_name("o.jsonl.dptext.json").exists()
    _ok(here(*run, "--no-sidecar"))
    assert not out.with_name("o.jsonl.dptext.json").exists()


def test_text_on_standard_input_has_no_other_fields(options: tuple[str, ...]) -> None:
    """Plain lines are text; the report speaks of other fields only where there are."""
    run = ("sanitize", "-f", "text", *options, "--verbose")
    assert "All fields other" not in here(*run, given=b"the film\n").err
    assert "All fields other" in here(*run, given=LINES).err


def test_seeded_run_has_no_guarantee(source: str, options: tuple[str, ...]) -> None:
    """--seed is repeatable and says that it protects nothing."""
    runs = [
        here("sanitize", "-f", "text", source, *options, "--seed", "4")
        for _ in range(2)
    ]
    assert runs[0].out == runs[1].out
    assert "No guarantee: anyone who knows" in runs[0].err
    whole = here("sanitize", "-f", "text", source, *options, "--seed", "4", "-v").err
    assert "No guarantee: this run was seeded" in " ".join(whole.split())


def test_empty_input_is_an_empty_output(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """An empty file of any format is no error."""
    for suffix in ("jsonl", "txt"):
        path = tmp_path / f"empty.{suffix}"
        path.touch()
        field = ("-f", "text") if suffix == "jsonl" else ()
        assert _ok(here("sanitize", *field, str(path), *options)) == b""
    assert _ok(here("sanitize", "-f", "text", *options)) == b""


@pytest.mark.parametrize(
    "given",
    [
        ("--set", "tokens.number=mask"),
        ("--set", "tokens.unknown=drop", "--set", "tokens.punctuation=drop"),
        ("--set", "tokens.stop_word=keep", "--set", "tokens.case=copy"),
        ("--mechanism", "santext"),
        ("--mechanism", "tem", "--set", "mechanism.beta=0.01"),
        ("--mechanism", "laplace", "--set", "mapping=two-nearest"),
        ("-p", "cmp"),
    ],
)
def test_overrides(given: tuple[str, ...], options: tuple[str, ...]) -> None:
    """--set and --mechanism change the profile's keys."""
    common = (
        options if "-p" not in given and "--mechanism" not in given else options[:4]
    )
    ran = here("sanitize", "-f", "text", *common, *given, given=LINES)
    assert ran.code == 0, ran.err
    assert len(_texts(ran.out)) == 3


def test_out_dir_writes_one_to_one(options: tuple[str, ...], tmp_path: Path) -> None:
    """Each input has its own output and sidecar; no two records share noise."""
    folder = tmp_path / "out" / "deep"
    line = " ".join(WORDS)
    names = ("a.jsonl", "b.jsonl", "c.txt")
    (tmp_path / "a.jsonl").write_text(f'{{"text":"{line}"}}\nbroken\n')
    (tmp_path / "b.jsonl").write_text(f'{{"text":"{line}"}}\n' * 2)
    (tmp_path / "c.txt").write_text(f"{line}\n")
    key = tmp_path / "key"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    report = tmp_path / "report.json"
    ran = here(
        "sanitize",
        "-f",
        "text",
        *(str(tmp_path / name) for name in names),
        *options,
        "--out-dir",
        str(folder),
        "--report",
        str(report),
        "--key-file",
        str(key),
        "--on-error",
        "skip",
    )
    assert _ok(ran) == b""
    assert ran.err.count(" people ") == 1
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*names, *(f"{name}.dptext.json" for name in names)]
    )
    texts = [
        *_texts((folder / "a.jsonl").read_bytes()),
        *_texts((folder / "b.jsonl").read_bytes()),
        (folder / "c.txt").read_text().strip(),
    ]
    assert len(set(texts)) == 4
    whole = json.loads(report.read_bytes())
    assert whole["output"] is None
    assert whole["private"]["records"] == 4
    assert whole["private"]["faults"] == 1
    assert [Path(name).name for name in whole["private"]["inputs"]] == list(names)
    for name in names:
        side = json.loads((folder / f"{name}.dptext.json").read_bytes())
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        assert side["output"] == {
            "file": name,
            "bytes": (folder / name).stat().st_size,
            "sha256": digest,
        }
        foreign = 'All fields other than "text"' in " ".join(
            side["guarantee"]["scope"]["not_covered"]
        )
        assert foreign == (name != "c.txt")


def test_a_file_draws_by_its_name_whatever_is_beside_it(
    options: tuple[str, ...], key: str, tmp_path: Path
) -> None:
    """Files that arrive and leave change no other; equal files share no draw."""
    line = " ".join(WORDS)
    names = ("a.txt", "b.txt", "c.txt")
    for name in names:
        (tmp_path / name).write_text(f"{line}\n" * 2)
    run = ("sanitize", *options, "--key-file", key, "-q")
    written: dict[str, bytes] = {}
    for chosen in (names, names[::-1], names[1:], names[:1]):
        folder = tmp_path / "-".join(("out", *chosen))
        _ok(
            here(
                *run,
                *(str(tmp_path / each) for each in chosen),
                "--out-dir",
                str(folder),
            )
        )
        for name in chosen:
            data = (folder / name).read_bytes()
            assert written.setdefault(name, data) == data
    lines = [line for data in written.values() for line in data.splitlines()]
    assert len(set(lines)) == len(lines) == 6


def test_out_dir_keeps_what_is_whole(options: tuple[str, ...], tmp_path: Path) -> None:
    """When a later input fails, the outputs before it stand, each with its sidecar."""
    for name, text in (("a.txt", "the film\n"), ("b.txt", "bad\0\n"), ("c.txt", "x\n")):
        (tmp_path / name).write_text(text)
    inputs = [str(tmp_path / name) for name in ("a.txt", "b.txt", "c.txt")]
    ran = here("sanitize", *inputs, *options, "--out-dir", str(tmp_path / "o"))
    assert ran.code == 4
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == [
        "a.txt",
        "a.txt.dptext.json",
    ]
    assert here("check", str(tmp_path / "o" / "a.txt")).code == 0


def test_in_place(options: tuple[str, ...], tmp_path: Path) -> None:
    """Each file is replaced by its private text once, with its report beside it."""
    first, second = tmp_path / "a.jsonl", tmp_path / "b.csv"
    first.write_bytes(LINES)
    second.write_text("id,text\n1,the film was good\n")
    run = (
        "sanitize",
        "-f",
        "text",
        str(first),
        str(second),
        *options,
        "-q",
        "--no-bayes-risk",
    )
    assert here(*run, "--in-place") == Ran(0, b"", "")
    private = first.read_bytes(), second.read_bytes()
    assert private[0] != LINES
    assert here("check", str(first), str(second)).code == 0
    ran = here(*run[:-2], "--no-bayes-risk", "--in-place")
    assert (ran.code, ran.out) == (0, b"")
    assert "already private" in ran.err
    assert (first.read_bytes(), second.read_bytes()) == private
    first.write_bytes(LINES)
    second.write_text('id,text\n1,"the film\n')
    ran = here(*run, "--in-place")
    assert ran.code == 4
    assert second.read_text() == 'id,text\n1,"the film\n'
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "a.jsonl",
        "a.jsonl.dptext.json",
        "b.csv",
        "b.csv.dptext.json",
    ]


@pytest.mark.parametrize(
    "more",
    [("-o", "x"), ("--out-dir", "x"), ("--public-report", "x"), ("--no-sidecar",)],
)
def test_in_place_alone(
    source: str, options: tuple[str, ...], more: tuple[str, ...]
) -> None:
    """Outputs in the places of their inputs go nowhere else, and have reports."""
    ran = here("sanitize", "-f", "text", source, *options, "--in-place", *more)
    assert (ran.code, ran.out) == (2, b"")
    assert "--in-place" in ran.err
    assert here("sanitize", "-f", "text", *options, "--in-place", given=LINES).code == 2
    assert Path(source).read_bytes() == LINES
