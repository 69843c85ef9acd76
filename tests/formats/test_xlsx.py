"""Excel workbooks: texts change, values of other columns and their formats stay."""

from __future__ import annotations

import contextlib
import datetime
import io
import re
import zipfile
from collections.abc import Sequence
from typing import Any

import pytest

from dptext.errors import InputError, UnknownFieldError, Urgent
from dptext.run.selection import Selection
from dptext.types import Record, Verbatim
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

openpyxl = pytest.importorskip("openpyxl")

DAY = datetime.datetime(2026, 3, 1)
HEAD = ["id", "day", "text", "paid", "ok", "late"]
LATE = datetime.time(12, 30)
SHEET = "xl/worksheets/sheet1.xml"


def spelled(*rows: Sequence[Any], head: Sequence[Any] = HEAD) -> bytes:
    """Write a workbook with these rows below the names of columns."""
    book = openpyxl.Workbook()
    for row in (head, *rows):
        book.active.append(list(row))
    return saved(book)


def saved(book: Any) -> bytes:
    """Return the bytes of a workbook."""
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def back(data: bytes) -> list[list[Any]]:
    """Read the values of the first sheet."""
    book = openpyxl.load_workbook(io.BytesIO(data))
    return [[cell.value for cell in row] for row in book.worksheets[0].iter_rows()]


def parts(data: bytes) -> dict[str, bytes]:
    """Return the parts of a workbook by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(data: dict[str, bytes]) -> bytes:
    """Return a workbook of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, part in data.items():
            archive.writestr(name, part)
    return out.getvalue()


def test_only_texts_change() -> None:
    """Numbers, dates, times, truth values, errors and empty cells stay."""
    rows: list[Any] = [
        [1, DAY, "the <film> & \n more", 12.5, True, LATE],
        ["007", None, "  the film", 0.1 + 0.2, False, datetime.timedelta(hours=30)],
        [None, DAY.replace(hour=7), None, -3, None, "#N/A"],
    ]
    data = spelled(*rows)
    out = through("xlsx", data, str.upper)
    upper = [[*row[:2], row[2] and row[2].upper(), *row[3:]] for row in back(data)[1:]]
    assert back(out) == [HEAD, *upper]
    assert texts("xlsx", data)[0] == ("the <film> & \n more",)
    assert through("xlsx", out) == through("xlsx", through("xlsx", data, str.upper))


def test_number_formats_stay() -> None:
    """A date is shown as before, an amount with its currency."""
    book = openpyxl.load_workbook(io.BytesIO(spelled([1, DAY, "x", 2.5, True, LATE])))
    shown = {"B2": "dd/mm/yyyy", "D2": '#,##0.00 "EUR"'}
    for name, code in shown.items():
        book.active[name].number_format = code
    again = openpyxl.load_workbook(io.BytesIO(through("xlsx", saved(book))))
    assert {name: again.active[name].number_format for name in shown} == shown


def test_nothing_else_of_a_workbook_comes_along() -> None:
    """Comments, properties and old strings are not in the output; the name stays."""
    book = openpyxl.load_workbook(
        io.BytesIO(spelled([1, DAY, "SECRET", 2, True, LATE]))
    )
    book.active["A1"].comment = openpyxl.comments.Comment("SECRET", "SECRET")
    book.active.title = "tickets"
    book.properties.title = "SECRET"
    out = through("xlsx", saved(book), lambda text: "new")
    with zipfile.ZipFile(io.BytesIO(out)) as archive:
        assert all(b"SECRET" not in archive.read(name) for name in archive.namelist())
        assert not any("SECRET" in name for name in archive.namelist())
    assert openpyxl.load_workbook(io.BytesIO(out)).sheetnames == ["tickets"]


def sheets_of(data: bytes) -> dict[str, list[list[Any]]]:
    """Return the values of all sheets, by name and state."""
    book = openpyxl.load_workbook(io.BytesIO(data))
    return {
        f"{sheet.title} {sheet.sheet_state}": [
            [cell.value for cell in row] for row in sheet.iter_rows()
        ]
        for sheet in book.worksheets
    }


