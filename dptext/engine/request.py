"""A request to sanitize files: everything about a run, from plan to reports.

`dptext sanitize` and `dptext.sanitize_files` create one; the outputs appear with
their reports, a single output atomically.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dptext import calibration, lexicons, profile, signatures, streams
from dptext.engine import files
from dptext.engine.earlier import Earlier, Manifest, describe_orphans
from dptext.engine.files import JobOutputs, SignedReports
from dptext.engine.job import Job, Progress, Written, find_replacement
from dptext.engine.language import is_asked_for
from dptext.engine.run import Inspect, JobRun, Run
from dptext.errors import InputError, UsageError
from dptext.guarantees.claims import SubjectLimit
from dptext.pipeline import Pipeline
from dptext.profile import Profile
from dptext.randomness import RunKey
from dptext.report.layout import RunOutputs
from dptext.report.notebook import Report
from dptext.run.choices import Choices
from dptext.run.interface import noun, option
from dptext.run.marks import Needs
from dptext.run.selection import Selection
from dptext.run.work import Keys, LedgerUse, Outputs, Work
from dptext.streams.outputs import Release

if TYPE_CHECKING:  # runs without a ledger load nothing of it
    from dptext.engine.charging import Account

# Files that an error names.
_NAMED = 3
# Carries out the jobs of several outputs.
ReleaseAll = Callable[[Run, Sequence[Job], SignedReports], list[tuple[Job, Written]]]


class Notices(Protocol):
    """Receives a run's messages to its user, none of which contains text."""

    def warn(self, line: str) -> None:
        """Receive a warning."""

    def announce(self, line: str) -> None:
        """Receive a line to show before the work continues."""

    def bar(self) -> AbstractContextManager[Progress | None]:
        """Show the progress of a job during a `with` block."""

    def identify(self, identifying: Mapping[str, str], advice: str = "") -> None:
        """Receive the final warning about unchanged fields that identify people."""

    def with_warnings(self, document: Report) -> Report:
        """Return a report with all warnings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The result of a run."""

    #: Makes the internal report of all outputs, once.
    report: Callable[[], Report]
    outputs: RunOutputs
    #: Tells of inputs that could not be read, while others have outputs.
    left_out: InputError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Files to sanitize with one profile and one key."""

    #: All inputs, and the output unless there are several.
    job: Job
    profile: Profile
    key: RunKey
    reports: SignedReports
    ledger: LedgerUse = field(default_factory=LedgerUse)
    #: Files that the run reads besides; no output is one of them.
    read: tuple[str, ...] = ()
    #: Looks at each output before it leaves.
    inspect: Inspect | None = None
    #: Carries out the jobs of several outputs elsewhere than here.
    release_all: ReleaseAll | None = None
    #: Begins the run; None: a run of words.
    begin_run: Callable[..., JobRun] | None = None

    @classmethod
    def begin(
        cls,
        files: Sequence[str],
        selection: Selection,
        choices: Choices,
        *,
        outputs: Outputs,
        ledger: LedgerUse,
        work: Work,
        needs: Mapping[str, Needs],
        **others: Any,
    ) -> Request:
        """Build a request from options. Raises UsageError for a field with two uses.

        needs: of the typed options; others: fields of the request.
        """
        selection = replace(selection, subject_field=ledger.subject)
        selection.check_uses()
        job = Job(
            inputs=tuple(files or ("-",)),
            output=None if outputs.output == "-" else outputs.output,
            selection=selection,
            outputs=outputs,
            work=work,
            any_language=is_asked_for(choices.keys),
            needs=needs,
        )
        chosen = profile.chosen(choices)
        if selection.other_language == "quarantine" and work.quarantine is None:
            raise UsageError(
                f"{option('other-language', 'quarantine')}: name the file with "
                f"{option('quarantine', 'FILE')}"
            )
        tokens = chosen.tokens
        if selection.other_language != "mask":
            if not (tokens.languages or tokens.marks_others):
                raise UsageError(
                    f"{noun('other-language')}: these settings detect no languages; "
                    f"use {option('profile', 'readable')}"
                )
        if selection.language_field is not None and not chosen.tokens.languages:
            raise UsageError(
                f"{noun('language-field')}: also name the languages of the records, as "
                f"in {option('language', 'en')} {option('language', 'de')}"
            )
        return cls(job=job, profile=chosen, ledger=ledger, **others)

    def jobs(self, warn: Callable[[str], None]) -> list[Job]:
        """Return one job per output. Raises UsageError for conflicting files."""
        tokens = self.profile.tokens
        read = [*self.read, *tokens.keep.files, *tokens.mask.files]
        if tokens.words is not None:
            read.append(tokens.words.path)
        jobs = files.plan_jobs(self.job, self.reports, read, warn=warn)
        find_replacement(self.job.selection, self.key)  # raises UsageError
        return jobs

    def pipeline(self, warn: Callable[[str], None]) -> Pipeline:
        """Prepare the pipeline. Raises UsageError and LexiconError."""
        lexicon = lexicons.find(self.profile.lexicon, warn=warn)
        return calibration.build(self.profile, lexicon)

    def carry_out(self, jobs: Sequence[Job], notices: Notices) -> Finished | None:
        """Execute the jobs; None if all outputs had already been finished.

        Raises InputError if there is no new output and an input cannot be read;
        otherwise raises as `Run.releasing` and `pipeline`.
        """
        if not jobs:
            notices.warn(
                "every file has a report beside it and is already private: nothing to "
                "do"
            )
            return None
        if self.job.outputs.out_dir is not None:
            files.make_folder(self.job.outputs.out_dir, jobs, self.reports)
        with contextlib.ExitStack() as stack:
            account, charged = None, self.ledger.ledger is not None
            if charged:
                account = stack.enter_context(_account(self.ledger))
            release = stack.enter_context(Release())
            # All is opened before anything is read, the data first: they appear last.
            opened = None
            if not self.job.outputs.is_several:
                opened = JobOutputs.open(
                    jobs[0],
                    self.reports,
                    release,
                    held=account is not None or self.inspect is not None,
                )
            left_out, renewed = None, list(jobs)
            write = files.open_internal(self.reports, release)
            begin = self.begin_run or partial(
                Run,
                self.pipeline(notices.warn),
                bayes_risk=self.reports.bayes_risk,
                account=account,
            )
            run = begin(
                self.key, inspect=self.inspect, warn=notices.warn, progress=notices.bar
            )
            if opened is not None:
                if line := run.earlier(self.reports).replaced(jobs[0]):
                    notices.announce(line)
                with run.releasing(jobs[0], opened) as each:
                    written = [each]
                    report = _report(run, jobs[0], written, notices, at_once=charged)
                    write(report)
            else:
                assert isinstance(run, Run)
                done = self._release_all(run, jobs, notices)
                left_out = _left_out(run, len(jobs))
                renewed = [job for job, _ in done]
                for line in _notes_on_finished(run, jobs, renewed, self.reports):
                    notices.warn(line)
                if not done and left_out is not None:
                    raise left_out
                if not done:
                    return None
                inputs = tuple(name for each, _ in done for name in each.inputs)
                written = [each for _, each in done]
                job = replace(self.job, inputs=inputs)
                report = _report(run, job, written, notices, at_once=charged)
                write(report)
                release.commit()
        outputs = name_outputs(renewed, self.reports, *run.copied(written))
        return Finished(report=report, outputs=outputs, left_out=left_out)

    def _release_all(
        self, run: Run, jobs: Sequence[Job], notices: Notices
    ) -> list[tuple[Job, Written]]:
        """Execute all jobs. Raises UsageError if finished outputs conflict."""
        kept: Manifest | None = None
        check: Callable[[Job], object] = _check_original
        if (folder := self.job.outputs.out_dir) is not None:
            manifest = Manifest(Path(folder), run.pipeline, self.key)
            earlier = run.earlier(self.reports)
            if line := earlier.check(folder, jobs, manifest):
                notices.announce(line)
            if line := describe_orphans(folder, jobs, self.job.inputs, manifest):
                notices.warn(line)
            # Without --resume a manifest is not begun, but one that is there goes on.
            kept = manifest if self.job.outputs.resume or manifest.is_there else None
            check = partial(_check_unfinished, earlier, folder, manifest)
        if self.release_all is not None:
            return self.release_all(run, jobs, self.reports)
        return run.release_all(jobs, self.reports, kept, check)


def _check_original(job: Job) -> None:
    """Raise UsageError if another run has just replaced the input by its output."""
    if files.is_private(Path(job.output or "")):
        raise UsageError(
            f"{job.output}: another run has just made it private; run again"
        )


def _check_unfinished(
    earlier: Earlier, folder: str, manifest: Manifest, job: Job
) -> None:
    """Raise UsageError if another run has just finished the output differently."""
    earlier.check(folder, [job], manifest)


@contextlib.contextmanager
def _account(use: LedgerUse) -> Iterator[Account]:
    """Open a ledger for a block; create it if missing."""
    from dptext.engine.charging import open_account  # with SQLite

    assert use.ledger is not None
    assert use.subject is not None
    assert use.limit is not None
    delta = use.limit_delta or 0.0
    with open_account(use.ledger, use.subject, use.limit, delta) as account:
        yield account


def subject_limit(use: LedgerUse) -> SubjectLimit | None:
    """Return the limit per subject of a ledger, or None."""
    if use.subject is None or use.limit is None:
        return None
    return SubjectLimit(use.subject, use.limit, use.limit_delta or 0.0)


def open_key(keys: Keys) -> RunKey:
    """Return the key of a run. Raises UsageError."""
    named = keys.key_file
    if isinstance(named, bytes):
        return RunKey.from_bytes(named)
    if named is not None:
        return RunKey.from_file(os.fspath(named), trusted=keys.trust_key_file)
    return RunKey.fresh() if keys.seed is None else RunKey.from_seed(keys.seed)


def _left_out(run: Run, count: int) -> InputError | None:
    """Return an error for jobs a run skipped, or None; count: number of all jobs."""
    if not run.left_out:
        return None
    # Without a key a further run would draw the other files anew, and is refused.
    again = "run on them alone" if run.key.origin == "system" else "run again"
    if len(run.left_out) == 1:
        ((_, error),) = run.left_out
        return InputError(f"1 of {count:,} files has no new output: {error}")
    names = [name for job, _ in run.left_out for name in job.inputs]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return InputError(
        f"{len(names):,} of {count:,} files cannot be read and have no new output: "
        f"{', '.join(names[:_NAMED])}{more}; repair or remove them, then {again}"
    )


def _notes_on_finished(
    run: Run, jobs: Sequence[Job], renewed: Sequence[Job], reports: SignedReports
) -> Iterator[str]:
    """Yield lines on the jobs that were finished before a run."""
    tried = {job.output for job in (*renewed, *(job for job, _ in run.left_out))}
    finished = [job for job in jobs if job.output not in tried]
    if finished:
        rest = f"; the reports are about the other {len(renewed)}" if renewed else ""
        yield f"{len(finished)} of {len(jobs)} files were already finished{rest}"
    if unsigned := _unsigned(finished, reports):
        yield unsigned


def _unsigned(jobs: Sequence[Job], reports: SignedReports) -> str:
    """Return a line on finished outputs without a signature by the run's key.

    "" without such a key, or if it signed all reports.
    """
    if reports.signer is None:
        return ""
    others = 0
    for job in jobs:
        path = reports.public_path(job.output)
        if path is not None:
            with contextlib.suppress(OSError, UsageError):
                data = streams.read_small(path, "report")
                others += bool(signatures.problem(data, [reports.signer]))
    if not others:
        return ""
    which = "1 report is" if others == 1 else f"{others:,} reports are"
    return (
        f"{which} not signed with this key, as finished files keep their reports; a "
        f"run without {option('resume')} signs all"
    )


def _report(
    run: JobRun,
    job: Job,
    written: Sequence[Written],
    notices: Notices,
    *,
    at_once: bool,
) -> Callable[[], Report]:
    """Return a cached builder of the internal report on outputs.

    Building it takes measurements, so it is skipped if nobody sees it. at_once: build
    while the quoted ledger is open.
    """
    notices.identify(run.identifying, run.advice)
    report = cache(lambda: notices.with_warnings(run.report(job, written)))
    if at_once:
        report()
    return report


def name_outputs(
    jobs: Sequence[Job], reports: SignedReports, copied: tuple[str, ...], first: int = 0
) -> RunOutputs:
    """Name the outputs of a run; first: number of records sampled for fields."""
    paths = [job.output for job in jobs]
    in_place = paths == [job.inputs[0] for job in jobs]
    folder = os.path.commonpath([str(Path(path or "").parent) for path in paths])
    public, internal, page = (
        None if path is None else str(path)
        for path in (reports.public_path(jobs[0].output), reports.report, reports.html)
    )
    return RunOutputs(
        outputs=paths,
        folder=None if in_place else folder,
        public=public,
        internal=internal,
        page=page,
        copied=copied,
        first=first,
        signed=signatures.describe_signer(reports.signer),
        is_by_name=jobs[0].name is not None,
    )
