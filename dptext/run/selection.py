"""Which parts of a record are texts, and the layout of its file."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated

from dptext.errors import UsageError
from dptext.run.interface import unit
from dptext.run.marks import (
    INPUT,
    LAYOUT,
    RECORDS,
    TABLE,
    ByFile,
    Names,
    Needs,
    NotIn,
    Number,
    Option,
    one_of,
    parse_delimiter,
    parse_encoding,
    parse_format,
)

#: The noun for the value of a replaced field, and the option that names the field.
REPLACEMENT = "pseudonym"
_NO_FIELDS = "plain text has no fields: each line is a text"
FIELDS = Needs("HAS_FIELDS", _NO_FIELDS, "csv")
CHANGES = Needs("CHANGES_FIELDS", _NO_FIELDS, "csv")
TABLES = Needs("IS_TABLE", "this option is for CSV and TSV", "csv")
SHEETS = Needs("HAS_SHEETS", "this option is for Excel workbooks", "xlsx")
TEXTS = Needs("IS_TEXT", "this option is for text files")
IN_FILES = NotIn(TABLE, "a table in memory has no layout")
LACKING = Needs(
    "MAY_LACK", "every record has all fields; this option is for JSON and Parquet"
)


#: Fields of a selection that say how a file is laid out.
FILE_LAYOUT = "format sheets delimiter quoting header skip_lines escapes encoding"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which parts of a record are texts, and the layout of its file."""

    #: Dotted paths or names of columns; () where none is selected.
    fields: Annotated[
        tuple[str, ...],
        Option(
            "Text field (path or column); repeatable.",
            INPUT,
            metavar="NAME",
            short="-f",
            spelled="field",
            python="fields",
        ),
        FIELDS,
        ByFile(),
        Names(),
    ] = ("text",)
    _: KW_ONLY
    #: None until it is decided, once.
    format: Annotated[
        str | None,
        Option(
            "jsonl, json, csv, tsv, xlsx, parquet or text.",
            INPUT,
            parse=parse_format,
            metavar="NAME",
        ),
        ByFile(),
        IN_FILES,
        Names(),
    ] = None
    #: () for all that have a private field.
    sheets: Annotated[
        tuple[str, ...],
        Option(
            "Workbook sheet with the text field; other sheets are copied; repeatable. "
            "Default: every sheet with the field.",
            INPUT,
            metavar="NAME",
            spelled="sheet",
            python="sheets",
            hidden=True,
        ),
        SHEETS,
        ByFile(),
        IN_FILES,
        Names(),
    ] = ()
    delimiter: Annotated[
        str | None,
        Option(
            "Field delimiter of CSV or TSV.",
            LAYOUT,
            parse=parse_delimiter,
            metavar="CHARACTER",
            hidden=True,
        ),
        TABLES,
        ByFile(),
        IN_FILES,
        Names(),
    ] = None
    quoting: Annotated[
        bool,
        Option(
            "Quotes enclose fields in CSV and TSV, or are ordinary characters.",
            LAYOUT,
            hidden=True,
        ),
        TABLES,
        ByFile(),
        IN_FILES,
    ] = True
    header: Annotated[
        bool,
        Option(
            "CSV and TSV begin with column names, or not: then columns are numbered "
            "from 1.",
            LAYOUT,
            hidden=True,
        ),
        TABLES,
        ByFile(),
        IN_FILES,
    ] = True
    #: Lines before a table, which no output has.
    skip_lines: Annotated[
        int,
        Option(
            "Number of lines before the header of CSV or TSV, which the output drops.",
            LAYOUT,
            parse=Number(kind=int, low=0, high=1_000_000),
            hidden=True,
        ),
        TABLES,
        ByFile(),
        IN_FILES,
    ] = 0
    #: backslash | none: the meaning of a backslash in a table.
    escapes: Annotated[
        str | None,
        Option(
            "Meaning of backslashes in CSV or TSV: backslash (escapes, as written by "
            "COPY and mysqldump) or none.",
            LAYOUT,
            parse=one_of("backslash", "none"),
            metavar="backslash|none",
            hidden=True,
        ),
        TABLES,
        ByFile(),
        IN_FILES,
    ] = None
    #: One of dptext.streams.known_encoding; None: UTF-8.
    encoding: Annotated[
        str | None,
        Option(
            "Encoding of text files, input and output, such as cp1252 or utf-16. "
            "Default: UTF-8.",
            LAYOUT,
            parse=parse_encoding,
            metavar="NAME",
            hidden=True,
        ),
        TEXTS,
        ByFile(),
        IN_FILES,
        Names(),
    ] = None
    id_field: Annotated[
        str | None,
        Option(
            "Field with an id per record, for which a key repeats draws. Default: the "
            "record's position.",
            RECORDS,
            metavar="NAME",
            spelled="id",
            hidden=True,
        ),
        FIELDS,
        ByFile(),
        Names(),
    ] = None
    #: Field with the person that a record is about.
    subject_field: str | None = None
    #: Field with the code of the language of each record.
    language_field: Annotated[
        str | None,
        Option(
            "Field with the language of each record, such as de; codes that are not "
            "selected count as another language.",
            RECORDS,
            metavar="NAME",
            hidden=True,
        ),
        FIELDS,
        ByFile(),
        IN_FILES,
        Names(),
    ] = None
    #: mask | drop | quarantine: of a record in none of the languages.
    other_language: Annotated[
        str,
        Option(
            "If a record is in none of the languages: mask (its texts become a mark), "
            "drop, or quarantine (needs --quarantine).",
            RECORDS,
            parse=one_of("mask", "drop", "quarantine"),
            metavar="ACTION",
            hidden=True,
        ),
        ByFile(),
        IN_FILES,
    ] = "mask"
    #: fail | pass: of an absent or null field.
    missing: Annotated[
        str,
        Option(
            "What to do if a text field is absent or null: fail or pass.",
            RECORDS,
            parse=one_of("fail", "pass"),
            metavar="fail|pass",
            hidden=True,
        ),
        LACKING,
        ByFile(),
        Names(),
    ] = "fail"
    max_record_bytes: Annotated[
        int,
        Option(
            "Longest record to read, in bytes.",
            RECORDS,
            parse=Number(kind=int, low=1, high=2**40),
            hidden=True,
        ),
        ByFile(),
        IN_FILES,
    ] = 16 * 2**20
    #: Fields that the output leaves out.
    dropped: Annotated[
        tuple[str, ...],
        Option(
            "Field to drop from the output; repeatable.",
            INPUT,
            metavar="NAME",
            spelled="drop",
        ),
        CHANGES,
        ByFile(),
        Names(),
    ] = ()
    #: Fields with values that become keyed tokens (dptext.pseudonyms).
    replaced: Annotated[
        tuple[str, ...],
        Option(
            "Field to replace by tokens; needs a key file.",
            INPUT,
            metavar="NAME",
            spelled=REPLACEMENT,
        ),
        CHANGES,
        ByFile(),
        Names(),
    ] = ()
    #: Every record of JSON is a string, which is its text.
    strings: bool = False

    @property
    def quotes(self) -> bool:
        """Return whether quotes enclose fields; not if backslashes escape."""
        return self.quoting and self.escapes != "backslash"

    @property
    def named(self) -> tuple[str | None, ...]:
        """Return all selected fields: texts, id, subject and changed ones."""
        return (*self.fields, self.id_field, self.subject_field, *self.changed)

    def output_selection(self) -> Selection:
        """Return the selection that reads the output, without the dropped fields.

        Without a header, dropping a column renumbers those after it.
        """
        decimal = () if self.header else filter(str.isdecimal, self.dropped)
        gone = set(map(int, decimal))

        def renamed(name: str) -> str:
            if not (gone and name.isdecimal()):
                return name
            return str(int(name) - sum(each < int(name) for each in gone))

        name = self.id_field
        is_gone = any(f"{name}.".startswith(f"{each}.") for each in self.dropped)
        return replace(
            self,
            fields=tuple(map(renamed, self.fields)),
            replaced=tuple(map(renamed, self.replaced)),
            dropped=(),
            skip_lines=0,
            id_field=None if name is None or is_gone else renamed(name),
            language_field=None,
        )

    def without_fields(self) -> Selection:
        """Return only the layout, without selected fields."""
        without = replace(self, id_field=None, subject_field=None, language_field=None)
        return replace(without.without_changes(), fields=())

    def without_changes(self) -> Selection:
        """Return the selection without left-out and replaced fields."""
        return replace(self, dropped=(), replaced=())

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the fields that are left out or replaced."""
        return (*self.dropped, *self.replaced)

    def check_uses(self) -> None:
        """Refuse a selection of a field for two things. Raises UsageError."""
        for name in self.changed:
            check_uses(
                name, name in self.fields, name in self.dropped, name in self.replaced
            )

    def option_name(self, path: str) -> str:
        """Return the name of the option that selects a field."""
        uses = {
            "field": path in self.fields,
            "id": path == self.id_field,
            "subject": path == self.subject_field,
            "drop": path in self.dropped,
            REPLACEMENT: path in self.replaced,
        }
        return next((name for name, is_used in uses.items() if is_used), "field")


def check_uses(path: str, is_text: bool, is_dropped: bool, is_replaced: bool) -> None:
    """Raise UsageError for a field with two uses that exclude each other."""
    if is_dropped and is_replaced:
        raise UsageError(
            f"{unit()} {path!r} cannot be both left out and a {REPLACEMENT}; choose one"
        )
    if is_text and (is_dropped or is_replaced):
        other = "left out" if is_dropped else f"a {REPLACEMENT}"
        raise UsageError(
            f"{unit()} {path!r} cannot be both a private text and {other}; choose one"
        )