def several() -> Any:
    """Make a workbook of a title page, two tables with a text, and a list."""
    book = openpyxl.Workbook()
    book.active.title = "Info"
    book.active["B2"], book.active["A4"], book.active["D4"] = "A title", "by", "me"
    rows: dict[str, list[list[Any]]] = {
        "tickets": [["id", "text"], [1, "one"], [2, "two"]],
        "old": [["text", "mail"], ["three", "a@b.c"]],
        "list": [["name", "mail"], ["x", "d@e.f"], ["y", "g@h.i"]],
    }
    for name, lines in rows.items():
        for line in lines:
            sheet = book[name] if name in book else book.create_sheet(name)
            sheet.append(line)
    book["old"].sheet_state, book["list"].sheet_state = "hidden", "veryHidden"
    return book


def test_every_sheet_with_the_field_is_private() -> None:
    """Hidden ones, too, which stay hidden; other sheets are copied, cell by cell."""
    data = saved(several())
    assert texts("xlsx", data) == [("one",), ("two",), ("three",)]
    before, after = sheets_of(data), sheets_of(through("xlsx", data, str.upper))
    assert after == before | {
        "tickets visible": [["id", "text"], [1, "ONE"], [2, "TWO"]],
        "old hidden": [["text", "mail"], ["THREE", "a@b.c"]],
    }
    head = items("xlsx", data)[0]
    assert isinstance(head, Verbatim)
    assert isinstance(head.note, Urgent)
    assert head.note == (
        "in: the texts are private in sheet 'tickets', 'old' (hidden); copied as it "
        "is: 'Info', 'list' (hidden)"
    )
    assert head.sheets == {"Info": False, "tickets": True, "old": True, "list": False}
    names = ["Info!", "Info!A title", "tickets!id", "old!mail", "list!name"]
    assert copied_names("xlsx", data) == [*names, "list!mail"]


def test_a_named_sheet_alone_is_private_and_others_are_named() -> None:
    """A sheet that has the field, too, is copied, and a line says so."""
    data, only = saved(several()), Selection(sheets=("tickets",))
    assert texts("xlsx", data, only) == [("one",), ("two",)]
    out = sheets_of(through("xlsx", data, str.upper, only))
    assert out["old hidden"] == sheets_of(data)["old hidden"]
    head = items("xlsx", data, only)[0]
    assert isinstance(head, Verbatim)
    assert "sheet 'old' (hidden) has 'text', too, but is copied unchanged" in head.note
    assert "--sheet NAME makes it private" in head.note
    whole = Selection(("old!text",))
    assert texts("xlsx", data, whole) == [("three",)]
    assert through("xlsx", data, str.upper, whole) == through(
        "xlsx", data, str.upper, Selection(sheets=("old",))
    )


def test_columns_leave_every_sheet_or_one() -> None:
    """A name stands for all sheets, SHEET!COLUMN for one; letters for no name."""
    data = saved(several())

    def left(*dropped: str) -> dict[str, list[list[Any]]]:
        return sheets_of(through("xlsx", data, selection=Selection(dropped=dropped)))

    assert left("mail")["old hidden"] == [["text"], ["three"]]
    assert left("mail")["list veryHidden"] == [["name"], ["x"], ["y"]]
    one = left("list!mail", "Info!D")
    assert one["old hidden"] == sheets_of(data)["old hidden"]
    assert one["list veryHidden"] == [["name"], ["x"], ["y"]]
    assert one["Info visible"][-1] == ["by", None]
    # Without names, the next row would stand as names.
    assert left("Info!A title", "Info!A")["Info visible"] == []
    selection = Selection(replaced=("mail",))
    writer = find(None, "xlsx").writer(
        out := io.BytesIO(), selection, lambda value: "T"
    )
    for item in items("xlsx", data, selection):
        if isinstance(item, Record):
            writer.write(item, item.texts)
        elif isinstance(item, Verbatim):
            writer.verbatim(item)
    writer.close()
    tokens = sheets_of(out.getvalue())
    assert tokens["old hidden"] == [["text", "mail"], ["three", "T"]]
    assert tokens["list veryHidden"] == [["name", "mail"], ["x", "T"], ["y", "T"]]


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (
            Selection(("note",)),
            r"no column 'note' in its sheets; sheets: 'Info'; .*'id'",
        ),
        (Selection(("txt",)), "did you mean 'text'"),
        (Selection(sheets=("ticket",)), "no sheet 'ticket'; did you mean 'tickets'"),
        (Selection(sheets=("list",)), "no column 'text' in these sheets"),
        (Selection(sheets=("tickets", "list")), "no private column in sheet 'list'"),
        (Selection(dropped=("no",)), "no column 'no' in its sheets"),
        (Selection(id_field="id"), r"sheet 'old' \(hidden\): no column 'id'"),
    ],
)
def test_messages_list_the_sheets(selection: Selection, message: str) -> None:
    """What is not there is refused, with the sheets and their columns."""
    with pytest.raises(UnknownFieldError, match=message):
        items("xlsx", saved(several()), selection)


