"""Bytes that are nearly right, and what reads them.

Each target takes bytes, and either reads them or refuses them with an error of dptext.
`python -m benchmarks fuzz` runs the same targets for as long as one likes.
"""

from __future__ import annotations

import datetime
import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from dptext import formats, profile, settings, streams
from dptext.checking import policy, verify
from dptext.checking.exports import Export
from dptext.checking.policy import ExportPolicy
from dptext.checking.recompute import Recomputer
from dptext.errors import DptextError
from dptext.lexicons.sources import open_packed, read_lines, read_npz, read_word2vec
from dptext.run.selection import Selection
from dptext.tokens.policy import Form, Policy, WordList
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Fault, Record, Verbatim
from tests.cli import running
from tests.lexicons import files
from tests.tokens.texts import ENGLISH

Target = Callable[[bytes], object]
_LISTED = Policy(
    keep=WordList(words=("cat", "the dog"), patterns=(r"\w-\d", "(?<=a).")),
    mask=WordList(words=("Paris", "zq", "😀")),
    forms=tuple(Form),
)


@cache
def _tokenizers() -> tuple[Tokenizer, Tokenizer]:
    return Tokenizer(ENGLISH, Policy()), Tokenizer(ENGLISH, _LISTED)


def split(data: bytes) -> None:
    """Divide a text, with lists and without: the pieces joined are the text."""
    text = data.decode("utf-8", "surrogateescape")
    for tokenizer in _tokenizers():
        words = tokenizer.words([text, ""])
        assert "".join(words.pieces) == text
        assert len(words.flags) == len(words.pieces)


def rewrite(name: str) -> Target:
    """Return a target that reads a format, and writes back all except faults."""

    def target(data: bytes) -> None:
        module = formats.find(None, name)
        selection = Selection(max_record_bytes=200)
        writer = module.writer(io.BytesIO(), selection)
        for item in module.read(formats.Input(io.BytesIO(data), selection, "in")):
            assert isinstance(item, Record | Verbatim | Fault)
            if isinstance(item, Record):
                others = dict(module.others(item, selection))
                assert all(isinstance(text, str) for text in others.values())
                writer.write(item, item.texts)
            elif isinstance(item, Verbatim):
                writer.verbatim(item)
        writer.close()

    return target


def unpack(suffix: str) -> Target:
    """Return what reads compressed data."""

    def target(data: bytes) -> None:
        plain = io.BufferedReader(io.BytesIO(data))
        with streams.unpacked(plain, f"in{suffix}") as stream:
            while stream.read(2**16):
                pass

    return target


def read_profile(data: bytes) -> None:
    """Read a profile."""
    profile.parse(settings.decode_yaml(data, "p.yaml", "profile"), "p.yaml")


def read_policy(data: bytes) -> None:
    """Read the policy of `check`."""
    policy.parse(settings.decode_yaml(data, "p.yaml", "policy"), "p.yaml")


def read_report(data: bytes) -> None:
    """Judge an export by a report."""
    sha256 = settings.digest_of_bytes(b"{}\n")
    export = Export(
        "o.jsonl",
        sha256=sha256,
        size=3,
        report=data,
        open=lambda: nullcontext(io.BytesIO()),
    )
    assert verify.verdict(export, ExportPolicy(), Recomputer()).findings


def import_lines(data: bytes) -> None:
    """Read vectors as text."""
    read_lines(io.BytesIO(data), "v.txt")


def import_word2vec(data: bytes) -> None:
    """Read vectors as word2vec writes them."""
    read_word2vec(io.BytesIO(data), "v.bin")


def import_npz(data: bytes) -> None:
    """Read vectors and words in one archive."""
    read_npz(io.BytesIO(data), "v.npz")


def import_packed(data: bytes) -> None:
    """Read vectors in any packing of a file."""
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        file.write(data)
        file.flush()
        with open_packed(Path(file.name)) as stream:
            read_lines(stream, "v.zip")


def _zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("v.txt", files.text())
    return out.getvalue()


def _npz() -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, words=np.array(files.WORDS), vectors=files.rows(5))
    return out.getvalue()


def _parquet() -> bytes:
    pyarrow = __import__("pyarrow.parquet")
    out = io.BytesIO()
    columns = {
        "text": ["the film", None, "a"],
        "id": [1, 2, 3],
        "deep": [{"a": ["b", ""], "when": _DAY}, None, {"a": [], "when": _DAY}],
        "kind": pyarrow.array(["x", "y", "x"]).dictionary_encode(),
    }
    table = pyarrow.table(columns).replace_schema_metadata({"pandas": '{"columns":[]}'})
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


