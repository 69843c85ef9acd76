"""Measures of speed: the machine, its limit, one cell."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.speed.texts import dptext, read, texts, write
from dptext.types import Lexicon

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
SHORT = 400  # words of a short run
# Words of a long one: few sizes, so that runs of different days have the same.
SIZES = tuple(n * 10**k for k in range(3, 8) for n in (1, 2, 5))[1:]
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources of a run and its workers: seconds, and megabytes of the largest."""

    seconds: float
    wall: float
    peak: float


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings of one cell."""

    vocabulary: str
    mechanism: str
    length: int = 200
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Effort:
    """How long runs may be, their epsilon, their texts, and where their files are."""

    folder: Path
    epsilon: float
    words: int
    seconds: float
    longest: float
    texts: Path | None = None


def machine() -> dict[str, Any]:
    """Return the class of this machine and the versions that count."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2] for line in lines if line.startswith("model name")]
    return {
        "processor": models[0].strip() if models else platform.processor(),
        "cores": os.cpu_count(),
        "memory": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


class Product:
    """The matrix product alone, in float32, as words per processor second.

    In blocks that stay in the cache, into memory that is there: the fastest way that
    numpy has. One product over the whole vocabulary is slower, by up to a half. It is
    measured again and again, because the load of the machine changes: `rates` has all.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        rows = np.asarray(lexicon.vectors, np.float32)
        self._blocks = [
            rows[at : at + 4096].T.copy() for at in range(0, len(rows), 4096)
        ]
        shape = 512, rows.shape[1]
        self._points = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        self._products = np.empty((512, 4096), np.float32)
        self._last = np.empty((512, self._blocks[-1].shape[1]), np.float32)
        self._round()  # fills caches
        self.rates: list[float] = []

    def _round(self) -> None:
        """Multiply all."""
        for block in self._blocks[:-1]:
            np.matmul(self._points, block, out=self._products)
        np.matmul(self._points, self._blocks[-1], out=self._last)

    def measure(self, seconds: float = 1.0) -> float:
        """Return the rate now."""
        began, rounds = time.process_time(), 0
        while not rounds or time.process_time() - began < seconds:
            self._round()
            rounds += 1
        rate = rounds * len(self._points) / (time.process_time() - began)
        self.rates.append(rate)
        return rate


def measured(
    command: tuple[str, ...], longest: float, variables: Mapping[str, str] | None = None
) -> Usage:
    """Run a command; raise RuntimeError with its last line where it fails.

    It may take `longest` processor seconds, and five times that by the clock. What it
    leaves running is ended.
    """
    tool = str(_HERE / "usage.py")
    launcher = (sys.executable, "-I", "-S", tool, str(longest))
    late = f"not done after {longest:.0f} s of processor time"
    with subprocess.Popen(
        (*launcher, *command),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **(variables or {})},
    ) as process:
        try:
            answer, errors = process.communicate(timeout=5 * longest)
        except subprocess.TimeoutExpired:
            raise RuntimeError(late) from None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    usage = json.loads(answer)
    status = usage.pop("status")
    if status in (-signal.SIGXCPU, -signal.SIGKILL) and usage["seconds"] > longest:
        raise RuntimeError(late)
    if status:
        lines = [each.strip() for each in errors.splitlines() if each.strip(" *")]
        last = lines[-1].removeprefix("dptext: ") if lines else f"exit code {status}"
        raise RuntimeError(last)
    return Usage(**usage)


def sanitized(
    lexicon: Lexicon, count: int, of: Setting, by: Effort
) -> tuple[Usage, int]:
    """Sanitize at least so many words; return what that used, and how many."""
    path = by.folder / "speed.jsonl"
    source = read(by.texts) if by.texts else texts(lexicon, of.length)
    written = write(path, source, count)
    command = dptext(
        "sanitize",
        str(path),
        "--field",
        "text",
        "--lexicon",
        of.vocabulary,
        "--decode",
        "none",
        "--mechanism",
        of.mechanism,
        "--epsilon",
        str(by.epsilon),
        "--quiet",
        "--no-bayes-risk",
        "--jobs",
        str(of.jobs),
    )
    return measured(command, by.longest), written


def cell(
    lexicon: Lexicon, product: Product, of: Setting, by: Effort, count: int = 0
) -> dict[str, Any]:
    """Measure one mechanism on one vocabulary, by `count` words where it is given.

    The difference between a long run and a short one is the speed; the rest of the
    short one is the start-up. The limit is the mean of one before and one after.
    """
    before = product.measure()
    sanitized(lexicon, SHORT, of, by)  # fills caches
    short, few = sanitized(lexicon, SHORT, of, by)
    asked = count or SIZES[0]
    while True:
        long, many = sanitized(lexicon, asked, of, by)
        more = max(long.seconds - short.seconds, 1e-3)
        possible = min(by.words, many * by.seconds / max(more, by.seconds / 100))
        larger = [size for size in SIZES if asked < size <= possible]
        if count or not larger:
            break
        asked = larger[-1]
    rate = (many - few) / more
    bound = (before + product.measure()) / 2
    return {
        "vocabulary": of.vocabulary,
        "mechanism": of.mechanism,
        "length": of.length,
        "jobs": of.jobs,
        "words": many,
        "rate": rate,
        "wall_rate": (many - few) / max(long.wall - short.wall, 1e-3),
        "limit": bound,
        "ratio": rate / bound,
        "start_up": max(0.0, short.seconds - few / rate),
        "peak": long.peak,
    }
