"""The short answer on a run: private and copied parts, protection, advice.

One line for each question, as a sentence and as figures. Terminals, pages and notebooks
show the sentences; machines get both. Lines that count private texts are for the owner
of the text; a public document has none of them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from dptext.guarantees.claims import Unprotected
from dptext.guarantees.sentences import original_row, series
from dptext.report import advice, trade, vector_lines, whole_texts
from dptext.report.advice import RunOutputs
from dptext.report.answer_line import AnswerLine
from dptext.report.attackers import (
    MEASURED_BY,
    Attackers,
    attacker_line,
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
from dptext.report.protection import (
    Basis,
    changed_fields,
    fitness,
    for_whom,
    is_of_topics,
    leaves_words,
    names,
    not_anonymous,
    number_of_topics,
    protection,
)
from dptext.report.sections import Private, WordSection, treatment
from dptext.report.whole_texts import TopicFigures
from dptext.run.interface import COMMAND_LINE, PYTHON, Interface, current, shown_in
from dptext.server_use import ServerAsked, ServerUse
from dptext.tokens.policy import Form, Policy
from dptext.types import JsonObject

# The answer fits on 19 lines of 80 columns; names of lines take the other columns.
_LINES, _COLUMNS, _WIDTH = 19, 80, 67
_WARNING_LINES = 3  # lines that others make free for warnings
# Lines that are left out where there is no room, those of most weight first. No
# sentence is cut, and no line that warns is left out, such as that on originals: an
# answer of more warnings is longer.
_OPTIONAL = ("same word", "meaning", "stronger", "one guess")
_LONG_PATH = 44  # characters of the path of an output
# Questions of the page, and the lines that answer them; the last has all others.
_PROTECTED = "What is protected"
_GROUPS = (
    ("What was done", ("output", "unchanged", "left out", "pseudonyms")),
    (_PROTECTED, ("words", "texts", "for whom", "names")),
    ("What is not protected", ("people", "anonymous")),
    (
        "What an attacker finds",
        ("attacker", "delicate", "same word", "topic", "one guess", "original"),
    ),
    ("What is left", ("meaning", "distances", "use")),
    ("Before you send it", ("sending", "again", "stronger", "third party")),
    ("The report", ()),
)
NOT_MEASURED = "Not measured: no word of a rewritten text stands for another"


def answer(
    document: Document,
    released: RunOutputs | None = None,
    interface: Interface = COMMAND_LINE,
) -> list[AnswerLine]:
    """Return the lines on a run, in the order of the answer.

    Without released, files are those named by the document; interface: how
    options are written.
    """
    promise = document.guarantee
    released = released or outputs_named(document)
    layout, unchanged = document.run.layout, _unchanged_fields(document, released)
    third_party = [*_third_party(document)]
    with shown_in(interface):
        return [
            AnswerLine("verdict", fitness(Basis.from_document(document))[0]),
            *not_anonymous(promise),
            _output(document, released),
            _unchanged(document, released),
            *changed_fields(layout.dropped, layout.pseudonyms),
            *protection(promise, document),
            for_whom(document),
            *_attack_lines(document),
            *trade.stronger(document),
            *third_party,
            advice.sending(document, released, unchanged),
            advice.again(
                document,
                is_sent=bool(third_party),
                is_by_name=released.is_by_name,
            ),
            advice.report(document, released),
        ]


def outputs_named(document: Document) -> RunOutputs:
    """Return the output that a report names, with the unchanged fields it knows of."""
    output, private = document.output, document.private
    copied = None if output is None else output.copied
    first: int | None = 0
    if copied is None and private is not None and private.unchanged:
        copied = private.unchanged
        first = 0 if advice.is_in_memory(document) else None
    if output is None:
        return RunOutputs((), copied=copied, first=first, is_run=False)
    return RunOutputs(
        [output.file], public=output.file, copied=copied, first=first, is_run=False
    )


def _attack_lines(document: Document) -> Iterator[AnswerLine]:
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
            yield AnswerLine(
                "meaning", *whole_texts.kept_sentence(words.topics, changed)
            )
    else:
        known = attackers_on(document, words)
        yield from attacks(known)
        if (delicate := delicate_sentence(known)) is not None:
            yield AnswerLine("delicate", *delicate, short="")
        yield from names(document.policy)
        yield AnswerLine(
            "original", original_row(document.guarantee.bound.text_loss.total)
        )
        if private is not None:
            yield _meaning(private, leaves=leaves_words(document.guarantee))


def run_warnings(document: Document) -> tuple[str, ...]:
    """Return the warnings of a run, which a public report leaves out."""
    return () if document.private is None else document.private.warnings


def blocks(
    lines: Sequence[AnswerLine], warnings: Sequence[str] = ()
) -> tuple[Block, ...]:
    """Return the verdict and lines for a screen, with warnings at the end.

    Lines of less weight make room for warnings, which then lengthen the answer.
    """
    sentences = {line.name: line.sentence for line in lines if line.short is None}
    sentences |= {line.name: line.short for line in lines if line.short}
    sentences = {
        line.name: sentences[line.name] for line in lines if line.name in sentences
    }
    verdict = sentences.pop("verdict", "")
    if "anonymous" in sentences:  # it says this, too
        sentences.pop("original", None)
    room = _LINES - min(sum(map(_height, warnings)), _WARNING_LINES) - bool(verdict)
    room -= sum(_height(sentences[name]) for name in sentences if name not in _OPTIONAL)
    for name in _OPTIONAL:
        if name in sentences and _height(sentences[name]) > room:
            del sentences[name]
        elif name in sentences:
            room -= _height(sentences[name])
    shown: Rows = [*sentences.items(), *_warned(warnings)]
    parts: list[Block] = [*paragraphs(verdict, kind="lead")]
    return (*parts, Figures(shown)) if shown else (*parts,)


def rows(lines: Sequence[AnswerLine], warnings: Sequence[str] = ()) -> Figures:
    """Return the lines in full, as notebooks and plans show them."""
    shown: Rows = [(line.name, line.sentence) for line in lines]
    return Figures([*shown, *_warned(warnings)])


def first_screen(
    document: Document, released: RunOutputs | None = None
) -> tuple[Block, ...]:
    """Return the verdict and all lines under the questions of the person who signs."""
    lines = {line.name: line for line in answer(document, released)}
    verdict = lines.pop("verdict")
    tone = fitness(Basis.from_document(document))[1]
    parts: list[Block] = [Verdict(Badge(verdict.sentence, tone))]
    people = lines.get("people", verdict)
    for title, wanted in _GROUPS:
        named = [each for each in wanted or tuple(lines) if each in lines]
        if title == _PROTECTED and people.figures.get("protected_as_a_whole"):
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
    """Return the lines for machines, by their names."""
    plain = {
        line.name.replace(" ", "_"): {"sentence": line.sentence, **line.figures}
        for line in lines
    }
    return {**plain, "warnings": list(warnings)}


def to_html(document: Document) -> str:
    """Return the answer of a function of Python as a part of another page."""
    from dptext.report import html

    lines = answer(document, interface=PYTHON)
    return html.fragment([rows(lines, run_warnings(document))])


def to_text(document: Document) -> str:
    """Return the answer of a function of Python as lines of 80 columns."""
    import io

    from rich.console import Console

    from dptext.report import terminal

    shown = Console(file=io.StringIO(), width=_COLUMNS, color_system=None)
    answered = answer(document, interface=PYTHON)
    lines = blocks(answered, run_warnings(document))
    with shown.capture() as capture:
        terminal.show(lines, shown)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _height(sentence: str) -> int:
    """Return the height of a sentence in lines of a terminal."""
    return len(textwrap.wrap(sentence, _WIDTH, break_on_hyphens=False)) or 1


def _output(document: Document, released: RunOutputs) -> AnswerLine:
    """Count the private texts, and name the outputs."""
    layout, private = document.run.layout, document.private
    named = " and ".join(f'"{plain_name(each)}"' for each in layout.fields or ())
    named = f" of {named}" if named else ""
    sentence = f"vectors{named}"
    if document.words is not None:
        replaced = _replaced_by_settings(document.policy)
        sentence = f"{replaced}{named}, if any, replaced"
    figures: JsonObject = {}
    if is_of_topics(document):
        sentence = f"texts{named} became topics"
    short = sentence
    if private is not None:
        each, topics = advice.unit(document), number_of_topics(document)
        sentence, figures = counted(private, each, named, topics=topics)
        short, _ = counted(private, each, named, topics=topics, brief=True)
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
    return AnswerLine("output", f"{sentence}{where}", figures, f"{short}{where}")


def _replaced_by_settings(policy: Policy | None) -> str:
    """Name all that settings replace, for a report without counts."""
    if policy is None:
        return "words"
    parts = ["words"]
    if policy.classes:
        parts.append("names")
    if policy.number in ("perturb", "digits"):
        parts.append("numbers")
    if policy.forms:
        return ", ".join([*parts, "dates or the like"])
    return series(tuple(parts))


def _unchanged(document: Document, released: RunOutputs) -> AnswerLine:
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
        parts.append("every other column" if names is None else "no other column")
    if inside:
        parts.append(f"in the texts: {', '.join(inside)}")
    figures: JsonObject = {
        "fields": names,
        "of_first_records": released.first or None,
        "inside": inside,
    }
    short = f"{'; '.join(parts) or 'nothing'}."
    if document.words is not None and document.words.common is not None:
        figures["common"] = document.words.common
        share = whole(document.words.common)
        parts.append(
            f"about {share} of words are common by the frequencies of the lexicon"
        )
    return AnswerLine("unchanged", f"{'; '.join(parts) or 'nothing'}.", figures, short)


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
    return [_class_inside(policy, name) for name in names if name != "space"]


def _class_inside(policy: Policy | None, name: str) -> str:
    """Name an unchanged class of token."""
    if name == "kept" and policy is not None and Form.FIXED in policy.forms:
        fixed = "fixed expressions such as 24/7"
        return f"{CLASSES[name]}, {fixed}" if policy.keep else fixed
    return CLASSES.get(name, name)


def attackers_on(document: Document, words: WordSection) -> Attackers:
    """Return all that a report knows of attackers on its words."""
    counts = None if document.private is None else document.private.words
    measured_by = MEASURED_BY
    if current().is_python and advice.is_in_memory(document):
        measured_by = "dptext evaluate measures it on files"
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
        leaves_words=leaves_words(document.guarantee),
        classes=Unprotected.CLASSES in document.guarantee.scope.unprotected,
        decoded=document.guarantee.scope.decoder != "none",
        measured_by=measured_by,
        profile=document.run.profile,
    )


def attacks(known: Attackers) -> list[AnswerLine]:
    """Say what attackers find, and how many written words are the original."""
    attacker, written = attacker_line(known), written_sentence(known)
    unknown = known.other_language or not (known.written or known.attackers)
    if known.seeded or (unknown and not known.rewritten):
        # The line above has the reason, and the command.
        written = f"{written[0].partition(':')[0].rstrip('.')}.", written[1]
    return [
        attacker,
        AnswerLine("same word", *written),
        AnswerLine("one guess", *draw_sentence(known)),
    ]


def topic_lines(
    topics: TopicFigures, *, seeded: bool, shuffled: bool = False
) -> list[AnswerLine]:
    """Say how often the nearest topic is written, and who finds an original."""
    return [
        AnswerLine("topic", *whole_texts.written_sentence(topics)),
        AnswerLine(
            "original",
            *whole_texts.original_sentence(topics, seeded=seeded, shuffled=shuffled),
        ),
    ]


def _meaning(private: Private, *, leaves: bool) -> AnswerLine:
    """Say how much changed and how much of the meaning is left.

    leaves: words of some kind are unchanged, and figures are of the replaced ones.
    """
    assert private.words is not None
    metrics = private.words.metrics
    of_meaning = metrics.get("CS", {})
    changed = metrics.get("PP", {}).get("share_changed")
    meaning, near = of_meaning.get("share_kept"), of_meaning.get("mean_cosine")
    parts = []
    if isinstance(changed, float):
        of = "replaced words" if leaves else "words"
        parts.append(f"{whole(changed)} of {of} changed")
    if isinstance(meaning, float):
        of = "their" if leaves else "the"
        # Below 0 they are less near than texts of other rows: by chance.
        parts.append(f"{whole(max(meaning, 0.0))} of {of} meaning left")
    elif isinstance(near, float):
        parts.append(f"similarity of meaning {near:.2f} of 1")
    sentence = ", ".join(parts) or "There was no word to replace"
    if private.words.describes == "rewritten texts":
        sentence = NOT_MEASURED
    figures = {"changed": changed, "meaning": meaning, "private": True}
    return AnswerLine(
        "meaning", f"{sentence} (do not publish).", {**figures, "similarity": near}
    )


def _third_party(document: Document) -> Iterator[AnswerLine]:
    """Name the recipient of the draws, and the number of answers."""
    private, output = document.private, document.output
    used: ServerAsked | ServerUse | None = None if output is None else output.used
    if private is not None and private.words is not None:
        used = private.words.used
    if used is not None:
        yield AnswerLine(
            "third party", third_party_sentence(used), msgspec.to_builtins(used)
        )
