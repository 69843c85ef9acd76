"""CSV and TSV: only selected columns change, rows never shift."""

from __future__ import annotations

import csv
import io
import re
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dptext.errors import InputError, UsageError
from dptext.formats import BOM, Input, find
from dptext.run.selection import Selection
from dptext.types import Fault, Record, Verbatim
from tests.formats.pipe import (
    Endless,
    copied_names,
    faults,
    items,
    records,
    texts,
    through,
)

pytestmark = pytest.mark.quick

# The first draw of any text builds tables of characters.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

LONG = 6 * 10**5

VALUE = st.text(st.sampled_from('ab,;\t"\r\n é\U0001f600'), max_size=6)
ENDS = st.sampled_from(["\n", "\r\n"])
NUMBERS = Selection(fields=("2",), header=False)


def cell(value: str, quoted: bool, delimiter: str) -> str:
    """Spell a value, quoted if asked or needed."""
    needed = any(mark in value for mark in ("\r", "\n", '"', delimiter))
    if quoted or needed:
        return '"' + value.replace('"', '""') + '"'
    return value


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, list[list[str]], str]:
    """Draw a table of three columns: its delimiter, its cells, its spelling."""
    delimiter = draw(st.sampled_from(",;\t|é"))
    rows = draw(st.lists(st.lists(VALUE, min_size=3, max_size=3), max_size=4))
    head = cell("id", draw(st.booleans()), delimiter)
    spelled = f"{head}{delimiter}text{delimiter}x" + draw(ENDS)
    for row in rows:
        cells = [cell(value, draw(st.booleans()), delimiter) for value in row]
        spelled += delimiter.join(cells) + draw(ENDS)
        spelled += draw(st.sampled_from(["", "", "\n", "\r\n"]))
    return delimiter, rows, spelled


def parsed(data: str, delimiter: str) -> list[list[str]]:
    """Parse as the standard library does."""
    lines = io.StringIO(data, newline="")
    return [row for row in csv.reader(lines, delimiter=delimiter) if row]


@PATIENT
@given(tables(), st.booleans())
def test_unchanged_texts_give_the_same_bytes(
    table: tuple[str, list[list[str]], str], cut: bool
) -> None:
    """Mixed line ends, blank lines and a missing last line end survive."""
    delimiter, rows, spelled = table
    data = spelled.rstrip("\r\n") if cut else spelled
    selection = Selection(delimiter=delimiter)
    once = through("csv", data.encode(), selection=selection)
    assert through("csv", once, selection=selection) == once
    assert through("csv", BOM + data.encode(), selection=selection) == BOM + once
    assert parsed(once.decode(), delimiter) == parsed(data, delimiter)
    assert re.findall(rb"[\r\n]*$", once) == re.findall(rb"[\r\n]*$", data.encode())
    assert texts("csv", spelled.encode(), selection) == [(row[1],) for row in rows]


@PATIENT
@given(tables(), VALUE)
def test_only_the_selected_column_changes(
    table: tuple[str, list[list[str]], str], new: str
) -> None:
    """Another parser sees the new text in its column and all other cells as before."""
    delimiter, rows, spelled = table
    selection = Selection(delimiter=delimiter)
    out = through("csv", spelled.encode(), lambda _: new, selection)
    expected = [["id", "text", "x"]] + [[row[0], new, row[2]] for row in rows]
    assert parsed(out.decode(), delimiter) == expected


@PATIENT
@given(st.text(st.sampled_from('a,"\n\r'), max_size=40))
def test_texts_agree_with_the_standard_library(data: str) -> None:
    """Rows read without a fault are those of the standard library."""
    try:
        read = items("csv", data.encode(), Selection(fields=("1",), header=False))
    except InputError:
        return
    if any(isinstance(item, Fault) for item in read):
        return
    mine = [item.texts[0] for item in read if isinstance(item, Record)]
    assert mine == [row[0] for row in parsed(data, ",")]