def test_a_formula_repeats_no_text_in_a_copied_sheet() -> None:
    """Its saved text may be a private one; its number stays, and it needs no result."""
    book = several()
    book["Info"]["A5"], book["Info"]["B5"] = "COMPUTED", 7
    book["Info"]["C5"] = "=1+1"
    book["list"]["A1"] = "COMPUTED"
    data = parts(saved(book))
    for number, cell in ((1, "A5"), (4, "A1")):
        name = f"xl/worksheets/sheet{number}.xml"
        data[name] = re.sub(
            f'<c r="{cell}" t="inlineStr"><is><t>COMPUTED</t></is></c>'.encode(),
            f'<c r="{cell}" t="str"><f>tickets!B2</f><v>one</v></c>'.encode(),
            data[name],
        )
    name = "xl/worksheets/sheet1.xml"
    seven = b'<c r="B5"><f>3+4</f><v>7</v></c>'
    data[name] = re.sub(rb'<c r="B5" t="n"><v>7</v></c>', seven, data[name])
    assert seven in data[name]
    out = sheets_of(through("xlsx", packed(data), str.upper))
    assert out["Info visible"][-1][:2] == [None, 7]
    assert out["list veryHidden"][0] == [None, "mail"]
    assert "list!one" not in copied_names("xlsx", packed(data))


def test_workbooks_of_several_sheets_are_not_joined() -> None:
    """One output cannot hold the sheets of two; each has its own output."""
    one = saved(several())
    with pytest.raises(InputError, match="write each input to its own output"):
        through("xlsx", [one, one])


def test_rows_of_any_order_find_their_sheet() -> None:
    """Shuffled records come after all else, those of several sheets mixed."""
    data = saved(several())
    read, out = items("xlsx", data), io.BytesIO()
    writer = find(None, "xlsx").writer(out, TEXT)
    for item in read:
        if isinstance(item, Verbatim):
            writer.verbatim(item)
    for item in reversed(read):
        if isinstance(item, Record):
            writer.write(item, item.texts)
    writer.close()
    mixed = sheets_of(out.getvalue())
    rows = [["id", "text"], [2, "two"], [1, "one"]]
    assert mixed == sheets_of(data) | {"tickets visible": rows}


def test_sheets_without_cells_are_named() -> None:
    """A chart is left out; an empty sheet is copied; one sheet must be shown."""
    book = several()
    book.create_sheet("empty")
    book.create_chartsheet("chart").add_chart(openpyxl.chart.BarChart())
    head = items("xlsx", saved(book))[0]
    assert isinstance(head, Verbatim)
    assert head.note.endswith("'empty'; left out because it has no cells: 'chart'")
    out = sheets_of(through("xlsx", saved(book)))
    assert out["empty visible"] in ([], [[None]])
    for sheet in book.worksheets:
        sheet.sheet_state = "hidden"
    with pytest.raises(InputError, match="all worksheets are hidden"):
        items("xlsx", saved(book))


