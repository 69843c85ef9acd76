"""Bytes in and out: whole files or none, damage named, digests true."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dptext import streams
from dptext.errors import InputError, MissingExtra, OutputError, UsageError
from dptext.streams import check_distinct, open_input, outputs, plain_name
from dptext.streams.outputs import Release, open_output

zstandard = pytest.importorskip("zstandard")

DATA = b"".join(b"line %d\r\n" % n for n in range(50_000))
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
}
SUFFIXES = list(PACK)
PACKED = SUFFIXES[1:]


def save(folder: Path, name: str, data: bytes) -> str:
    """Write a file and return its path."""
    (folder / name).write_bytes(data)
    return str(folder / name)


def load(path: str) -> bytes:
    """Read a file through open_input."""
    with open_input(path) as stream:
        return stream.read()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_input_is_decompressed_by_suffix(tmp_path: Path, suffix: str) -> None:
    """Each suffix is read as what it says, by lines or at once, in any case."""
    for name in ("a" + suffix, "b" + suffix.upper()):
        path = save(tmp_path, name, PACK[suffix](DATA))
        assert load(path) == DATA
        with open_input(path) as stream:
            assert stream.peek()[:4] == DATA[:4]
            assert list(stream) == DATA.splitlines(keepends=True)


@pytest.mark.parametrize("suffix", PACKED)
def test_frames_in_a_row_are_one_input(tmp_path: Path, suffix: str) -> None:
    """Compressed files that were put one after the other are read to the end."""
    data = PACK[suffix](b"one\n") + PACK[suffix](b"") + PACK[suffix](b"two\n")
    assert load(save(tmp_path, "a" + suffix, data)) == b"one\ntwo\n"


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("damage", ["cut", "flip", "other"])
def test_damage_is_named(tmp_path: Path, suffix: str, damage: str) -> None:
    """Compressed data that is cut off, damaged or none at all is never taken."""
    packed = PACK[suffix](DATA)
    half = len(packed) // 2
    bad = {
        "cut": packed[:half],
        "flip": packed[:half] + bytes(64) + packed[half + 64 :],
        "other": b"secret text, not compressed",
    }[damage]
    path = save(tmp_path, "a" + suffix, bad)
    with pytest.raises(InputError, match="damaged or truncated") as caught:
        load(path)
    assert str(caught.value).startswith(path)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_input_that_is_no_file(tmp_path: Path) -> None:
    """A path that is absent or a folder is a usage error of one line."""
    for path in (tmp_path / "absent", tmp_path, tmp_path / "absent.gz"):
        with pytest.raises(UsageError, match=r"No such file|Is a directory"):
            load(str(path))


def test_plain_file_can_seek(tmp_path: Path) -> None:
    """Formats with an index at the end read plain files in place."""
    with open_input(save(tmp_path, "a", b"x")) as stream:
        assert stream.seekable()


@pytest.mark.parametrize("path", [None, "-"])
def test_standard_input(path: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing and "-" stand for standard input, which stays open."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"abc")))
    with open_input(path) as stream:
        assert stream.read() == b"abc"
    assert not stream.closed


def test_zstd_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library the message says what to install, and nothing is left."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = save(tmp_path, "a.zst", b"")
    with pytest.raises(MissingExtra, match=r"\.\[zstd\]"):
        load(path)
    with pytest.raises(MissingExtra, match="zstd"), open_output(path + ".zst"):
        pass
    assert os.listdir(tmp_path) == ["a.zst"]


def test_plain_name() -> None:
    """The suffix of compression is looked through, other suffixes are not."""
    assert plain_name("a.csv.GZ") == "a.csv"
    assert plain_name("a.csv") == "a.csv"
    assert plain_name(".gz") == ".gz"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_output_round_trip(tmp_path: Path, suffix: str) -> None:
    """Output is read back; the digest is that of the file; no other file is left."""
    path = str(tmp_path / ("out.txt" + suffix))
    for _ in range(2):
        with open_output(path) as output:
            for line in DATA.splitlines(keepends=True):
                output.stream.write(line)
            unfinished = output.digest
            assert unfinished is None
        assert load(path) == DATA
        assert output.digest == hashlib.sha256(Path(path).read_bytes()).hexdigest()
        assert os.listdir(tmp_path) == ["out.txt" + suffix]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_equal_data_gives_equal_bytes(tmp_path: Path, suffix: str) -> None:
    """Neither time nor name nor the size of writes enters compressed output."""
    digests = set()
    for name, size in (("a", 7_000), ("b", 100_000)):
        with open_output(str(tmp_path / (name + suffix))) as output:
            for at in range(0, len(DATA), size):
                output.stream.write(DATA[at : at + size])
        digests.add(output.digest)
    assert len(digests) == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_failure_leaves_the_target(
    tmp_path: Path, suffix: str, error: type[BaseException]
) -> None:
    """A run that fails or is interrupted leaves the old file and nothing else."""
    path = save(tmp_path, "out" + suffix, b"old")

    def failing() -> None:
        with open_output(path) as output:
            output.stream.write(DATA)
            raise error

    with pytest.raises(error):
        failing()
    assert os.listdir(tmp_path) == ["out" + suffix]
    assert Path(path).read_bytes() == b"old"


def test_part_file_is_hidden_beside_the_target(tmp_path: Path) -> None:
    """While writing, the bytes are in a hidden file of the same folder."""
    name = "n" * 250
    with open_output(str(tmp_path / name)) as output:
        output.stream.write(b"x")
        (part,) = os.listdir(tmp_path)
        assert part.startswith(".n")
        assert part.endswith(".part")
    assert os.listdir(tmp_path) == [name]


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_killed_writer_leaves_no_target(tmp_path: Path) -> None:
    """A process that is killed while writing leaves no file of the target's name."""
    code = (
        "import sys, time; from dptext.streams.outputs import open_output\n"
        "with open_output(sys.argv[1]) as output:\n"
        "    output.stream.write(bytes(10**6)); print('ready', flush=True)\n"
        "    time.sleep(60)\n"
    )
    target = tmp_path / "out"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(target)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    assert not target.exists()


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_permissions(tmp_path: Path) -> None:
    """A new file follows the umask, a replaced one keeps its permissions."""
    path = str(tmp_path / "out")
    old = os.umask(0o027)
    try:
        with open_output(path):
            pass
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o640
        os.chmod(path, 0o606)
        with open_output(path):
            pass
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o606
    finally:
        os.umask(old)


