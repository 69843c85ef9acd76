"""Keys, ledger and machines of a run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from dptext.errors import UsageError
from dptext.run.interface import noun, option, refuse_both
from dptext.run.marks import (
    FILE,
    FOLDERS,
    GUARANTEE,
    KEYS,
    LEDGER,
    OUTPUT,
    PYTHON,
    RECORDS,
    ByFile,
    ByVariable,
    Names,
    NotIn,
    Option,
    Writes,
)
from dptext.run.selection import FIELDS
from dptext.run.values import MOST_JOBS, Number, one_of

CLUSTER = NotIn(PYTHON, "dptext.spark.privatize takes DataFrames")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The source of randomness of a run."""

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
            "Use a key file although its mode lets other users read it, if none can, "
            "as in a container.",
            KEYS,
            hidden=True,
        ),
        NotIn(FILE, "a shared file must not weaken the check of a key"),
    ] = False
    seed: Annotated[
        int | None,
        Option(
            "For tests and papers: repeatable draws, without any privacy.",
            KEYS,
            parse=Number(kind=int),
            metavar="NUMBER",
            hidden=True,
        ),
        NotIn(FILE, "a run without privacy is asked for by name"),
        NotIn(PYTHON, "tests give the same key= again"),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for two sources, and for trust in no file."""
        refuse_both(
            "key-file", self.key_file is not None, "seed", self.seed is not None
        )
        if self.trust_key_file and self.key_file is None:
            raise UsageError(
                f"{noun('trust-key-file')} is about {noun('key-file')}: give both"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerUse:
    """The losses of subjects over all runs with one ledger."""

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
            "Field with the person that a record is about.",
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
            "Most nats that a subject may lose in all recorded runs. A run that would "
            "exceed it writes nothing and ends with exit code 3.",
            LEDGER,
            parse=Number(kind=float, low=1e-9, high=100_000),
            metavar="NUMBER",
            hidden=True,
        ),
        ByFile(),
    ] = None
    #: The most of a delta; None: 0.
    limit_delta: Annotated[
        float | None,
        Option(
            "The same for deltas, if the settings have one.",
            LEDGER,
            parse=Number(kind=float, low=1e-18, high=1),
            metavar="NUMBER",
            hidden=True,
        ),
        ByFile(),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How a run works, and the treatment of faulty records."""

    jobs: Annotated[
        int,
        Option(
            "Number of processes, or auto for one per core.",
            OUTPUT,
            parse=Number(kind=int, low=1, high=MOST_JOBS, auto=True),
            metavar="NUMBER",
            short="-j",
        ),
        ByFile(),
    ] = 1
    batch_size: Annotated[
        int,
        Option(
            "Most records in a batch. The output is the same.",
            OUTPUT,
            parse=Number(kind=int, low=1),
            metavar="NUMBER",
            hidden=True,
        ),
        ByFile(),
    ] = 4096
    on_error: Annotated[
        str,
        Option(
            "If a record cannot be read: fail, skip or quarantine.",
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
            "local, or spark to run each file of a folder as a task of a cluster. The "
            "output is the same.",
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
        """Raise UsageError for a quarantine without a file, a master without Spark."""
        if self.on_error == "quarantine" and self.quarantine is None:
            raise UsageError(
                f"{option('on-error', 'quarantine')}: name the file with "
                f"{option('quarantine', 'FILE')}"
            )
        if self.quarantine == "-":
            raise UsageError(
                "standard output carries no original text: name a file with "
                f"{noun('quarantine')}"
            )
        if self.master is not None and self.engine == "local":
            raise UsageError(
                f"{noun('master')} needs {option('engine', 'spark')}: give both"
            )

    @property
    def treatment(self) -> str:
        """Return the treatment of faulty records; a file for them asks for one."""
        return self.on_error if self.quarantine is None else "quarantine"