def test_hidden_rows_and_columns_are_said() -> None:
    """They are copied, and the copy shows them; a column that leaves is not named."""
    book = openpyxl.load_workbook(io.BytesIO(spelled([1, DAY, "x", 2, True, LATE])))
    for column in "ACD":
        book.active.column_dimensions[column].hidden = True
    book.active.row_dimensions[2].hidden = True
    shown = Selection(dropped=("id",))
    head, record = items("xlsx", saved(book), shown)
    assert isinstance(head, Verbatim)
    left = "'paid' (--drop drops one)"
    assert head.note == f"in: columns hidden in Excel but visible in the copy: {left}"
    writer = find(None, "xlsx").writer(io.BytesIO(), shown)
    writer.verbatim(head)
    assert writer.note == ""
    assert isinstance(record, Record)
    writer.write(record, record.texts)
    assert writer.note == "rows hidden in Excel but visible in the copy: 1"


def test_names_of_columns_keep_value_type_and_format() -> None:
    """A date, a year and a truth value among them; they are named by their texts."""
    book = openpyxl.Workbook()
    book.active.append([DAY, "text", 2024, True, 0.5, None, "a"])
    book.active.append([1, "x", 2, 3, 4, 5, 6])
    book.active["A1"].number_format = "mmm yy"
    book.active["E1"].number_format = "0%"
    data = saved(book)
    names = ["2026-03-01", "2024", "TRUE", "0.5", "", "a"]
    assert copied_names("xlsx", data) == names
    out = through("xlsx", data, selection=Selection(dropped=("a",)))
    head = openpyxl.load_workbook(io.BytesIO(out)).active[1]
    assert [cell.value for cell in head] == [DAY, "text", 2024, True, 0.5, None]
    assert [head[0].number_format, head[4].number_format] == ["mmm yy", "0%"]
    chosen = Selection(fields=("2026-03-01", "2024"))
    assert texts("xlsx", data, chosen) == [("1", "2")]


@pytest.mark.parametrize("kind", ["inline", "shared", "rich", "formula"])
def test_escapes_of_excel_stand_for_characters(kind: str) -> None:
    """In private texts, names and ids; copied cells and names keep their spelling."""
    cases = {
        "one_x000D_\ntwo": "one\r\ntwo",
        "_x005F_x000D_": "_x000D_",
        "_x000d_ _x0009__x00e4_": "\r \tä",
        "_x000_ x005F_ _x00zz_": "_x000_ x005F_ _x00zz_",
        "_xD83D_": "_xD83D_",
        "_x005F_x005F_": "_x005F_",
    }
    given = [[each, each, "1"] for each in cases]
    files = parts(spelled(*given, head=["text", "_x0041_", "id_x000D_"]))
    sheet = files[SHEET].decode()
    strings = re.findall(r"<is><t>(.*?)</t></is>", sheet, re.DOTALL)
    assert len(strings) == 3 + 3 * len(cases)
    shared = "<t>{}</t>"
    if kind == "rich":
        shared = '<r><t>{}</t></r><rPh sb="0" eb="1"><t>NO</t></rPh>'
    for number, each in enumerate(strings):
        inline = f't="inlineStr"><is><t>{each}</t></is>'
        new = {
            "inline": inline,
            "formula": f't="str"><f>1</f><v>{each}</v>',
        }.get(kind, f't="s"><v>{number}</v>')
        sheet = sheet.replace(inline, new, 1)
    files[SHEET] = sheet.encode()
    table = "".join(f"<si>{shared.format(each)}</si>" for each in strings)
    files["xl/sharedStrings.xml"] = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"{table}</sst>"
    ).encode()
    data = packed(files)
    chosen = Selection(id_field="id\r")
    read = records("xlsx", data, chosen)
    assert [record.texts[0] for record in read] == list(cases.values())
    module = find(None, "xlsx")
    assert dict(module.others(read[0], chosen))["A"] == "one\r\ntwo"
    out = through("xlsx", data, selection=chosen)
    assert back(out)[0] == ["text", "_x0041_", "id_x000D_"]
    assert [row[1] for row in back(out)[1:]] == list(cases)
    # New texts are spelled in one way, and read as they were.
    assert [each.texts for each in records("xlsx", out, chosen)] == [
        each.texts for each in read
    ]


