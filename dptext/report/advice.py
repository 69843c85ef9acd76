"""Advice on a release: before sharing it, before repeating it, and on its report."""

from __future__ import annotations

import random
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from dptext import decoders, signatures, streams
from dptext.guarantees.templates import series
from dptext.report.blocks import Tone
from dptext.report.document import Document
from dptext.report.layout import RunOutputs
from dptext.report.lines import AnswerLine, line, say
from dptext.report.protection import Basis, fitness
from dptext.report.units import (
    Topics,
    Unit,
    Words,
    how_languages_are_found,
    unit_of,
)
from dptext.run.interface import COMMAND_LINE, current
from dptext.run.work import SIDECAR
from dptext.tokens.languages import name_of
from dptext.tokens.policy import Policy
from dptext.types import JsonObject, Strategy

_ROWS = 20  # rows to read before an output leaves
_SHORT_NAME = 14  # characters of a file name that a sentence says twice
_LONG_NAME = 24  # characters of a file name that a sentence repeats


def sending(
    document: Document, released: RunOutputs, unchanged: Sequence[str] | None
) -> AnswerLine:
    """Return the line on questions and checks before sharing the output.

    unchanged: names of the unchanged fields, None if they are unknown.
    """
    if fitness(Basis.from_document(document))[1] is Tone.BAD:
        return line("sending", "bad")
    unit, layout, private = unit_of(document), document.run.layout, document.private
    has_columns = unchanged is None or len(unchanged) > 0
    is_asked = {
        "columns": has_columns and layout.fields is not None,
        "common": document.guarantee.copies_common,
        "replaced": layout.replaced,
        **dict.fromkeys(unit.asked, True),
    }
    asked = [say(f"asked.{key}", unit) for key, holds in is_asked.items() if holds]
    few = unit.row if private is not None and private.records < _ROWS else ""
    rows, python = 0 if few else _ROWS, current().is_python
    numbers = [] if few or unit.released != "rows" else _rows_to_read(document)
    files, shown = _sent_files(document, released), series(tuple(asked))
    key, named = f"look.{unit.released}", ""
    if numbers:
        series_of = ", ".join(f"{number:,}" for number in numbers)
        words = private.words if private is not None else None
        special = words.special if words is not None else None
        # Numbers of the input: in another order they are others.
        seen = special.named if special is not None and layout.is_ordered else ""
        named = say("look.numbered", unit, rows=rows, numbers=series_of, special=seen)
    blanks = {"few": few, "python": python}
    look = say(key, unit, rows=0 if named else rows, numbers=named, **blanks)
    brief = say(key, unit, rows=rows, numbers="", **blanks)
    sentence, short = (
        say("sending.always", asked=shown, look=each, files=files)
        for each in (look, brief)
    )
    return AnswerLine("sending", sentence, {"read": numbers}, short)


def _rows_to_read(document: Document) -> list[int]:
    """Return numbers of records to read, for the owner; empty in a public report.

    They are chosen by the digest of the output, so that all its reports name the same.
    """
    private, output = document.private, document.output
    if private is None or output is None or private.faults or private.others:
        return []
    drawn = random.Random(output.sha256)  # noqa: S311 - no secret
    return sorted(drawn.sample(range(1, private.records + 1), _ROWS))


def _sent_files(document: Document, released: RunOutputs) -> str:
    """Name the files that may be shared."""
    reports = released.public is not None
    if not released.outputs and document.is_in_memory and current().is_python:
        texts = document.run.layout.fields is None
        return say(f"files.{unit_of(document).released}", texts=texts)
    if len(released.outputs) > 1:
        return say("files.several", reports=reports)
    name = Path(released.outputs[0] or "").name if released.outputs else ""
    if not name or len(name) > _LONG_NAME or not name.isprintable():
        return say("files.output", reports=reports, sidecar=SIDECAR)
    if not reports:
        return name
    report = f"{name}{SIDECAR}"
    if len(name) > _SHORT_NAME:
        report = say("files.report", sidecar=SIDECAR)
    return say("files.named", name=name, report=report)


