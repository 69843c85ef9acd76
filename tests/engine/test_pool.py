"""The pool engine: the same bytes and the same counts as the serial one."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from functools import partial
from multiprocessing import connection
from pathlib import Path
from typing import Any

import pytest

from dptext import lexicons, pipeline, profile
from dptext.engine import documents, pool
from dptext.engine.job import Job, Recipe, Task, Worker
from dptext.engine.tally import Meters, Tally
from dptext.errors import DptextError, InputError, LexiconError, UsageError
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import document
from dptext.run.selection import Selection
from dptext.run.work import Work
from dptext.types import Record
from tests.cli import running as command_line
from tests.engine import running

KEY = RunKey.from_seed(11)


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give a small lexicon on disk, which every process opens."""
    return command_line.lexicon(tmp_path_factory.mktemp("lexicon"))


def built(lexicon: str, **other: Any) -> Pipeline:
    """Make a pipeline."""
    data = {
        "lexicon": lexicon,
        "mechanism": "santext",
        "budget": {"name": "uniform", "epsilon": 3.0},
        **other,
    }
    recipe = profile.parse(data, "test.yaml")
    return pipeline.build(recipe, lexicons.find(recipe.lexicon))


def spread(sanitizer: Pipeline, tasks: Iterable[Task]) -> Iterator[Any]:
    """Do tasks in two processes."""
    recipe, meters = Recipe.from_pipeline(sanitizer, KEY), Meters(sanitizer.lexicon)
    with pool.started(recipe.worker, 2, Worker(sanitizer, KEY, meters)) as workers:
        yield from pool.spread(workers, tasks)


def rows(lexicon: str) -> list[dict[str, str]]:
    """Give 60 records."""
    words = lexicons.find(lexicon).words
    return [
        {"id": str(row), "text": f"{words[row % 5]} zq, {words[row % 3]} {row}!"}
        for row in range(60)
    ]


@pytest.mark.parametrize("copies", [True, False], ids=["fork", "spawn"])
@pytest.mark.parametrize(
    "other",
    [
        {},
        {"strategy": "data-set"},
        {"strategy": "record"},
        {"mechanism": "laplace"},
        {"budget": {"name": "per-text", "epsilon": 9.0}},
    ],
    ids=["santext", "data-set", "record", "laplace", "per-text"],
)
def test_bytes_and_reports_are_those_of_one_process(
    lexicon: str,
    other: dict[str, Any],
    copies: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Jobs and batch sizes change neither output nor report, to the last digit."""
    if not copies:
        monkeypatch.setattr(pool, "_can_copy", lambda: False)
    sanitizer = built(lexicon, **other)
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows(lexicon)))
    outputs, reports = [], []
    for jobs, batch in ((1, 4096), (2, 7)):
        target = tmp_path / f"{jobs}" / "out.jsonl"
        target.parent.mkdir()
        job = Job(
            (str(source),),
            str(target),
            Selection(),
            work=Work(batch_size=batch, jobs=jobs),
        )
        tally = Tally.begin(sanitizer.lexicon)
        written = running.run(job, sanitizer, KEY, tally)
        assert tally.texts == tally.records == 60
        tally.seconds = 1.0
        measures = PublicMeasures(None, None, "")
        stated = documents.released(sanitizer, job, KEY, [written], measures)
        report = documents.counted(stated, sanitizer, tally, job.inputs)
        reports.append(document.encode(report))
        outputs.append(target.read_bytes())
    assert outputs[0] == outputs[1] != source.read_bytes()
    assert reports[0] == reports[1]


def test_a_faulty_record_stops_the_run_without_output(
    lexicon: str, tmp_path: Path
) -> None:
    """The error is the serial engine's; no file is left and no process hangs."""
    sanitizer = built(lexicon)
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text": "one"}\n' * 9 + "{\n")
    job = Job((str(source),), str(target), Selection(), work=Work(batch_size=2, jobs=2))
    with pytest.raises(InputError, match=r"in\.jsonl:10"):
        running.run(job, sanitizer, KEY, Tally.begin(sanitizer.lexicon))
    assert not target.exists()


def _stop(task: Task) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def _half(task: Task) -> Any:
    """Have the process be killed in the middle of its answer."""

    def send(self: Any, data: bytes) -> None:
        os.write(self.fileno(), data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    connection.Connection._send = send  # type: ignore[attr-defined]
    return bytes(10**6)


@pytest.mark.parametrize("work", [_stop, _half])
@pytest.mark.parametrize("copies", [True, False], ids=["fork", "spawn"])
def test_a_killed_worker_is_an_error(
    work: Any, copies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said, and nothing is taken for the end of the input, or waited for."""
    monkeypatch.setattr(pool, "_can_copy", lambda: copies)
    batches = (Task([Record(row, ("one two",), None)], row) for row in range(9))
    with (
        pytest.raises(DptextError, match="worker process stopped"),
        pool.started(partial(partial, work), 2, work) as workers,
    ):
        list(pool.spread(workers, batches))


def test_memory_is_bounded(lexicon: str) -> None:
    """No more batches are read ahead than the workers need."""
    sanitizer = built(lexicon)
    read: list[int] = []

    def batches() -> Iterator[Task]:
        for number in range(40):
            read.append(number)
            yield Task([Record(number, ("one two",), None)], number)

    out = spread(sanitizer, batches())
    next(out)
    assert len(read) <= 4
    assert isinstance(out, Generator)
    out.close()


def test_a_worker_refuses_settings_whose_files_have_changed(lexicon: str) -> None:
    """Every process draws by the same content, or the run ends."""
    sanitizer = built(lexicon)
    recipe = Recipe(
        sanitizer.profile, sanitizer.lexicon.digest, sanitizer.identity, KEY
    )
    recipe.worker()
    with pytest.raises(UsageError, match="changed since the run began"):
        recipe._replace(identity="another").worker()
    with pytest.raises(LexiconError, match="changed since the run began"):
        recipe._replace(digest="another").worker()


def test_an_error_of_a_worker_is_that_of_one_process(
    lexicon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error at a worker's start is reported as itself, not as a dead process."""
    monkeypatch.setattr(pool, "_can_copy", lambda: False)
    sanitizer = replace(built(lexicon), identity="another")
    batches = [Task([Record(0, ("one two",), None)], 0)]
    with pytest.raises(UsageError, match="changed since the run began"):
        list(spread(sanitizer, batches))
