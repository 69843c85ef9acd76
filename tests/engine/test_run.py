"""The jobs of a run: ordinals, faults, formats, and nothing left by a failed one."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from pathlib import Path

import pytest

from dptext import pipeline, profile
from dptext.engine.job import Job, Written
from dptext.engine.source import one_format
from dptext.engine.tally import Tally
from dptext.errors import InputError, UsageError
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.run.selection import Selection
from dptext.run.work import Work
from tests import small
from tests.engine import running

KEY = RunKey(b"k" * 32, "key-file")
TEXT = "a0x b1x c2x d3x e4x f5x g6x h7x"


@pytest.fixture
def ready() -> Pipeline:
    """Make rank ready for a small lexicon."""
    recipe = profile.parse(
        {
            "mechanism": {"name": "rank", "k": 8},
            "budget": {"name": "uniform", "epsilon": 2.0},
        },
        "test.yaml",
    )
    return pipeline.build(recipe, small.cloud(26, 4))


def _run(
    ready: Pipeline,
    folder: Path,
    *sources: str,
    name: str | None = None,
    on_error: str = "fail",
) -> tuple[list[bytes], Tally, Written]:
    names = []
    for number, text in enumerate(sources):
        path = folder / f"{number}.txt"
        path.write_text(text)
        names.append(str(path))
    target = folder / "out.txt"
    job = Job(
        tuple(names), str(target), Selection(), name=name, work=Work(on_error=on_error)
    )
    tally = Tally.begin(ready.lexicon)
    written = running.run(job, ready, KEY, tally)
    data = target.read_bytes()
    assert written.sha256 == hashlib.sha256(data).hexdigest()
    assert written.bytes == len(data)
    return data.splitlines(), tally, written


def test_ordinals_run_on_over_inputs(ready: Pipeline, tmp_path: Path) -> None:
    """Records of a second input go on counting, so that noise is never shared."""
    both, tally, written = _run(ready, tmp_path, f"{TEXT}\n" * 2, f"{TEXT}\n" * 2)
    assert len(set(both)) == 4
    assert (tally.records, tally.faults, written.format) == (4, 0, "text")
    one, *_ = _run(ready, tmp_path, f"{TEXT}\n" * 4)
    assert one == both


def test_draws_of_an_output_among_several_go_by_its_name(
    ready: Pipeline, tmp_path: Path
) -> None:
    """Equal texts in equal places of two outputs have independent draws."""
    alone, *_ = _run(ready, tmp_path, f"{TEXT}\n" * 2)
    first, *_ = _run(ready, tmp_path, f"{TEXT}\n" * 2, name="a.txt")
    second, *_ = _run(ready, tmp_path, f"{TEXT}\n" * 2, name="b.txt")
    assert len({*alone, *first, *second}) == 6
    again, *_ = _run(ready, tmp_path, f"{TEXT}\n" * 3, name="a.txt")
    assert again[:2] == first


def test_fault_takes_an_ordinal(ready: Pipeline, tmp_path: Path) -> None:
    """A record that is skipped leaves the noise of those after it as it was."""
    whole, *_ = _run(ready, tmp_path, f"{TEXT}\n" * 3)
    rest, tally, _ = _run(ready, tmp_path, f"{TEXT}\n\0\n{TEXT}\n", on_error="skip")
    assert rest == [whole[0], whole[2]]
    assert (tally.records, tally.faults) == (2, 1)


def test_failed_run_leaves_nothing(ready: Pipeline, tmp_path: Path) -> None:
    """A fault without leave to go on stops the run before there is an output."""
    with pytest.raises(InputError, match=r"0\.txt:2: "):
        _run(ready, tmp_path, f"{TEXT}\n\0\n")
    assert [path.name for path in tmp_path.iterdir()] == ["0.txt"]


def test_progress_counts(ready: Pipeline, tmp_path: Path) -> None:
    """The record and word counts of progress grow."""
    source = tmp_path / "in.txt"
    source.write_text(f"{TEXT}\n" * 600)
    progress: list[tuple[int, int]] = []
    running.run(
        Job((str(source),), str(tmp_path / "o"), Selection(), work=Work(batch_size=64)),
        ready,
        KEY,
        Tally.begin(ready.lexicon),
        progress=lambda: nullcontext(lambda *each: progress.append(each)),
    )
    assert [records for records, _ in progress] == [*range(64, 600, 64), 600]
    assert all(words >= 8 * records for records, words in progress)


@pytest.mark.parametrize(
    ("paths", "others", "shared"),
    [
        (("a.txt", "b.text"), (), "text"),
        (("a.jsonl.gz", "b.ndjson"), (), "jsonl"),
        (("-",), (), ""),
        (("-", "a.csv"), ("csv",), "csv"),
    ],
)
def test_one_format(
    paths: tuple[str, ...], others: tuple[str, ...], shared: str
) -> None:
    """Inputs that share a format have that one."""
    assert one_format(paths, *others) == shared


def test_several_formats_are_refused() -> None:
    """Inputs of different formats cannot share an output."""
    with pytest.raises(UsageError, match="jsonl, text"):
        one_format(("a.txt", "-"), "jsonl")
