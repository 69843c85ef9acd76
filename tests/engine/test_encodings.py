"""Files of Windows and Excel: other encodings, byte order marks, semicolons."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext import streams
from dptext.errors import InputError, UsageError
from dptext.streams import open_input
from dptext.streams.outputs import Encoded, open_output
from tests.cli.running import MARKER, here

ROWS = "id;name;body\r\n7;Jérôme – Ünal;the film was good\r\n8;Ça;it is bad\r\n"


@pytest.fixture
def options(options: tuple[str, ...]) -> tuple[str, ...]:
    """Add the options of these tests."""
    return (*options, "-f", "body")


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("cp1252", "cp1252"),
        ("utf-16", "utf-16"),
        ("UTF-16BE", "utf-16-be"),
        ("utf8", "utf-8-sig"),
    ],
)
def test_excel_files_come_back_in_their_encoding(
    name: str, python: str, key: str, options: tuple[str, ...]
) -> None:
    """Copied columns keep their bytes; report, check and several processes know."""
    Path("in.csv").write_bytes(ROWS.encode(python))
    run = ("sanitize", "in.csv", *options, "--encoding", name, "--key-file", key)
    ran = here(*run, "-o", "o.csv")
    assert ran.code == 0, ran.err
    assert "in.csv: read with --delimiter ';', by its header" in ran.err
    private = Path("o.csv").read_bytes()
    assert private.startswith(ROWS.encode(python)[:2])
    lines = private.decode(python).split("\r\n")
    before = ROWS.split("\r\n")
    assert [line.split(";")[:2] for line in lines] == [
        line.split(";")[:2] for line in before
    ]
    assert lines[0] == before[0]
    assert lines != before
    assert here(*run, "-o", "p.csv", "-j", "2", "-q").code == 0
    assert Path("p.csv").read_bytes() == private
    ran = here("check", "o.csv")
    assert ran.code == 0, ran.out
    files = ("in.csv", "o.csv", "-f", "body", "--encoding", name)
    assert here("evaluate", *files).code == 0


def test_the_error_names_the_encoding(options: tuple[str, ...]) -> None:
    """A file that is not UTF-8 is refused with the option to give."""
    for encoding, hint in (("cp1252", "--encoding (cp1252"), ("utf-16-le", "utf-16")):
        Path("in.csv").write_bytes(ROWS.replace(";", ",").encode(encoding))
        ran = here("sanitize", "in.csv", *options, "-q")
        assert (ran.code, ran.err.count("\n")) == (4, 1)
        assert hint in ran.err
    ran = here("sanitize", "in.csv", *options, "--encoding", "nope")
    assert (ran.code, "cp1252 or utf-16" in " ".join(ran.err.split())) == (2, True)


def test_what_an_encoding_lacks_is_said(options: tuple[str, ...]) -> None:
    """Characters of private texts that cannot be written are counted in a line."""
    data = b'{"body":"the \\ud83d\\ude00"}\n'
    punctuation = ("--set", "tokens.unknown=keep", "--encoding", "cp1252")
    ran = here("sanitize", "--format", "jsonl", *options, *punctuation, given=data)
    assert ran.code == 0
    assert ran.out.endswith(b' ?"}\n')
    assert "that cp1252 lacks were" in ran.err


def test_no_encoding_of_what_is_no_text(options: tuple[str, ...]) -> None:
    """A format with a fixed encoding refuses the option."""
    ran = here(
        "sanitize",
        "--format",
        "parquet",
        *options,
        "--encoding",
        "cp1252",
        given=b"PAR1",
    )
    assert (ran.code, "--encoding" in ran.err) == (2, True)


@given(st.text(), st.sampled_from(["cp1252", "utf-16-le", "shift_jis", "utf-32-be"]))
def test_any_text_comes_back(text: str, encoding: str) -> None:
    """Text that an encoding holds is read and written unchanged."""
    data = text.encode(encoding, "ignore")
    plain = io.BytesIO(data)
    sink = io.BytesIO()
    try:
        with streams.unpacked(plain, "in", encoding) as stream:
            read = stream.read()
    except InputError:
        assert data.decode(encoding).encode(encoding) != data
        return
    assert read == data.decode(encoding).encode()
    written = Encoded(sink, encoding)
    for at in range(len(read)):
        written.write(read[at : at + 1])
    assert sink.getvalue() == data


@pytest.mark.parametrize(
    ("data", "encoding", "said"),
    [
        (b"ab\x81", "cp1252", "near byte 2"),
        (b"\xfe\xff\0a", "utf-16-le", "give --encoding utf-16-be"),
        (b"a\0b", "utf-16-le", "not valid utf-16-le"),
        (b"a\0\0\xd8", "utf-16-le", "not valid"),
    ],
)
def test_other_bytes_are_refused(
    data: bytes, encoding: str, said: str, tmp_path: Path
) -> None:
    """Bytes that are not of the encoding end the reading, wherever they stand."""
    path = tmp_path / "in"
    path.write_bytes(data)
    with (
        pytest.raises(InputError, match=said),
        open_input(str(path), encoding) as stream,
    ):
        stream.read()


@pytest.mark.parametrize("name", ["", "nope", "base64", "rot13", "hex", "idna\0"])
def test_names_of_no_encoding(name: str) -> None:
    """Codecs other than encodings of characters are refused; UTF-8 needs no name."""
    with pytest.raises(UsageError, match="is not an encoding"):
        streams.known_encoding(name)
    assert streams.known_encoding("UTF8") is None


@pytest.mark.parametrize(
    ("name", "data", "fields", "chosen"),
    [
        ("export", f'{{"body":"{MARKER}"}}\n', ("-f", "body"), "jsonl"),
        ("export.dat", f'[{{"body":"{MARKER}"}}]\n', ("-f", "body"), "json"),
        ("a.dump", f"id|body\n1|{MARKER} is it\n", ("-f", "body"), "csv"),
        ("a.log", f"{MARKER} is it\n", (), "text"),
    ],
)
def test_the_content_tells_the_format(
    name: str, data: str, fields: tuple[str, ...], chosen: str, options: tuple[str, ...]
) -> None:
    """A file with a name that tells nothing is read by its content, with a message."""
    Path(name).write_text(data)
    run = (*options[:-2], *fields)
    ran = here("sanitize", name, *run, "-o", "out")
    assert ran.code == 0, ran.err
    assert f"{name}: detected as {chosen} from its content" in ran.err
    assert MARKER not in Path("out").read_text()
    ran = here("sanitize", *run, given=data.encode())
    assert (ran.code, MARKER in ran.out.decode()) == (0, False)
    with open_output("binary") as output:
        output.stream.write(b"\0\1\2" + data.encode())
    assert here("sanitize", "binary", *run, "-o", "o2").code == 2
