"""What a statement and a risk are worth, in plain terms: verdicts, badges, sentences.

Each is literally true of every statement that it is said of. A bound can be meaningful
for a word and say nothing of a text of many words, so that both have a badge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dptext.guarantees.claims import Strength
from dptext.guarantees.rounding import (
    MAX_MEANINGFUL_LOSS,
    MAX_MEANINGFUL_TEXT_LOSS,
    above,
    factor,
    first_beyond,
    number,
)
from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk
from dptext.measures.context_risk import (
    ALL,
    ALONE,
    CONTENT,
    RARE,
    SAME_KIND,
    InContext,
    Reading,
)
from dptext.report.blocks import Badge, Rows, Tone
from dptext.report.figures import between as limits_of
from dptext.report.figures import count, share, whole
from dptext.types import Level, Notion, Strategy

_CLASSES = {CONTENT: CONTENT, RARE: "words beyond the thousand most frequent"}
_STEPS = (
    "Words for a bound: strong, at most 1 nat (a factor of 2.72); moderate, at most 10 "
    "nats (a factor of 22,027); "
)
_OF_WORDS = (
    f"{_STEPS}weak, at most {MAX_MEANINGFUL_LOSS:g}; above {MAX_MEANINGFUL_LOSS:g} "
    "nats no meaningful protection. The steps at 1 and 10 are often used for all data "
    "of a person; here they are about {about}, so that a person with many words has "
    "less."
)
_OF_TEXTS = (
    f"{_STEPS}above {MAX_MEANINGFUL_TEXT_LOSS:g} nats no meaningful protection of a "
    "text as a whole. The steps at 1 and 10 are often used for all data of a person; "
    "here they are about one whole text, so that a person with several texts has less. "
    "Single words are judged by what a change of one word loses, weak up to "
    f"{MAX_MEANINGFUL_LOSS:g} nats and no meaningful protection above."
)
TEXT_SCALE = (
    f"Whole texts: above {MAX_MEANINGFUL_TEXT_LOSS:g} nats (a factor of 22,027) there "
    "is no meaningful protection of a text as a whole, because the losses of its words "
    "add up and a text is often one of a few that come into question."
)
_ABOUT = {
    Level.WORD: "one replaced word",
    Level.WORDS: "each of the n replaced words of a text, whose losses add up",
}
_WHOLE = {
    Strategy.TOKEN: ("Whole texts", "replaced words"),
    Strategy.RECORD: ("Whole records", "distinct replaced words"),
    Strategy.DATA_SET: ("The whole data set", "distinct replaced words"),
}
_TONES = {
    Strength.NONE: Tone.BAD,
    Strength.NOT_MEANINGFUL: Tone.BAD,
    Strength.STRONG: Tone.GOOD,
}
_NAMES = {
    Strength.WEAK: "weak bound",
    Strength.MODERATE: "moderate bound",
    Strength.STRONG: "strong bound",
}
_WORD = {
    Strength.NONE: "no guarantee",
    Strength.NOT_MEANINGFUL: "no meaningful bound",
    Strength.GROWS: "a bound that grows with the text",
    Strength.VARIES: "no meaningful bound for the farthest words",
    **{name: f"{words}, at most {{nats}} nats" for name, words in _NAMES.items()},
}


def badges(promise: Statement) -> tuple[Badge, Badge]:
    """Return the badge of what epsilon is of, then that of the text or of the word."""
    other = _word_badge if promise.level is Level.TEXT else _text_badge
    return verdict(promise), other(promise)


def verdict(promise: Statement) -> Badge:
    """Return what a statement is worth for what its epsilon is of."""
    word = promise.strength.word
    if promise.level is Level.TEXT and word is not Strength.NONE:
        return _text_verdict(promise)
    tone = _TONES.get(word, Tone.FAIR)
    if word in _NAMES:
        return Badge(f"{_NAMES[word].capitalize()} for {_ABOUT[Level.WORD]}", tone)
    words = {
        Strength.NONE: "No guarantee",
        Strength.NOT_MEANINGFUL: "No meaningful protection",
        Strength.GROWS: (
            f"Bound of {above(promise.epsilon)} nats for {_ABOUT[Level.WORDS]}"
        ),
        Strength.VARIES: "Depends on the words: no meaningful bound for the farthest",
    }
    return Badge(words[word], tone)


def _text_verdict(promise: Statement) -> Badge:
    word, text = promise.strength.word, promise.strength.text
    if text in _NAMES:
        words = f"{_NAMES[text].capitalize()} for one whole text"
        return Badge(words, _TONES.get(text, Tone.FAIR))
    no_bound = "No meaningful bound for whole texts"
    if promise.equal_parts and promise.text_loss.total is not None:
        total = above(promise.text_loss.total)
        words = f"{no_bound}; at most {total} / n nats for one of n words"
        return Badge(words, Tone.FAIR)
    if word is Strength.NOT_MEANINGFUL:
        return Badge("No meaningful protection", Tone.BAD)
    if word is Strength.VARIES:
        return Badge(f"{no_bound}, nor for the farthest words", Tone.FAIR)
    return Badge(f"{no_bound}; {_NAMES[word]} for a change of one word", Tone.FAIR)


def _text_badge(promise: Statement) -> Badge:
    """Judge n times the bound of a word, n the length of the text."""
    named, words = _WHOLE[promise.strategy]
    each = promise.text_loss.each
    if promise.notion is Notion.NONE:
        return Badge(f"{named}: no guarantee", Tone.BAD)
    if each is None:
        return Badge(f"{named}: no bound", Tone.BAD)
    if not each:
        return Badge(f"{named}: nothing is lost", Tone.GOOD)
    length = first_beyond(each, MAX_MEANINGFUL_TEXT_LOSS)
    tone = Tone.BAD if length == 1 else Tone.FAIR
    if promise.notion is Notion.METRIC:
        since = "" if length == 1 else f", from {length} {words} on"
        far = "no meaningful bound for words far from each other"
        return Badge(f"{named}: {far}{since}", tone)
    since = "" if length == 1 else f" from n = {length} on"
    bound = f"{named} of n {words}: at most n times {above(each)} nats"
    return Badge(f"{bound}, no meaningful bound{since}", tone)


def _word_badge(promise: Statement) -> Badge:
    """Judge the bound on a change of one word of a text."""
    strength = promise.strength.word
    name = _WORD[strength].format(nats=above(promise.loss.farthest))
    return Badge(f"One replaced word: {name}", _TONES.get(strength, Tone.FAIR))


def vector_badges(promise: Statement) -> tuple[Badge, Badge]:
    """Return what the bound of one vector is worth, and that of several."""
    if promise.notion is Notion.NONE:
        return verdict(promise), Badge("Several vectors: no guarantee", Tone.BAD)
    of = "words" if promise.level is Level.WORD else "texts of a person"
    line = f"n {of}: at most n times {above(promise.loss.farthest)} nats"
    if promise.notion is Notion.APPROXIMATE:
        line = f"n {of}: epsilon grows with sqrt(n) and more (see below)"
    return verdict(promise), Badge(line, Tone.FAIR)


def scale(promise: Statement) -> str:
    """Say what the words of the verdict mean."""
    if promise.level is Level.TEXT:
        return _OF_TEXTS
    return _OF_WORDS.format(about=_ABOUT[promise.level])


def meaning(
    promise: Statement, risk: Risk | None, measured: Iterable[InContext] = ()
) -> tuple[str, ...]:
    """Say what the guarantee means, for readers who do not know the notions."""
    if promise.notion is Notion.NONE:
        lines = [
            "dptext promises nothing here: it sets no limit to how well a reader of "
            "the output can tell which words stood in the original."
        ]
    else:
        lines = [_odds(promise)]
        if promise.level is not Level.TEXT:
            lines.append(
                "That is about single words. A person is known by more than one: what "
                "several words, texts and releases tell adds up."
            )
    each = by_corpus(measured)
    if each:
        most = max(each, key=lambda one: one[1].success)[1]
        has = (
            "and knows which words are neighbours in other public texts of the kind"
            if most.reader == SAME_KIND
            else "with a small public language model"
        )
        more = "more public text of the same kind helps a reader further"
        lines.append(
            f"A reader who sees the whole text {has} finds {share(most.success)} of "
            f"the replaced words of public texts, or more: {more}."
        )
    if risk is not None:
        sure = f", with {share(risk.confidence)} confidence" if risk.confidence else ""
        after = share(risk.success)
        if risk.low is not None and risk.high is not None:
            after = f"between {share(risk.low)} and {share(risk.high)}{sure}"
        lines.append(
            "To see the scale: who guesses one replaced word from public word "
            f"frequencies alone is right {share(risk.baseline)} of the time; the best "
            "possible guess that also looks at the output word, but at no other word, "
            f"is right {after} of the time."
        )
    return tuple(lines)


def _odds(promise: Statement) -> str:
    """Say how far the output may shift the odds between two originals."""
    about = {
        Level.TEXT: "that differ in any of their replaced words",
        Level.WORDS: "of n replaced words that differ in one of them",
    }.get(promise.level, "that differ in one replaced word")
    return (
        f"Think of someone who has the output and wavers between two originals {about} "
        f"and are alike in what is not covered. {_shift(promise)}"
    )


def _shift(promise: Statement) -> str:
    if promise.level is Level.WORDS:
        return (
            "The output may shift the odds between the two by a factor of at most "
            f"e^(n times {number(promise.epsilon)}): the longer the text, the less "
            "protection is left."
        )
    if promise.notion is Notion.LDP:
        odds = factor(promise.epsilon)
        return (
            "Whatever else is known about the texts, the output shifts the odds "
            f"between the two by a factor of at most {odds}: even odds become at most "
            f"{odds} to 1."
        )
    if promise.notion is not Notion.METRIC:
        parts = " for each replaced word" if promise.equal_parts else ""
        return (
            "The output shifts the odds between the two by a factor of at most "
            f"{factor(promise.epsilon)}, apart from exceptions that delta, "
            f"{number(promise.delta)}{parts}, allows."
        )
    if promise.level is Level.WORD:
        return (
            "How far the output may shift the odds between the two depends on how near "
            "the words are to each other: for half of the vocabulary and its nearest "
            f"other word by a factor of at most {factor(promise.loss.nearest)}, for "
            "the farthest two words by one of up to "
            f"{factor(promise.loss.farthest)}."
        )
    return (
        "How far the output may shift the odds between the two depends on how near "
        "their words are to each other, place by place."
    )


def good_for(risk: Risk) -> tuple[str, str, str]:
    """Say what a risk is good for: one word, a person's whole file, health data."""
    success = share(risk.success)
    if risk.low is not None and risk.confidence is not None:
        success = f"at most {success} (with {share(risk.confidence)} confidence)"
    return (
        "Good for one word: the best possible guess of a word from its replacement "
        f"alone is right {success} of the time, without it {share(risk.baseline)}, for "
        "words as frequent as in public text. The lower the first figure, the better a "
        "single word can be denied.",
        "Not for a person's whole file: its words tell of each other, so a reader of "
        "several may be right more often than this risk says, and a "
        "few right guesses may be enough to know the person.",
        "Not alone for health data or other data that can do harm: there, also take "
        "names and identifiers out, limit who gets the output, and let somebody who "
        "is responsible for privacy decide.",
    )


