"""The short answer on a run: private and copied parts, protection, advice.

Each question has one line, as a sentence and as figures. Terminals, pages and notebooks
show the sentences; JSON has both. Lines that count private texts are for the owner
of the text; public documents omit them. Order and sentences: answer.toml.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from dptext.report import advice, protection, units
from dptext.report.blocks import Badge, Block, Figures, Rows, Tone, Verdict, paragraphs
from dptext.report.document import Document
from dptext.report.figures import listed_names
from dptext.report.layout import RunOutputs
from dptext.report.lines import AnswerLine, say, templates
from dptext.report.protection import Basis, fitness
from dptext.run.interface import COMMAND_LINE, Interface, shown_in
from dptext.types import JsonObject

# The answer fits on 20 lines of 80 columns; names of lines take the other columns.
_LINES, _COLUMNS, _WIDTH = 20, 80, 67
_WARNING_LINES = 3  # lines that others make free for warnings
_LONG_PATH = 44  # characters of the path of an output


def answer(
    document: Document,
    released: RunOutputs | None = None,
    interface: Interface = COMMAND_LINE,
) -> list[AnswerLine]:
    """Return the summary lines of a run, in order.

    Without released, files are those named in the document; interface: how
    options are written.
    """
    released = released or outputs_named(document)
    promise, layout = document.guarantee, document.run.layout
    unit, used = units.unit_of(document), _third_party(document)
    unchanged = unit.unchanged_fields(released.copied)
    is_sent, is_by_name = bool(used), released.is_by_name
    with shown_in(interface):
        lines = [
            AnswerLine("verdict", fitness(Basis.from_document(document))[0]),
            *protection.not_anonymous(promise),
            *unit.profile(),
            _output(unit, released),
            _unchanged(unit, released, unchanged),
            *protection.changed_fields(layout.dropped, layout.replaced),
            *protection.protection(promise, document),
            protection.for_whom(document),
            *advice.questions(unit),
            *unit.lines(),
            unit.stronger(),
            *used,
            advice.sending(document, released, unchanged),
            advice.again(document, is_sent=is_sent, is_by_name=is_by_name),
            advice.report(document, released),
            *advice.measure(document, released),
        ]
    order = templates()["order"]
    return sorted(lines, key=lambda each: order.index(each.name))


def outputs_named(document: Document) -> RunOutputs:
    """Return the output named in a report, and the unchanged fields it lists."""
    output, private = document.output, document.private
    copied = None if output is None else output.copied
    first: int | None = 0
    if copied is None and private is not None and private.unchanged:
        copied = private.unchanged
        first = 0 if document.is_in_memory else None
    if output is None:
        return RunOutputs((), copied=copied, first=first, is_run=False)
    return RunOutputs(
        [output.file], public=output.file, copied=copied, first=first, is_run=False
    )


def run_warnings(document: Document) -> tuple[str, ...]:
    """Return the warnings of a run, which public reports omit."""
    return () if document.private is None else document.private.warnings


def blocks(
    lines: Sequence[AnswerLine], warnings: Sequence[str] = ()
) -> tuple[Block, ...]:
    """Return verdict and lines for a screen, with warnings at the end.

    Less important lines are dropped to make room for warnings.
    """
    listed = templates()
    shown = {each.name: each.short or each.sentence for each in lines}
    for name in listed["pages"]:
        shown.pop(name, None)
    verdict = shown.pop("verdict", "")
    commands = [shown.pop(name) for name in listed["commands"] if name in shown]
    if "anonymous" in shown:  # it says this, too
        shown.pop("original", None)
    heights = {name: _height(sentence) for name, sentence in shown.items()}
    room = _LINES - min(sum(map(_height, warnings)), _WARNING_LINES) - bool(verdict)
    room -= len(commands)
    room -= sum(heights[name] for name in heights if name not in listed["optional"])
    for name in listed["optional"]:
        if heights.get(name, 0) > room:
            shown.pop(name, None)
        else:
            room -= heights.get(name, 0)
    rows: Rows = [*shown.items(), *_warned(warnings)]
    parts: list[Block] = [*paragraphs(verdict, kind="lead")]
    if rows:
        parts.append(Figures(rows))
    return (*parts, *paragraphs(*commands, kind="code"))


def rows(lines: Sequence[AnswerLine], warnings: Sequence[str] = ()) -> Figures:
    """Return all lines in full, for notebooks and plans."""
    shown: Rows = [(line.name, line.sentence) for line in lines]
    return Figures([*shown, *_warned(warnings)])


def first_screen(
    document: Document, released: RunOutputs | None = None
) -> tuple[Block, ...]:
    """Return the verdict and all lines, grouped by the questions of the signer."""
    lines = {line.name: line for line in answer(document, released)}
    verdict = lines.pop("verdict")
    tone = fitness(Basis.from_document(document))[1]
    parts: list[Block] = [Verdict(Badge(verdict.sentence, tone))]
    protected = lines.get("people", verdict).figures.get("protected_as_a_whole")
    for title, wanted in templates()["questions"].items():
        named = [each for each in wanted or tuple(lines) if each in lines]
        if protected and "words" in wanted:
            named.insert(1, "people")
        shown: Rows = [(name, lines.pop(name).sentence) for name in named]
        if "unchanged" in wanted:
            shown += _warned(run_warnings(document))
        if shown:
            parts.append(Figures(shown, title))
    return tuple(parts)


def _warned(warnings: Sequence[str]) -> Rows:
    return [("warning", Badge(each, Tone.FAIR)) for each in warnings]


def data(lines: Sequence[AnswerLine], warnings: Sequence[str] = ()) -> JsonObject:
    """Return the lines as JSON data, by name."""
    plain = {
        line.name.replace(" ", "_"): {"sentence": line.sentence, **line.figures}
        for line in lines
    }
    return {**plain, "warnings": list(warnings)}


def to_html(document: Document) -> str:
    """Return the summary of a Python call as an HTML fragment."""
    from dptext.report import html
    from dptext.run.python import PYTHON

    lines = answer(document, interface=PYTHON)
    return html.fragment([rows(lines, run_warnings(document))])


def to_text(document: Document) -> str:
    """Return the summary of a Python call as lines of 80 columns."""
    import io

    from rich.console import Console

    from dptext.report import terminal
    from dptext.run.python import PYTHON

    shown = Console(file=io.StringIO(), width=_COLUMNS, color_system=None)
    lines = blocks(answer(document, interface=PYTHON), run_warnings(document))
    with shown.capture() as capture:
        terminal.show(lines, shown)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _height(sentence: str) -> int:
    """Return how many terminal lines a sentence takes."""
    return len(textwrap.wrap(sentence, _WIDTH, break_on_hyphens=False)) or 1


def _output(unit: units.Unit, released: RunOutputs) -> AnswerLine:
    """Return the line that counts private texts and names the outputs."""
    outputs, where = released.outputs, ""
    if len(outputs) == 1:
        where = outputs[0] or say("where.stdout")
        if len(where) > _LONG_PATH:
            name = f"/{Path(where).name}"
            where = f"...{name if len(name) <= _LONG_PATH else name[-_LONG_PATH:]}"
    elif outputs:
        key = "where.place" if released.folder is None else "where.folder"
        where = say(key, files=len(outputs), folder=released.folder)
    shown = unit.output(where)
    shown.figures["fields"] = unit.document.run.layout.fields
    shown.figures["outputs"] = [each or "-" for each in outputs]
    return shown


def _unchanged(
    unit: units.Unit, released: RunOutputs, names: Sequence[str] | None
) -> AnswerLine:
    """Return the line that names all unchanged fields and parts of texts."""
    inside, first, parts = unit.inside(), released.first, []
    if names:
        several = len(released.outputs) > 1
        shown = listed_names(names)
        blanks = {"known": first is not None, "first": first, "several": several}
        parts.append(say("unchanged.fields", names=shown, **blanks))
    elif unit.document.run.layout.fields is not None:
        parts.append(say(f"unchanged.{'other' if names is None else 'none'}"))
    if inside:
        parts.append(say("unchanged.inside", inside=", ".join(inside)))
    figures: JsonObject = {"fields": names, "of_first_records": first or None}
    figures["inside"] = inside
    short = f"{'; '.join(parts) or say('unchanged.nothing')}."
    words = unit.document.words
    if words is not None and (common := words.common):
        figures["common"] = common
        parts.append(say("unchanged.common", common=common))
    sentence = f"{'; '.join(parts) or say('unchanged.nothing')}."
    return AnswerLine("unchanged", sentence, figures, short)


def _third_party(document: Document) -> list[AnswerLine]:
    """Return the line on who receives draws, and how many were answered."""
    private, output = document.private, document.output
    used = None if output is None else output.used
    if private is not None and private.words is not None:
        return [advice.third_party(each) for each in (private.words.used,) if each]
    return [] if used is None else [advice.third_party(used)]
