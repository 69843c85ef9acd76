"""All bytes of an input are read, all files of a folder are done, and none is lost."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dptext import formats, streams
from dptext.engine import files
from dptext.errors import InputError
from dptext.run.selection import Selection
from dptext.run.work import Outputs
from dptext.types import Fault
from tests.cli.running import Ran, environment, here, lexicon, small
from tests.faults.fuzzing import nearly

LINES = b'{"text": "the film"}\n{"text": "good", "id": 7}\n'
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.fixture
def options(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the options of a quick run that gives the same bytes again."""
    quick = small(tmp_path_factory.getbasetemp())
    return (*quick, "-q", "--no-bayes-risk", "--seed", "1")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("field", [(), ("-f", "text")])
def test_cut_or_followed_by_other_bytes(
    suffix: str, field: tuple[str, ...], options: tuple[str, ...], tmp_path: Path
) -> None:
    """A packed file that was appended to in part, or cut, is refused and stays."""
    pack = PACKED.get(suffix)
    pack = pack or pytest.importorskip("zstandard").compress
    assert pack is not None
    whole, path = pack(LINES), tmp_path / f"a.jsonl{suffix}"
    cut = [whole[:size] for size in (*range(1, 10), len(whole) - 1)]
    for data in (*cut, *(whole + whole[:size] for size in (1, 3, 9)), whole + b"x" * 9):
        path.write_bytes(data)
        ran = here("sanitize", str(path), *options, *field, "--in-place")
        assert ran.code == 4, (data, ran.err)
        assert "damaged or truncated" in ran.err
        assert path.read_bytes() == data
        assert os.listdir(tmp_path) == [path.name]


def test_frames_and_padding_are_read(tmp_path: Path) -> None:
    """Several frames are one input, and xz may end in zeros."""
    for suffix, pack in PACKED.items():
        path = tmp_path / f"a{suffix}"
        end = bytes(8) if suffix == ".xz" else b""
        path.write_bytes(pack(LINES) + end + pack(LINES) + end)
        with streams.open_input(str(path)) as stream:
            assert stream.read().rstrip(b"\0") == LINES * 2


