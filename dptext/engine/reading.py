"""A single pass over a job's records, for words and for vectors.

Records are read, inspected and passed to a worker batch by batch: here, or by the
processes of dptext.engine.pool, which give the same results in the same order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from dptext import pipeline
from dptext.engine.fields import Fields
from dptext.engine.job import Job, Task, Warn
from dptext.engine.language import Language
from dptext.engine.source import Source, location
from dptext.streams.outputs import Quarantine

T = TypeVar("T")


def _ignore(line: str) -> None:
    """Ignore a warning that concerns no output."""


class JobRecords:
    """The records of a job, with checks of their fields and language."""

    def __init__(
        self,
        job: Job,
        stack: contextlib.ExitStack,
        *,
        aside: Quarantine | None,
        language: Language,
        warn: Warn,
        texts: int = 0,
        kept: Iterable[str] = (),
    ) -> None:
        """Open the inputs of a job until the stack is closed.

        aside receives faulty records; language inspects all others; texts: number of
        texts earlier in the run; kept: words that texts and copied fields may share.
        """
        self.source = Source(job, aside, texts, warn)
        self.format = self.source.open(stack)
        # No unchanged field stands beside vectors.
        warn_of_copies = _ignore if job.converts else warn
        self.fields = Fields(job.selection, self.format, warn_of_copies, kept)
        self._language, self._job, self._stack = language, job, stack

    def batches(self) -> Iterator[Task]:
        """Yield tasks with records only, batch by batch."""
        for batch in pipeline.batches(self.source.records(), self._job.batch_size):
            yield Task(batch, 0)

    def results(
        self,
        tasks: Iterable[Task],
        work: Callable[[Task], T],
        make: Callable[[], Callable[[Task], T]] | None,
        before: Callable[[Task], None] | None = None,
    ) -> Iterator[tuple[Task, T]]:
        """Yield each task with its result.

        make builds the same worker in another process, None for a single process;
        before is called with each task before it is worked on.
        """
        tasks = self._looked_at(tasks, before)
        if self._job.work.jobs == 1 or make is None:
            return ((task, work(task)) for task in tasks)
        from dptext.engine import pool

        workers = self._stack.enter_context(
            pool.started(make, self._job.work.jobs, work)
        )
        return pool.spread(workers, tasks)

    def _looked_at(
        self, tasks: Iterable[Task], before: Callable[[Task], None] | None
    ) -> Iterator[Task]:
        for task in tasks:
            self._language.look(task.records)
            if before is not None:
                before(task)
            yield task

    def close(self) -> None:
        """Check the whole job at its end.

        Raises InputError if no record could be read, if no record has a selected
        field, and if an input that will be replaced has changed.
        """
        self.source.check_read(self.fields.records)
        self.source.check_unchanged()
        self.fields.check(", ".join(map(location, self._job.inputs)))
        self._language.close()