@cache  # for it holds the time
def _xlsx() -> bytes:
    out = io.BytesIO()
    workbook = __import__("openpyxl").Workbook()
    for row in (("text", "id", "day"), ("the film", 1, _DAY), ("a", 2.5, None)):
        workbook.active.append(row)
    workbook.save(out)
    return out.getvalue()


@cache
def _report() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.jsonl")
        source.write_text('{"text":"the film"}\n')
        ran = running.here(
            "sanitize",
            "-f",
            "text",
            str(source),
            *running.small(Path(folder)),
            "-q",
            "-o",
            str(Path(folder, "o.jsonl")),
            "--no-bayes-risk",
        )
        assert ran.code == 0
        return Path(folder, "o.jsonl.dptext.json").read_bytes()


_DAY = datetime.datetime(2024, 5, 6, tzinfo=None)
_TEXT = "The dog-3 paid 4111 1111 1111 1111 on 5 May 2024, 日本 😀 cafe\u0301 x@y.org\n"
_ROWS = b"".join(
    json.dumps({"id": n, "text": "the film " * n, "deep": [{"a": [n]}]}).encode()
    + b"\n"
    for n in range(4)
)
_CSV = b'id,text\n1,"the ""film"", good"\r\n2,bad\n'
# Targets, and bytes that they read.
TARGETS: dict[str, tuple[Target, Callable[[], bytes]]] = {
    "split": (split, _TEXT.encode),
    "jsonl": (rewrite("jsonl"), lambda: _ROWS),
    "json": (rewrite("json"), lambda: b"[" + _ROWS.replace(b"}\n{", b"},\n{") + b"]"),
    "csv": (rewrite("csv"), lambda: _CSV),
    "tsv": (rewrite("tsv"), lambda: _CSV.replace(b",", b"\t")),
    "text": (rewrite("text"), _TEXT.encode),
    "parquet": (rewrite("parquet"), _parquet),
    "xlsx": (rewrite("xlsx"), _xlsx),
    "gz": (unpack(".gz"), lambda: gzip.compress(_ROWS, mtime=0)),
    "zst": (unpack(".zst"), lambda: __import__("zstandard").compress(_ROWS)),
    "bz2": (unpack(".bz2"), lambda: __import__("bz2").compress(_ROWS)),
    "xz": (unpack(".xz"), lambda: __import__("lzma").compress(_ROWS)),
    "profile": (read_profile, profile.find_file("balanced").read_bytes),
    "policy": (
        read_policy,
        lambda: b"notion: LDP\nmax_epsilon: 9\nallow: [number]\nmax_risk: 20%\n",
    ),
    "report": (read_report, _report),
    "lines": (import_lines, files.text),
    "word2vec": (import_word2vec, lambda: b"2 3\na " + bytes(12) + b"\nb " + bytes(12)),
    "npz": (import_npz, _npz),
    "zip": (import_packed, _zip),
}


def hold(name: str, data: bytes) -> None:
    """Run a target: it reads any input or refuses it in one line."""
    try:
        TARGETS[name][0](data)
    except DptextError as error:
        if "\n" in str(error):
            raise AssertionError("more than one line") from None


@st.composite
def nearly(draw: st.DrawFn, right: bytes) -> bytes:
    """Draw bytes that differ in a few places from right ones."""
    data = bytearray(right)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        how = draw(st.sampled_from(("cut", "put", "flip", "double", "drop")))
        if how == "cut":
            del data[at:]
        elif how == "put":
            data[at:at] = draw(st.binary(max_size=9) | st.sampled_from(_NASTY))
        elif how == "flip" and at < len(data):
            data[at] ^= draw(st.integers(1, 255))
        elif how == "double":
            data[at:at] = data[at : at + draw(st.integers(1, 40))]
        else:
            del data[at : at + draw(st.integers(1, 40))]
    return bytes(data)


_NASTY = (
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r\n",
    b'"',
    b"\\ud800",
    b"[" * 3000,
    b"9" * 5000,
    b"NaN",
    b"-1",
    b"1e999",
    b"*a",
    b"&a ",
    b"<<: ",
    b"{" * 3000,
    "\u2028".encode(),
    "\u202e".encode(),
    b"\x1b[31m",
    b"null",
    b"~",
    b"!!python/x ",
)
