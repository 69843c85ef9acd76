"""`check` and `sanitize --fail-on` look for people that an output identifies."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dptext.checking.contents import Contents
from dptext.engine.identifying import FieldValues, Kind
from tests.cli.running import here

Table = list[dict[str, Any]]
GIVEN = ("Mary", "James", "Linda", "Robert", "Susan", "Karen")
MARK = "zqxjk"  # of every value that no message may hold
ROWS = 260
LATE = 250  # the sample of a run has ended long before


def table() -> Table:
    """Return rows with a name in each, and an e-mail address in a few late ones."""
    return [
        {
            "id": number,
            "customer_name": f"{GIVEN[number % 6]} Z{MARK}",
            "note": f"write to a{number}@{MARK}.org" if number >= LATE else "closed",
            "stars": number % 5,
            "text": "the film was good",
        }
        for number in range(ROWS)
    ]


def _csv(rows: Table, path: Path, delimiter: str = ",") -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def _parquet(rows: Table, path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(rows), path)


def _xlsx(rows: Table, path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(path)


def _lines(rows: Table, path: Path) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


WRITERS: dict[str, Callable[[Table, Path], None]] = {
    "jsonl": _lines,
    "json": lambda rows, path: _put(path, json.dumps(rows)),
    "csv": _csv,
    "tsv": lambda rows, path: _csv(rows, path, "\t"),
    "parquet": _parquet,
    "xlsx": _xlsx,
}


def _put(path: Path, text: str) -> None:
    path.write_text(text)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, without a policy of others."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def released(rows: Table, options: tuple[str, ...], suffix: str = "jsonl") -> str:
    """Make a table private by its texts alone; return the name of the export."""
    source, out = Path(f"in.{suffix}"), f"out.{suffix}"
    WRITERS[suffix](rows, source)
    ran = here("sanitize", "-f", "text", str(source), *options, "-o", out, "-q")
    assert ran.code == 0, ran.err
    return out


def found(out: str, *more: str) -> list[str]:
    """Return the findings on identifying columns, which hold no value."""
    ran = here("check", out, "--format", "json", *more)
    data = json.loads(ran.out)
    findings = [each for export in data["exports"] for each in export["findings"]]
    assert MARK not in ran.out.decode().lower()
    assert ran.code == bool(findings)
    assert {each["rule"] for each in findings} <= {"identifying-columns"}
    return [each["message"] for each in findings]


@pytest.mark.parametrize("suffix", WRITERS)
def test_unchanged_columns_that_identify_fail_in_every_format(
    suffix: str, options: tuple[str, ...]
) -> None:
    """Names in all rows and addresses in ten late ones are found, and counted."""
    name, note = found(released(table(), options, suffix))
    said = "column 'customer_name' is unchanged and looks like names of people"
    assert name.startswith(f"{said} (260 of 260 values); make it private")
    said = "column 'note' is unchanged and looks like e-mail addresses"
    assert note.startswith(f"{said} (10 of 260 values); make it private")
    assert note.endswith("accept it with allow: [identifying: 'note']")


def test_nested_values_lists_numbers_and_names_of_fields(
    options: tuple[str, ...],
) -> None:
    """JSON is looked at in full: lists, numbers, and names that are data."""
    rows = [
        {
            "text": "the film",
            "who": {"contacts": [{"at": "x"}, {"at": f"b{n}@{MARK}.org"}]},
            "account": {"no": 1000 + n},
            "paid": 4111111111111111,
            "by": {f"c{n}@{MARK}.org": n},
            "ok": True,
        }
        for n in range(30)
    ]
    lines = found(released(rows, options))
    assert ["'who.contacts.at'" in lines[0], "30 of 60" in lines[0]] == [True, True]
    assert "'account.no' is unchanged and looks like personal numbers" in lines[1]
    assert "by its name (30 values)" in lines[1]
    assert "'paid' is unchanged and looks like bank accounts or cards" in lines[2]
    assert "what stands in names of fields is unchanged and looks like" in lines[3]
    assert len(lines) == 4


def test_a_policy_allows_columns_by_name(options: tuple[str, ...]) -> None:
    """In the file and on the command line; classes of token keep their default."""
    out = released(table(), options)
    (left,) = found(out, "--set", "allow=[identifying: customer_name]")
    assert "'note'" in left
    both = "[customer_name, note]"
    for given in (f"allow.identifying={both}", f"allow=[{{identifying: {both}}}]"):
        assert found(out, "--set", given) == []
    Path(".dptext.yaml").write_text(
        f"check:\n  allow:\n  - punctuation\n  - forms\n  - identifying: {both}\n"
    )
    assert found(out) == []
    # To be copied at all is another question.
    Path(".dptext.yaml").write_text(
        "check:\n  copy: [id, customer_name, note, stars]\n"
    )
    assert len(found(out)) == 2
    for wrong in ("[{identifying: note, other: 1}]", "[identifyin: note]"):
        ran = here("check", out, "--set", f"allow={wrong}")
        assert (ran.code, ran.out) == (2, b"")
        assert "unknown key; write identifying: COLUMN" in ran.err


def test_denied_columns_are_in_no_export(options: tuple[str, ...]) -> None:
    """Neither unchanged nor private, by name or pattern, at any depth."""
    rows: Table = [{"text": "the film", "meta": {"stars": 1}, "id": 1}]
    out = released(rows, options)
    names = {"text": True, "meta": True, "*star*": True, "s": False}
    for name, denied in names.items():
        ran = here("check", out, "--set", f"deny_columns={name}")
        assert ran.code == denied, ran.out
        assert (b"deny_columns" in ran.out) == denied


def test_pseudonyms_pass_and_what_is_called_so_does_not(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """Tokens identify nobody by themselves; a report that calls names so is found."""
    (tmp_path / "key").write_bytes(bytes(range(64)))
    (tmp_path / "key").chmod(0o600)
    drop = ("--drop", "note", "--pseudonym", "customer_name", "--key-file", "key")
    out = released(table(), (*options, *drop))
    assert found(out) == []
    plain, side = released(table(), options), Path(f"{out}.dptext.json")
    report = json.loads(side.read_bytes())
    report["run"]["layout"]["pseudonyms"] = ["customer_name"]
    side.write_text(json.dumps(report))
    ran = here("check", plain, "--set", "unverified=[lexicon, version, parts]")
    assert ran.code == 1, ran.out
    assert MARK not in ran.out.decode()


def test_ids_of_vectors_are_looked_at(options: tuple[str, ...]) -> None:
    """What stands beside vectors is a column, too."""
    _lines(table(), Path("in.jsonl"))
    lexicon = options[:2]
    for suffix in ("npz", "parquet"):
        out = f"out.{suffix}"
        run = ("embed", "-f", "text", "in.jsonl", *lexicon, "--epsilon", "8")
        ran = here(*run, "--id", "customer_name", "-o", out, "-q")
        assert ran.code == 0, ran.err
        (line,) = found(out, "--set", "notion=[LDP, metric-DP, eps-delta]")
        assert "'customer_name'" in line
        assert "names of people" in line


def test_a_run_stops_before_identifying_columns_leave(options: tuple[str, ...]) -> None:
    """With --fail-on nothing is there: no file, no report, nothing in a pipe."""
    _csv(table(), Path("in.csv"))
    run = ("sanitize", "-f", "text", "in.csv", *options, "--fail-on", "identifying")
    for out in (("-o", "out.csv.gz"), ("--out-dir", "out"), ()):
        ran = here(*run, *out, "--report", "internal.json")
        assert (ran.code, ran.out) == (5, b""), ran.err
        said = ran.err.splitlines()[-1]
        assert (
            "not written because of --fail-on identifying: column 'customer_na" in said
        )
        assert said.endswith("; and 1 more such columns")
        assert MARK not in ran.err
    there = {path.name for path in Path().rglob("*") if path.is_file()}
    assert there == {"in.csv"}
    ran = here(*run, "--line-buffered")
    assert ran.code == 2
    assert "leave --line-buffered out" in ran.err


def test_vectors_stop_before_ids_that_identify_leave(options: tuple[str, ...]) -> None:
    """A name beyond the first records counts; vectors alone have no ids."""
    rows = [{"id": f"n{n}", "text": "the film was good"} for n in range(250)]
    rows += [{"id": f"{name}@mail.example", "text": "bad"} for name in "abcdefgh"]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = ("embed", "-f", "text", "in.jsonl", "--id", "id", *options[:2])
    stopped = (*run, "--fail-on", "identifying")
    for name in ("out.npz", "out.parquet"):
        if name.endswith("parquet"):
            pytest.importorskip("pyarrow")
        ran = here(*stopped, "-o", name)
        assert ran.code == 5, ran.err
        said = ran.err.splitlines()[-1]
        assert "not written because of --fail-on identifying: column 'id'" in said
        assert "name records by another field (--id), or accept it" in said
        assert not Path(name).exists()
        assert here(*run, "-o", name, "-q").code == 0
        checked = here("check", name, "--lexicon", options[1])
        shown = " ".join((checked.out.decode() + checked.err).split())
        assert "name records by another field (--id), or accept it" in shown
    assert here(*stopped, "-o", "out.npy", "-q").code == 0


def test_a_run_goes_on_where_the_policy_allows(options: tuple[str, ...]) -> None:
    """The bytes are those of a run that does not look; settings may ask for it."""
    _csv(table(), Path("in.csv"))
    Path(".dptext.yaml").write_text(
        "sanitize:\n  fail_on: identifying\n  field: [text]\n"
        "check:\n  allow: [identifying: [customer_name, note]]\n"
    )
    run = ("in.csv", *options, "--seed", "3", "-q")
    piped = here("sanitize", *run)
    assert piped.code == 0, piped.err
    assert here("sanitize", *run, "-o", "out.csv.gz").code == 0
    unlooked = here("--no-config", "sanitize", "-f", "text", *run)
    assert piped.out == unlooked.out == gzip.decompress(Path("out.csv.gz").read_bytes())
    assert piped.out.count(b"\n") == ROWS + 1


def test_a_look_takes_little_memory() -> None:
    """Neither many different values nor many fields are remembered."""
    values = FieldValues()
    for number in range(20_000):
        values.add(f"value {number}")
    assert len(values._known) < 3000
    contents = Contents()
    for number in range(5000):
        contents.add(f"field {number}", [f"v{number}", f"{number}@example.org"])
    assert len(contents._fields) == 1000
    more = [each for each in contents.identifying() if each.name == "further fields"]
    assert [each.how.matching for each in more] == [4000]


def test_a_long_number_in_ten_is_no_card() -> None:
    """Numbers of orders and times end like those of cards by chance."""
    values, cards = FieldValues(), FieldValues()
    for number in range(2000):
        values.add(str(4_000_000_000_000_000 + number * 7_919_317))
    for card in ("4111111111111111", "5500 0000 0000 0004", "3782 822463 10005"):
        cards.add(card)
        cards.add(f"none, was {card[:4]}")
    assert values.identifies("order") is None
    assert cards.identifies("x") is not None


@pytest.mark.parametrize(
    "name", ["iris", "wine_data", "breast_cancer", "diabetes_data_raw", "linnerud"]
)
def test_public_tables_pass(name: str) -> None:
    """No column of a measured table is taken for people."""
    sklearn = pytest.importorskip("sklearn.datasets")
    data = Path(sklearn.__file__).parent / "data"
    for path in [*data.glob(f"{name}*.csv"), *data.glob(f"{name}*.csv.gz")]:
        is_packed = path.suffix == ".gz"
        text = gzip.open(path, "rt").read() if is_packed else path.read_text()
        contents = Contents()
        for row in csv.DictReader(io.StringIO(text)):
            for column, value in row.items():
                contents.add(str(column), [str(value)])
        assert contents.identifying() == []


STATES = [
    ("email", ["yes", "no", "yes"], None),
    ("phone", ["1", "44", "49"], None),
    ("birth", ["41.7", "46.4", "7.3"], None),
    ("assigned", ["none"] * 40 + ["Mary Smith", "James Lee", "Susan Roy"], Kind.NAME),
    ("who", ["Smith, Mary", "Lee, James", "Roy, Susan"], Kind.NAME),
    ("email", ["", ""], Kind.EMAIL),  # by its name, where numbers are not shown
]


@pytest.mark.parametrize(("name", "values", "kind"), STATES)
def test_states_and_amounts_are_no_people(
    name: str, values: list[str], kind: Kind | None
) -> None:
    """A name of a column does not tell where its values are a few states or amounts."""
    field = FieldValues()
    for value in values:
        field.add(value)
    assert field.kind(name) is kind
