"""Sentences about a list of words that many people wrote (`dptext words`)."""

from __future__ import annotations

import math

from dptext.guarantees.claims import factor, format_up, number
from dptext.guarantees.templates import render
from dptext.word_file import CONFIRMED, JOINED, PERSON, WordFile

# What a unit does, and its texts.
_WROTE = {True: "wrote", False: "holds"}
_RECORDS = {True: "the records of one person", False: "one record"}


def state(listed: WordFile) -> tuple[str, ...]:
    """State the guarantee of a list of words, and its limits."""
    parts = {"unit": listed.unit, "cap": f"{listed.cap}"}
    parts["wrote"] = _WROTE[listed.unit == PERSON]
    parts["persons"] = f"{listed.persons:,}"
    named = ("limits", "public", "candidates", "confirming")
    lines = (render(f"corpus_words.{name}", **parts) for name in named)
    return (_promise_of_words(listed), *lines)


def _promise_of_words(listed: WordFile) -> str:
    if not listed.is_private:
        return render("corpus_words.seed")
    return render(
        f"corpus_words.{listed.unit}",
        subject=listed.subject,
        epsilon=number(listed.stated),
        delta=number(listed.delta),
        factor=factor(listed.stated),
    )


def show(listed: WordFile) -> str:
    """Describe what a list leaves unchanged, and its guarantee."""
    together = render("corpus_words.together_seed")
    if listed.is_private:
        epsilon = listed.stated
        together = render(
            "corpus_words.together",
            records=_RECORDS[listed.unit == PERSON],
            nats=number(2 * epsilon),
            delta=format_up((1 + math.exp(epsilon)) * listed.delta),
        )
    unit, persons = listed.unit, f"{listed.persons:,}"
    limits = render("corpus_words.limits", unit=unit, wrote=_WROTE[unit == PERSON])
    public = render("corpus_words.public", unit=unit, persons=persons)
    return render(
        "shown.corpus_words",
        joined=f"{listed.count(JOINED):,}",
        confirmed=f"{listed.count(CONFIRMED):,}",
        promise=f"{_promise_of_words(listed)} {limits} {public}",
        together=together,
    )
