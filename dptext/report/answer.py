"""The short answer on a run: private and copied parts, protection, advice.

One line for each question, as a sentence and as figures. Terminals, pages and notebooks
show the sentences; machines get both. Lines that count private texts are for the owner
of the text; a public document has none of them.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from dptext.guarantees.claims import Strength, Unprotected
from dptext.guarantees.sentences import original_row, series
from dptext.report import trade, vector_lines, whole_texts
from dptext.report.attackers import (
    Attackers,
    attacker_sentence,
    delicate_sentence,
    draw_sentence,
    written_sentence,
)
from dptext.report.blocks import (
    Badge,
    Block,
    Figures,
    Rows,
    Tone,
    Verdict,
    paragraphs,
)
from dptext.report.counted import counted
from dptext.report.document import Document
from dptext.report.figures import (
    CLASSES,
    count,
    listed_names,
    plain_name,
    third_party_sentence,
    whole,
)
from dptext.report.layout import SIDECAR
from dptext.report.lines import Line
from dptext.report.protection import (
    changed_fields,
    fitness,
    for_whom,
    is_mostly_guessed,
    is_of_topics,
    names,
    not_anonymous,
    protection,
)
from dptext.report.sections import Private, WordSection, treatment
from dptext.report.signatures import UNSIGNED
from dptext.report.whole_texts import TopicFigures
from dptext.server_use import ServerAsked, ServerUse
from dptext.tokens.policy import Form
from dptext.types import JsonObject, Strategy

# The answer fits on 18 lines of 80 columns; names of lines take the other columns.
_LINES, _COLUMNS, _WIDTH = 18, 80, 67
_WARNING_LINES = 3  # lines that others make free for warnings
# Lines that are left out where there is no room, those of most weight first. No
# sentence is cut, and no line that warns is left out.
_OPTIONAL = ("original", "same word", "meaning", "stronger", "one guess")
_LONG_PATH = 44  # characters of the path of an output
_ROWS = 20  # rows to read before an output leaves
_SHORT_NAME = 14  # characters of a file name that a sentence says twice
_LONG_NAME = 24  # characters of a file name that a sentence repeats
# Questions of the page, and the lines that answer them; the last has all others.
_GROUPS = (
    ("What is protected", ("words", "texts", "for whom", "names")),
    (
        "What is not protected",
        ("people", "anonymous", "unchanged", "left out", "pseudonyms"),
    ),
    (
        "What an attacker finds",
        ("attacker", "delicate", "same word", "topic", "one guess", "original"),
    ),
    ("Before you send it", ("sending", "again", "stronger", "third party")),
    ("The run", ()),
)
NOT_MEASURED = "Not measured: no word of a rewritten text stands for another"


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
    #: Whether draws of records without ids go by the names of the outputs, too.
    by_name: bool = False


def answer(document: Document, released: RunOutputs | None = None) -> list[Line]:
    """Return the lines on a run, in the order of the answer.

    Without released, files are those named by the document.
    """
    promise = document.guarantee
    released = released or _outputs_named(document)
    layout = document.run.layout
    sent = [*_third_party(document)]
    return [
        Line("verdict", fitness(document)[0]),
        *not_anonymous(promise),
        _output(document, released),
        _unchanged(document, released),
        *changed_fields(layout.dropped, layout.pseudonyms),
        *protection(promise, document),
        for_whom(document),
        *_attack_lines(document),
        *trade.stronger(document),
        *sent,
        _sending(document, released),
        _again(document, sent, by_name=released.by_name),
        _report(released),
    ]


def _outputs_named(document: Document) -> RunOutputs:
    """Return the output that a report names, with the unchanged fields it knows of."""
    output, private = document.output, document.private
    found = None if output is None else output.copied
    first: int | None = 0
    if found is None and private is not None and private.unchanged:
        found, first = private.unchanged, None
    if output is None:
        return RunOutputs((), copied=found, first=first)
    return RunOutputs([output.file], public=output.file, copied=found, first=first)


def _attack_lines(document: Document) -> Iterator[Line]:
    """Yield what attackers find, and how much is left for a purpose."""
    words, private = document.words, document.private
    if words is None:
        assert document.vectors is not None
        yield from vector_lines.attack_lines(document.vectors.measures)
        yield from vector_lines.use_lines(document)
    elif words.topics is not None:
        seeded, shuffled = document.run.key == "seed", document.run.layout.shuffled
        yield from topic_lines(words.topics, seeded=seeded, shuffled=shuffled)
        if private is not None and private.words is not None:
            changed = private.words.metrics.get("PP", {}).get("share_changed")
            yield Line("meaning", *whole_texts.kept_sentence(words.topics, changed))
    else:
        known = attackers_on(document, words)
        yield from attacks(known)
        if (delicate := delicate_sentence(known)) is not None:
            yield Line("delicate", *delicate, short="")
        yield from names(document.policy)
        yield Line("original", original_row(document.guarantee.bound.text_loss.total))
        if private is not None:
            common = Unprotected.COMMON_WORDS in document.guarantee.scope.unprotected
            yield _meaning(private, common=common)


def run_warnings(document: Document) -> tuple[str, ...]:
    """Return the warnings of a run, which a public report leaves out."""
    return () if document.private is None else document.private.warnings


def blocks(lines: Sequence[Line], warnings: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the verdict and lines for a screen, with warnings at the end.

    Lines of less weight make room for warnings, which then lengthen the answer.
    """
    said = {line.name: line.sentence for line in lines if line.short is None}
    said |= {line.name: line.short for line in lines if line.short}
    said = {line.name: said[line.name] for line in lines if line.name in said}
    verdict = said.pop("verdict", "")
    if "anonymous" in said:  # it says this, too
        said.pop("original", None)
    room = _LINES - min(sum(map(_height, warnings)), _WARNING_LINES) - bool(verdict)
    room -= sum(_height(said[name]) for name in said if name not in _OPTIONAL)
    for name in _OPTIONAL:
        if name in said and _height(said[name]) > room:
            del said[name]
        elif name in said:
            room -= _height(said[name])
    shown: Rows = [*said.items(), *_warned(warnings)]
    parts: list[Block] = [*paragraphs(verdict, kind="lead")]
    return (*parts, Figures(shown)) if shown else (*parts,)