def _ran(data: bytes, how: str, suffix: str, folder: Path, *options: str) -> Ran:
    if how == "pipe":
        ran = here("sanitize", "--format", "jsonl", *options, given=data)
    else:
        path = folder / f"in.jsonl{suffix}"
        path.write_bytes(data)
        ran = here("sanitize", str(path), *options)
    return ran


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), suffix=st.sampled_from(list(PACKED)))
def test_outcomes_agree(
    data: st.DataObject, suffix: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """File and pipe end alike; without a field a run is refused, never successful."""
    packed = data.draw(nearly(PACKED[suffix](LINES)))
    if suffix and not packed.startswith(PACKED[suffix](LINES)[:4]):
        return  # a pipe knows the packing by its first bytes
    ends = {
        how: _ran(packed, how, suffix, tmp_path, *options, "-f", "text")
        for how in ("file", "pipe")
    }
    assert ends["file"].code in (0, 4)
    assert ends["file"][:2] == ends["pipe"][:2]
    if ends["file"].code == 0 and packed:
        plain = ends["file"].out
        assert plain, "an input that is not empty became nothing"
    for how in ends:
        ran = _ran(packed, how, suffix, tmp_path, *options)
        assert ran.code in (2, 4)
        assert ran.out == b""


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
@pytest.mark.parametrize("format", ["jsonl", "json", "csv", "tsv", "text", "parquet"])
@pytest.mark.parametrize("field", [(), ("-f", "a")])
def test_endless_record(
    format: str, field: tuple[str, ...], options: tuple[str, ...]
) -> None:
    """A record without an end is refused when it becomes too long."""
    run = ("sanitize", "/dev/zero", "--format", format, *options, *field)
    ran = here(*run, "--max-record-bytes", "5000")
    # A field is named where records have fields, and only there.
    is_usage = bool(field) == (format == "text")
    assert ran.code in ((2, 4) if format == "parquet" else (2 if is_usage else 4,))
    assert ran.err.count("\n") == 1


class _Counted:
    """A stream, and how many bytes of it were read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.bytes = 0

    def readline(self, size: int) -> bytes:
        """Read a line, or a part of one."""
        line = self._stream.readline(size)
        self.bytes += len(line)
        return line


@pytest.mark.parametrize("format", ["jsonl", "csv", "text"])
def test_bombs_are_refused_at_the_limit(format: str, tmp_path: Path) -> None:
    """Packed data are unpacked up to the longest record, not to their end."""
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b'a,b\n"' + bytes(2**24) + b'"\n{"a": "b"}\n'))
    selection = Selection(fields=("a",), max_record_bytes=5000)
    with streams.open_input(str(path)) as stream:
        counted = _Counted(stream)
        items = formats.find(None, format).read(formats.Input(counted, selection, "in"))  # type: ignore[arg-type]
        if format == "csv":
            with pytest.raises(InputError, match=r"in:2: .*longer than 5000"):
                list(items)
            assert counted.bytes < 20_000
            return
        faults = (item for item in items if isinstance(item, Fault))
        fault = next(each for each in faults if "longer than 5000" in each.reason)
        assert fault.location == "in:2"
        assert counted.bytes < 20_000
        list(items)
        assert counted.bytes > 2**24


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Make a folder that every user reaches, which folders of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="POSIX rights")
def test_folder_that_cannot_be_read(open_folder: Path) -> None:
    """A folder without rights in an input folder ends the run, and so does a link."""
    tmp_path = open_folder
    inside = tmp_path / "x" / "y"
    inside.mkdir(parents=True)
    (tmp_path / "x" / "a.txt").write_text("the\n")
    outputs = Outputs(out_dir=str(tmp_path / "o"))
    given = ([str(tmp_path / "x")], outputs, None, print)
    assert len(files.pair_outputs(*given)) == 1
    inside.chmod(0)
    me = os.geteuid()
    try:
        if me == 0:
            os.seteuid(65534)
        with pytest.raises(InputError, match=r"x/y: Permission denied"):
            files.pair_outputs(*given)
    finally:
        os.seteuid(me)
        inside.chmod(0o755)
    (tmp_path / "x" / "link").symlink_to(inside)
    with pytest.raises(InputError, match="links to folders are not followed"):
        files.pair_outputs(*given)


def test_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    """A file that becomes shorter on the way is no whole input."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"the film\n" * 10**6)
    with streams.open_input(str(path)) as stream:
        stream.read(10)
        os.truncate(path, 9)
        with pytest.raises(InputError, match="changed while it was being read"):
            stream.read()


@pytest.mark.parametrize(
    "run",
    [
        "sanitize in.jsonl -f text --set tokens.keep.files=[L] -o L",
        "sanitize in.jsonl -f text --set tokens.keep.files=[L] --report sub/../L",
        "sanitize in.jsonl -f text --set tokens.mask.files=[L] --quarantine L",
        "sanitize in.jsonl -f text -p p.yaml -o L",
        "sanitize in.jsonl -f text -p p.yaml --html p.yaml",
        "sanitize in.jsonl -f text --public-report .dptext.yaml",
        "sanitize in.jsonl -f text --key-file K -o K",
        "sanitize in.jsonl -f text --lexicon V -o V",
        "sanitize in.jsonl -f text --ledger W --subject id --limit 9 -o W.key",
        "sanitize L --format text --set tokens.keep.files=[L] --in-place",
        "embed in.jsonl -f text --lexicon L.npy -o L.npy",
        "evaluate in.jsonl in.jsonl --report in.jsonl",
        "compare in.jsonl --csv in.jsonl",
        "sanitize --plan in.jsonl -p p.yaml --html p.yaml",
        "report in.jsonl --html in.jsonl",
    ],
)
def test_no_output_is_a_file_that_is_read(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists, keys, profiles, models and the rest are never written over."""
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    for name in ("L", "V", "K", "L.npy", "sub/L"):
        Path(name).write_bytes(b"the film of the\n" * 4)
    Path("in.jsonl").write_bytes(LINES)
    Path("p.yaml").write_text(
        "name: p\nmechanism: rank\nbudget: {name: uniform, epsilon: 8}\n"
        "tokens: {keep: {files: [L]}}\n"
    )
    Path(".dptext.yaml").write_text("sanitize: {epsilon: 8}\n")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    ran = here(*run.split())
    assert ran.code == 2, ran.err
    assert "name another file" in ran.err
    after = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_full_disk_during_an_import(tmp_path: Path) -> None:
    """The reason stands in the line, and nothing is left."""
    source = lexicon(tmp_path)
    limited = (
        "import resource; from dptext.cli.app import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, "lexicon", "import", source, "--name", "x"],
        capture_output=True,
        env=environment(DPTEXT_HOME=str(tmp_path / "home")),
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert b"cannot be written (File too large)" in done.stderr
    assert not list((tmp_path / "home" / "lexicons").iterdir())
