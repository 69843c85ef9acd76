"""JSON lines: only selected texts change, all else keeps its spelling."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dptext.errors import InputError, UsageError
from dptext.formats import BOM, _fields
from dptext.formats._scan import Scan, flat_line
from dptext.run.selection import Selection
from dptext.types import Fault, Record
from tests.formats.pipe import (
    TEXT,
    copied_names,
    faults,
    find,
    items,
    records,
    texts,
    through,
)

pytestmark = pytest.mark.quick

# The first draw of any text builds tables of characters.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SPACE = st.text(" \t\r", max_size=2)
CHARACTERS = st.characters(codec="utf-8")
STRINGS = st.text(CHARACTERS, max_size=8)
NUMBERS = st.sampled_from(["0", "-1.50", "1e400", "12345678901234567890123", "1E-7"])


@st.composite
def spelled(draw: st.DrawFn, value: str) -> str:
    """Spell a string in JSON in one of many ways."""
    ways = [json.dumps(value), json.dumps(value, ensure_ascii=False)]
    units = value.encode("utf-16-be").hex("|", 2).split("|") if value else []
    ways.append('"' + "".join(f"\\u{unit}" for unit in units) + '"')
    return draw(st.sampled_from(ways))


def containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Spell arrays and objects with any spaces in them."""

    @st.composite
    def container(draw: st.DrawFn) -> str:
        brackets = draw(st.sampled_from(["[]", "{}"]))
        left, right = brackets[0], brackets[1]
        parts = []
        for value in draw(st.lists(inner, max_size=3)):
            name = draw(STRINGS.flatmap(spelled)) + draw(SPACE) + ":"
            parts.append(
                draw(SPACE)
                + (name if left == "{" else "")
                + draw(SPACE)
                + value
                + draw(SPACE)
            )
        return left + (",".join(parts) or draw(SPACE)) + right

    return container()


SCALARS = st.one_of(
    NUMBERS, st.sampled_from(["true", "false", "null"]), STRINGS.flatmap(spelled)
)
VALUES = st.recursive(SCALARS, containers, max_leaves=6)


@st.composite
def lines(draw: st.DrawFn) -> tuple[str, int, int, str]:
    """Draw an object with a field "text": the line, the value's span, the text."""
    text = draw(STRINGS)
    before = draw(st.lists(st.tuples(STRINGS, VALUES), max_size=3))
    after = draw(st.lists(st.tuples(STRINGS, VALUES), max_size=3))
    line, begin, end = draw(SPACE) + "{", 0, 0
    pairs = [(k, v) for k, v in before if k != "text"]
    at = len(pairs)
    pairs.append(("text", draw(spelled(text))))
    pairs += [(k, v) for k, v in after if k != "text"]
    for number, (key, value) in enumerate(pairs):
        line += "," if number else ""
        line += draw(SPACE) + draw(spelled(key)) + draw(SPACE) + ":" + draw(SPACE)
        if number == at:
            begin, end = len(line), len(line) + len(value)
        line += value + draw(SPACE)
    return line + "}" + draw(SPACE), begin, end, text


@pytest.mark.slow
@PATIENT
@given(st.lists(lines(), max_size=3), st.sampled_from(["\n", "\r\n", "\n\n"]), SPACE)
def test_unchanged_texts_give_the_same_bytes(
    drawn: list[tuple[str, int, int, str]], end: str, tail: str
) -> None:
    """Any spelling survives but the text's, which is one and the same for a text."""
    data = (end.join(line for line, *_ in drawn) + tail).encode()
    plain = [
        line[:begin] + json.dumps(text, ensure_ascii=False) + line[stop:]
        for line, begin, stop, text in drawn
    ]
    assert through("jsonl", data) == (end.join(plain) + tail).encode()
    assert texts("jsonl", data) == [(text,) for *_, text in drawn]


@PATIENT
@given(lines(), STRINGS)
def test_only_the_span_of_the_text_changes(
    drawn: tuple[str, int, int, str], new: str
) -> None:
    """A new text replaces the old one's bytes and no other."""
    line, begin, end, _ = drawn
    out = through("jsonl", line.encode(), lambda _: new).decode()
    rest = len(line) - end
    assert out[:begin] == line[:begin]
    assert out[len(out) - rest :] == line[end:]
    assert json.loads(out[begin : len(out) - rest]) == new