@pytest.mark.parametrize("is_shared", [True, False])
def test_an_escape_lies_within_a_run(is_shared: bool) -> None:
    """Parts of two runs are none, neither in a private text nor in a copied cell."""
    runs = "<r><t>a_x00</t></r><r><t>0D_b_x000A</t></r><r><t>_x0041_</t></r>"
    files = parts(spelled(["x", "y"], head=["text", "b"]))
    cell = f't="inlineStr"><is>{runs}</is>'.encode()
    if is_shared:
        files["xl/sharedStrings.xml"] = (
            '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
            f"<si>{runs}</si></sst>"
        ).encode()
        cell = b't="s"><v>0</v>'
    sheet = re.sub(rb't="inlineStr"><is><t>[xy]</t></is>', cell, files[SHEET])
    assert sheet.count(cell) == 2
    data = packed(files | {SHEET: sheet})
    meant = "a_x000D_b_x000AA"
    for each in (data, through("xlsx", data)):
        (record,) = records("xlsx", each)
        assert record.texts == (meant,)
        assert dict(find(None, "xlsx").others(record, Selection()))["b"] == meant


def test_a_copied_carriage_return_stays() -> None:
    """As a reference to a character, as which a workbook may hold it."""
    files = parts(spelled(["x", "a-b"], head=["text", "b"]))
    files[SHEET] = files[SHEET].replace(b"a-b", b"a&#13;&#10;b")
    assert b"a&#13;\nb" in parts(through("xlsx", packed(files)))[SHEET]


def test_the_result_of_a_formula_is_read() -> None:
    """Its saved value is copied; without one the workbook is refused, not emptied."""
    data = spelled([1, DAY, "x", "=1+1", True, LATE])
    with pytest.raises(InputError, match="a formula has no saved result"):
        items("xlsx", data)
    for given, value in ((b"<v>2</v>", 2), (b"<v></v>", None)):
        kind = b' t="str"' if value is None else b""
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        sheet = parts[SHEET]
        begin, end = sheet.index(b'<c r="D2"'), sheet.index(b'<c r="E2"')
        cell = b'<c r="D2"%b><f>1+1</f>%b</c>' % (kind, given)
        parts[SHEET] = sheet[:begin] + cell + sheet[end:]
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
        assert back(through("xlsx", out.getvalue()))[1][3] == value


def test_formulas_of_other_sheets_need_no_result() -> None:
    """Only those of private sheets do; there names of any prefix are known."""
    book = openpyxl.load_workbook(io.BytesIO(spelled(["x"], head=["text"])))
    book.create_sheet("other").append(["=1+1"])
    data = parts(saved(book))
    assert texts("xlsx", packed(data)) == [("x",)]
    data[SHEET] = (
        b'<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/'
        b'main"><x:sheetData><x:row><x:c><x:f>1</x:f></x:c></x:row></x:sheetData>'
        b"</x:worksheet>"
    )
    with pytest.raises(InputError, match="row 1: a formula has no saved result"):
        items("xlsx", packed(data))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'<row r="3"', b'<row r="2"'),
        (b'<row r="2"', b'<row r="9"'),
        (b'r="A3"', b'r="B3"'),
        (b'r="A3"', b'r="C3"'),
    ],
)
def test_rows_and_cells_out_of_order_are_refused(old: bytes, new: bytes) -> None:
    """None is left out without a word, as readers do that go by row numbers."""
    data = parts(spelled(["x", "y"], ["z", "w"], head=["text", "b"]))
    data[SHEET] = data[SHEET].replace(old, new)
    with pytest.raises(InputError, match=r"row [23] is out of order, or its cells are"):
        items("xlsx", packed(data))


