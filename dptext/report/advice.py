"""Advice on a release: before it leaves, before another one, and on its report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dptext.guarantees.claims import Unprotected
from dptext.guarantees.sentences import series
from dptext.report.answer_line import AnswerLine
from dptext.report.blocks import Tone
from dptext.report.document import Document
from dptext.report.figures import count
from dptext.report.protection import Basis, fitness, number_of_topics
from dptext.run.files import SIDECAR
from dptext.run.interface import current, option
from dptext.signatures import UNSIGNED
from dptext.types import JsonObject, Strategy

_ROWS = 20  # rows to read before an output leaves
_SHORT_NAME = 14  # characters of a file name that a sentence says twice
_LONG_NAME = 24  # characters of a file name that a sentence repeats


@dataclass(frozen=True, slots=True)
class RunOutputs:
    """The files of a run and its copied fields, which the document does not hold."""

    #: Paths; None for standard output.
    outputs: Sequence[str | None]
    #: Folder of several outputs; None if they replaced the originals.
    folder: str | None = None
    #: Path of the public report of the first output.
    public: str | None = None
    #: Path of the internal report as JSON.
    internal: str | None = None
    #: Path of the internal report as a page.
    page: str | None = None
    #: Names of the copied fields; None if unknown.
    copied: Sequence[str] | None = ()
    #: Number of records in which unchanged fields were found; 0 if all are known, None
    #: if the number is unknown.
    first: int | None = 0
    #: Description of the signature of public reports; None if unknown.
    signed: str | None = None
    #: Whether the run has just ended: a report that is shown again is not one.
    is_run: bool = True
    #: Whether draws of records without ids go by the names of the outputs, too.
    is_by_name: bool = False
    #: Whether the output beside a report that is shown again has other bytes.
    is_changed: bool = False


def unit(document: Document) -> str:
    """Name a record of the input in a word."""
    if document.run.layout.format == "text":
        return "line"
    if not is_in_memory(document):
        return "record"
    return "text" if document.run.layout.fields is None else "row"


def is_in_memory(document: Document) -> bool:
    """Tell whether a program passed the texts, so that there is no file."""
    return document.output is None and (
        document.private is None or not document.private.inputs
    )


def sending(
    document: Document,
    released: RunOutputs,
    unchanged: Sequence[str] | None,
) -> AnswerLine:
    """Say what to ask and to do before the output leaves, and which files may.

    unchanged: names of the unchanged fields, None if they are unknown.
    """
    if fitness(Basis.from_document(document))[1] is Tone.BAD:
        sentence = "Do not send it unless you could send the original as well."
        return AnswerLine("sending", sentence)
    private, layout = document.private, document.run.layout
    parts = []
    if (unchanged is None or len(unchanged)) and layout.fields is not None:
        parts.append("the unchanged columns")
    if Unprotected.COMMON_WORDS in document.guarantee.scope.unprotected:
        parts.append("the common words")
    if layout.pseudonyms:
        parts.append("the pseudonyms")
    if topics := number_of_topics(document):
        parts.append("the topic of each text" if topics == 1 else "the topics")
    sentence = f"May {series(tuple(parts))} leave? " if parts else ""
    if document.vectors is None:
        # A public report does not tell how many there are.
        records = None if private is None else private.records
        each, several = unit(document), f"{_ROWS} {unit(document)}s"
        if records is None:
            sentence += f"Read {several}. "
        else:
            sentence += f"Read {several if records >= _ROWS else f'every {each}'}. "
    elif not current().is_python:
        sentence += "Run dptext check. "
    files = _sent_files(document, released)
    return AnswerLine("sending", f"{sentence}Send only {files}")


def _sent_files(document: Document, released: RunOutputs) -> str:
    """Name the files that may leave."""
    if not released.outputs and is_in_memory(document) and current().is_python:
        if document.vectors is not None:
            return "the vectors."
        is_of_texts = document.run.layout.fields is None
        return "the new texts." if is_of_texts else "the new table."
    if len(released.outputs) > 1:
        reports = "" if released.public is None else " and the report beside each"
        return f"the outputs{reports}."
    name = Path(released.outputs[0] or "").name if released.outputs else ""
    if not name or len(name) > _LONG_NAME or not name.isprintable():
        reports = "" if released.public is None else f" and its report ({SIDECAR})"
        return f"the output{reports}."
    if released.public is None:
        return name
    report = f"{name}{SIDECAR}" if len(name) <= _SHORT_NAME else f"its {SIDECAR}"
    return f"{name} and {report}"


def again(
    document: Document,
    *,
    is_sent: bool = False,
    is_by_name: bool = False,
) -> AnswerLine:
    """Say whether a further release costs protection; draws that were sent may."""
    sentence = {
        "system": (
            "Do not release twice: a second version weakens protection; "
            f"{option('key-file')} makes reruns identical."
        ),
        "key-file": (
            "The same input, settings and key give this output again, at no further "
            "cost."
        ),
        "seed": (
            "Anyone who has the texts and knows or guesses the seed can make this "
            "output again."
        ),
    }[document.run.key]
    scope = document.guarantee.scope
    if document.run.key == "key-file" and scope.strategy is not Strategy.DATA_SET:
        anew = _drawn_anew(document, is_by_name=is_by_name)
        sentence += f" {anew} Send only one version of each."
    if is_sent and document.run.key != "system":
        sentence += " The third party may answer otherwise."
    return AnswerLine("again", sentence, {"key": document.run.key})


def _drawn_anew(document: Document, *, is_by_name: bool) -> str:
    """Name the records that further runs with the same key draw anew.

    Draws go by the texts of a record and by its id, else by its place.
    """
    named, layout = f"{unit(document).capitalize()}s", document.run.layout
    changed = f"{named} with a changed text"
    if layout.fields is None:
        changed = f"Changed {named.lower()}"
    if layout.id_field is not None:
        return f"{changed} are drawn anew."
    others = ", and those behind an added or missing one,"
    if is_by_name:
        others = (
            ", those behind an added or missing one of their file, and all of a "
            "renamed file,"
        )
    by_id = ""
    if layout.fields is not None:
        by_id = f"; with {option('id')} only the first"
    return f"{changed}{others} are drawn anew{by_id}."


def report(document: Document, released: RunOutputs) -> AnswerLine:
    """Say where the full report is, or how to get one, and who signed it."""
    public, signed = released.public, released.signed
    figures: JsonObject = {
        "public": public,
        "internal": released.internal,
        "page": released.page,
        "signed": None if signed == UNSIGNED else signed,
    }
    if not released.is_run:
        return AnswerLine("report", _genuine(document, released), figures)
    parts = []
    if public is not None:
        name = shlex.quote(public.removesuffix(SIDECAR))
        shown = f"dptext report {name} shows more"
        parts.append("on standard output" if public == "-" else shown)
        if signed:
            parts.append(signed if signed == UNSIGNED else f"signed {signed}")
        if len(released.outputs) > 1:
            parts.append(f"one beside each of {count(len(released.outputs))} files")
    private = [each for each in (released.internal, released.page) if each is not None]
    if private:
        names = ("standard output" if each == "-" else each for each in private)
        parts.append(f"private: {' and '.join(names)}")
    if not parts:
        parts = [
            (
                f"not written: {option('report', 'FILE')} writes it, "
                f"{option('verbose')} "
                "prints it"
            )
        ]
    return AnswerLine("report", "; ".join(parts), figures)


def _genuine(document: Document, released: RunOutputs) -> str:
    """Say whether a report that is shown again is genuine, and how to test it."""
    name = released.outputs[0] if released.outputs else None
    file = "FILE" if name is None else shlex.quote(name)
    if document.audience == "internal":
        owner = "Internal: for the owner alone"
        if current().is_python and name is not None:
            return f"{owner}. dptext report {file} shows the public one."
        return f"{owner}; not signed."
    compared = f"dptext check {file} compares it with the file and its settings."
    if released.is_changed:
        compared = (
            "The file here is not the file of the report: it was changed or replaced "
            f"after the run, and dptext check {file} refuses it."
        )
    if released.signed in (None, UNSIGNED):
        return f"Not signed: anyone may have written it. {compared}"
    return f"Signature: {released.signed}. {compared}"