def rows(lines: Sequence[Line], warnings: Sequence[str] = ()) -> Figures:
    """Return the lines in full, as notebooks and plans show them."""
    said: Rows = [(line.name, line.sentence) for line in lines]
    return Figures([*said, *_warned(warnings)])


def first_screen(
    document: Document, released: RunOutputs | None = None
) -> tuple[Block, ...]:
    """Return the verdict and all lines under the questions of the person who signs."""
    lines = {line.name: line for line in answer(document, released)}
    verdict = lines.pop("verdict")
    parts: list[Block] = [Verdict(Badge(verdict.sentence, fitness(document)[1]))]
    for title, wanted in _GROUPS:
        named = [each for each in wanted or tuple(lines) if each in lines]
        if lines.get("people", verdict).figures.get("protected_as_a_whole"):
            named.insert(1, "people")
        shown: Rows = [(name, lines.pop(name).sentence) for name in named]
        if "unchanged" in wanted:
            shown += _warned(run_warnings(document))
        if shown:
            parts.append(Figures(shown, title))
    return tuple(parts)


def _warned(warnings: Sequence[str]) -> Rows:
    return [("warning", Badge(each, Tone.FAIR)) for each in warnings]


def data(lines: Sequence[Line], warnings: Sequence[str] = ()) -> JsonObject:
    """Return the lines for machines, by their names."""
    said = {
        line.name.replace(" ", "_"): {"sentence": line.sentence, **line.figures}
        for line in lines
    }
    return {**said, "warnings": list(warnings)}


def to_html(document: Document, released: RunOutputs | None = None) -> str:
    """Return the answer as a part of another page, such as a notebook."""
    from dptext.report import html

    return html.fragment([rows(answer(document, released), run_warnings(document))])


def to_text(document: Document, released: RunOutputs | None = None) -> str:
    """Return the answer as lines of 80 columns, without colours."""
    import io

    from rich.console import Console

    from dptext.report import terminal

    shown = Console(file=io.StringIO(), width=_COLUMNS, color_system=None)
    lines = blocks(answer(document, released), run_warnings(document))
    with shown.capture() as capture:
        terminal.show(lines, shown)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _height(sentence: str) -> int:
    """Return the height of a sentence in lines of a terminal."""
    return len(textwrap.wrap(sentence, _WIDTH, break_on_hyphens=False)) or 1


def _output(document: Document, released: RunOutputs) -> Line:
    """Count the private texts, and name the outputs."""
    layout, private = document.run.layout, document.private
    named = " and ".join(f'"{plain_name(each)}"' for each in layout.fields or ())
    named = f" of {named}" if named else ""
    sentence = f"vectors{named}" if document.words is None else f"words{named} replaced"
    figures: JsonObject = {}
    if is_of_topics(document):
        sentence = f"texts{named} became topics"
    short = sentence
    if private is not None:
        is_text, topics = layout.format == "text", is_of_topics(document)
        sentence, figures = counted(private, is_text, named, topics=topics)
        short, _ = counted(private, is_text, named, topics=topics, classes=False)
    figures["fields"] = layout.fields
    figures["outputs"] = [each or "-" for each in released.outputs]
    where = ""
    if len(released.outputs) == 1:
        where = released.outputs[0] or "standard output"
        if len(where) > _LONG_PATH:
            name = f"/{Path(where).name}"
            where = f"...{name if len(name) <= _LONG_PATH else name[-_LONG_PATH:]}"
    elif released.outputs:
        folder = released.folder
        where = f"{count(len(released.outputs))} files"
        where += (
            ", in the place of the originals" if folder is None else f" in {folder}"
        )
    where = f": {where}" if where else ""
    return Line("output", f"{sentence}{where}", figures, f"{short}{where}")


