"""Run commands and keep what matters of them: digests, figures, exit codes, checks.

This is a black box: nothing of the package is imported but its entry point, so that
everything within may be moved.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.golden import inputs

Entry = dict[str, Any]
# Fields about code, time, processor or compression, not about figures: which
# outputs an audit can test depends on the last bits of their probabilities.
_PASSED_OVER = frozenset(
    {
        "version",
        "seconds",
        "words_per_second",
        "characters",
        "bytes",
        "tests",
        "draws",
        "power",
    }
)
# Fields kept in clear, for readable differences.
_CLEAR = (
    "guarantee.bound.notion",
    "guarantee.bound.epsilon",
    "guarantee.bound.worst_loss",
    "guarantee.bound.delta",
    "risk.success",
    "risk.baseline",
    "deniability.n_w",
    "deniability.s_w",
    "private.metrics.PP.share_changed",
    "private.metrics.LOW.share_present",
    "private.metrics.CS.mean_cosine",
    "private.epsilon_per_text.total",
    "private.records",
    "private.texts",
    "private.share_copied",
    "measures.ruler.best",
    "run.step",
    "output.rows",
)


class Ran(NamedTuple):
    """How a command ended: its exit code, and what it wrote."""

    code: int
    out: bytes
    err: str


def prepare(home: Path) -> None:
    """Write the inputs into a folder, and import the small lexicon by its name."""
    (home / "inputs").mkdir(parents=True)
    inputs.write(home / "inputs")
    with contextlib.chdir(home):
        ran = run("lexicon", "import", "inputs/gold.vec", "--name", "gold")
        assert ran.code == 0, ran.err
        model = ("--name", "pairs", "--lexicon", "gold", "--field", "text")
        ran = run("lexicon", "ngrams", "inputs/corpus.jsonl", *model)
        assert ran.code == 0, ran.err


def run(*arguments: str, given: bytes = b"") -> Ran:
    """Run a command: in this process, or in another with GOLDEN_APART."""
    if os.environ.get("GOLDEN_APART"):
        command = [sys.executable, "-m", "dptext", *arguments]
        done = subprocess.run(command, input=given, capture_output=True, check=False)
        return Ran(done.returncode, done.stdout, done.stderr.decode())
    return _here(arguments, given)


def _here(arguments: tuple[str, ...], given: bytes) -> Ran:
    from dptext.__main__ import main

    out, err = io.BytesIO(), io.BytesIO()
    source: Any = io.BufferedReader(io.BytesIO(given))
    streams = (
        io.TextIOWrapper(source, "utf-8"),
        io.TextIOWrapper(out, "utf-8", write_through=True),
        io.TextIOWrapper(err, "utf-8", write_through=True),
    )
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(number) for number in numbers]
    sys.argv = ["dptext", *arguments]
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        main()
        code: object = 0
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
    assert code is None or isinstance(code, int)
    return Ran(code or 0, out.getvalue(), err.getvalue().decode())


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def content(path: Path) -> bytes:
    """Return what a file holds, free of the packer's version."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        import zstandard

        with zstandard.ZstdDecompressor().stream_reader(data) as stream:
            return bytes(stream.read())
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        columns = [(field.name, str(field.type)) for field in table.schema]
        return repr((columns, table.to_pylist())).encode()
    if path.suffix == ".npz":
        import numpy as np

        with np.load(path) as arrays:
            named = {name: arrays[name] for name in sorted(arrays.files)}
        return repr([(name, a.dtype, a.tolist()) for name, a in named.items()]).encode()
    return data


def _walk(node: object, path: str) -> Iterator[tuple[str, float | bool]]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name not in _PASSED_OVER:
                yield from _walk(value, f"{path}.{name}" if path else name)
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from _walk(value, f"{path}.{number}")
    elif isinstance(node, bool | int):
        yield path, node
    elif isinstance(node, float):
        # Nine digits: libraries of other processors may differ in the last bits.
        yield path, float(f"{node:.9g}")


def _flat(data: Any) -> Any:
    """Return a report with the figures of its sections where version 3 had them.

    So their digests show that a move of paths changes no value.
    """
    if not isinstance(data, dict) or not {"words", "vectors"} <= data.keys():
        return data
    top, run, private = dict(data), dict(data["run"]), data["private"]
    section = top.pop("words") or top.pop("vectors")
    if data["words"] is None:
        top.pop("success")
    named = {"risk", "no_risk", "risk_note", "deniability", "in_context", "measures"}
    top |= {name: value for name, value in section.items() if name in named}
    run |= {name: value for name, value in section.items() if name not in named}
    if private is not None:
        counts = private["words"] or private["vectors"]
        rest = {k: v for k, v in private.items() if k not in ("words", "vectors")}
        private = rest | counts
    return top | {"run": run, "private": private}


def _value_at(node: object, path: str) -> object:
    for name in path.split("."):
        if isinstance(node, list):
            node = node[int(name)] if int(name) < len(node) else None
        else:
            node = node.get(name) if isinstance(node, dict) else None
    return node


def figures(data: Any, *clear: str) -> Entry:
    """Return digests of a document's figures, and some of them in clear.

    "figures" is of paths and values; "values" of the sorted values alone, which stays
    where figures only move. "_all" is for eyes and not kept.
    """
    data = _flat(data)
    numbers = dict(_walk(data, ""))
    paths = json.dumps(numbers, sort_keys=True).encode()
    values = json.dumps(sorted(float(value) for value in numbers.values())).encode()
    shown = [(path, _value_at(data, path)) for path in clear or _CLEAR]
    said = (
        f"{path.partition('.')[2] or path}={_short(value)}"
        for path, value in shown
        if value is not None
    )
    return {
        "count": len(numbers),
        "figures": digest(paths)[:16],
        "values": digest(values)[:16],
        "clear": " ".join(said),
        "_all": numbers,
    }


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def checked(path: str, *options: str) -> Entry:
    """Return how `check` ends for a file, and the rules that fail."""
    ran = run("check", path, "--format", "json", *options)
    try:
        exports = json.loads(ran.out)["exports"]
    except ValueError:
        return {"exit": ran.code}
    rules = [finding["rule"] for each in exports for finding in each["findings"]]
    return {"exit": ran.code, "rules": " ".join(sorted(rules))}


def bare(entry: Any) -> Any:
    """Return an entry without the parts for readers alone."""
    if not isinstance(entry, dict):
        return entry
    kept = {name: value for name, value in entry.items() if name != "_all"}
    return {name: bare(value) for name, value in kept.items()}