def by_corpus(measured: Iterable[InContext]) -> list[tuple[InContext, Reading]]:
    """Return the reader of whole texts that finds most in each corpus."""
    return [
        (corpus, max(readers, key=lambda reading: reading.success))
        for corpus in measured
        if (readers := [each for each in corpus.readings if each.reader != ALONE])
    ]


def found(measured: Iterable[InContext]) -> dict[str, float]:
    """Return the largest share that a reader of whole texts finds, by class of word."""
    largest: dict[str, float] = {}
    for _, reading in by_corpus(measured):
        for one in reading.classes:
            largest[one.name] = max(one.success, largest.get(one.name, 0.0))
    return largest


def in_context(measured: Iterable[InContext]) -> Rows:
    """Return what the strongest reader of each corpus finds, for people."""
    rows: list[tuple[float, tuple[str, str]]] = []
    for corpus, reading in by_corpus(measured):
        named = {one.name: one for one in reading.classes}
        every = named[ALL]
        shown = f"at least {share(every.success)} of words"
        for name in (CONTENT, RARE):
            if name in named:
                shown += f", {share(named[name].success)} of {_CLASSES[name]}"
        shown += f" (95%: {limits_of(every.low, every.high)}; "
        shown += f"{count(every.words)} words of {corpus.corpus}"
        if reading.reader == SAME_KIND:
            shown += f", reader with {count(corpus.counted)} other words of the kind"
        title = f"risk in context, {corpus.kind or reading.reader}"
        rows.append((every.success, (title, f"{shown})")))
    return [row for _, row in sorted(rows, key=lambda row: -row[0])]


@dataclass(frozen=True, slots=True)
class Strongest:
    """What the reader that finds most finds of words, and of those beyond a thousand.

    The least and the largest share over the public corpora.
    """

    reader: str
    words: list[float]
    rare_words: list[float]


def strongest(measured: Iterable[InContext]) -> Strongest | None:
    """Return the reader that finds most in any corpus, None where none is known."""
    readings = [reading for each in measured for reading in each.readings]
    if not readings:
        return None
    name = max(readings, key=lambda reading: reading.success).reader
    every, rare = (
        sorted(
            one.success
            for reading in readings
            for one in reading.classes
            if reading.reader == name and one.name == wanted
        )
        for wanted in (ALL, RARE)
    )
    return Strongest(name, every[:1] + every[-1:], rare[:1] + rare[-1:])


def between(limits: Sequence[float]) -> str:
    """Write the least and the largest of some shares."""
    low, high = whole(limits[0]), whole(limits[-1])
    return low if low == high else f"{low} to {high}"
