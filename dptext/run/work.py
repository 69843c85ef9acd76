"""Keys, ledger, processes and outputs of a run, and their conflicts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated

from dptext import streams
from dptext.run.interface import noun, option, refuse, refuse_alone, refuse_both
from dptext.run.marks import (
    FILE,
    FOLDERS,
    GUARANTEE,
    KEYS,
    LEDGER,
    MEASURES,
    MOST_JOBS,
    OUTPUT,
    PYTHON,
    RECORDS,
    ByFile,
    ByVariable,
    Names,
    Needs,
    NotIn,
    Number,
    Option,
    Writes,
    one_of,
)
from dptext.run.selection import FIELDS

CLUSTER = NotIn(PYTHON, "dptext.spark.privatize takes DataFrames")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The source of a run's randomness."""

    #: The file of a key, or the key.
    key_file: Annotated[
        bytes | str | os.PathLike[str] | None,
        Option(
            "Secret key (32 bytes or more) for reruns.",
            GUARANTEE,
            metavar="FILE",
            python="key",
        ),
        ByVariable(),
    ] = None
    trust_key_file: Annotated[
        bool,
        Option(
            "Accept a key file that its mode lets other users read, if no other user "
            "can, as in a container.",
            KEYS,
            hidden=True,
        ),
        NotIn(FILE, "a shared file must not weaken the check of a key"),
    ] = False
    seed: Annotated[
        int | None,
        Option(
            "Seed for tests and papers: draws repeat, without any privacy.",
            KEYS,
            parse=Number(kind=int),
            hidden=True,
        ),
        NotIn(FILE, "a run without privacy is asked for by name"),
        NotIn(PYTHON, "tests give the same key= again"),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for two sources, or for trust without a file."""
        refuse_both(
            "key-file", self.key_file is not None, "seed", self.seed is not None
        )
        has_file = self.key_file is not None
        refuse_alone("trust-key-file", self.trust_key_file, "key-file", has_file)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerUse:
    """Limits on subjects' losses over all runs with a ledger."""

    ledger: Annotated[
        Path | None,
        Option(
            "File that records the losses of each subject over all runs. Created if "
            "missing, with its key FILE.key beside it.",
            LEDGER,
            metavar="FILE",
            hidden=True,
        ),
        ByFile(lambda value, path: True),
    ] = None
    subject: Annotated[
        str | None,
        Option(
            "Field that identifies the person of a record.",
            LEDGER,
            metavar="NAME",
            hidden=True,
        ),
        FIELDS,
        ByFile(),
        Names(),
    ] = None
    #: Most nats that each subject may lose.
    limit: Annotated[
        float | None,
        Option(
            "Maximum loss per subject over all recorded runs, in nats. A run that "
            "would exceed it writes nothing and exits with code 3.",
            LEDGER,
            parse=Number(kind=float, low=1e-9, high=100_000),
            hidden=True,
        ),
        ByFile(),
    ] = None
    #: The most of a delta; None: 0.
    limit_delta: Annotated[
        float | None,
        Option(
            "Maximum sum of deltas per subject, if the settings have a delta.",
            LEDGER,
            parse=Number(kind=float, low=1e-18, high=1),
            hidden=True,
        ),
        ByFile(),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How a run works, and how it treats faulty records."""

    jobs: Annotated[
        int,
        Option(
            "Number of processes, or auto for one per core.",
            OUTPUT,
            parse=Number(kind=int, low=1, high=MOST_JOBS, auto=True),
            short="-j",
        ),
        ByFile(),
    ] = 1
    batch_size: Annotated[
        int,
        Option(
            "Maximum records per batch; does not change the output.",
            OUTPUT,
            parse=Number(kind=int, low=1),
            hidden=True,
        ),
        ByFile(),
    ] = 4096
    on_error: Annotated[
        str,
        Option(
            "What to do with unreadable records: fail, skip or quarantine.",
            RECORDS,
            parse=one_of("fail", "skip", "quarantine"),
            metavar="ACTION",
            hidden=True,
        ),
        ByFile(),
    ] = "fail"
    #: Path for the bytes of faulty records.
    quarantine: Annotated[
        str | None,
        Option(
            "Write unreadable records to this file, unchanged (original text!).",
            RECORDS,
            metavar="FILE",
            hidden=True,
        ),
        Writes(),
        NotIn(FILE, "names the files of one run"),
    ] = None
    engine: Annotated[
        str,
        Option(
            "local, or spark to process each file of a folder as a task on a cluster; "
            "does not change the output.",
            FOLDERS,
            parse=one_of("local", "spark"),
            metavar="local|spark",
            hidden=True,
        ),
        NotIn(FILE, "is chosen for one run"),
        CLUSTER,
    ] = "local"
    master: Annotated[
        str | None,
        Option(
            "URL of Spark's master, such as spark://host:7077, yarn or local[4]. "
            "Default: that of spark-submit, else all cores of this machine.",
            FOLDERS,
            metavar="URL",
            hidden=True,
        ),
        NotIn(FILE, "is chosen for one run, or by spark-submit"),
        CLUSTER,
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for quarantine without a file, or a master without Spark."""
        asked = option("on-error", "quarantine")
        reasons = {
            f"{asked}: also name the file with {option('quarantine', 'FILE')}": (
                self.on_error == "quarantine" and self.quarantine is None
            ),
            "original text must not go to standard output: name a file with "
            f"{noun('quarantine')}": self.quarantine == "-",
            f"{noun('master')} needs {option('engine', 'spark')}: give both": (
                self.master is not None and self.engine == "local"
            ),
        }
        refuse(reasons)

    @property
    def treatment(self) -> str:
        """Return the treatment of faulty records; a quarantine file implies one."""
        return self.on_error if self.quarantine is None else "quarantine"


#: Ending of the public report of an output, after the name of the output.
SIDECAR = ".dptext.json"
STREAMED = Needs("IS_STREAMED", "the file can be read only when it is complete")
NAMED = NotIn(FILE, "names the files of one run")
RETURNED = NotIn(PYTHON, "the result has the internal report: report.to_json()")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where sanitized texts are written."""

    output: Annotated[
        str | None,
        Option(
            "Output file, or folder if the input is a folder. The public report is "
            "written beside it.",
            OUTPUT,
            metavar="FILE",
            short="-o",
        ),
        Writes(),
        NAMED,
    ] = None
    out_dir: Annotated[
        str | None,
        Option("Folder for the outputs of several files.", OUTPUT, metavar="FOLDER"),
        Names(),
        NAMED,
    ] = None
    in_place: Annotated[
        bool,
        Option(
            "Replace the original files by their private versions. Files with a "
            "report beside them are already private and stay.",
            FOLDERS,
            hidden=True,
        ),
        NotIn(FILE, "replaces originals, which a command line should show"),
    ] = False
    resume: Annotated[
        bool,
        Option(
            "Continue an interrupted run of a folder under a key file: skip finished "
            "files.",
            FOLDERS,
            hidden=True,
        ),
        NotIn(FILE, "continues one run"),
    ] = False
    line_buffered: Annotated[
        bool,
        Option("Write each record as soon as it is done.", OUTPUT, hidden=True),
        STREAMED,
        NotIn(FILE, "concerns a pipe of one run"),
        NotIn(PYTHON, "a call returns when all is written"),
    ] = False
    shuffle: Annotated[
        bool,
        Option(
            "Write records in a random order derived from the run's key. All records "
            "are held in memory.",
            OUTPUT,
            hidden=True,
        ),
        NotIn(FILE, "changes the order of one output"),
    ] = False
    include: Annotated[
        tuple[str, ...],
        Option(
            "Read only files of a folder that match this pattern, such as "
            "'2026/*.csv'; repeatable.",
            FOLDERS,
            metavar="PATTERN",
            hidden=True,
        ),
        NAMED,
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        Option(
            "Skip files of a folder that match this pattern; repeatable.",
            FOLDERS,
            metavar="PATTERN",
            hidden=True,
        ),
        NAMED,
    ] = ()
    fail_on: Annotated[
        str | None,
        Option(
            "identifying: write nothing and exit with code 5 if an unchanged column "
            "looks identifying. Columns allowed by name in the policy are exempt.",
            OUTPUT,
            parse=one_of("identifying"),
            metavar="identifying",
            hidden=True,
        ),
        ByFile(),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for two output locations, or two orders of records."""
        output, out_dir = self.output is not None, self.out_dir is not None
        refuse_both("out-dir", out_dir, "output", output)
        refuse_both("in-place", self.in_place, "output", output)
        refuse_both("in-place", self.in_place, "out-dir", out_dir)
        refuse_both("in-place", self.in_place, "resume", self.resume)
        late = f"leave {noun('line-buffered')} out"
        shuffle = noun("shuffle")
        reasons = {
            f"{shuffle}: all records are read before any is written; {late}": (
                self.shuffle and self.line_buffered
            ),
            f"{shuffle}: it cannot be combined with {noun('resume')}, whose manifest "
            "does not track records; leave one of them out": self.shuffle
            and self.resume,
            f"{shuffle}: {noun('in-place')} keeps the order of records; write to "
            "another file with -o": self.shuffle and self.in_place,
            f"{noun('fail-on')}: the output is held back until it is checked; {late}": (
                self.fail_on is not None and self.line_buffered
            ),
            f"{noun('resume')} works only for output folders ({noun('out-dir')}); "
            f"just run a single file again: with {noun('key-file')} it gives the "
            "same bytes": self.resume and not out_dir,
        }
        refuse(reasons)

    @property
    def is_several(self) -> bool:
        """Return whether each input has a separate output."""
        return self.in_place or self.out_dir is not None

    def has(self, path: PurePath) -> bool:
        """Return whether a file is selected, by its path within its folder."""
        is_included = streams.matches(path, self.include or ("*",))
        return is_included and not streams.matches(path, self.exclude)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """Where a run's reports are written."""

    #: The internal report as JSON.
    report: Annotated[
        Path | None,
        Option("Write the internal report (private!) as JSON.", OUTPUT, metavar="FILE"),
        Writes(),
        NAMED,
        RETURNED,
    ] = None
    #: The internal report as a page.
    html: Annotated[
        Path | None,
        Option("Write a web page; - is standard output.", OUTPUT, metavar="FILE"),
        Writes(),
        NAMED,
        RETURNED,
    ] = None
    public_report: Annotated[
        Path | None,
        Option(
            "Write the public report here instead of beside the output.",
            OUTPUT,
            metavar="FILE",
            hidden=True,
        ),
        Writes(),
        NAMED,
    ] = None
    sidecar: Annotated[
        bool,
        Option(
            "Write the public report OUTPUT.dptext.json, or not.", OUTPUT, hidden=True
        ),
        ByFile(),
    ] = True
    sign_key: Annotated[
        Path | None,
        Option(
            "Sign the public report with this Ed25519 key (PEM).",
            OUTPUT,
            metavar="FILE",
            hidden=True,
        ),
        ByVariable(),
    ] = None
    #: None: where that takes seconds.
    bayes_risk: Annotated[
        bool | None,
        Option(
            "Measure the risk, or not. Default: only if it takes seconds.",
            MEASURES,
            hidden=True,
        ),
        ByFile(),
    ] = None

    def public_path(self, output: str | None) -> Path | None:
        """Return the path of an output's public report, None for devices."""
        if self.public_report is not None:
            return self.public_report
        if output is None or not self.sidecar:
            return None
        is_open = streams.descriptor(output) is not None
        return None if is_open or streams.is_stream(output) else Path(output + SIDECAR)


def check_together(
    files: Sequence[str],
    *,
    keys: Keys,
    ledger: LedgerUse,
    outputs: Outputs,
    reports: Reports,
    work: Work,
) -> None:
    """Raise UsageError if options of several groups conflict."""
    needed = (ledger.ledger, ledger.subject, ledger.limit)
    usual, has_ledger = Work(), ledger.ledger is not None
    buffered, late = outputs.line_buffered, noun("line-buffered")
    refuse(
        {
            together(): None in needed and {*needed, ledger.limit_delta} != {None},
            f"{late} writes every record at once: leave {noun('jobs')} out": (
                buffered and work.jobs != usual.jobs
            ),
            f"{late} writes every record at once: leave {noun('batch-size')} out": (
                buffered and work.batch_size != usual.batch_size
            ),
            f"{noun('ledger')}: the output is held back until it is charged; leave "
            f"{late} out": buffered and has_ledger,
        }
    )
    is_named = reports.public_report is not None
    refuse_both("out-dir", outputs.out_dir is not None, "public-report", is_named)
    refuse_both("in-place", outputs.in_place, "public-report", is_named)
    seeded, has_key = keys.seed is not None, keys.key_file is not None
    refuse(
        {
            f"{noun('in-place')} needs public reports, which mark files as private; "
            "leave out the option that moves or omits them": outputs.in_place
            and not reports.sidecar,
            f"{noun('seed')}: anyone who knows it can repeat every draw, so a ledger "
            f"has nothing to count; use {noun('key-file')}": has_ledger and seeded,
            f"{noun('resume')} without a key cannot continue, as every run draws "
            f"different words; give {noun('key-file')}": (
                outputs.resume and not (has_key or seeded)
            ),
        }
    )
    if work.engine != "local":
        _check_cluster(
            files, ledger=ledger, outputs=outputs, reports=reports, work=work
        )


def together() -> str:
    """State that a ledger needs a person field and a limit."""
    first, second, third = map(noun, ("ledger", "subject", "limit"))
    return f"{first}, {second} and {third} go together: give all"


def _check_cluster(
    files: Sequence[str],
    *,
    ledger: LedgerUse,
    outputs: Outputs,
    reports: Reports,
    work: Work,
) -> None:
    """Raise UsageError for options that do not work on a cluster."""
    local = f"use {option('engine', 'local')}"
    reasons = {
        f"{noun('shuffle')}: a single process must order the records; "
        f"{local}": outputs.shuffle,
        f"{noun('jobs')}: the master sets the number of Spark tasks, as in "
        f"{option('master')} 'local[4]'": work.jobs != Work().jobs,
        f"{noun('quarantine')}: tasks on several machines cannot write to one file; "
        f"use {option('on-error', 'skip')}, or {local}": work.quarantine is not None,
        f"{noun('resume')}: a single process must keep the manifest; {local}": (
            outputs.resume
        ),
        f"{noun('ledger')}: a single process must charge the ledger; {local}": (
            ledger.ledger is not None
        ),
        f"{noun('sign-key')}: the key stays on this machine; {local}": (
            reports.sign_key is not None
        ),
        f"{option('engine', 'spark')}: name files or folders, and {noun('out-dir')}": (
            not files or outputs.out_dir is None
        ),
    }
    refuse(reasons)