def _unchanged(document: Document, released: RunOutputs) -> Line:
    """Name everything that is unchanged: fields, and parts of the texts."""
    names, inside = _unchanged_fields(document, released), _inside(document)
    parts = []
    if names:
        shown = listed_names(names)
        if released.first is None:
            shown += " (in the first records)"
        elif released.first:
            each = " of each file" if len(released.outputs) > 1 else ""
            shown += f" (in the first {count(released.first)} records{each})"
        parts.append(shown)
    elif document.run.layout.fields is not None:
        parts.append("every other field" if names is None else "no other field")
    if inside:
        parts.append(f"in the texts: {', '.join(inside)}")
    figures: JsonObject = {
        "fields": names,
        "of_first_records": released.first or None,
        "inside": inside,
    }
    return Line("unchanged", f"{'; '.join(parts) or 'nothing'}.", figures)


def _unchanged_fields(document: Document, released: RunOutputs) -> Sequence[str] | None:
    """Return the names of the unchanged fields, None if they are unknown."""
    if document.vectors is None:
        return released.copied
    # The only field beside vectors is the id.
    columns = () if document.output is None else document.output.columns or ()
    return [document.run.layout.id_field or "id"] if "id" in columns else []


def _inside(document: Document) -> list[str]:
    """Name the unchanged classes of token inside texts."""
    if document.words is None:
        return []
    policy, private = document.policy, document.private
    if private is not None and private.words is not None:
        counts, treated = private.words.tokens, private.words.treatment
        seen = {"punctuation", *(name for name in counts if counts[name])}
    elif policy is not None:
        treated = treatment(policy)
        listed = "keep-list" in document.guarantee.scope.unprotected
        listed = listed or Form.FIXED in policy.forms
        seen = treated.keys() - ({"kept"} if not listed else set())
        seen -= {"markup"} if Form.MARKUP not in policy.forms else set()
    else:
        return ["parts of a class that is not known"]
    unchanged = ("unchanged", "layout unchanged")
    names = [name for name, how in treated.items() if how in unchanged and name in seen]
    return [CLASSES.get(name, name) for name in names if name != "space"]


def attackers_on(document: Document, words: WordSection) -> Attackers:
    """Return all that a report knows of attackers on its words."""
    counts = None if document.private is None else document.private.words
    return Attackers(
        risk=words.risk,
        risk_note=words.risk_note,
        written=words.written,
        attackers=words.attackers,
        attackers_risk=words.attackers_risk,
        language=words.language,
        seeded=document.run.key == "seed",
        other_language=counts is not None and counts.other_language,
        rewritten=counts is not None and counts.describes == "rewritten texts",
        common=Unprotected.COMMON_WORDS in document.guarantee.scope.unprotected,
        classes=Unprotected.CLASSES in document.guarantee.scope.unprotected,
    )


def attacks(known: Attackers) -> list[Line]:
    """Say what attackers find, and how many written words are the original."""
    attacker, written = attacker_sentence(known), written_sentence(known)
    if attacker[0] == written[0]:  # the line above has the reason, and the command
        written = f"{written[0].partition(':')[0].rstrip('.')}.", written[1]
    return [
        Line("attacker", *attacker),
        Line("same word", *written),
        Line("one guess", *draw_sentence(known)),
    ]


def topic_lines(
    topics: TopicFigures, *, seeded: bool, shuffled: bool = False
) -> list[Line]:
    """Say how often the nearest topic is written, and who finds an original."""
    return [
        Line("topic", *whole_texts.written_sentence(topics)),
        Line(
            "original",
            *whole_texts.original_sentence(topics, seeded=seeded, shuffled=shuffled),
        ),
    ]


