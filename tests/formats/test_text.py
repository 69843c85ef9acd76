"""Plain text, and what all formats of lines share."""

import io

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dptext.formats import BOM, Input, find
from dptext.run.selection import Selection
from dptext.types import Fault, Record
from tests.formats.pipe import Endless, faults, items, records, texts, through

# The first draw of any text builds tables of characters.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

LINE = st.text(st.characters(exclude_characters="\n\0", codec="utf-8"))
ENDS = st.sampled_from(["\n", "\r\n", "\r\r\n"])


@PATIENT
@given(st.lists(st.tuples(LINE, ENDS)), LINE, st.booleans())
def test_unchanged_texts_give_the_same_bytes(
    lines: list[tuple[str, str]], last: str, bom: bool
) -> None:
    """Mixed line ends, blank lines, a BOM and a missing last line end survive."""
    data = (BOM if bom else b"") + ("".join(map("".join, lines)) + last).encode()
    assert through("text", data) == data


@PATIENT
@given(st.lists(st.tuples(LINE, ENDS)))
def test_only_text_changes(lines: list[tuple[str, str]]) -> None:
    """A changed text leaves the line ends as they were."""
    data = "".join(map("".join, lines)).encode()
    out = through("text", data, lambda text: "x")
    assert [line[len(line.rstrip(b"\r\n")) :] for line in out.split(b"\n")] == [
        line[len(line.rstrip(b"\r\n")) :] for line in data.split(b"\n")
    ]


def test_line_is_the_text() -> None:
    """Each line is one text, without its end."""
    assert texts("text", b"one two\r\n\n three\n") == [("one two",), (" three",)]


def test_line_break_in_a_new_text_becomes_a_space() -> None:
    """A new text cannot split its record in two."""
    assert through("text", b"a\nb\n", lambda _: "x\r\ny\nz") == b"x y z\nx y z\n"


def test_ordinals_count_from_start_and_faults_take_one() -> None:
    """Skipping a fault leaves the ordinals of all other records unchanged."""
    data = b"a\n\n\xff\nb\n"
    read = list(find(None, "text").read(Input(io.BytesIO(data), Selection(), "in", 7)))
    assert [item.ordinal for item in read if isinstance(item, Record)] == [7, 9]


def test_fault_names_the_line_and_keeps_the_bytes() -> None:
    """A fault tells the line, blank lines counted, and holds the bytes as they were."""
    assert faults("text", b"\nok\n\xffsecret\r\nok") == [
        Fault(
            "in:3",
            "not valid UTF-8 (byte 0)",
            b"\xffsecret\r\n",
            "give --encoding (cp1252 for most files of Windows and Excel, utf-16 for "
            "some), or convert the file to UTF-8",
        )
    ]


def test_nul_byte_is_a_fault() -> None:
    """UTF-16 is recognized by its NUL bytes."""
    (fault,) = faults("text", "secret\n".encode("utf-16-le")[:-1])
    assert "NUL" in fault.reason
    assert "UTF-16" in fault.reason


def test_limit_is_exact() -> None:
    """A line of exactly the limit is read, not counting its end; a longer is not."""
    selection = Selection(max_record_bytes=5)
    data = b"12345\r\n123456\r\n12345\n123456\n12345"
    read = items("text", data, selection)
    assert [isinstance(item, Record) for item in read] == [1, 0, 1, 0, 1]


def test_line_too_long_takes_constant_memory() -> None:
    """A line of 100 MB is skipped without being held, and reading goes on."""
    import tracemalloc

    stream = Endless(b"a\n", b"x", 10**8, b"\nb")
    selection = Selection(max_record_bytes=1000)
    tracemalloc.start()
    read = list(
        find(None, "text").read(Input(io.BufferedReader(stream), selection, "in"))
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**21
    fault = read[1]
    assert isinstance(fault, Fault)
    assert fault.reason.startswith("longer than 1000 bytes (--max-record-bytes)")
    assert fault.raw == b""
    assert isinstance(read[2], Record)
    assert read[2].texts == ("b",)
    assert read[2].ordinal == 2


def test_default_limit_is_named_in_mebibytes() -> None:
    """The reason names the limit as a person would."""
    stream = Endless(b"", b"x", 17 * 2**20, b"\n")
    (fault,) = find(None, "text").read(
        Input(io.BufferedReader(stream), Selection(), "in")
    )
    assert isinstance(fault, Fault)
    assert fault.reason.startswith("longer than 16 MiB (--max-record-bytes)")


def test_inputs_do_not_fuse() -> None:
    """A missing last line end is put in before the next input, in the same style."""
    assert through("text", [b"a\r\nb", b"c\n", b"d"]) == b"a\r\nb\r\nc\nd"


def test_byte_order_mark_of_a_second_input_is_left_out() -> None:
    """A BOM stands only at the beginning of the output."""
    assert through("text", [BOM + b"a\n", BOM + b"b\n"]) == BOM + b"a\nb\n"
    assert through("text", [b"a\n", BOM + b"b\n"]) == b"a\nb\n"


def test_empty_input() -> None:
    """Nothing in, nothing out."""
    assert through("text", b"") == b""
    assert records("text", b"") == []