def test_copied_dates_keep_their_numbers() -> None:
    """To the last digit, and those that are no dates; of 1904 on they are moved."""
    book = openpyxl.Workbook()
    given = (-5, 0.5, 1.25, 60, 45000.123456789, 3e6)
    for row in (["text", "n"], *(["x", number] for number in given)):
        book.active.append(row)
    for number in range(2, len(given) + 2):
        code = "[h]:mm" if number == 4 else "yyyy-mm-dd hh:mm"
        book.active[f"B{number}"].number_format = code

    def kept() -> list[float]:
        sheet = parts(through("xlsx", saved(book)))[SHEET]
        return [float(value) for value in re.findall(rb"<v>(.*?)</v>", sheet)]

    assert kept() == list(given)
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    moved = [number + 1462 * (number > 2) for number in given]
    assert kept() == moved


def test_a_number_that_no_cell_can_hold_is_refused() -> None:
    """It would be no number in the output."""
    data = parts(spelled(["x", 1], head=["text", "n"]))
    data[SHEET] = data[SHEET].replace(
        b"<v>1</v></c></row></sheet", b"<v>1e999</v></c></row></sheet"
    )
    with pytest.raises(InputError, match="not a workbook"):
        items("xlsx", packed(data))


def test_a_strict_workbook_is_refused() -> None:
    """Excel can save one, and the reader does not see its sheets."""
    data = {
        name: part.replace(
            b"schemas.openxmlformats.org/spread", b"purl.oclc.org/ooxml/s"
        ).replace(b"schemas.openxmlformats.org/officeD", b"purl.oclc.org/ooxml/officeD")
        for name, part in parts(spelled(["x"], head=["text"])).items()
    }
    with pytest.raises(InputError, match="not in strict format"):
        items("xlsx", packed(data))


def test_columns_are_named_by_the_first_row() -> None:
    """Private, id and copied ones; an absent, unnamed or repeated one is refused."""
    data = spelled([7, DAY, "x", 2, True, LATE], [7.5, DAY, "y", 2, True, LATE])
    chosen = Selection(id_field="id")
    assert [record.identity for record in records("xlsx", data, chosen)] == ["7", "7.5"]
    assert copied_names("xlsx", data) == ["id", "day", "paid", "ok", "late"]
    for head, said in (
        (["id", "body"], "no column 'text'"),
        (["id", "text", "text"], "'text' occurs more than once"),
    ):
        with pytest.raises(InputError, match=said):
            items("xlsx", spelled([1, "x", "y"], head=head))


def test_a_column_without_a_name_is_copied() -> None:
    """As in CSV, where it has the name of no characters."""
    data = spelled([1, "x", "y"], head=["id", None, "text"])
    assert texts("xlsx", data) == [("y",)]
    assert copied_names("xlsx", data) == ["id", ""]
    assert back(through("xlsx", data)) == [["id", None, "text"], [1, "x", "y"]]


@pytest.mark.parametrize("named", [True, False])
def test_a_table_of_strings_may_be_absent_or_not_named(named: bool) -> None:
    """A part that is named and not there is no damage where no cell needs it."""
    files = parts(spelled(["x", 2], head=["text", "n"]))
    types = "[Content_Types].xml"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings"
    part = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}+xml" />'
    if named:
        files[types] = files[types].replace(b"</Types>", f"{part}</Types>".encode())
    else:
        inline, shared = b' t="inlineStr"><is><t>x</t></is>', b' t="s"><v>0</v>'
        assert inline in files[SHEET]
        files[SHEET] = files[SHEET].replace(inline, shared)
        files["xl/sharedStrings.xml"] = (
            b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
            b"<si><t>x</t></si></sst>"
        )
    assert texts("xlsx", packed(files)) == [("x",)]


def test_a_text_that_outgrows_a_cell_is_cut_and_counted() -> None:
    """Drawn words may be longer than those that stood there; copied cells stay."""
    long = "y" * 40_000
    data = spelled(["x", 1], head=["text", "n"])
    for new, kept in (("ab" * 20_000, 32_767), ("🙂" * 20_000, 16_383), (long, 32_767)):
        out = through("xlsx", data, lambda _, new=new: new)  # type: ignore[misc]
        assert back(out)[1] == [new[:kept], 1]
    stream = io.BytesIO()
    module = find(None, "xlsx")
    writer = module.writer(stream, TEXT)
    for item in items("xlsx", data):
        if isinstance(item, Record):
            writer.write(item, [long])
        elif isinstance(item, Verbatim):
            writer.verbatim(item)
    writer.close()
    assert "cut to 32,767 characters, the limit of a cell: 1" in writer.note