def _meaning(private: Private, *, common: bool) -> Line:
    """Say how much changed and how much of the meaning is left.

    common: common words are unchanged, and figures are of the replaced ones.
    """
    assert private.words is not None
    metrics = private.words.metrics
    of_meaning = metrics.get("CS", {})
    changed = metrics.get("PP", {}).get("share_changed")
    meaning, near = of_meaning.get("share_kept"), of_meaning.get("mean_cosine")
    parts = []
    if isinstance(changed, float):
        of = "replaced words" if common else "words"
        parts.append(f"{whole(changed)} of {of} changed")
    if isinstance(meaning, float):
        of = "their meaning" if common else "meaning"
        # Below 0 they are less near than texts of other rows: by chance.
        parts.append(f"{whole(max(meaning, 0.0))} of {of} left")
    elif isinstance(near, float):
        parts.append(f"similarity of meaning {near:.2f} of 1")
    said = ", ".join(parts) or "There was no word to replace"
    if private.words.describes == "rewritten texts":
        said = NOT_MEASURED
    figures = {"changed": changed, "meaning": meaning, "private": True}
    return Line(
        "meaning", f"{said} (do not publish this).", {**figures, "similarity": near}
    )


def _third_party(document: Document) -> Iterator[Line]:
    """Name the recipient of the draws, and the number of answers."""
    private, output = document.private, document.output
    used: ServerAsked | ServerUse | None = None if output is None else output.used
    if private is not None and private.words is not None:
        used = private.words.used
    if used is not None:
        yield Line("third party", third_party_sentence(used), msgspec.to_builtins(used))


def _sending(document: Document, released: RunOutputs) -> Line:
    """Say what to ask and to do before the output leaves, and which files may."""
    worth = document.guarantee.strength.word
    weak = worth in (Strength.NONE, Strength.NOT_MEANINGFUL)
    if weak or is_mostly_guessed(document):
        return Line("sending", "Do not, unless the original could be sent as well.")
    private, layout = document.private, document.run.layout
    parts = []
    if _unchanged_fields(document, released) != [] and layout.fields is not None:
        parts.append("the unchanged columns")
    if Unprotected.COMMON_WORDS in document.guarantee.scope.unprotected:
        parts.append("the common words")
    if layout.pseudonyms:
        parts.append("the pseudonyms")
    if is_of_topics(document):
        parts.append("the topic of each text")
    sentence = f"May {series(tuple(parts))} leave? " if parts else ""
    records = _ROWS if private is None else private.records
    if document.vectors is not None:
        sentence += "Run dptext check. "
    else:
        read = f"{_ROWS} rows" if records >= _ROWS else "every row"
        sentence += f"Read {read}. "
    return Line("sending", f"{sentence}Send only {_sent_files(released)}")


def _sent_files(released: RunOutputs) -> str:
    """Name the files that may leave."""
    if len(released.outputs) > 1:
        reports = "" if released.public is None else " and the report beside each"
        return f"the outputs{reports}"
    name = Path(released.outputs[0] or "").name if released.outputs else ""
    if not name or len(name) > _LONG_NAME or not name.isprintable():
        reports = "" if released.public is None else f" and its report ({SIDECAR})"
        return f"the output{reports}"
    if released.public is None:
        return name
    report = f"{name}{SIDECAR}" if len(name) <= _SHORT_NAME else f"its {SIDECAR}"
    return f"{name} and {report}"


def _again(document: Document, sent: Sequence[Line], *, by_name: bool) -> Line:
    """Say whether a further release costs protection; draws that were sent may."""
    sentence = {
        "system": (
            "Do not release twice: a second version weakens protection; --key-file "
            "makes reruns identical."
        ),
        "key-file": (
            "The same input, settings and key give this output again, at no further "
            "cost."
        ),
        "seed": "Anyone who knows or guesses the seed can make this output again.",
    }[document.run.key]
    # Draws go by the id of a record, else by its place.
    is_by_position = (
        document.run.layout.id_field is None
        and document.guarantee.scope.strategy is not Strategy.DATA_SET
    )
    if document.run.key == "key-file" and is_by_position:
        anew = "Records behind an added or missing one"
        if by_name:
            anew += " of their file, and all of a renamed file,"
        sentence += f" {anew} are drawn anew: --id prevents it."
    if sent and document.run.key != "system":
        sentence += " The third party may answer otherwise."
    return Line("again", sentence, {"key": document.run.key})


def _report(released: RunOutputs) -> Line:
    """Say where the full report is, or how to get one."""
    public, signed = released.public, released.signed
    figures: JsonObject = {
        "public": public,
        "internal": released.internal,
        "page": released.page,
        "signed": None if signed == UNSIGNED else signed,
    }
    parts = []
    if public is not None:
        name = shlex.quote(public.removesuffix(SIDECAR))
        shown = f"dptext report {name} shows all figures"
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
        parts = ["not written: --report FILE writes it, --verbose prints it"]
    return Line("report", "; ".join(parts), figures)