@PATIENT
@given(st.binary(max_size=50), st.integers(3, 60), st.booleans())
def test_any_bytes_keep_their_rows_apart(
    data: bytes, limit: int, quoting: bool
) -> None:
    """With any limit, the rows that are read are those read without one."""
    bulk = Selection(fields=("1",), header=False, missing="pass", quoting=quoting)
    small = Selection(
        fields=("1",), header=False, quoting=quoting, max_record_bytes=limit
    )
    head = b"x,y\n"
    try:
        in_bulk = items("csv", head + data, bulk)
    except InputError:
        with pytest.raises(InputError, match=r"never closed|longer than"):
            items("csv", head + data, small)
        return
    some, said = [], ""
    try:
        some = items("csv", head + data, small)
    except InputError as error:
        said = str(error)
    if said:
        assert quoting
        assert "longer than" in said
        return
    assert [type(item) for item in some if not isinstance(item, Fault)] == [
        type(item)
        for item, other in zip(in_bulk, some, strict=True)
        if not isinstance(other, Fault)
    ]
    for one, other in zip(in_bulk, some, strict=True):
        same = one == other
        assert same or (isinstance(other, Fault) and "longer than" in other.reason)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a", "b", "b"),
        ('"a"', "b", "b"),
        ("a", "b,c", '"b,c"'),
        ("a", 'b"c', '"b""c"'),
        ("a", "b\nc", '"b\nc"'),
        ("a", "b\rc", '"b\rc"'),
        ('"a"', 'b"', '"b"""'),
        ("a", "", ""),
        ('"a"', "", ""),
    ],
)
def test_quotes_are_kept_or_added_where_needed(
    old: str, new: str, expected: str
) -> None:
    """A text is quoted if it must be, as it was or not; or as its column's name is."""
    data = f"text,n\n{old},1\n".encode()
    out = through("csv", data, lambda _: new)
    assert out == f"text,n\n{expected},1\n".encode()
    quoted = expected if expected.startswith('"') else f'"{expected}"'
    out = through("csv", b'"text",n\n' + data[7:], lambda _: new)
    assert out == f'"text",n\n{quoted},1\n'.encode()


def test_empty_text_alone_is_no_blank_line() -> None:
    """The only field of a row is quoted when it becomes empty."""
    assert through("csv", b"text\na\n", lambda _: "") == b'text\n""\n'


def test_rows_span_lines() -> None:
    """Line feeds, CRLF and bare carriage returns inside quotes belong to the text."""
    data = b'text,n\r\n"a\nb\r\nc\rd",1\r\ne,2'
    assert texts("csv", data) == [("a\nb\r\nc\rd",), ("e",)]
    assert through("csv", data) == data


def test_quotes_inside_an_unquoted_field_are_ordinary() -> None:
    """Inches are inches: a quote that does not begin a field means nothing."""
    data = b'text,n\n5" disk,1\na "b" c,2\n'
    assert texts("csv", data) == [('5" disk',), ('a "b" c',)]
    assert through("csv", data) == b'text,n\n"5"" disk",1\n"a ""b"" c",2\n'


def test_texts_come_in_column_order() -> None:
    """Several fields give their texts as they stand in the file, each once."""
    selection = Selection(fields=("b", "a", "b"))
    assert texts("csv", b"a,b\n1,2\n", selection) == [("1", "2")]


def test_identity_is_the_value() -> None:
    """The id is the value of its column, without quotes."""
    read = records("csv", b'id,text\n"x""y",a\n', Selection(id_field="id"))
    assert read[0].identity == 'x"y'


def test_columns_by_number() -> None:
    """Without header, fields are numbers from 1, and the first row is a record."""
    selection = Selection(fields=("2",), id_field="1", header=False)
    data = BOM + b'"i",a\nj,b'
    assert texts("csv", data, selection) == [("a",), ("b",)]
    assert records("csv", data, selection)[0].identity == "i"
    assert through("csv", data, selection=selection) == data


@pytest.mark.parametrize("name", ["0", "-1", "text", "1.0", ""])
def test_columns_that_are_no_numbers_are_refused(name: str) -> None:
    """Without header a name can mean nothing."""
    with pytest.raises(InputError, match="numbers of columns"):
        items("csv", b"a,b\n", Selection(fields=(name,), header=False))


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "\r"])
def test_delimiters_that_cannot_work_are_refused(delimiter: str) -> None:
    """The delimiter is one character, without another meaning."""
    if delimiter:
        with pytest.raises(UsageError, match="delimiter"):
            items("csv", b"text\n", Selection(delimiter=delimiter))
    else:
        assert texts("csv", b"text,b\na,\n", Selection(delimiter="")) == [("a",)]


