"""The work of a cluster's workers in this process, without Spark."""

from __future__ import annotations

import json
import pickle
import shutil
from functools import partial
from pathlib import Path
from typing import Any

from dptext import lexicons, pipeline, profile, spark
from dptext.engine.files import SignedReports
from dptext.engine.job import Job, Recipe
from dptext.engine.run import Run
from dptext.errors import LexiconError, UsageError
from dptext.randomness import RunKey
from dptext.run.selection import Selection
from dptext.run.work import Work
from dptext.spark import FileOutcome, count_texts, make_private
from tests.cli.running import WORDS, lexicon

KEY = RunKey.from_seed(11)


def run_of(folder: Path) -> Run:
    """Make the settings of a run ready."""
    data = {
        "lexicon": lexicon(folder),
        "mechanism": "santext",
        "budget": {"name": "uniform", "epsilon": 3.0},
    }
    recipe = profile.parse(data, "test.yaml")
    ready = pipeline.build(recipe, lexicons.find(recipe.lexicon))
    return Run(ready, KEY, bayes_risk=False, warn=lambda line: None)


def jobs_of(folder: Path, out: str) -> list[Job]:
    """Write two files, one with a record that cannot be read; return their jobs."""
    (folder / out).mkdir()
    jobs = []
    for name, bad in (("a", "{\n"), ("b", "")):
        path = folder / f"{name}.jsonl"
        rows = [json.dumps({"text": f"the {word} film"}) for word in WORDS[:7]]
        path.write_text(bad + "".join(row + "\n" for row in rows))
        target = str(folder / out / path.name)
        job = Job(
            (str(path),),
            target,
            Selection(),
            name=path.name,
            work=Work(on_error="skip"),
        )
        jobs.append(job)
    return jobs


def test_tasks_in_any_order_write_what_one_machine_writes(tmp_path: Path) -> None:
    """Each knows how many texts come before; outputs, sidecars and counts agree."""
    reports = SignedReports(sidecar=True)
    alone = run_of(tmp_path)
    for job in jobs_of(tmp_path, "alone"):
        alone.release(job, reports)
    run, jobs = run_of(tmp_path), jobs_of(tmp_path, "tasks")
    assert [count_texts(job) for job in jobs] == [7, 7]
    before = [0, 7]
    shipped = spark.Shipped(Recipe.from_pipeline(run.pipeline, KEY))
    work = pickle.loads(
        pickle.dumps(
            partial(make_private, shipped=shipped, measures=run.measures, sidecar=True)
        )
    )
    outcomes: list[Any] = [None, None]
    for number in (1, 0, 1):  # one of them twice, as Spark may
        outcomes[number] = work((jobs[number], before[number]))
    for outcome in outcomes:
        assert isinstance(outcome, FileOutcome)
        run.tally.merge(outcome.totals)
    for path in (tmp_path / "alone").iterdir():
        assert (tmp_path / "tasks" / path.name).read_bytes() == path.read_bytes()
    assert len(list((tmp_path / "tasks").iterdir())) == 4
    assert run.tally.next_text == alone.tally.next_text == 14
    results = [each.tally.meters.results(each.tally.counted) for each in (run, alone)]
    assert results[0] == results[1]


def test_what_goes_wrong_comes_back(tmp_path: Path) -> None:
    """An error is a result, which no other try changes; another lexicon is one."""
    run = run_of(tmp_path)
    job = Job((str(tmp_path / "none.jsonl"),), str(tmp_path / "out"), Selection())
    assert isinstance(count_texts(job), UsageError)
    recipe = Recipe.from_pipeline(run.pipeline, KEY)._replace(digest="another")
    work = partial(
        make_private,
        shipped=spark.Shipped(recipe),
        measures=run.measures,
        sidecar=True,
    )
    assert isinstance(work((job, 0)), LexiconError)


def test_a_lexicon_is_sent_where_it_is_not(tmp_path: Path) -> None:
    """A lexicon packed for other machines has the words and vectors of the original."""

    class Context:
        def __init__(self, master: str) -> None:
            self.master = master
            self.archives: list[str] = []

        def addArchive(self, path: str) -> None:
            shutil.unpack_archive(path, tmp_path / "sent")
            self.archives.append(path)

    original = lexicons.find(lexicon(tmp_path))
    context = Context("spark://host:7077")
    with spark.sent(context, original) as archive:
        assert context.archives[0].endswith(archive)
    assert lexicons.find(str(tmp_path / "sent")).digest == original.digest
    with spark.sent(context, lexicons.find("builtin")) as archive:
        assert archive == ""
    context.master = "local[2,4]"
    with spark.sent(context, original) as archive:
        assert archive == ""
    assert len(context.archives) == 1
