"""The files that a run writes: outputs and reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated

from dptext import streams
from dptext.errors import UsageError
from dptext.run.interface import noun, refuse_both
from dptext.run.marks import (
    FILE,
    FOLDERS,
    MEASURES,
    OUTPUT,
    PYTHON,
    ByFile,
    ByVariable,
    Names,
    Needs,
    NotIn,
    Option,
    Writes,
)
from dptext.run.values import one_of

#: Ending of the public report of an output, after the name of the output.
SIDECAR = ".dptext.json"
STREAMED = Needs("IS_STREAMED", "the file can be read only when it is complete")
NAMED = NotIn(FILE, "names the files of one run")
RETURNED = NotIn(PYTHON, "the result has the internal report: report.to_json()")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where private texts go."""

    output: Annotated[
        str | None,
        Option(
            "Output file, or folder if the input is one. Its public report goes "
            "beside it.",
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
            "Replace the original files with their private versions. A file with "
            "a report beside it is private already and stays.",
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
        Option("Write each record immediately.", OUTPUT, hidden=True),
        STREAMED,
        NotIn(FILE, "concerns a pipe of one run"),
        NotIn(PYTHON, "a call returns when all is written"),
    ] = False
    shuffle: Annotated[
        bool,
        Option(
            "Write records in random order, drawn by the key of the run. All are "
            "held in memory.",
            OUTPUT,
            hidden=True,
        ),
        NotIn(FILE, "changes the order of one output"),
    ] = False
    include: Annotated[
        tuple[str, ...],
        Option(
            "Of a folder, read the files that fit this pattern, as in '2026/*.csv'; "
            "repeatable.",
            FOLDERS,
            metavar="PATTERN",
            hidden=True,
        ),
        NAMED,
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        Option(
            "Of a folder, leave out files that fit this pattern; repeatable.",
            FOLDERS,
            metavar="PATTERN",
            hidden=True,
        ),
        NAMED,
    ] = ()
    fail_on: Annotated[
        str | None,
        Option(
            "identifying: write nothing, and end with exit code 5, if an unchanged "
            "column looks identifying. Columns that the policy allows by name are "
            "exempt.",
            OUTPUT,
            parse=one_of("identifying"),
            metavar="identifying",
            hidden=True,
        ),
        ByFile(),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for two places of the output, and two orders of records."""
        output, out_dir = self.output is not None, self.out_dir is not None
        refuse_both("out-dir", out_dir, "output", output)
        refuse_both("in-place", self.in_place, "output", output)
        refuse_both("in-place", self.in_place, "out-dir", out_dir)
        refuse_both("in-place", self.in_place, "resume", self.resume)
        late = f"leave {noun('line-buffered')} out"
        reasons = {
            f"no record leaves before all are read; {late}": self.line_buffered,
            f"the manifest of {noun('resume')} does not note single records; leave one "
            "of them out": self.resume,
            f"{noun('in-place')} keeps the place of each record; write to another file "
            "with -o": self.in_place,
        }
        for reason, is_given in reasons.items():
            if self.shuffle and is_given:
                raise UsageError(f"{noun('shuffle')}: {reason}")
        if self.fail_on is not None and self.line_buffered:
            raise UsageError(
                f"{noun('fail-on')}: the output is held back until it is checked; "
                f"{late}"
            )
        if self.resume and not out_dir:
            raise UsageError(
                f"{noun('resume')} is for folders of outputs ({noun('out-dir')}); run "
                f"a single file again instead: with {noun('key-file')} that writes the "
                "same bytes"
            )

    @property
    def is_several(self) -> bool:
        """Tell whether each input has a separate output."""
        return self.in_place or self.out_dir is not None

    def has(self, path: PurePath) -> bool:
        """Tell whether a file is selected, by its path in its folder."""
        is_included = streams.matches(path, self.include or ("*",))
        return is_included and not streams.matches(path, self.exclude)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """Files for the reports of a run."""

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
            "Measure the risk, or leave it out. Default: where it takes seconds.",
            MEASURES,
            hidden=True,
        ),
        ByFile(),
    ] = None

    def public_path(self, output: str | None) -> Path | None:
        """Return the path of an output's public report; devices have none."""
        if self.public_report is not None:
            return self.public_report
        if output is None or not self.sidecar:
            return None
        is_open = streams.descriptor(output) is not None
        return None if is_open or streams.is_stream(output) else Path(output + SIDECAR)
