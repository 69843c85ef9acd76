"""`dptext embed`: files of vectors, each with its report; a sibling of sanitize."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext.run.work import SIDECAR
from tests.cli.running import MARKER, Ran, environment, here, lexicon

TEXTS = ("the film was good", "bread and water", "", f"sad {MARKER} story", "old house")


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Write 60 records."""
    path = tmp_path / "in.jsonl"
    lines = [
        json.dumps({"n": row, "who": f"p{row % 7}", "text": TEXTS[row % 5] * (row % 4)})
        for row in range(60)
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def embed(source: str, output: Path, *options: str) -> Ran:
    """Run the command with a small lexicon."""
    words = lexicon(output.parent)
    field = () if source.endswith(".txt") else ("-f", "text")
    return here(
        "embed", *field, source, "--lexicon", words, "-o", str(output), *options
    )


def sidecar(output: Path) -> Any:
    """Read the public report beside an output."""
    return json.loads(output.with_name(output.name + SIDECAR).read_bytes())


@pytest.mark.parametrize("pool", ["word", "mean", "sif"])
def test_all_formats_hold_the_same_vectors(
    pool: str, source: str, tmp_path: Path, key: str
) -> None:
    """Numpy and Parquet read them; beside them stands what they are of."""
    pq = pytest.importorskip("pyarrow.parquet")

    options = ("--pool", pool, "--key-file", key, "-q", "--id", "n")
    paths = [tmp_path / f"out{suffix}" for suffix in (".npy", ".npz", ".parquet")]
    for path in paths:
        assert embed(source, path, *options).code == 0
    vectors = np.load(paths[0])
    with np.load(paths[1]) as columns:
        np.testing.assert_array_equal(columns["vector"], vectors)
        records, ids = columns["record"], columns["id"].tolist()
    assert vectors.dtype == np.float32
    assert ids == [str(each) for each in records]
    table = pq.read_table(paths[2])
    np.testing.assert_array_equal(np.stack(table["vector"].to_pylist()), vectors)
    assert table["record"].to_pylist() == records.tolist()
    assert table["id"].to_pylist() == ids
    assert ("word" in table.column_names) == (pool == "word")
    report = sidecar(paths[2])
    assert report["output"]["rows"] == len(vectors)
    assert report["output"]["columns"] == list(table.column_names)
    assert MARKER not in json.dumps(report)
    assert report["private"] is None


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
def test_the_same_bytes_for_any_batch(
    suffix: str, source: str, tmp_path: Path, key: str
) -> None:
    """Batches of 1, 7 and 4096 records."""
    written = set()
    for size in ("1", "7", "4096"):
        path = tmp_path / f"{size}{suffix}"
        options = ("--pool", "word", "--key-file", key, "-q", "--batch-size", size)
        assert embed(source, path, *options).code == 0
        written.add(path.read_bytes())
    assert len(written) == 1


@pytest.mark.parametrize(("pool", "suffix"), [("word", ".npy"), ("mean", ".parquet")])
def test_the_same_bytes_for_one_and_two_processes(
    pool: str, suffix: str, source: str, tmp_path: Path, key: str
) -> None:
    """The vectors do not depend on the process that draws them."""
    written = set()
    for jobs in ("1", "2"):
        path = tmp_path / f"{jobs}{suffix}"
        options = ("--pool", pool, "--key-file", key, "-q", "--batch-size", "16")
        assert embed(source, path, *options, "--jobs", jobs).code == 0
        written.add(path.read_bytes())
    assert len(written) == 1


def test_without_a_key_every_run_differs(source: str, tmp_path: Path) -> None:
    """And the report says where randomness came from."""
    paths = [tmp_path / "a.npy", tmp_path / "b.npy"]
    for path in paths:
        assert embed(source, path, "-q").code == 0
    assert paths[0].read_bytes() != paths[1].read_bytes()
    assert sidecar(paths[0])["run"]["key"] == "system"


def test_the_panel_and_the_internal_report(source: str, tmp_path: Path) -> None:
    """Shown on standard error, like that of sanitize; standard output stays empty."""
    out, internal, page = (tmp_path / name for name in ("o.npy", "r.json", "r.html"))
    more = ("--report", str(internal), "--html", str(page), "--subject", "who", "-v")
    ran = embed(source, out, *more)
    assert (ran.code, ran.out) == (0, b"")
    for part in (
        "Privacy report: vectors",
        "Not covered:",
        "Holds if:",
        "Attack: the original is found",
    ):
        assert part in ran.err
    report = json.loads(internal.read_bytes())
    assert report["audience"] == "internal"
    assert report["private"]["vectors"]["most_of_one"] == 9
    assert (
        report["private"]["vectors"]["epsilon_of_one"]
        > report["vectors"]["epsilon_each"]
    )
    html = page.read_text()
    assert "Do not release this page" in html
    for text in (ran.err, html, internal.read_text()):
        assert MARKER not in text
        assert "p3" not in text
    beside = str(out) + SIDECAR
    again = here("report", beside)
    assert again.code == 0
    assert b"public report" in again.out
    assert here("report", beside, "--html", str(tmp_path / "p.html")).code == 0


def test_check_computes_the_report_anew(source: str, tmp_path: Path) -> None:
    """Untouched it passes the policy that fits; edited, another file or seeded, not."""
    out = tmp_path / "o.npy"
    assert (
        embed(source, out, "-q", "--mechanism", "laplace", "--epsilon", "2").code == 0
    )
    words = ("--lexicon", lexicon(tmp_path))
    assert here("check", str(out), *words).code == 0
    assert (
        "policy allows"
        in here("check", str(out), *words, "--set", "max_loss=1").out.decode()
    )
    beside = Path(str(out) + SIDECAR)
    clean = beside.read_bytes()
    edits = {
        b'"epsilon_each": 2.0': b'"epsilon_each": 1.0',
        b'"notion": "metric-DP"': b'"notion": "LDP"',
        b"is 2-metric": b"is 1-metric",
        b'"audience": "public"': b'"audience": "internal"',
    }
    for old, new in edits.items():
        assert old in clean
        beside.write_bytes(clean.replace(old, new))
        assert here("check", str(out), *words).code == 1
    beside.write_bytes(clean)
    data = out.read_bytes()
    out.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert b"another file" in here("check", str(out), *words).out
    out.write_bytes(data)
    noise = ("-q", "--mechanism", "discrete-gaussian")
    assert embed(source, out, *noise).code == 0
    verdict = here("check", str(out), *words).out
    assert b"guarantee is eps-delta" in verdict
    accept = ("--set", "notion=eps-delta", "--set", "max_epsilon=8")
    assert here("check", str(out), *words, *accept).code == 0
    assert embed(source, out, "-q", "--seed", "1").code == 0
    assert here("check", str(out), *words, *accept).code == 1


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--pool", "text"), 2, "--pool text: choose word, mean, sif or sentence"),
        (("--mechanism", "rank"), 2, "mechanism rank draws words, not vectors"),
        (("--mechanism", "laplace", "--mu", "1"), 2, "--mu is only for Gaussian noise"),
        (("--mu", "1", "--epsilon", "1"), 2, "not both"),
        (
            ("--mechanism", "laplace", "--set", "mechanism.delta=0.1"),
            2,
            "mechanism.delta: unknown",
        ),
        (("--subject", "who", "--id", "n"), 2, "give --id or --subject, not both"),
        (("--most", "3"), 2, "also give --subject"),
        (("--public", "p.txt", "--mu", "1"), 2, "privunit of texts; leave it out"),
        (("--public", "p.txt"), 2, "--public p.txt: No such file"),
        (("--subject", "who", "--most", "3"), 3, 'a value of "who" has more than 3'),
        (("--field", "body"), 2, "'body'"),
        (
            ("--epsilon", "0.00001", "--mechanism", "discrete-gaussian"),
            2,
            "too small for a grid",
        ),
        (("--pool", "sentence"), 2, "--pool sentence and --model go together"),
        (("--set", "tokens.stop_word=keep"), 2, "vectors contain no copied text"),
        (("--key-file", "nowhere"), 2, "key file nowhere"),
    ],
)
def test_what_goes_wrong_is_one_line_and_no_file(
    options: tuple[str, ...], code: int, said: str, source: str, tmp_path: Path
) -> None:
    """The exit codes of sanitize; no output is left that looks complete."""
    out = tmp_path / "o.npy"
    ran = embed(source, out, *options)
    assert ran.code == code, ran.err
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not list(tmp_path.glob("o.npy*"))