@pytest.mark.parametrize(
    ("data", "selection", "message"),
    [
        (b"\nid,txt\n", Selection(), "in:2: no column 'text' in the header"),
        (b"body\n", Selection(), "or another delimiter with --delimiter"),
        (b"John Smith,1\n", Selection(), "no column 'text'.*--no-header"),
        (b"text,text\n", Selection(), "in:1: column 'text' occurs more than once"),
        (b"text\n", Selection(id_field="id"), "in:1: no column 'id'"),
        (b"a\n", NUMBERS, "in:1: no column '2'; without header"),
        (b"te\xffxt\n", Selection(), "in:1: header: not valid UTF-8"),
        (
            "text\n".encode("utf-16-le"),
            Selection(),
            "in:1: header: it contains a NUL byte",
        ),
        (b"text,b\r1,2\r3,4\n", Selection(), "in:1: header: carriage return"),
        (b'text,n\na,1\n"b,2\nc,3\n', Selection(), "in:3: .*never closed.*--no-quot"),
        (
            b'text,n\n"a\n\nb,"x\n',
            Selection(),
            "in:2: .*text after the closing quote of a field",
        ),
        (b'text,n\n"a\n\nb,x\n', Selection(), "in:2: .*never closed"),
        (b'text,"n\n', Selection(), "in:1: .*never closed"),
    ],
)
def test_inputs_that_cannot_be_read_at_all(
    data: bytes, selection: Selection, message: str
) -> None:
    """A wrong header or an open quote stops the run, and the message has no text."""
    with pytest.raises(InputError, match=message) as caught:
        items("csv", data, selection)
    assert not {"Jane", "Smith"} & set(re.findall(r"\w+", str(caught.value)))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"secret\n", "1 fields where the header has 2"),
        (b"a,b,secret\n", "3 fields where the header has 2"),
        (b'"a" secret",1\n', "text after the closing quote of the field that begins"),
        (b'"a"secret\nb,1\nc",1\n', "on line 2; double the quotes"),
        (b"sec\rret,1\n", "carriage return outside quotes"),
        (b'sec\rret,"1"\n', "carriage return outside quotes"),
        (b"secret\xff,1\n", "not valid UTF-8"),
        (b"secret,\0\n", "NUL byte"),
    ],
)
def test_faults(row: bytes, reason: str) -> None:
    """A bad row is a fault with its bytes; the next row is read."""
    fault, following = items("csv", b"text,n\n" + row + b"next,1\n")[1:]
    assert isinstance(fault, Fault)
    assert fault.location == "in:2"
    assert reason in fault.reason
    assert "secret" not in fault.reason
    assert fault.raw == row
    assert isinstance(following, Record)
    assert (following.ordinal, following.texts) == (1, ("next",))


def test_broken_quotes_never_shift_text_into_another_column() -> None:
    """After an unescaped quote the rows inside the field are no separate rows."""
    data = b'text,n\n"he said "hi" to\nsecret,1\nsecret",7\nlast,8\n'
    assert through("csv", data, lambda _: "X") == b"text,n\nX,8\n"


def test_faults_name_the_line_where_the_row_begins() -> None:
    """Lines inside quoted fields and blank lines count."""
    data = b'text,n\n"a\nb\n",1\n\nbad\n"c\n",2\nbad\n'
    assert [fault.location for fault in faults("csv", data)] == ["in:6", "in:9"]