def test_spelling_does_not_tell_which_texts_changed() -> None:
    """A text is spelled in one way, however it was spelled in the input."""
    for spelling in (b"Apple", b"\\u0041pple", b"\\u0041\\u0070ple"):
        line = b'{"text":"' + spelling + b'"}'
        assert through("jsonl", line) == b'{"text":"Apple"}'
    assert through("jsonl", '{"text":"ö"}'.encode(), lambda _: 'é"') == (
        '{"text":"é\\""}'.encode()
    )


@pytest.mark.parametrize(
    ("fields", "line", "expected"),
    [
        (("a.b",), '{"b": "no", "a": {"c": {"b": "no"}, "b": "x"}}', ("x",)),
        ((r"a\.b",), '{"a": {"b": "no"}, "a.b": "x"}', ("x",)),
        ((r"a\\",), '{"a\\\\": "x"}', ("x",)),
        (("b", "a"), '{"a": "first", "b": "second"}', ("first", "second")),
        (("b", "b"), '{"b": "once"}', ("once",)),
        (("t",), '{"t": ["x", "y", ["z"]], "u": ["no"]}', ("x", "y", "z")),
        (("t",), '{"t": [ ]}', ()),
        (("r.t",), '{"r": [{"t": "x"}, {"n": 1, "t": ["y"]}]}', ("x", "y")),
        (("r.t",), '{"r": {"t": "x"}}', ("x",)),
        (("t",), '{"\\u0074": "x"}', ("x",)),
    ],
)
def test_paths(fields: tuple[str, ...], line: str, expected: tuple[str, ...]) -> None:
    """A dotted path leads through objects and lists; texts come in file order."""
    selection = Selection(fields=fields)
    assert texts("jsonl", line.encode(), selection) == [expected]
    changed = through("jsonl", line.encode(), str.upper, selection)
    assert texts("jsonl", changed, selection) == [tuple(map(str.upper, expected))]
    assert through("jsonl", changed, str.lower, selection).lower() == line.encode()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "a", "text": "secret"}', "field 'text' occurs twice"),
        (b'{"text": "a", "\\u0074ext": "secret"}', "field 'text' occurs twice"),
        (b'{"n": 1}', "field 'text' is absent"),
        (b'{"text": null}', "field 'text' is null"),
        (b'{"text": [null]}', "field 'text' (element 1 of 'text') is null"),
        (b'{"text": 17}', "field 'text' is a JSON number, not text"),
        (b'{"text": -1}', "field 'text' is a JSON number, not text"),
        (b'{"text": true}', "field 'text' is a JSON boolean, not text"),
        (b'{"text": {"secret": 1}}', "field 'text' is a JSON object, not text"),
        (b'["secret"]', "the record is a JSON array, not an object"),
        (b'"secret"', "the record is a JSON string, not an object"),
        (b"12", "the record is a JSON number, not an object"),
        (b'{"text": "secret"', "not valid JSON: Input data was truncated"),
        (b'{"text": "secret",}', "not valid JSON: "),
        (b'{"text": "secret"} {}', "not valid JSON: "),
        (b'{"text": NaN}', "not valid JSON: "),
        (b'{"text": "secret"}\r{}\r', "not valid JSON: it contains a carriage return"),
        (b'{"text": "secret\x01"}', "not valid JSON: "),
        (b'{"text": "\\ud800"}', "field 'text' contains half of a surrogate pair"),
        (b'{"text": "\\udc00x"}', "field 'text' contains half of a surrogate pair"),
        (b'{"text": "\\ud800\\u0041"}', "contains half of a surrogate pair"),
        (b'{"text": "a", "n": "\\ud800\\x"}', "not valid JSON: "),
        (b'{"text": "a", "n": "\xff"}', "not valid UTF-8 (byte 20)"),
        (b'{"text": "\xed\xa0\x80"}', "not valid UTF-8"),
        (b'{"text": "a\0"}', "NUL byte"),
        (b'{"text": "a", "x": ' + b"[" * 9999 + b"]" * 9999 + b"}", "nested too"),
    ],
)
def test_faults(line: bytes, reason: str) -> None:
    """A line other than one object with one text is a fault; the next line is read."""
    data = line + b'\n{"text": "next"}'
    fault, following = items("jsonl", data)
    assert fault in faults("jsonl", data)
    assert isinstance(fault, Fault)
    assert fault.location == "in:1"
    assert reason in fault.reason
    assert "secret" not in fault.reason
    assert fault.raw == line + b"\n"
    assert isinstance(following, Record)
    assert following.ordinal == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"r": {"t": "a"}, "r": {"t": "b"}}', "field 'r' occurs twice"),
        ('{"r": [{"t": "a", "t": "b"}]}', "field 'r.t' occurs twice"),
        ('{"r": "a"}', "field 'r' is a string, not an object"),
        (
            '{"r": [{"t": "a"}, 3]}',
            "field 'r' (element 2 of 'r') is a number, not an object",
        ),
        ('{"r": [{}, {"t": null}]}', "field 'r.t' (element 1 of 'r') is absent"),
        ("{}", "field 'r' is absent"),
    ],
)
def test_faults_inside(line: str, reason: str) -> None:
    """Every level of a path is checked, for a second copy too."""
    (fault,) = faults("jsonl", line.encode(), Selection(fields=("r.t",)))
    assert reason in fault.reason


