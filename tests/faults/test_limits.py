"""Input that is small on disk and large in memory is refused in one line."""

from __future__ import annotations

import gzip
import io
import json
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dptext import settings
from dptext.errors import DptextError, LexiconError, UsageError
from dptext.lexicons.sources import open_packed, read_lines
from tests.cli import running
from tests.formats.pipe import Endless

BOMB = "a: &a [x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
_MEMORY = 2**31  # bytes that a run may have here


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "aliases"),
        ("about: &a x\nname: *a\n", "p.yaml:2: aliases"),
        ("a: " + "[" * 60 + "]" * 60, "nested deeper"),
        ("a: " + "[" * 100_000, "nested deeper"),
        ("{a: " * 5_000 + "1" + "}" * 5_000, "nested deeper"),
    ],
    ids=["bomb", "alias", "deep", "deeper", "mappings"],
)
def test_yaml_that_grows_is_refused(text: str, reason: str) -> None:
    """Aliases and depth are refused before anything is made of them."""
    with pytest.raises(UsageError, match=reason):
        settings.decode_yaml(text.encode(), "p.yaml", "profile")


def test_a_profile_that_never_ends_is_refused(tmp_path: Path) -> None:
    """A file of settings has 64 MiB at most."""
    path = tmp_path / "p.yaml"
    with path.open("wb") as file:
        file.truncate(2**26 + 1)
    with pytest.raises(UsageError, match="larger than 64 MiB"):
        settings.read_yaml(path, "profile")


def _endless(byte: bytes) -> io.BufferedReader:
    return io.BufferedReader(Endless(b"the ", byte, 2**40, b""))


def test_a_line_of_vectors_has_an_end() -> None:
    """A terabyte without a line feed is refused after 64 MiB."""
    with pytest.raises(LexiconError, match="line 1: longer than 64 MiB"):
        read_lines(_endless(b"1 "[:1]), "v.txt")


@pytest.mark.parametrize("pack", ["gz", "zip"])
def test_vectors_that_swell_are_refused(pack: str, tmp_path: Path) -> None:
    """A packed line that is longer than the limit is not unpacked any further."""
    path = tmp_path / f"v.{pack}"
    if pack == "gz":
        path.write_bytes(gzip.compress(b"1" * 2**26, 1) * 4)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            file.writestr("v.txt", b"1" * 2**27)
    with open_packed(path) as stream, pytest.raises(DptextError, match="longer than"):
        read_lines(stream, path.name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["long line", "bomb", "deep"])
def test_records_beyond_all_limits_take_bounded_memory(
    kind: str, tmp_path: Path
) -> None:
    """Nearly a gibibyte in one line, packed, and JSON without a bottom are faults."""
    source = tmp_path / "in.jsonl.gz"
    swollen = {
        "long line": b'{"text": "' + b"a" * 2**26,
        "bomb": bytes(2**26),
        "deep": b'{"text": ' + b"[" * 2**24,
    }[kind]
    packed = gzip.compress(swollen, 1) * (15 if kind == "bomb" else 1)
    good = json.dumps({"text": "the film"}).encode() + b"\n"
    source.write_bytes(gzip.compress(good) + packed + gzip.compress(b"\n" + good))
    output = tmp_path / "out.jsonl"
    done = subprocess.run(
        [
            *running.command(
                "sanitize", "-f", "text", str(source), *running.small(tmp_path)
            ),
            "-q",
            "--on-error",
            "skip",
            "-o",
            str(output),
        ],
        capture_output=True,
        env=running.environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY)),
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert len(output.read_bytes().splitlines()) == 2


@pytest.mark.parametrize("size", [2**26 + 1, None])
def test_a_report_that_is_none_is_not_read_whole(
    size: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`check` refuses a sidecar that is huge, or nested as deep as its length."""
    monkeypatch.chdir(tmp_path)
    Path("o.jsonl").write_text("{}\n")
    beside = Path("o.jsonl.dptext.json")
    beside.write_bytes(b"[" * 10**6)
    if size is not None:
        with beside.open("wb") as file:
            file.truncate(size)
    ran = running.here("check", "o.jsonl")
    assert ran.code in (1, 2)
    assert b"dptext.json" in ran.out + ran.err.encode()
    assert "Traceback" not in ran.err


if sys.platform == "win32":
    pytest.skip("needs limits of memory", allow_module_level=True)