def test_rows_keep_their_numbers_in_messages() -> None:
    """Empty rows are left out; a row with more cells than names is a fault."""
    data = spelled([None], ["x"], [None], ["y", None, "z"], head=["text"])
    assert [record.texts for record in records("xlsx", data)] == [("x",)]
    (fault,) = faults("xlsx", data)
    assert fault.location == "in: row 5"
    assert fault.reason == "3 cells where the first row has 1 names"


def test_numbers_and_dates_of_a_private_column_become_text() -> None:
    """They are read as text, so that the mechanism may replace them."""
    rows: list[Any] = [[42], [DAY], [DAY.replace(hour=7)], [True], [LATE]]
    assert [text for (text,) in texts("xlsx", spelled(*rows, head=["text"]))] == [
        "42",
        "2026-03-01",
        "2026-03-01 07:00:00",
        "TRUE",
        "12:30:00",
    ]


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"no workbook", b"PK" * 99])
def test_what_is_no_workbook(data: bytes) -> None:
    """It is refused in one line."""
    with pytest.raises(InputError, match="not a workbook"):
        items("xlsx", data)


def test_a_damaged_workbook_is_refused() -> None:
    """Cut off anywhere, or with a flipped byte, it never ends in a traceback."""
    data = spelled(*([k, DAY, "the film", 2, True, LATE] for k in range(50)))
    for cut in range(0, len(data), 97):
        for broken in (data[:cut], data[:cut] + b"\xff" + data[cut + 1 :]):
            with contextlib.suppress(InputError):
                items("xlsx", broken)


def test_rows_beyond_those_of_a_sheet_are_refused() -> None:
    """A row number of a damaged workbook does not make rows without end."""
    data = parts(spelled([1, DAY, "the film", 2, True, LATE]))
    data[SHEET] = data[SHEET].replace(b'<row r="2"', b'<row r="99999999999"')
    with pytest.raises(InputError, match="over 1,048,576 rows; save the sheet as CSV"):
        items("xlsx", packed(data))


def test_a_style_that_is_missing_prints_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Standard output is for data alone."""
    data = parts(spelled([1, DAY, "the film", 2, True, LATE]))
    styles = data["xl/styles.xml"]
    data["xl/styles.xml"] = styles.replace(b'xfId="0"', b'xfId="99"')
    with pytest.raises(InputError, match="not a workbook"):
        items("xlsx", packed(data))
    assert capsys.readouterr() == ("", "")


def test_a_workbook_with_a_password_is_refused() -> None:
    """Not with a traceback of the archive."""
    data = bytearray(spelled([1, DAY, "the film", 2, True, LATE]))
    for entry in re.finditer(b"PK\x01\x02", bytes(data)):
        data[entry.start() + 8] |= 1
    with pytest.raises(InputError, match="with a password"):
        items("xlsx", bytes(data))


def test_equal_inputs_give_equal_bytes() -> None:
    """No time of writing is in the output, and two inputs make one sheet."""
    data = spelled([1, DAY, "x", 2, True, LATE])
    assert through("xlsx", data) == through("xlsx", data)
    assert len(back(through("xlsx", [data, data]))) == 3
    with pytest.raises(InputError, match="columns of the inputs differ"):
        through("xlsx", [data, spelled(["x"], head=["text"])])


def test_characters_that_xml_cannot_hold() -> None:
    """They are escaped as Excel does, and so is a text that looks like an escape."""
    data = spelled(["x"], head=["text"])
    for text, wanted in (
        ("a\x0bb", "a_x000B_b"),
        ("a\r\nb", "a_x000D_\nb"),
        ("_x000D_", "_x005F_x000D_"),
        (" a\tb ", " a\tb "),
    ):
        out = through("xlsx", data, lambda _, new=text: new)  # type: ignore[misc]
        assert back(out)[1] == [wanted]