def test_subjects_are_those_of_a_ledger(tmp_path: Path) -> None:
    """A number and its digits are one subject, and so are encodings of an accent."""
    source, pool = tmp_path / "in.jsonl", ("--pool", "mean", "-q", "--subject", "who")
    for values in ((7, "7", 7.0), ("Ren\u00e9", "Rene\u0301", "Ren\u00e9")):
        rows = ({"who": value, "text": "the film"} for value in values)
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
        ran = embed(str(source), tmp_path / "few.npy", *pool, "--most", "2")
        assert ran.code == 3, ran.err
        assert "has more than 2 vectors" in ran.err
        internal = str(tmp_path / "report.json")
        more = ("--most", "3", "--report", internal)
        assert embed(str(source), tmp_path / "all.npy", *pool, *more).code == 0
        assert (
            json.loads(Path(internal).read_bytes())["private"]["vectors"]["most_of_one"]
            == 3
        )
        assert "id_field" not in sidecar(tmp_path / "all.npy")["run"]["layout"]


def test_lines_of_text_have_no_subject(tmp_path: Path) -> None:
    """They would all count as one: the run ends with one line, as with a ledger."""
    lines = tmp_path / "in.txt"
    lines.write_text("one film\n\nanother film\n")
    ran = here("embed", str(lines), "-o", str(tmp_path / "o.npy"), "--subject", "who")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "--subject: the input is text" in ran.err
    assert [*tmp_path.iterdir()] == [lines]


