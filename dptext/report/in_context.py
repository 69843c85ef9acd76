"""What readers of whole texts find in public texts, as people read it."""

from __future__ import annotations

from collections.abc import Iterable

from dptext.measures.context_risk import ALL, CONTENT, InContext, Reading
from dptext.report.figures import share


def strongest(measured: Iterable[InContext]) -> dict[str, float]:
    """Return the largest share that a reader of whole texts found, by class of word."""
    found: dict[str, float] = {}
    for _, reading in _readings(measured):
        for one in reading.classes:
            found[one.name] = max(one.success, found.get(one.name, 0.0))
    return found


def scale(measured: Iterable[InContext]) -> tuple[str, ...]:
    """Say in a sentence what the strongest reader found, if any was measured."""
    found = strongest(measured)
    if not found:
        return ()
    return (
        "A reader of the whole text, with a small public language model, finds "
        f"{share(found[ALL])} of the replaced words of public texts, or more: public "
        "text of the same kind helps a reader further.",
    )


def rows_of(measured: Iterable[InContext]) -> list[tuple[str, str]]:
    """Return what readers find in public corpora, strongest first, for people."""
    rows: list[tuple[float, tuple[str, str]]] = []
    for corpus, reading in _readings(measured):
        named = {one.name: one for one in reading.classes}
        every, content = named[ALL], named.get(CONTENT)
        shown = f"at least {share(every.success)} of words"
        if content is not None:
            shown += f", {share(content.success)} of content words"
        shown += (
            f" (95%: {share(every.low)} to {share(every.high)}; "
            f"{every.words:,} words of {corpus})"
        )
        rows.append((every.success, (f"risk in context, {reading.reader}", shown)))
    return [row for _, row in sorted(rows, key=lambda row: -row[0])]


def _readings(measured: Iterable[InContext]) -> list[tuple[str, Reading]]:
    """Return the readings of readers who see more than one word, with the corpus."""
    return [
        (each.corpus, reading)
        for each in measured
        for reading in each.readings
        if reading.reader != "alone"
    ]