def again(document: Document, *, is_sent: bool, is_by_name: bool) -> AnswerLine:
    """Return the line on the cost of releasing again.

    is_sent: a third party decoded draws, and may answer differently. is_by_name: draws
    depend on output names too. Draws depend on the texts of a record and on its id, or
    else its place.
    """
    key, layout = document.run.key, document.run.layout
    row, anew = unit_of(document).row, ""
    is_one = document.guarantee.scope.strategy is Strategy.DATA_SET
    if key == "key-file" and not is_one:
        by = "name" if is_by_name else "place"
        anew = say(
            f"anew.{by if layout.id_field is None else 'id'}",
            fields=layout.fields is not None,
            row=row,
            Row=row.capitalize(),
        )
    full = line("again", key, {"key": key}, anew=anew, asked=is_sent)
    if key == "seed":
        return full
    short = say(f"again.briefly_{key}", anew=anew, asked=is_sent)
    return replace(full, short=short)


def report(document: Document, released: RunOutputs) -> AnswerLine:
    """Return the line on the full report: its location and signer."""
    public, signed = released.public, released.signed
    figures: JsonObject = {
        "public": public,
        "internal": released.internal,
        "page": released.page,
        "signed": None if signed == signatures.UNSIGNED else signed,
    }
    if not released.is_run:
        return AnswerLine("report", _genuine(document, released), figures)
    parts = []
    if public is not None:
        name = shlex.quote(public.removesuffix(SIDECAR))
        parts.append(say(f"report.{'stdout' if public == '-' else 'shown'}", name=name))
        if signed:
            is_signed = signed != signatures.UNSIGNED
            parts.append(say("report.signed", signed=signed) if is_signed else signed)
        if len(released.outputs) > 1:
            parts.append(say("report.beside", files=len(released.outputs)))
    private = [each for each in (released.internal, released.page) if each is not None]
    if private:
        names = [say("where.stdout") if each == "-" else each for each in private]
        parts.append(say("report.private", names=" and ".join(names)))
    return AnswerLine("report", "; ".join(parts) or say("report.none"), figures)


def questions(unit: Unit) -> Iterator[AnswerLine]:
    """Yield lines on reversing the release, and on texts in other languages."""
    if isinstance(unit, Words) and not isinstance(unit, Topics):
        yield line("undo", unit.document.run.key)
        policy = unit.document.policy
        codes = () if policy is None else policy.languages
        read_in = series(tuple(map(name_of, codes)))
        yield line("language", _language(policy), None, unit, read_in=read_in)


def _language(policy: Policy | None) -> str:
    """Return the key of the sentence on other languages."""
    if policy is None or not (policy.languages or policy.marks_others):
        return "always"
    return how_languages_are_found(policy).replace("english", "marked")


def measure(document: Document, released: RunOutputs) -> Iterator[AnswerLine]:
    """If figures are missing, yield the command that measures attackers on files.

    The original is ORIGINAL if the report names none. Files of several outputs or
    in another order are compared by their owner, who knows which belong together.
    """
    unit, output, layout = unit_of(document), document.output, document.run.layout
    if not isinstance(unit, Words) or isinstance(unit, Topics) or output is None:
        return
    is_in_memory = current().is_python and document.is_in_memory
    if is_in_memory or not unit.known.is_not_measured:
        return
    private = document.private
    inputs = ["ORIGINAL"] if private is None else [*private.inputs]
    (path,) = released.outputs or [None]
    report = f"{path}{SIDECAR}"
    if path is None or (released.is_run and released.public != report):
        return
    is_whole = private is None or not (private.faults or private.others)
    if not ((layout.is_ordered and is_whole) or layout.id_field):
        return
    if len(inputs) > 1 or inputs[0] == path or streams.is_stream(inputs[0]):
        return
    parts = [
        shlex.join(["dptext", "evaluate", inputs[0], path]),
        COMMAND_LINE.option("profile", report),
        *layout.typed(inputs[0], path),
    ]
    command = " ".join(parts)
    yield line("measure", "always", {"command": command}, command=command)


def _genuine(document: Document, released: RunOutputs) -> str:
    """State whether a report shown again is genuine, and how to verify it."""
    name = released.outputs[0] if released.outputs else None
    file = "FILE" if name is None else shlex.quote(name)
    if document.audience == "internal":
        is_named = current().is_python and name is not None
        return say(f"report.{'internal_named' if is_named else 'internal'}", file=file)
    compared = say(f"report.{'other' if released.is_changed else 'same'}", file=file)
    is_signed = released.signed not in (None, signatures.UNSIGNED)
    key = f"report.{'signature' if is_signed else 'not_signed'}"
    return say(key, signed=released.signed, compared=compared)


def third_party(used: decoders.ServerAsked | decoders.ServerUse) -> AnswerLine:
    """Name the address that draws were sent to and, if known, the number of answers."""
    key = "used" if isinstance(used, decoders.ServerUse) else "asked"
    return line("third party", key, msgspec.to_builtins(used))