@pytest.mark.parametrize("name", ["out.txt", "out", "-", ""])
def test_a_name_that_is_no_format_is_refused(
    name: str, source: str, tmp_path: Path
) -> None:
    """Before anything is read."""
    given = ("-o", name) if name else ()
    ran = here("embed", "-f", "text", source, "--lexicon", lexicon(tmp_path), *given)
    assert ran.code == 2
    assert "ending in .npy, .npz, .parquet" in ran.err


def test_faulty_records_go_aside(tmp_path: Path) -> None:
    """They take an ordinal, so that skipping one changes no other vector's record."""
    path, aside = tmp_path / "in.jsonl", tmp_path / "bad"
    path.write_text('{"text": "good"}\n{"text": 5}\n{"text": "bad"}\n')
    out = tmp_path / "o.npz"
    assert embed(str(path), out, "-q").code == 4
    assert embed(str(path), out, "-q", "--quarantine", str(aside)).code == 0
    with np.load(out) as columns:
        assert columns["record"].tolist() == [0, 2]
    assert aside.read_text() == '{"text": 5}\n'


def test_no_records_and_no_words_give_empty_files(tmp_path: Path) -> None:
    """(0, m): a reader need not know that there was nothing."""
    path = tmp_path / "in.txt"
    for content, pool, rows in (("", "mean", 0), ("\n...\n", "word", 0)):
        path.write_text(content)
        for suffix in (".npy", ".npz", ".parquet"):
            out = tmp_path / f"o{suffix}"
            assert embed(str(path), out, "-q", "--pool", pool).code == 0
        assert np.load(tmp_path / "o.npy").shape == (rows, 6)


def test_the_example_runs() -> None:
    """numpy, pandas, Parquet and scikit-learn take the released vectors."""
    for name in ("pandas", "pyarrow", "sklearn"):
        pytest.importorskip(name)
    folder = Path(__file__).parents[2] / "examples"
    done = subprocess.run(
        [sys.executable, "-W", "error", "embed.py", "tickets.jsonl"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "(8, 8) float32" in done.stdout
