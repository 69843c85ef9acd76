"""Choosing a format by name, suffix or first bytes."""

from pathlib import Path

import pytest

from dptext.errors import UsageError
from dptext.formats import find, sniff


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.jsonl", "jsonl"),
        ("A.NDJSON.GZ", "jsonl"),
        ("x/y.csv.zst", "csv"),
        ("t.tab", "tsv"),
        ("a.json.gz", "json"),
        ("notes.txt.xz", "text"),
        ("p.parquet", "parquet"),
    ],
)
def test_suffix_chooses(path: str, name: str) -> None:
    """The suffix chooses the format, seen through compression and case."""
    assert find(path).name == name


def test_name_wins_over_suffix() -> None:
    """A named format is taken with any suffix."""
    assert find("a.csv", "tsv") == find("b.tsv")


@pytest.mark.parametrize(
    ("path", "name"), [("a.docx", None), (None, None), ("a.csv", "x")]
)
def test_unknown_names_the_option(path: str | None, name: str | None) -> None:
    """An unknown file name is refused with the option and its choices."""
    with pytest.raises(UsageError, match=r"--format.*jsonl"):
        find(path, name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("folder", "folder is a folder; name the files in it"),
        ("folder.geojson", "folder.geojson is a folder"),
        ("absent", "absent: No such file or directory"),
        (
            "plain",
            "a name without suffix does not imply a format; choose one with --format",
        ),
        ("a.log.gz", "'.log' of .*choose one with --format"),
        ("a.xls", "save a spreadsheet as .xlsx or CSV"),
    ],
)
def test_the_way_out_is_named(name: str, said: str, tmp_path: Path) -> None:
    """A folder, an absent file, and suffixes that a format fits say what to do."""
    for folder in ("folder", "folder.geojson"):
        (tmp_path / folder).mkdir()
    (tmp_path / "plain").touch()
    with pytest.raises(UsageError, match=said):
        find(str(tmp_path / name))


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b' \n{"a": 1}', "jsonl"),
        (b'\xef\xbb\xbf{"a"', "jsonl"),
        (b"PAR1\x15\x04", "parquet"),
        (b"PK\x03\x04" + bytes(26) + b"docProps/app.xml", "xlsx"),
        (b"PK\x03\x04" + bytes(26) + b"data.csv", None),
        (b' [ {"a": 1}', "json"),
        (b"[\n", "json"),
        (b"[]", "json"),
        (b'{\n "a": 1,\n', "json"),
        (b'{"a": 1}\n{', "jsonl"),
        (b'{"a": "cut\n{"a": 2}\n', "jsonl"),
        (b'{"a": [\n  {"b": 2}\n]}\n', "json"),
        (b"hello {", None),
        (b"[see {below}]", None),
        (b"", None),
    ],
)
def test_sniff(head: bytes, name: str | None) -> None:
    """The first bytes tell the format of an input without name."""
    assert sniff(head) == name
