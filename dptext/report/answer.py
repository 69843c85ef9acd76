"""The short answer on a run: private and copied parts, protection, advice.

One line for each question, as a sentence and as figures. Terminals, pages and notebooks
show the sentences; machines get both. Lines that count private texts are for the owner
of the text; a public document has none of them.
"""

from __future__ import annotations

import math
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from dptext.guarantees.claims import (
    MAX_MEANINGFUL_TEXT_LOSS,
    Loss,
    Strength,
    Unprotected,
    above,
    first_beyond,
    judge,
    number,
)
from dptext.guarantees.sentences import original_row
from dptext.guarantees.statement import Statement
from dptext.report import vector_lines, whole_texts
from dptext.report.attackers import (
    Attackers,
    attacker_sentence,
    draw_sentence,
    written_sentence,
)
from dptext.report.blocks import Badge, Block, Figures, Rows, Tone
from dptext.report.counted import counted
from dptext.report.document import Document
from dptext.report.figures import CLASSES, bound, count, third_party_sentence, whole
from dptext.report.layout import SIDECAR
from dptext.report.lines import Line
from dptext.report.sections import Private, WordSection, treatment
from dptext.report.signatures import UNSIGNED
from dptext.report.whole_texts import TopicFigures
from dptext.server_use import ServerAsked, ServerUse
from dptext.tokens.policy import Form
from dptext.types import JsonObject, Level, Notion

# The answer fits on 18 lines of 80 columns; names of lines take the other columns.
_LINES, _WIDTH = 18, 68
_WARNING_LINES = 3  # lines that others make free for warnings
# Lines to cut if there is no room, in this order; "repeat" is left out before them.
_SHORTENED = (
    "report",
    "private",  # counts, and the output's name behind them
    "copied",
    "left out",
    "pseudonyms",
    "one word",
    "one text",
    "kept",
    "a person",
    "send it",
)
_LONGEST = 30  # characters of the name of a field
_LONG_PATH = 44  # characters of the path of an output
_NOT_ANONYMOUS = (
    "no: people who can be recognised by the common words and what they tell are "
    "recognised; anyone with an original finds its row"
)
NOT_MEASURED = "not measured: no word of a rewritten text stands for another"
_BY_SEED = "anyone who knows or guesses the seed can repeat every draw"
_WORDS = {
    Strength.STRONG: "well protected",
    Strength.MODERATE: "protected in part",
    Strength.WEAK: "weakly protected",
}

_NOTIONS = {Notion.APPROXIMATE: "approximate LDP", Notion.METRIC: "metric DP"}


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
    #: Number of records in which copied fields were found; 0 if they are all known.
    first: int = 0
    #: Description of the signature of public reports; None if unknown.
    signed: str | None = None


def answer(document: Document, released: RunOutputs | None = None) -> list[Line]:
    """Return the lines on a run, in the order of the answer.

    Without released, files are those named by the document.
    """
    output, words, private = document.output, document.words, document.private
    if released is None and output is not None:
        released = RunOutputs([output.file], public=output.file, copied=output.copied)
    released = released or RunOutputs((), copied=None)
    lines = [*not_anonymous(document.guarantee)]
    lines += [_private(document, released), _copied(document, released)]
    layout = document.run.layout
    lines += changed_fields(layout.dropped, layout.pseudonyms)
    lines += protection(document.guarantee, document)
    if words is not None and words.topics is not None:
        seeded = document.run.key == "seed"
        shuffled = document.run.layout.shuffled
        lines += topic_lines(words.topics, seeded=seeded, shuffled=shuffled)
        if private is not None and private.words is not None:
            changed = private.words.metrics.get("PP", {}).get("share_changed")
            lines.append(
                Line("kept", *whole_texts.kept_sentence(words.topics, changed))
            )
    elif words is not None:
        lines += attacks(attackers_on(document, words))
        total = document.guarantee.text_loss.total
        lines.append(Line("original", original_row(total)))
        replaced = Unprotected.COMMON_WORDS in document.guarantee.unprotected
        lines += [] if private is None else [_kept(private, replaced=replaced)]
    else:
        assert document.vectors is not None
        lines += vector_lines.attack_lines(document.vectors.measures)
        lines += vector_lines.use_lines(document)
    sent = [*_third_party(document)]
    return [*lines, *sent, _send(document), _repeat(document, sent), _report(released)]


def not_anonymous(promise: Statement) -> Iterator[Line]:
    """Warn first that copied common words can identify people."""
    if Unprotected.COMMON_WORDS in promise.unprotected:
        yield Line("anonymous", _NOT_ANONYMOUS, {"anonymous": False})


def run_warnings(document: Document) -> tuple[str, ...]:
    """Return the warnings of a run, which a public report leaves out."""
    return () if document.private is None else document.private.warnings


