"""Options of different groups that exclude or need each other."""

from __future__ import annotations

from collections.abc import Sequence

from dptext.errors import UsageError
from dptext.run.files import Outputs, Reports
from dptext.run.interface import noun, option, refuse_both
from dptext.run.work import Keys, LedgerUse, Work


def check(
    files: Sequence[str],
    *,
    keys: Keys,
    ledger: LedgerUse,
    outputs: Outputs,
    reports: Reports,
    work: Work,
) -> None:
    """Refuse options that do not go together. Raises UsageError."""
    needed = (ledger.ledger, ledger.subject, ledger.limit)
    if None in needed and {*needed, ledger.limit_delta} != {None}:
        first, second, third = map(noun, ("ledger", "subject", "limit"))
        raise UsageError(f"{first}, {second} and {third} go together: give all")
    if outputs.line_buffered:
        _check_line_buffered(ledger, work)
    is_named = reports.public_report is not None
    refuse_both("out-dir", outputs.out_dir is not None, "public-report", is_named)
    refuse_both("in-place", outputs.in_place, "public-report", is_named)
    if outputs.in_place and not reports.sidecar:
        raise UsageError(
            f"{noun('in-place')} needs the report beside a file, which marks the file "
            "as private"
        )
    if ledger.ledger is not None and keys.seed is not None:
        raise UsageError(
            f"{noun('seed')}: anyone who knows it can repeat every draw, so a ledger "
            f"has nothing to count; use {noun('key-file')}"
        )
    if outputs.resume and keys.key_file is None and keys.seed is None:
        raise UsageError(
            f"{noun('resume')}: without a key every run draws other words, so there is "
            f"nothing to continue; give {noun('key-file')}"
        )
    if work.engine != "local":
        _check_cluster(
            files, ledger=ledger, outputs=outputs, reports=reports, work=work
        )


def _check_line_buffered(ledger: LedgerUse, work: Work) -> None:
    """Refuse options that hold records back, if each is written at once."""
    name, usual = noun("line-buffered"), Work()
    for option_, is_other in (
        ("jobs", work.jobs != usual.jobs),
        ("batch-size", work.batch_size != usual.batch_size),
    ):
        if is_other:
            raise UsageError(
                f"{name} writes every record at once: leave {noun(option_)} out"
            )
    if ledger.ledger is not None:
        raise UsageError(
            f"{noun('ledger')}: the output is held back until it is charged; leave "
            f"{name} out"
        )


def _check_cluster(
    files: Sequence[str],
    *,
    ledger: LedgerUse,
    outputs: Outputs,
    reports: Reports,
    work: Work,
) -> None:
    """Refuse options that need one process on one machine, if a cluster works."""
    local = f"use {option('engine', 'local')}"
    reasons = {
        "shuffle": (outputs.shuffle, f"one process orders the records; {local}"),
        "jobs": (
            work.jobs != Work().jobs,
            "the master says how many tasks Spark runs, as in "
            f"{option('master')} 'local[4]'",
        ),
        "quarantine": (
            work.quarantine is not None,
            "tasks of several machines cannot add to one file; use "
            f"{option('on-error', 'skip')}, or {local}",
        ),
        "resume": (outputs.resume, f"the manifest is kept by one process; {local}"),
        "ledger": (
            ledger.ledger is not None,
            f"a ledger is charged by one process; {local}",
        ),
        "sign-key": (
            reports.sign_key is not None,
            f"the key stays on this machine; {local}",
        ),
    }
    for name, (is_given, reason) in reasons.items():
        if is_given:
            raise UsageError(f"{noun(name)}: {reason}")
    if not files or outputs.out_dir is None:
        raise UsageError(
            f"{option('engine', 'spark')}: name files or folders, and {noun('out-dir')}"
        )