CHATS = (
    '{"log": [{"by": "a", "say": "x"}, {"say": null}, {"tool": 1}]}',
    '{"log": [{"say": [{"kind": "t", "body": "x"}, {"kind": "i", "url": {"u": 1}}]}]}',
    '{"log": [{"say": "x"}, {"say": [{"body": "y"}, "z", {"kind": "i"}]}]}',
)


@pytest.mark.parametrize(
    ("line", "fields", "expected"),
    [
        (CHATS[0], ("log.say",), ("x",)),
        (CHATS[0], ("log.say", "log.say.body"), ("x",)),
        (CHATS[1], ("log.say.body",), ("x",)),
        (CHATS[1], ("log.say", "log.say.body"), ("x",)),
        (CHATS[2], ("log.say", "log.say.body"), ("x", "y", "z")),
    ],
)
def test_elements_of_lists_may_differ(
    line: str, fields: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    """One may lack a field, or be a text where another is an object with one."""
    selection = Selection(fields=fields)
    assert texts("jsonl", line.encode(), selection) == [expected]
    (record,) = records("jsonl", line.encode(), selection)
    assert set(record.present or ()) == set(fields)
    changed = through("jsonl", line.encode(), str.upper, selection)
    assert texts("jsonl", changed, selection) == [tuple(map(str.upper, expected))]


@pytest.mark.parametrize(
    ("line", "fields", "reason"),
    [
        (CHATS[1], ("log.say",), "(element 1 of 'log', element 1 of 'log.say') is a"),
        (CHATS[2], ("log.say.body",), "field 'log.say' (element 1 of 'log') is a"),
        (CHATS[0], ("log.say.body",), "field 'log.say' (element 1 of 'log') is a"),
        ('{"log": [{"tool": 1}, {}]}', ("log.say",), "(element 1 of 'log') is absent"),
    ],
)
def test_a_message_says_which_element_is_another(
    line: str, fields: tuple[str, ...], reason: str
) -> None:
    """No text beside a named one is passed over in silence."""
    (fault,) = faults("jsonl", line.encode(), Selection(fields=fields))
    assert reason in fault.reason


@pytest.mark.parametrize(
    "other",
    ['"\\ud83d"', '"x\\\\\\uDC00\\ud83d\\ude00"', '{"\\udfff": ["\\uD800\\u0041"]}'],
)
def test_halves_of_characters_are_copied(other: str) -> None:
    """An escape that is no character stays where it is in no private field."""
    data = f'{{"text": "a", "n": {other}, "m": 1}}\n'.encode()
    assert through("jsonl", data) == data
    assert "m" in copied_names("jsonl", data)
    (record,) = records("jsonl", data)
    for name, text in find(None, "jsonl").others(record, TEXT):
        (name + text).encode()


def test_a_subject_is_no_half_of_a_character() -> None:
    """The subject of a record must be a text."""
    selection = Selection(subject_field="who")
    (fault,) = faults("jsonl", b'{"text": "a", "who": "\\ud83d"}', selection)
    assert "half of a surrogate pair" in fault.reason


def test_foreign_fields_may_occur_twice() -> None:
    """Fields that are not selected are nobody's business."""
    data = b'{"n": 1, "n": 2, "text": "a", "m": {"text": 1, "text": 2}}\n'
    assert through("jsonl", data) == data


def test_missing_may_pass() -> None:
    """With missing = pass an absent or null field gives no text and stays unchanged."""
    selection = Selection(fields=("r.t", "text"), missing="pass")
    data = b'{}\n{"text":null}\n{"r":null,"text":["a",null]}\n{"r":[{},{"t":"b"}]}\n'
    assert texts("jsonl", data, selection) == [(), (), ("a",), ("b",)]
    assert through("jsonl", data, str.upper, selection) == (
        data.replace(b'"a"', b'"A"').replace(b'"b"', b'"B"')
    )


def test_pass_lets_no_other_fault_through() -> None:
    """A field that is there but no text is a fault even where absent ones pass."""
    selection = Selection(missing="pass")
    assert len(faults("jsonl", b'{"text":1}\n{"text":{}}', selection)) == 2


def test_identity_is_the_raw_spelling() -> None:
    """The id is taken in its raw spelling, so that 1 and "1" differ."""
    selection = Selection(id_field="u.id")
    data = b'{"text":"a","u":{"id":1.0}}\n{"u":{"id":"1"},"text":"a"}\n'
    identities = [record.identity for record in records("jsonl", data, selection)]
    assert identities == ["1.0", '"1"']


@pytest.mark.parametrize(
    "line",
    [
        '{"text":"a"}',
        '{"text":"a","id":null}',
        '{"text":"a","id":[1]}',
        '{"text":"a","id":{}}',
        '{"text":"a","id":1,"id":1}',
    ],
)
def test_identity_must_be_one_value(line: str) -> None:
    """A record without its id is a fault, also where absent texts pass."""
    selection = Selection(id_field="id", missing="pass")
    (fault,) = faults("jsonl", line.encode(), selection)
    assert "'id'" in fault.reason


def test_identity_must_not_repeat_in_a_list() -> None:
    """An id that a list holds several times names no record."""
    selection = Selection(id_field="r.id")
    data = b'{"text":"a","r":[{"id":1},{"id":2}]}'
    assert "more than once" in faults("jsonl", data, selection)[0].reason


@pytest.mark.parametrize(
    "selection",
    [
        Selection(fields=("a",), id_field="a"),
        Selection(fields=("a",), id_field="a.b"),
        Selection(fields=("a..b",)),
        Selection(fields=("",)),
        Selection(fields=("a\\",)),
    ],
)
def test_paths_that_make_no_sense_are_refused(selection: Selection) -> None:
    """A selection that contradicts itself is a usage error."""
    with pytest.raises(UsageError, match="field"):
        items("jsonl", b"{}", selection)


def test_blank_lines_and_byte_order_mark_survive() -> None:
    """Blank lines, a BOM and CRLF are written back."""
    data = BOM + b'\r\n{"text": "a"}\r\n \t\r\n{"text": "b"}\n\n'
    assert through("jsonl", data) == data
    assert texts("jsonl", data) == [("a",), ("b",)]


def test_inputs_do_not_fuse() -> None:
    """Two inputs make valid JSON lines though the first lacks its last line end."""
    one, two = b'{"text":"a"}', BOM + b'{"text":"b"}\n'
    assert through("jsonl", [one, two]) == b'{"text":"a"}\n{"text":"b"}\n'


@PATIENT
@given(st.binary(max_size=60))
def test_any_bytes_are_read_to_the_end(data: bytes) -> None:
    """No input makes the reader fail, and no record is both read and faulty."""
    items("jsonl", data)
    items("jsonl", b'{"text":' + data, TEXT)


@pytest.mark.parametrize(
    ("line", "field", "said"),
    [
        ('{"body": "a", "n": 1}', "text", "fields with strings: 'body'"),
        ('{"a": {"no.te": "x"}}', "note", r"fields with strings: 'a.no\\.te'"),
        ('{"n": 1}', "text", "choose another with --field; --missing"),
        ('{"jane@x.org": "a", "1 b": "c"}', "text", "with --field; --missing"),
        ('{"text": null}', "text", "^--missing pass lets it be absent.* choose"),
        ("{" + ",".join(f'"f{n}":"a"' for n in range(40)) + "}", "q", "and 28 more"),
    ],
)
def test_a_field_that_a_record_lacks(line: str, field: str, said: str) -> None:
    """The advice names fields that hold text, as for Parquet, never to skip records."""
    (fault,) = faults("jsonl", line.encode(), Selection(fields=(field,)))
    how = "null" if "null" in line else "absent"
    assert fault.reason == f"field {field!r} is {how}"
    assert re.search(said, fault.advice)
    assert "jane" not in fault.advice


def test_an_array_names_its_format() -> None:
    """A line that is an array is most likely a file of JSON."""
    (fault,) = faults("jsonl", b'[{"text":"a"}]\n')
    assert "--format json reads" in fault.advice


@pytest.mark.parametrize(
    ("line", "present"),
    [
        ('{"a":{"b":"x"},"c":"y"}', ("a.b", "c")),
        ('{"a":{"b":null},"c":[]}', ("a.b", "c")),
        ('{"a":[{"b":"x"},{"b":"y"},{}]}', ("a.b",)),
        ('{"a":null,"b":"x"}', ()),
        ('{"a":[]}', ()),
    ],
)
def test_which_fields_are_present(line: str, present: tuple[str, ...]) -> None:
    """A record tells which of the selected fields it has, null or not, each once."""
    selection = Selection(fields=("a.b", "c"), missing="pass")
    (record,) = records("jsonl", line.encode(), selection)
    assert record.present == present


@pytest.mark.parametrize("name", ["jsonl", "json"])
@pytest.mark.parametrize("between", ["\n", ""])
def test_a_byte_order_mark_within_a_file_is_named(name: str, between: str) -> None:
    """As where files are joined; in a string it is a character like others."""
    data = f'{{"text":"a"}}{between}\ufeff{{"text":"\ufeffb"}}\n'.encode()
    (fault, *_) = faults(name, data)
    assert "a byte order mark within the file" in fault.reason
    assert texts(name, '{"text":"\ufeffb"}'.encode()) == [("\ufeffb",)]
    (fault,) = faults(name, '{"text":"\ufeff" ?}'.encode())
    assert "byte order" not in fault.reason
    if name == "json":
        with pytest.raises(InputError, match=r"in:2: .* a byte order mark"):
            items(name, b'[{"text":"a"}]\n\xef\xbb\xbf[{"text":"b"}]')


@PATIENT
@given(st.data())
def test_plain_lines_are_read_as_all_others(data: st.DataObject) -> None:
    """The expression for plain lines finds what a scan finds, or nothing."""
    root = _fields.tree(TEXT)
    flat = flat_line(root)
    assert flat is not None
    keys = st.sampled_from(["text", "id", "te", "text ", "", 'a"b', "\\"])
    values: st.SearchStrategy[object] = st.one_of(
        STRINGS, st.integers(), st.none(), st.just([]), st.just({})
    )
    pairs = data.draw(st.lists(st.tuples(keys, values), max_size=4))
    space = data.draw(SPACE)
    members = [
        f"{space}{json.dumps(k)}{space}:{space}{json.dumps(v)}" for k, v in pairs
    ]
    line = space + "{" + ",".join(members) + space + "}" + space + "\n"
    match = flat.fullmatch(line)
    if match is not None:
        scan = Scan(line, root, pass_missing=False)
        begin, end = match.span(1)
        assert scan.spans == [(begin - 1, end + 1)]
        assert scan.texts == [match[1]]
        assert scan.present == ("text",)
        assert (scan.changes, scan.identity, scan.subject) == ([], None, None)


def test_which_lines_are_plain() -> None:
    """Objects without others in them, and one text without escapes."""
    flat = flat_line(_fields.tree(TEXT))
    assert flat is not None
    plain = ['{"text":"a"}', ' { "n" : -1.5e3 , "text" : "ä" , "b" : "\\"" } \n']
    other = ['{"text":"\\n"}', '{"text":"a","text":"b"}', '{"a":[],"text":"a"}']
    other += ['{"te\\u0078t":"b","text":"a"}', '{"text":null}', '{"a":{"text":"b"}}']
    assert all(map(flat.fullmatch, plain))
    assert not any(map(flat.fullmatch, other))
    for selection in (
        Selection(fields=("a.b",)),
        Selection(fields=("a", "b")),
        Selection(id_field="id"),
        Selection(dropped=("id",)),
    ):
        assert flat_line(_fields.tree(selection)) is None