def verdict(promise: Statement) -> Badge:
    """Rate a guarantee in a few words."""
    word, text, loss = promise.strength.word, promise.strength.text, promise.text_loss
    if word is Strength.NONE:
        return Badge("No guarantee", Tone.BAD)
    if text in (Strength.STRONG, Strength.MODERATE):
        tone = Tone.GOOD if text is Strength.STRONG else Tone.FAIR
        return Badge(f"Whole texts are {_WORDS[text]}", tone)
    if promise.equal_parts and loss.total is not None:
        each = f"one of n words loses at most {above(loss.total)} / n nats"
        return Badge(f"Whole texts are not protected; {each}", Tone.FAIR)
    if word is Strength.NOT_MEANINGFUL:
        return Badge("No meaningful protection", Tone.BAD)
    if word is Strength.GROWS:
        return Badge("The longer a text, the less its words are protected", Tone.FAIR)
    said, longer = f"Single words are {_WORDS.get(word)}", "whole texts"
    if word is Strength.VARIES:
        said = f"Similar words are {_near(promise)} from each other"
        longer = "very different words and texts"
    elif loss.total is None and loss.each:
        words = first_beyond(loss.each, MAX_MEANINGFUL_TEXT_LOSS)
        longer = f"texts of {words:,} words and more" if words > 1 else "texts"
    return Badge(f"{said}; {longer} are not", Tone.FAIR)


