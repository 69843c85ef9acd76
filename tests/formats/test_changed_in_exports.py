"""Fields left out and pseudonyms in exports with records and bytes of several kinds."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from dptext.errors import UnknownFieldError, UsageError
from dptext.run.selection import Selection
from tests.formats.pipe import copied_names, faults, find, records
from tests.formats.test_changed_fields import TOKEN, chosen, written

CHAT: dict[str, Any] = {
    "name": "friends",
    "messages": [
        {"id": 1, "from": "Ada", "text": "hello"},
        {"id": 2, "from": "Bob", "text": ["see ", {"type": "link", "text": "x.org"}]},
        {"id": 3, "action": "joined", "actor": "Cleo", "text": ""},
        {"id": 4, "from": None, "text": [{"type": "bot", "text": "go", "href": "y"}]},
    ],
}


def test_elements_of_lists_may_lack_what_changes() -> None:
    """A message keeps its fields except those left out, beside texts and parts."""
    selection = Selection(
        ("messages.text", "messages.text.text"),
        dropped=("messages.text.href", "messages.actor", "name"),
        replaced=("messages.from",),
    )
    data = json.dumps(CHAT).encode()
    for name in ("json", "jsonl"):
        out = written(name, data, selection)
        assert json.loads(out) == {
            "messages": [
                {"id": 1, "from": TOKEN("Ada"), "text": "HELLO"},
                {
                    "id": 2,
                    "from": TOKEN("Bob"),
                    "text": ["SEE ", {"type": "link", "text": "X.ORG"}],
                },
                {"id": 3, "action": "joined", "text": ""},
                {"id": 4, "from": None, "text": [{"type": "bot", "text": "GO"}]},
            ]
        }
        left = ["messages.id", "messages.text.type", "messages.action"]
        assert copied_names(name, data, selection) == left
        assert copied_names(name, out, selection.output_selection()) == left
    (record,) = records("json", data, selection)
    assert {*(record.present or ())} == {*selection.fields, *selection.changed}


def test_nothing_changes_inside_of_a_text_without_texts() -> None:
    """An object in the place of a text would be copied, except the fields left out."""
    for use in ("dropped", "replaced"):
        wrong = Selection(("a",), **{use: ("a.b",)})  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=r"contains the field .a\.b."):
            written("jsonl", b'{"a": "x"}', wrong)
    line = b'{"text": "x", "who": ["Ada", {"name": "Bob"}]}'
    (fault,) = faults("jsonl", line, chosen("who.name"))
    assert "(element 1 of 'who') is a string, not an object" in fault.reason
    assert fault.advice == "drop all of it with --drop who"


def test_half_of_a_surrogate_pair_has_no_pseudonym() -> None:
    """It is copied and left out like anything else, and is no value."""
    line = b'{"who": "\\ud800", "text": "x"}'
    (fault,) = faults("jsonl", line, chosen(replaced=("who",)))
    assert "half of a surrogate pair" in fault.reason
    assert written("jsonl", line, chosen("who")) == b'{"text": "X"}'


def test_escaped_values_have_the_tokens_of_what_they_mean() -> None:
    """A null stays one; a column that is left out need not be understood."""
    data = b"who\tgone\ttext\na\\tb\t\\xff\tx\\ny\n\\N\t1\t\\N\nc\t2\tz\n"
    selection = chosen("gone", replaced=("who",), escapes="backslash")
    first, last = TOKEN("a\tb"), TOKEN("c")
    out = f"who\ttext\n{first}\tX\\nY\n\\N\t\\N\n{last}\tZ\n"
    assert written("tsv", data, selection).decode() == out
    as_json = written("jsonl", b'{"who":"a\\tb","text":""}', chosen(replaced=("who",)))
    assert json.loads(as_json)["who"] == first
    (fault,) = faults("tsv", data, chosen(replaced=("gone",), escapes="backslash"))
    assert "no character" in fault.reason


def test_a_value_that_may_be_escaped_has_no_pseudonym() -> None:
    """Else the nulls of a file would be one person that other files lack."""
    data = b"who\ttext\n\\N\tx\nada\ty\n"
    (fault,) = faults("tsv", data, chosen(replaced=("who",)))
    assert "--escapes backslash" in fault.advice
    assert written("tsv", data, chosen("who")) == b"text\nX\nY\n"
    selection = chosen(replaced=("who",), escapes="none")
    assert TOKEN("\\N").encode() in written("tsv", data, selection)


def test_skipped_lines_are_in_no_output() -> None:
    """It begins with its header, and is read so."""
    data = b"\xef\xbb\xbfExport\nof 2024\nwho,text,,n\nAda,x,1,2\n"
    selection = chosen("n", replaced=("who",), skip_lines=2)
    out = written("csv", data, selection)
    header = b"\xef\xbb\xbfwho,text,\n"
    assert out == header + f"{TOKEN('Ada')},X,1\n".encode()
    there = selection.output_selection()
    assert [each.texts for each in records("csv", out, there)] == [("X",)]
    assert list(find(None, "csv").copied(io.BytesIO(out), there)) == [""]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"who,text\nAda,x\n", r"'whom'.*--drop.*did you mean 'who'\?; columns"),
        (b"title\n\nwhom,text\nAda,x\n", "line 3 has it: --skip-lines 2"),
        (b"1,2\nAda,x\n", "no column 'text' in the header"),
    ],
)
def test_a_column_to_leave_out_is_looked_for_like_any(data: bytes, said: str) -> None:
    """The nearest name is shown, and a header further below."""
    with pytest.raises(UnknownFieldError, match=said):
        written("csv", data, chosen("whom"))