@pytest.mark.parametrize(
    ("head", "fill", "tail"),
    [
        (b"", b"x", b",1\n"),
        (b'"', b"x", b'",1\n'),
        (b'"', b"x\n", b'"\r\n'),
        (b'"', b'""', b'",1\n'),
        (b'1,"', b"a,b\n", b'",1\n'),
        (b"1,", b'"', b",1\n"),
    ],
)
def test_row_too_long_ends_the_run_in_constant_memory(
    head: bytes, fill: bytes, tail: bytes
) -> None:
    """Where a row that is too long ends nothing tells: the rest might be texts."""
    stream = io.BufferedReader(
        Endless(b"text,n\n" + head, fill, LONG // len(fill), tail + b"b,1\n")
    )
    selection = Selection(max_record_bytes=1000)
    tracemalloc.start()
    with pytest.raises(InputError, match="in:2: a row longer than 1000 bytes"):
        list(find(None, "csv").read(Input(stream, selection, "in")))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < LONG // 2


def test_without_quoting_a_row_too_long_is_skipped() -> None:
    """It ends with its line, however long that is."""
    stream = io.BufferedReader(Endless(b"text,n\n", b"x", LONG, b",1\nb,1\nbad\n"))
    selection = Selection(max_record_bytes=1000, quoting=False)
    fault, record, bad = list(find(None, "csv").read(Input(stream, selection, "in")))[
        1:
    ]
    assert isinstance(fault, Fault)
    assert fault.reason.startswith("longer than 1000 bytes")
    assert (fault.location, fault.raw) == ("in:2", b"")
    assert isinstance(record, Record)
    assert record.texts == ("b",)
    assert isinstance(bad, Fault)
    assert bad.location == "in:4"


def test_without_quoting_quotes_are_ordinary() -> None:
    """Without quoting each line is a row, and quotes are part of the text."""
    selection = Selection(quoting=False)
    data = b'text\tn\n"a\t1\nb "c"\t2\r\n'
    assert texts("tsv", data, selection) == [('"a',), ('b "c"',)]
    assert through("tsv", data, selection=selection) == data


def test_without_quoting_a_new_text_keeps_its_row_whole() -> None:
    """Delimiters and line breaks in a new text become spaces."""
    selection = Selection(quoting=False)
    out = through("tsv", b"text\tn\na\t1\n", lambda _: 'x\ty\r\nz\rw\n"', selection)
    assert out == b'text\tn\nx y z w "\t1\n'


def test_tsv_quotes_as_csv_does() -> None:
    """In TSV too a quoted field may hold tabs and line ends."""
    data = b'text\tn\n"a\tb\n"\t1\n'
    assert texts("tsv", data) == [("a\tb\n",)]
    assert through("tsv", data) == data


def test_header_of_equal_inputs_is_written_once() -> None:
    """Several inputs make one table, rows apart, with any spelling of their headers."""
    one, two = b"text,n\r\na,1", BOM + b'"text","n"\nb,2\n'
    assert through("csv", [one, two]) == b"text,n\r\na,1\r\nb,2\n"


def test_inputs_with_other_columns_are_refused() -> None:
    """Rows of another table cannot follow."""
    with pytest.raises(InputError, match="columns of the inputs differ"):
        through("csv", [b"text,n\na,1\n", b"n,text\n1,a\n"])


def test_header_alone_is_an_output() -> None:
    """A table without rows keeps its header."""
    assert through("csv", b"text,n\n") == b"text,n\n"
    assert through("csv", b"") == b""
    assert through("csv", BOM) == BOM


@pytest.mark.parametrize("mark", [";", "\t", "|"])
@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_the_header_tells_the_delimiter(name: str, mark: str) -> None:
    """A delimiter that gives the header all named columns is taken, and said."""
    data = '\ufeff"id";"a, b";text\r\n1;"x;y";a, b\r\n'.replace(";", mark).encode()
    selection = Selection(fields=("text",), id_field="id")
    header = items(name, data, selection)[1]
    assert isinstance(header, Verbatim)
    if (name, mark) == ("tsv", "\t"):
        assert header.note == ""
    else:
        assert header.note.startswith("in: read with --delimiter ")
    assert texts(name, data, selection) == [("a, b",)]
    assert through(name, data, selection=selection) == data
    private = through(name, data, lambda text: f"{text}{mark}", selection)
    assert private.endswith(f'"a, b{mark}"\r\n'.encode())
    assert copied_names(name, data, selection) == ["id", "a, b"]


@pytest.mark.parametrize("begin", ["sep=;", '\ufeff"sep=;"'])
def test_excels_first_line_names_the_delimiter(begin: str) -> None:
    """It is no row, is written back, and goes before a guess; an option before it."""
    data = f"{begin}\r\ntext\r\na, b\r\n".encode()
    assert texts("csv", data) == [("a, b",)]
    assert through("csv", data) == data
    assert through("csv", [data, data]) == data + b"a, b\r\n"
    wide = f"{begin}\nid;text\n1;a, b\n".encode()
    assert copied_names("csv", wide) == ["id"]
    (fault,) = faults("csv", wide + b"2;a;b\n")
    assert fault.location == "in:4"
    plain = Selection(fields=("2",), header=False)
    assert texts("csv", wide, plain) == [("text",), ("a, b",)]
    assert through("csv", wide, selection=plain) == wide
    other = data.replace(b", ", b",")
    assert texts("csv", other, Selection(delimiter="|")) == [("a,b",)]


def test_no_delimiter_is_guessed_where_the_usual_one_fits() -> None:
    """The usual delimiter comes first, and a delimiter that is named is kept."""
    (row,) = records("csv", b"id;text,text\n1;2,a;b\n")
    assert row.texts == ("a;b",)
    with pytest.raises(InputError):
        items("csv", b"id;text\n", Selection(delimiter="|"))


PREAMBLE = b"Turnover 2026\nBranch;7\n\nday;body;sum\n1;the film;2\n"


def test_lines_before_a_table_are_left_out() -> None:
    """The header comes after them; line numbers are those of the file."""
    selection = Selection(fields=("body",), skip_lines=3)
    assert texts("csv", PREAMBLE, selection) == [("the film",)]
    assert through("csv", PREAMBLE, str.upper, selection) == (
        b"day;body;sum\n1;THE FILM;2\n"
    )
    (fault,) = faults("csv", PREAMBLE + b"1;2\n", selection)
    assert fault.location == "in:6"
    assert through("csv", BOM + PREAMBLE, str.upper, selection).startswith(BOM + b"day")
    long = b"x" * 200_000 + b"\n" + PREAMBLE
    assert texts("csv", long, replace(selection, skip_lines=4)) == [("the film",)]


def test_a_header_below_other_lines_is_pointed_out() -> None:
    """The message says how many lines to skip."""
    with pytest.raises(InputError, match="line 4 has it: --skip-lines 3"):
        texts("csv", PREAMBLE, Selection(fields=("body",)))
    with pytest.raises(InputError, match="--delimiter ';'; did you mean 'body'"):
        texts("csv", b"day;body;sum\n", Selection(fields=("bdy",)))


COPY = (
    b"id\tnote\ttext\n1\t\\N\tone\\ntwo\\tthree\\\\end\n2\ta\\tb\t\\N\n"
    b'3\t"x\tquote " \\x41\\101\n'
)


def test_escapes_of_copy_are_read_and_written() -> None:
    """Line ends, tabs and backslashes of new texts are escaped; nulls stay nulls."""
    selection = Selection(escapes="backslash")
    read = texts("tsv", COPY, selection)
    assert read == [("one\ntwo\tthree\\end",), ("",), ('quote " AA',)]
    assert through("tsv", COPY, selection=selection) == COPY.replace(
        b"\\x41\\101", b"AA"
    )
    new = through("tsv", COPY, lambda text: text + "\r\n\t\\N", selection)
    assert new.count(b"\n") == 4
    assert texts("tsv", new, selection)[2] == ('quote " AA\r\n\t\\N',)
    assert new.splitlines()[2].endswith(b"\\N")


def test_a_delimiter_may_be_escaped() -> None:
    """As COPY writes it with another delimiter than a tab."""
    data = b"id,text\n1,a\\, b\\\\\n2,c\n"
    selection = Selection(escapes="backslash")
    assert texts("csv", data, selection) == [("a, b\\",), ("c",)]
    assert through("csv", data, selection=selection) == data


def test_backslashes_that_look_like_escapes_are_refused_or_told() -> None:
    """Read as text they would become others; none says that they are text."""
    (fault, other) = items("tsv", b"text\none\\ntwo\na \\d b\n")[1:]
    assert isinstance(fault, Fault)
    assert "--escapes backslash" in fault.advice
    assert isinstance(other, Record)
    data = b"text\nC:\\new\\table\n"
    assert through("tsv", data, selection=Selection(escapes="none")) == data
    assert not faults("tsv", b"x\ttext\n\\n\ta\n")  # copied unchanged
    assert not faults("csv", data)


def test_a_copied_field_with_a_bad_escape_is_copied() -> None:
    """A copied field need not be understood; warnings look at its spelling."""
    data = b"note\ttext\n\\xff\ta\n"
    selection = Selection(escapes="backslash")
    (record,) = records("tsv", data, selection)
    assert [*find(None, "tsv").others(record, selection)] == [("note", r"\xff")]
    assert through("tsv", data, selection=selection) == data
    (fault,) = faults("tsv", b"text\n\\xff\n", selection)
    assert "no character" in fault.reason


@pytest.mark.parametrize("row", ["2,b", '"2,x",b', '2,"b\nc"'])
def test_a_byte_order_mark_within_a_table_is_named(row: str) -> None:
    """Where files are joined, quotes behind it would not enclose a field."""
    data = f"id,text\n1,a\n\ufeff{row}\n3,\ufeffc\n".encode()
    (fault,) = faults("csv", data)
    assert fault.location == "in:3"
    assert "a byte order mark within the file" in fault.reason
    assert texts("csv", data) == [("a",), ("\ufeffc",)]
    with pytest.raises(InputError, match="in:1: header: there is a byte order mark"):
        items("csv", "\ufeff\ufeffid,text\n".encode())