def blocks(lines: Sequence[Line], warnings: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the lines cut to the height of a screen, with warnings in full at the end.

    Warnings shorten the other lines first, and then lengthen the answer.
    """
    said = {line.name: _cut(line.short or line.sentence, 2) for line in lines}
    if "anonymous" in said:  # it says this, too
        said.pop("original", None)
    wanted = min(sum(map(_height, warnings)), _WARNING_LINES)
    if sum(map(_height, said.values())) + wanted > _LINES:
        said.pop("repeat", None)
    for name in _SHORTENED:
        if name in said and sum(map(_height, said.values())) + wanted > _LINES:
            said[name] = _cut(said[name], 1)
    shown: Rows = [*said.items(), *_warned(warnings)]
    return (Figures(shown),) if shown else ()


def rows(lines: Sequence[Line], warnings: Sequence[str] = ()) -> Figures:
    """Return the lines in full, as pages show them."""
    said: Rows = [(line.name, line.sentence) for line in lines]
    return Figures([*said, *_warned(warnings)])


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


def to_text(document: Document) -> str:
    """Return the answer as lines of text, each with its name."""
    lines, warnings = answer(document), run_warnings(document)
    said = [(line.name, line.short or line.sentence) for line in lines]
    said += [("warning", warning) for warning in warnings]
    wide = max(len(name) for name, _ in said)
    return "\n".join(f"{name:{wide}}  {sentence}" for name, sentence in said)


def _height(sentence: str) -> int:
    """Return the height of a sentence in lines of a terminal."""
    return len(textwrap.wrap(sentence, _WIDTH, break_on_hyphens=False)) or 1


def _cut(sentence: str, lines: int) -> str:
    """Cut a sentence to some lines; the full report has the rest."""
    words = sentence.split(" ")
    while _height(sentence) > lines and len(words) > 1:
        words.pop()
        sentence = f"{' '.join(words)} ..."
    return sentence


def _private(document: Document, released: RunOutputs) -> Line:
    """Count the private texts, and name the outputs."""
    layout, private = document.run.layout, document.private
    named = " and ".join(f'"{_name(each)}"' for each in layout.fields or ())
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
    return Line("private", f"{sentence}{where}", figures, f"{short}{where}")


def _name(name: str) -> str:
    """Return a name that can be seen and stays on its line, shortened where long."""
    plain = name if name.isprintable() and name else ascii(name)[1:-1] or "''"
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."


def _copied(document: Document, released: RunOutputs) -> Line:
    """Name everything copied unchanged: fields, and parts of the texts."""
    names, inside = released.copied, _inside(document)
    if document.vectors is not None:  # the only field beside vectors is the id
        columns = () if document.output is None else document.output.columns or ()
        names = [document.run.layout.id_field or "id"] if "id" in columns else []
    parts = []
    if names:
        listed: list[str] = []
        for name in map(_name, names):
            if listed and len(", ".join([*listed, name])) > _WIDTH:
                break
            listed.append(name)
        more = len(names) - len(listed)
        shown = ", ".join(listed)
        if more:
            shown += f" and {count(more)} more"
        if released.first:
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
    return Line("copied", "; ".join(parts) or "nothing", figures)


def changed_fields(dropped: Sequence[str], pseudonyms: Sequence[str]) -> Iterator[Line]:
    """Name the fields left out, and those of pseudonyms."""
    if dropped:
        named = ", ".join(map(_name, dropped))
        yield Line("left out", named, {"fields": list(dropped)})
    if pseudonyms:
        named = ", ".join(map(_name, pseudonyms))
        sentence = f"no guarantee, equal values stay equal: {named}"
        yield Line("pseudonyms", sentence, {"fields": list(pseudonyms)})


def _inside(document: Document) -> list[str]:
    """Name the copied classes of token inside texts."""
    if document.words is None:
        return []
    policy, private = document.policy, document.private
    if private is not None and private.words is not None:
        counts, treated = private.words.tokens, private.words.treatment
        seen = {"punctuation", *(name for name in counts if counts[name])}
    elif policy is not None:
        treated = treatment(policy)
        listed = "keep-list" in document.guarantee.unprotected
        listed = listed or Form.FIXED in policy.forms
        seen = treated.keys() - ({"kept"} if not listed else set())
        seen -= {"markup"} if Form.MARKUP not in policy.forms else set()
    else:
        return ["parts of a class that is not known"]
    copied = ("copied", "kept as layout")
    names = [name for name, how in treated.items() if how in copied and name in seen]
    return [CLASSES.get(name, name) for name in names if name != "space"]


def protection(promise: Statement, document: Document | None = None) -> list[Line]:
    """Return the guarantee for one word or text, then for a person as a whole.

    document: the report of a run; None for a plan.
    """
    of_text = document is not None and is_of_texts(document)
    unit = "text" if of_text else "word"
    figures: JsonObject = {
        "notion": str(promise.notion),
        "level": str(promise.level),
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "loss": _finite(promise.loss.farthest),
    }
    if promise.notion is Notion.NONE:
        figures |= {"epsilon": None, "loss": None}
        sentence = promise.sentence[:1].lower() + promise.sentence[1:]
        if document is not None and document.run.key == "seed":
            sentence = f"no guarantee: {_BY_SEED}"
        none = Line("a person", "no guarantee", _person_figures(promise))
        return [Line(f"one {unit}", sentence, figures), none]
    proves = "hardly ever proves a" if promise.delta else "proves no"
    near = f"{_near(promise)} from similar {unit}s, not from very different ones"
    worth = {
        Strength.NOT_MEANINGFUL: "no meaningful protection",
        Strength.VARIES: near,
        Strength.GROWS: f"the longer its text, the less the {unit} is protected",
        **{key: f"{how}: the output {proves} {unit}" for key, how in _WORDS.items()},
    }
    per = " per unit of distance" if promise.notion is Notion.METRIC else ""
    if promise.level is Level.TEXT and not of_text:
        per += " for a text"
    notion = _NOTIONS.get(promise.notion, str(promise.notion))
    delta = f", delta {number(promise.delta)}" if promise.delta else ""
    terms = f"{notion}, epsilon {number(promise.epsilon)}{delta}{per}"
    sentence = f"{worth[promise.strength.word]} ({terms})"
    return [Line(f"one {unit}", sentence, figures), _person(promise, document)]


def _near(promise: Statement) -> str:
    """Rate the protection of a word from its nearest one, at the median."""
    near = Loss.even(promise.loss.nearest)
    worth = judge(promise.notion, promise.level, near, promise.text_loss).word
    return _WORDS.get(worth, "not meaningfully protected")


def is_of_topics(document: Document) -> bool:
    """Tell whether whole texts became topics."""
    return document.words is not None and document.words.topics is not None


def is_of_texts(document: Document) -> bool:
    """Tell whether a released vector, or a topic, is one of a whole text."""
    if is_of_topics(document):
        return True
    return document.vectors is not None and document.guarantee.level is Level.TEXT


def _finite(nats: float | None) -> float | None:
    return nats if nats is not None and math.isfinite(nats) else None


def _person_figures(promise: Statement) -> JsonObject:
    return {
        "protected_as_a_whole": False,
        "loss_of_a_text": _finite(promise.text_loss.total),
        "limit": None,
    }


def _person(promise: Statement, document: Document | None) -> Line:
    """Return the guarantee for all words of a person."""
    recorded = None if document is None else document.run.recorded
    private = None if document is None else document.private
    total, figures = promise.text_loss.total, _person_figures(promise)
    rare = ", apart from rare exceptions" if promise.delta else ""
    if recorded is not None:
        limit = recorded.limits
        holds = limit.nats <= MAX_MEANINGFUL_TEXT_LOSS and not limit.delta
        figures |= {"limit": limit.nats, "protected_as_a_whole": holds}
        weak = "" if holds else "not protected as a whole: "
        sentence = (
            f'{weak}at most {bound(limit.nats)} nats for each "{_name(limit.field)}" '
            "in all releases that the ledger records"
        )
        return Line("a person", sentence, figures)
    sentence = "not protected as a whole: every further word or record reveals more"
    if total is not None and total <= MAX_MEANINGFUL_TEXT_LOSS:
        sentence = (
            f"protected in one text (at most {bound(total)} nats{rare}), not in several"
        )
    vectors = None if private is None else private.vectors
    if vectors is not None and vectors.epsilon_of_one is not None:
        figures |= {"most_of_one": vectors.most_of_one}
        figures |= {"loss_of_one": _finite(vectors.epsilon_of_one)}
        sentence += f"; here at most {bound(vectors.epsilon_of_one)} nats{rare}"
    return Line("a person", sentence, figures)


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
        common=Unprotected.COMMON_WORDS in document.guarantee.unprotected,
        classes=Unprotected.CLASSES in document.guarantee.unprotected,
    )


def attacks(known: Attackers) -> list[Line]:
    """Say how many written words are the original, then what attackers find."""
    written, attacker = written_sentence(known), attacker_sentence(known)
    if known.common and attacker[0] == written[0]:
        # The line above has the command; the first line of the answer needs the room.
        attacker = attacker[0].partition(":")[0], attacker[1]
    return [
        Line("written", *written),
        Line("attacker", *attacker),
        Line("one draw", *draw_sentence(known)),
    ]


def topic_lines(
    topics: TopicFigures, *, seeded: bool, shuffled: bool = False
) -> list[Line]:
    """Say how often the nearest topic is written, and who finds an original."""
    return [
        Line("written", *whole_texts.written_sentence(topics)),
        Line(
            "original",
            *whole_texts.original_sentence(topics, seeded=seeded, shuffled=shuffled),
        ),
    ]


def _kept(private: Private, *, replaced: bool) -> Line:
    """Say how much changed and how much of the meaning is left.

    replaced: of the words that are replaced, where common ones are copied.
    """
    assert private.words is not None
    metrics = private.words.metrics
    of_meaning = metrics.get("CS", {})
    changed = metrics.get("PP", {}).get("share_changed")
    meaning, near = of_meaning.get("share_kept"), of_meaning.get("mean_cosine")
    parts, mark = [], "private"
    if isinstance(changed, float):
        of = "replaced words" if replaced else "words"
        parts.append(f"{whole(changed)} of {of} changed")
    if isinstance(meaning, float):
        of = "their meaning" if replaced else "meaning"
        # Below 0 they are less near than texts of other rows: by chance.
        parts.append(f"{whole(max(meaning, 0.0))} of {of} kept")
        mark = "unrelated: 0%; private"
    elif isinstance(near, float):
        parts.append(f"similarity of meaning {near:.2f} of 1")
    said = ", ".join(parts) or "there was no word to replace"
    if private.words.describes == "rewritten texts":
        said = NOT_MEASURED
    figures = {"changed": changed, "meaning": meaning, "private": True}
    return Line("kept", f"{said} ({mark})", {**figures, "similarity": near})


def _third_party(document: Document) -> Iterator[Line]:
    """Say to whom draws were sent, and what came of it."""
    private, output = document.private, document.output
    used: ServerAsked | ServerUse | None = None if output is None else output.used
    if private is not None and private.words is not None:
        used = private.words.used
    if used is not None:
        yield Line("third party", third_party_sentence(used), msgspec.to_builtins(used))


def _send(document: Document) -> Line:
    """Say under which conditions the output may leave, and what to do first."""
    worth = document.guarantee.strength.word
    if worth in (Strength.NONE, Strength.NOT_MEANINGFUL):
        return Line("send it", "no, unless the original could be sent as well")
    if is_of_topics(document):
        return Line(
            "send it",
            "if what is copied, and the topic of each text, may be known; first run "
            "dptext check; publish only output and public report",
        )
    unit = "texts" if is_of_texts(document) else "words"
    varies = worth is Strength.VARIES
    kept = f"similar {unit} from each other" if varies else f"single {unit}"
    first = "run dptext check" if document.vectors else "read some records"
    others = " and pseudonyms" if document.run.layout.pseudonyms else ""
    sentence = f"if what is copied{others} may leave and protecting {kept} is enough; "
    sentence += f"first {first}; publish only output and public report"
    return Line("send it", sentence)


def _repeat(document: Document, sent: Sequence[Line]) -> Line:
    """Say whether another run may give the same output; not if draws were sent."""
    drawn = "noise" if document.vectors else "words"
    if is_of_topics(document):
        drawn = "topics"
    sentence = {
        "system": f"a new run draws other {drawn}, and losses add up (see --key-file)",
        "key-file": "with the same input, settings and key, at no further cost",
        "seed": "by anyone who knows or guesses the seed",
    }[document.run.key]
    if sent and document.run.key != "system":
        sentence += "; the third party may answer otherwise"
    return Line("repeat", sentence, {"key": document.run.key})


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
        parts.append("standard output" if public == "-" else f"dptext report {name}")
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
