"""The options of engines, as one group, and how each carries out the jobs of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dptext.cli.options import one_of, output_option
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.job import Job, Written
    from dptext.engine.run import Reports, Run


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the work is done."""

    engine: Annotated[
        str,
        output_option(
            help="local, or spark: each file of --out-dir is a task of a cluster; "
            "changes no output.",
            callback=one_of("--engine", "local", "spark"),
        ),
    ] = "local"
    master: Annotated[
        str | None,
        output_option(
            help="URL of Spark's master, such as spark://host:7077, yarn or local[4]; "
            "else that of spark-submit, or all cores of this machine."
        ),
    ] = None

    def check(
        self,
        files: Sequence[str] | None,
        out_dir: str | None,
        jobs: int,
        quarantine: str | None,
        ledger: Path | None,
        *,
        sign_key: Path | None = None,
        resume: bool = False,
    ) -> None:
        """Refuse options that do not go with the engine."""
        if self.engine == "local":
            if self.master is not None:
                raise UsageError("--master is of --engine spark: give both")
            return
        if not files or out_dir is None:
            raise UsageError("--engine spark: name files or folders, and --out-dir")
        if jobs > 1:
            raise UsageError(
                "--jobs: the master says how many tasks Spark runs, as in "
                f"--master 'local[{jobs}]'"
            )
        for option, value, reason in (
            (
                "--quarantine",
                quarantine,
                "tasks of several machines cannot add to one file; use "
                "--on-error skip, or",
            ),
            ("--resume", resume or None, "the manifest is kept by one process; use"),
            ("--ledger", ledger, "a ledger is charged by one process; use"),
            ("--sign-key", sign_key, "the key of reports stays on this machine; use"),
        ):
            if value is not None:
                raise UsageError(f"{option}: {reason} --engine local")
        from dptext.spark import session

        session.installed()

    def release(
        self,
        run: Run,
        jobs: Sequence[Job],
        reports: Reports,
        warn: Callable[[str], None],
        out_dir: str,
    ) -> list[tuple[Job, Written]]:
        """Carry out jobs whose outputs appear one by one; return what was not done."""
        if self.engine == "local":
            return run.release_all(jobs, reports, Path(out_dir))
        from dptext.spark import files

        written = files.release(run, jobs, reports, self.master, warn)
        return list(zip(jobs, written, strict=True))