@pytest.mark.skipif(os.name == "nt", reason="POSIX links")
def test_link_stays_a_link(tmp_path: Path) -> None:
    """Writing to a symbolic link replaces what it points to."""
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with open_output(str(tmp_path / "link")) as output:
        output.stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_output_that_is_a_folder(tmp_path: Path) -> None:
    """A folder cannot be written to."""
    with pytest.raises(UsageError, match="directory"), open_output(str(tmp_path)):
        pass


def test_output_in_no_folder(tmp_path: Path) -> None:
    """The message about an absent folder names its path."""
    path = str(tmp_path / "absent" / "out")
    with pytest.raises(OutputError, match=r"absent.*No such file"), open_output(path):
        pass


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("count", [1, 10**6])
def test_full_disk_is_an_output_error(count: int) -> None:
    """A full disk is one line, whether it shows early or at the end."""
    with (
        pytest.raises(OutputError, match=r"^/dev/full: No space left on device$"),
        open_output("/dev/full") as output,
    ):
        output.stream.write(bytes(count))
    assert output.digest is None


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk_on_standard_output_is_told_once() -> None:
    """A full disk behind standard output raises once, with no rest at exit."""
    code = (
        "from dptext.errors import OutputError\n"
        "from dptext.streams.outputs import open_output\n"
        "try:\n"
        "    with open_output(None) as output:\n"
        "        output.stream.write(b'x')\n"
        "except OutputError as error:\n"
        "    raise SystemExit(str(error))\n"
    )
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 1
    assert done.stderr == b"standard output: No space left on device\n"


