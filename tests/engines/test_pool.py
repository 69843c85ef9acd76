"""The pool engine: the same bytes and the same counts as the serial one."""

from __future__ import annotations

import io
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from dptext import lexicons, pipeline, profile
from dptext.engines import pool, serial
from dptext.errors import DptextError, InputError, UsageError
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Record, Selection
from tests.cli import running

KEY = RunKey.from_seed(11)


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give a small lexicon on disk, which every process opens."""
    return running.lexicon(tmp_path_factory.mktemp("lexicon"))


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


def rows(lexicon: str) -> list[dict[str, str]]:
    """Give 60 records."""
    words = lexicons.find(lexicon).words
    return [
        {"id": str(row), "text": f"{words[row % 5]} zq, {words[row % 3]} {row}!"}
        for row in range(60)
    ]


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
def test_bytes_and_counts_are_those_of_one_process(
    lexicon: str, other: dict[str, Any], tmp_path: Path
) -> None:
    """Jobs and batch sizes change neither output nor measures."""
    made = built(lexicon, **other)
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows(lexicon)))
    found = []
    for jobs, batch in ((1, 4096), (2, 7)):
        target = tmp_path / f"{jobs}.jsonl"
        job = serial.Job(
            (str(source),), str(target), Selection(), batch_size=batch, jobs=jobs
        )
        tally = serial.Tally.of(made)
        serial.run(job, made, KEY, tally)
        measures = {name: meter.result() for name, meter in tally.meters.items()}
        counts = (tally.records, tally.words, tally.tokens.tolist())
        found.append((target.read_bytes(), counts, tally.epsilons.result(), measures))
    assert found[0][0] == found[1][0]
    assert found[0][0] != source.read_bytes()
    assert found[0][1] == found[1][1]
    for name, value in found[0][2].items():
        assert found[1][2][name] == pytest.approx(value)
    for name, values in found[0][3].items():
        for key, value in values.items():
            assert found[1][3][name][key] == pytest.approx(value), (name, key)


def test_a_faulty_record_stops_the_run_without_output(
    lexicon: str, tmp_path: Path
) -> None:
    """The error is the serial engine's; no file is left and no process hangs."""
    made = built(lexicon)
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text": "one"}\n' * 9 + "{\n")
    job = serial.Job((str(source),), str(target), Selection(), batch_size=2, jobs=2)
    with pytest.raises(InputError, match=r"in\.jsonl:10"):
        serial.run(job, made, KEY, serial.Tally.of(made))
    assert not target.exists()


def _stop(batch: list[Record]) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_an_error(
    lexicon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said, and nothing is taken for the end of the input."""
    made = built(lexicon)
    monkeypatch.setattr(pool, "_privatize", _stop)
    records = (Record(row, ("one two",), None) for row in range(9))
    with pytest.raises(DptextError, match="worker process stopped"):
        list(pool.run(made, records, KEY, 2, batch_size=1))


def test_memory_is_bounded(lexicon: str) -> None:
    """No more batches are read ahead than the workers need."""
    made = built(lexicon)
    read = io.StringIO()

    def records() -> Any:
        for row in range(400):
            read.write("x")
            yield Record(row, ("one two",), None)

    out = pool.run(made, records(), KEY, 2, batch_size=10)
    next(out)
    assert len(read.getvalue()) <= 60
    out.close()


def test_a_worker_refuses_settings_whose_files_have_changed(
    lexicon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every process draws by the same content, or the run ends."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    made = built(lexicon)
    pool._open(made.profile, made.lexicon.digest, made.identity, KEY)
    with pytest.raises(UsageError, match="changed since the run began"):
        pool._open(made.profile, made.lexicon.digest, "another", KEY)
