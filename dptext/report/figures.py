"""Figures as people read them: one unit and one sentence for each, wherever it stands.

Shares and accuracies are percentages, cosines have three decimals, S_w is a count.
Data for machines (JSON, CSV) has the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from dptext.measures.in_context import ALL, CONTENT
from dptext.measures.readings import InContext

MEANINGS = {
    "risk": "how often the best possible guess of a word from its output is right",
    "N_w": "how often the mechanism draws a word as itself, before decoding",
    "S_w": "how many different words come out when one word is drawn 100 times, before "
    "decoding",
    "PP": "of the words that are to be replaced, the share that is written otherwise, "
    "after decoding if any",
    "CS": "how near the texts stay in meaning, as a mean cosine: 1 is the same "
    "meaning; by the lexicon, of the replaced words of the first 2,000 texts, after "
    "decoding if any",
    "LOW": "of the 1000 rarest words of the originals (or all, if fewer) that are to "
    "be replaced, the share that is still written, after decoding if any",
    "English": "share of words that the lexicon holds",
}
NOTHING = "-"


def share(value: float | None) -> str:
    """Write a share in percent; what is neither 0 nor 1 is not rounded to it."""
    if value is None:
        return NOTHING
    if 0.0 < value < 5e-4:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= value < 1.0 else f"{value:.1%}"


def percent(value: float) -> str:
    """Write a share at an axis, as short as it is."""
    return f"{100 * value:.4g}%"


def accuracy(mean: float | None, spread: float | None = None) -> str:
    """Write an accuracy in percent, with its standard deviation where there is one."""
    if mean is None or spread is None:
        return share(mean)
    return f"{share(mean)} ± {spread:.1%}"


def points(change: float) -> str:
    """Write a change of accuracies."""
    return f"{100 * change:+.1f} percentage points"


def cosine(value: float | None) -> str:
    """Write a cosine."""
    return NOTHING if value is None else f"{value:.3f}"


def score(value: float | None) -> str:
    """Write a score between 0 and 1 that is no share, as macro-F1."""
    return NOTHING if value is None else f"{value:.3f}"


def distinct(value: float | None, runs: int = 100) -> str:
    """Write S_w, a mean count of different words in some draws."""
    return NOTHING if value is None else f"{value:.1f} of {runs}"


def measure(name: str, value: float | str | None) -> str:
    """Write a figure by its name; that of a metric that is not known as it is."""
    if value is None:
        return "no words"
    if isinstance(value, str):
        return value
    if name in ("N_w", "PP", "LOW", "English", "risk"):
        return share(value)
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def in_context(measured: Iterable[InContext]) -> list[tuple[str, str]]:
    """Return for each public corpus what each reader finds, as names and sentences."""
    rows = []
    for each in measured:
        for reading in each.readings:
            if reading.reader == "alone":
                continue
            named = {one.name: one for one in reading.classes}
            every, content = named[ALL], named.get(CONTENT)
            shown = f"at least {share(every.success)} of words"
            if content is not None:
                shown += f", {share(content.success)} of content words"
            rows.append(
                (
                    f"risk in context, {reading.reader}",
                    f"{shown} (95%: {share(every.low)} to {share(every.high)}; "
                    f"{every.words:,} words of {each.corpus})",
                )
            )
    return rows


def explained(name: str, shown: str) -> tuple[str, str]:
    """Return the name of a figure, and it with the sentence that says what it is."""
    return name, f"{shown}: {MEANINGS[name]}"


def legend(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return a sentence for each of the figures."""
    return tuple(f"{name}: {MEANINGS[name]}." for name in names)