def test_a_full_folder_where_an_output_waits() -> None:
    """The message names the folder, which is not that of the output."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with Release() as release:
            output = release.open(os.devnull, held=True)
            output.stream.write(b"x" * 2000)
            with pytest.raises(OutputError, match=f"^{tempfile.gettempdir()} .*TMPDIR"):
                release.commit()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk_under_a_parquet_writer() -> None:
    """A full disk is the same error below another library's writer."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"text": ["a" * 10] * 100_000, "n": list(range(100_000))})
    with (
        pytest.raises(OutputError, match="No space left"),
        open_output("/dev/full") as output,
    ):
        pq.write_table(table, output.stream)


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
def test_closed_pipe_stays_a_closed_pipe() -> None:
    """The caller learns that the reader is gone, and Python adds nothing."""
    code = (
        "import sys; from dptext.streams.outputs import open_output\n"
        "try:\n"
        "    with open_output('-') as output:\n"
        "        for _ in range(10**5):\n"
        "            output.stream.write(b'line\\n' * 100)\n"
        "except BrokenPipeError as error:\n"
        "    raise SystemExit(141)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"line\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Nothing and "-" stand for standard output, which stays open; digests are kept."""
    for path in (None, "-"):
        with open_output(path) as output:
            output.stream.write(b"abc")
        assert output.digest == hashlib.sha256(b"abc").hexdigest()
    print("after", flush=True)  # noqa: T201
    assert capfdbinary.readouterr().out == b"abcabcafter\n"


def test_flush_reaches_standard_output(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """A flush sends on what there is, for those who watch a log."""
    with open_output("-") as output:
        output.stream.write(b"abc\n")
        output.stream.flush()
        assert capfdbinary.readouterr().out == b"abc\n"


def test_replaced_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """A standard output that is no file takes the bytes just as well."""
    target = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(target))
    with open_output(None) as output:
        output.stream.write(b"abc")
    assert target.getvalue() == b"abc"


def test_nothing_is_written_over_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same file is recognized under another name, a link, or a standard stream."""
    path = save(tmp_path, "a", b"x")
    link = str(tmp_path / "link")
    os.link(path, link)
    for output in (path, link, str(tmp_path / "." / "a")):
        with pytest.raises(UsageError, match="already read or written by this run"):
            check_distinct([os.devnull, "absent", path], str(tmp_path / "b"), output)
    with open(path, "ab") as target, open(path, "rb") as source:
        monkeypatch.setattr(sys, "stdout", target)
        monkeypatch.setattr(sys, "stdin", source)
        for reads, write in (([path], "-"), (["-"], path), ([None], link), (["-"], "")):
            with pytest.raises(UsageError, match="name another file"):
                check_distinct(reads, write or None)


def test_no_file_is_written_twice(tmp_path: Path) -> None:
    """Two names of one new file, or one name twice, are refused; devices are not."""
    new = tmp_path / "new"
    with pytest.raises(UsageError, match="already"):
        check_distinct([], str(new), str(tmp_path / "." / "new"))
    check_distinct([], os.devnull, os.devnull)


def test_other_outputs_are_fine(tmp_path: Path) -> None:
    """A new file, another file, a device and a pipe may be written to."""
    path = save(tmp_path, "a", b"x")
    other = save(tmp_path, "b", b"x")
    for output in (other, str(tmp_path / "new"), os.devnull, None, "-"):
        check_distinct([path, os.devnull], output)


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("pieces", [1, 2, 10**9])
def test_compression_is_recognised_without_a_name(suffix: str, pieces: int) -> None:
    """Packed data on standard input are unpacked, also when they come in drops."""
    code = (
        "import sys; from dptext.streams import open_input\n"
        "with open_input('-') as stream:\n"
        "    sys.stdout.buffer.write(stream.read())\n"
    )
    packed = PACK[suffix](DATA)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        for at in range(0, min(12, 12 * pieces), pieces):
            process.stdin.write(packed[at : min(at + pieces, 12)])
            process.stdin.flush()
            time.sleep(0.002)
        process.stdin.write(packed[12:])
        process.stdin.close()
        assert process.stdout is not None
        assert process.stdout.read() == DATA


@pytest.mark.parametrize(
    "packed",
    [
        bz2.compress(b""),
        bz2.compress(b"") + bz2.compress(DATA),
        # A frame that readers skip, which parallel compressors write first.
        b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + PACK[".zst"](DATA),
    ],
)
def test_compressed_data_may_begin_with_an_empty_frame(
    packed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no text, with anything after it."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    with open_input("-") as stream:
        assert stream.read() in (b"", DATA)


@pytest.mark.parametrize("data", [b"", b"B", b"(a)", b"BZ is no magic", b"\x1f\x8b"])
def test_what_only_begins_like_compressed_data_is_plain(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that begins as a magic number does is read from its first byte."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with open_input("-") as stream:
        assert stream.read() == data


def test_damage_on_standard_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed data that are cut off are refused where there is no file name, too."""
    packed = gzip.compress(DATA)[:-9]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    with pytest.raises(InputError, match=r"^standard input: damaged.*\.gz"):
        with open_input("-") as stream:
            stream.read()


@pytest.mark.skipif(os.name == "nt", reason="POSIX shell")
def test_standard_input_that_cannot_be_read(tmp_path: Path) -> None:
    """A standard input that is open for writing only is one line."""
    code = (
        "from dptext.streams import open_input\n"
        "with open_input('-') as stream: stream.read()\n"
    )
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" -c "$1" 0>{tmp_path}/x', sys.executable, code],
        capture_output=True,
    )
    assert b"InputError: standard input: cannot be read: Bad file" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_parts_of_killed_runs_are_cleared(tmp_path: Path) -> None:
    """The next writer of a target removes the dead part, not that of a live writer.

    The live one has another file before it then, and leaves nothing.
    """
    code = (
        "import sys, time; from dptext.streams.outputs import open_output\n"
        "with open_output(sys.argv[1]) as output:\n"
        "    output.stream.write(bytes(10**6)); print('ready', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    target = tmp_path / "out"
    other = save(tmp_path, ".outer.0123abcd.part", b"of another target")
    odd = save(tmp_path, ".out.part", b"no part of ours")

    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(target)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        return process

    with start() as dead:
        dead.kill()
    (left,) = tmp_path.glob(".out.????????.part")
    with start() as live:
        (held,) = tmp_path.glob(".out.????????.part")
        assert held != left
        with open_output(str(target)) as output:
            output.stream.write(b"mine")
        assert held.exists()
        assert target.read_bytes() == b"mine"
        assert live.stdin is not None
        live.stdin.close()
        assert live.wait() == 1, "another file is there now"
    assert target.read_bytes() == b"mine"
    names = {Path(other).name, Path(odd).name, "out"}
    assert set(os.listdir(tmp_path)) == names


@pytest.mark.parametrize("old", [None, b"old"])
@pytest.mark.parametrize("links", [True, False])
def test_all_files_of_a_release_appear_or_none(
    tmp_path: Path, old: bytes | None, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When one file cannot be renamed the others are as before, old or absent."""
    if not links:  # as on file systems that have none
        monkeypatch.setattr(os, "link", _no_link)
    names = ["data", "sidecar", "page"]
    standing = names if old is not None else []
    for name in standing:
        save(tmp_path, name, b"old")

    def release(hinder: str | None) -> None:
        with Release() as opened:
            for name in names:
                opened.open(str(tmp_path / name)).stream.write(b"new")
            if hinder is not None:  # meanwhile a folder stands there
                (tmp_path / hinder).unlink(missing_ok=True)
                (tmp_path / hinder / "x").mkdir(parents=True)
            opened.commit()

    for hinder in names:
        with pytest.raises(OutputError, match=hinder):
            release(hinder)
        (tmp_path / hinder / "x").rmdir()
        (tmp_path / hinder).rmdir()
        if hinder in standing:
            save(tmp_path, hinder, b"old")
        assert sorted(os.listdir(tmp_path)) == sorted(standing)
        assert {(tmp_path / name).read_bytes() for name in standing} <= {old}
    release(None)
    assert {(tmp_path / name).read_bytes() for name in names} == {b"new"}
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def _no_link(one: object, two: object) -> None:
    raise PermissionError(1, "no links here")


def test_the_earlier_output_is_never_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without links the earlier output stands at its name until the new one does."""
    save(tmp_path, "out", b"old")
    os.chmod(tmp_path / "out", 0o640)
    seen: list[list[bytes]] = []
    replace = os.replace

    def watched(part: Path, target: Path) -> None:
        seen.append(sorted(path.read_bytes() for path in tmp_path.iterdir()))
        assert Path(target).read_bytes() == b"old"
        replace(part, target)

    monkeypatch.setattr(os, "link", _no_link)
    monkeypatch.setattr(os, "replace", watched)
    with open_output(str(tmp_path / "out")) as output:
        output.stream.write(b"new")
    assert seen == [[b"new", b"old", b"old"]]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "out": b"new"
    }
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


def test_what_is_put_aside_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that grows is synced before any output appears."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    with Release() as release:
        release.open(str(tmp_path / "out"))
        release.open_quarantine(str(tmp_path / "aside")).add(b"bad")
        release.complete()
        assert synced[0] == (tmp_path / "aside").stat().st_ino
        release.commit()


def test_data_appear_after_their_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that a release opens first is renamed last."""
    renamed: list[str] = []
    link = os.link

    def watched(part: Path, target: Path) -> None:
        renamed.append(target.name)
        link(part, target)

    monkeypatch.setattr(os, "link", watched)
    with Release() as release:
        for name in ("data", "sidecar"):
            release.open(str(tmp_path / name))
        release.commit()
    assert renamed == ["sidecar", "data"]


@pytest.mark.parametrize("old", [None, b"old\n"])
def test_what_a_failed_run_put_aside_is_taken_back(
    tmp_path: Path, old: bytes | None
) -> None:
    """A file that grows is as it was when the release is not committed."""
    path = tmp_path / "aside"
    if old is not None:
        path.write_bytes(old)
    with Release() as release:
        release.open_quarantine(str(path)).add(b"new\n")
    assert (path.read_bytes() if path.exists() else None) == old
    with Release() as release:
        release.open_quarantine(str(path)).add(b"new\n")
        release.commit()
    assert path.read_bytes() == (old or b"") + b"new\n"


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_disk_that_fills_while_writing(tmp_path: Path) -> None:
    """A file that can grow no further is an OutputError, and nothing is left."""
    code = (
        "import resource, sys; from dptext.streams.outputs import Release\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))\n"
        "with Release() as release:\n"
        "    data = release.open(sys.argv[1]); release.open(sys.argv[1] + '.json')\n"
        "    for _ in range(40): data.stream.write(bytes(2**16))\n"
        "    release.commit()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "o")], capture_output=True
    )
    assert b"OutputError" in done.stderr
    assert b"File too large" in done.stderr
    assert os.listdir(tmp_path) == []


def test_memory_is_flat_for_swollen_input(tmp_path: Path) -> None:
    """Input that compresses a thousandfold is not held in memory as a whole."""
    import tracemalloc

    assert streams.COMPRESSIONS == tuple(PACKED)
    for suffix in PACKED:
        path = save(tmp_path, "a" + suffix, PACK[suffix](bytes(3 * 10**6)) * 10)
        tracemalloc.start()
        with open_input(path) as stream:
            size = sum(len(block) for block in iter(lambda: stream.read(2**16), b""))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert size == 3 * 10**7
        assert peak < 2 * 10**7


def test_no_time_is_lost() -> None:
    """Small writes are gathered: a million lines take seconds, not minutes."""
    begin = time.perf_counter()
    with open_output(os.devnull) as output:
        for _ in range(200_000):
            output.stream.write(b"line\n")
    assert time.perf_counter() - begin < 5


@pytest.mark.parametrize(("size", "is_whole"), [(0, True), (3, False), (8, True)])
def test_padding_of_xz_is_of_four_bytes(size: int, is_whole: bool) -> None:
    """As `xz -t` has it, between two streams and at the end."""
    one, padding = lzma.compress(b"a\n"), bytes(size)
    for data in (one + padding, one + padding + one):
        stream = streams.unpacked(io.BytesIO(data), "in", suffix=".xz")
        if is_whole:
            assert stream.read() == b"a\n" * data.count(one)
        else:
            with pytest.raises(InputError, match="damaged"):
                stream.read()


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize(
    ("old", "is_late"),
    # An earlier file is locked while it is replaced.
    [(None, False), (None, True), (b"old", False)],
)
def test_the_slower_of_two_writers_leaves_nothing(
    *,
    links: bool,
    old: bytes | None,
    is_late: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The file of the faster one stays, with its report; equal files are no clash."""
    if not links:
        monkeypatch.setattr(os, "link", _no_link)
    names = ("data", "sidecar")
    for name in names if old is not None else ():
        save(tmp_path, name, old or b"")

    def write(text: bytes, release: Release) -> None:
        for name in names:
            release.open(str(tmp_path / name)).stream.write(text)

    def publish(text: bytes) -> None:
        with Release() as first:
            write(text, first)
            first.commit()

    with Release() as second:
        write(b"second", second)
        if is_late:  # the other one comes when this one is about to be renamed
            create = outputs._create

            def created(part: Path, target: Path) -> None:
                monkeypatch.setattr(outputs, "_create", create)
                publish(b"first")
                create(part, target)

            monkeypatch.setattr(outputs, "_create", created)
        else:
            publish(b"first")
        with pytest.raises(OutputError, match="another run has just written this file"):
            second.commit()
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    assert {(tmp_path / name).read_bytes() for name in names} == {b"first"}
    with Release() as third:
        write(b"equal", third)
        publish(b"equal")
        third.commit()
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_files_that_would_fill_the_disk_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compressed data may unfold to a gibibyte, and beyond it to 200 times their size.

    The message names the file, the limit, and the way around it.
    """
    assert (streams.UNFOLDED, streams.RATIO) == (2**30, 200)
    monkeypatch.setattr(streams, "UNFOLDED", 10**6)
    for suffix in PACKED:
        swollen = save(tmp_path, "swollen" + suffix, PACK[suffix](b"\n" * 10**7))
        with pytest.raises(
            InputError, match=r"swollen.*200 times.*decompress it first"
        ):
            load(swollen)
        few = save(tmp_path, "few" + suffix, PACK[suffix](b"\n" * 10**6))
        assert len(load(few)) == 10**6
        usual = save(tmp_path, "usual" + suffix, PACK[suffix](DATA * 4))
        assert load(usual) == DATA * 4
