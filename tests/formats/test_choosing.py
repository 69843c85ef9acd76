"""Choosing a format by name, suffix or first bytes."""

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
        ("notes.txt.xz", "text"),
        ("p.parquet", "parquet"),
    ],
)
def test_suffix_chooses(path: str, name: str) -> None:
    """The suffix chooses the format, seen through compression and case."""
    assert find(path).__name__ == f"dptext.formats.{name}"  # type: ignore[attr-defined]


def test_name_wins_over_suffix() -> None:
    """A named format is taken whatever the suffix says."""
    assert find("a.csv", "tsv") is find("b.tsv")


@pytest.mark.parametrize(
    ("path", "name"), [("a.docx", None), (None, None), ("plain", None), ("a.csv", "x")]
)
def test_unknown_names_the_option(path: str | None, name: str | None) -> None:
    """What no format goes with is refused with the option and the choices."""
    with pytest.raises(UsageError, match=r"--format.*jsonl"):
        find(path, name)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b' \n{"a": 1}', "jsonl"),
        (b'\xef\xbb\xbf{"a"', "jsonl"),
        (b"PAR1\x15\x04", "parquet"),
        (b"hello {", "text"),
        (b"", "text"),
    ],
)
def test_sniff(head: bytes, name: str) -> None:
    """The first bytes tell the format of an input without name."""
    assert sniff(head) == name
