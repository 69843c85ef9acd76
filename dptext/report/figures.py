"""Formats figures for display, with the same unit and meaning everywhere.

Shares and accuracies are percentages, cosines have three decimals, S_w is a count.
Machine-readable data (JSON, CSV) contains the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping

from dptext.guarantees import claims

# Classes of token in words.
CLASSES = {
    "kept": "words that a list keeps",
    "markup": "tags and other layout of HTML",
    "common": "common words",
    "person": "persons",
    "place": "places",
    "organisation": "organisations",
    "calendar": "months and weekdays",
    "stop_word": "stop words",
    "number": "numbers",
    "identifier": "identifiers",
    "unknown": "unknown words",
}

MEANINGS = {
    "risk": "how often the best possible guess of a word from one draw is right",
    "N_w": "how often the mechanism draws a word as itself, before decoding",
    "S_w": "how many different words come out when one word is drawn 100 times, before "
    "decoding",
    "PP": "share of the replaceable words that differ in the output, after decoding if "
    "any",
    "CS": "how much of the meaning is kept, by cosine: 0% is what texts of other rows "
    "have in common, 100% an equal text; by the lexicon, of the replaced words of the "
    "first 2,000 texts, after decoding if any",
    "LOW": "share of the 1,000 rarest replaceable words (or all, if fewer) that still "
    "appear in the output, after decoding if any",
    "known words": "share of words that the lexicon holds",
}
DRAWN_BY_CHANCE = (
    "By chance, if outputs did not depend on words: N_w counts outputs of other words, "
    "S_w outputs of any word."
)
CHANGED_BY_CHANCE = (
    "By chance: PP if the written words of the first 2,000 texts stood in random "
    "order; LOW of words that are as frequent in public text and in no original."
)
NOTHING = "-"
# From here on a bound in nats is written without decimals.
_LARGE = 1_000.0
_LONGEST = 30  # characters of the name of a field
_LINE = 68  # characters of several names


def share(value: float | None) -> str:
    """Format a share in percent; only exact 0 and 1 give 0% and 100%."""
    if value is None:
        return NOTHING
    if 0.0 < value < 5e-4:
        return "<0.1%"
    value = max(value, 0.0) if value > -5e-4 else value  # nothing is "-0.0%"
    return ">99.9%" if 0.9995 <= value < 1.0 else f"{value:.1%}"


def about(value: float) -> str:
    """Format an estimated share in percent, preceded by "about" or the like."""
    shown = share(value)
    words = {"<": "under ", ">": "over "}
    return words.get(shown[0], f"about {shown[0]}") + shown[1:]


def whole(value: float) -> str:
    """Format a share in whole percent; only exact 0 and 1 give 0% and 100%."""
    if 0.0 < value < 0.01:
        return "under 1%"
    value = max(value, 0.0) if value > -5e-3 else value  # nothing is "-0%"
    return "over 99%" if 0.99 < value < 1.0 else f"{value:.0%}"


def exact(value: float) -> str:
    """Format a share in whole percent, with one decimal below 10%."""
    return share(value) if value < 0.1 else whole(value)


def percent(value: float) -> str:
    """Format a share for an axis, without trailing zeros."""
    return f"{100 * value:.4g}%"


def accuracy(mean: float | None, spread: float | None = None) -> str:
    """Format an accuracy in percent, with its standard deviation if known."""
    if mean is None or spread is None:
        return share(mean)
    return f"{share(mean)} ± {spread:.1%}"


def score(value: float | None) -> str:
    """Format a cosine, or a score between 0 and 1 such as macro-F1."""
    return NOTHING if value is None else f"{value:.3f}"


def distinct(value: float | None, runs: int = 100) -> str:
    """Format S_w, the mean number of distinct words in some draws."""
    return NOTHING if value is None else f"{value:.1f} of {runs}"


def count(value: float | None) -> str:
    """Format a count."""
    return NOTHING if value is None else f"{value:,.0f}"


def short(value: float | None) -> str:
    """Format a number with four digits."""
    if value is None:
        return NOTHING
    if math.isinf(value):
        return "unbounded"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"


def bound(value: float | None) -> str:
    """Format a bound in nats, never rounded down."""
    if value is None or math.isinf(value):
        return "unbounded"
    return f"{math.ceil(value):,}" if value >= _LARGE else claims.format_up(value)


def factor(nats: float) -> str:
    """Format a bound in nats as a factor."""
    return "unbounded" if math.isinf(nats) else claims.factor(nats)


def between(low: float | None, high: float | None) -> str:
    """Format the limits of a share."""
    return f"{share(low)} to {share(high)}"


def numbered(number: int, noun: str) -> str:
    """Format a count with its noun."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def span(shares: Collection[float]) -> str:
    """Format the range of some shares."""
    low, high = whole(min(shares)), whole(max(shares))
    if low == high:
        return low
    if low[0].isdigit() and high[0].isdigit():
        low = low.removesuffix("%")
    return f"{low} to {high}"


def with_chance(shown: str, chance: float | None) -> str:
    """Format a share, or S_w, with its value by chance if known."""
    if chance is None:
        return shown
    return f"{shown} (by chance {share(chance) if '%' in shown else f'{chance:.1f}'})"


def measure(name: str, value: float | str | None) -> str:
    """Format a named figure; figures of unknown metrics stay unchanged."""
    if value is None:
        return "no words"
    if isinstance(value, str):
        return value
    if name in ("N_w", "PP", "LOW", "known words", "risk", "share_kept", "by_chance"):
        return share(value)
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def plain_name(name: str) -> str:
    """Return a name with visible characters only, on one line, shortened if long."""
    plain = name if name.isprintable() and name else ascii(name)[1:-1] or "''"
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 3]}..."


def listed_names(names: Iterable[str]) -> str:
    """List field names on about one line, and count the rest."""
    plain, listed = [*map(plain_name, names)], list[str]()
    for name in plain:
        if listed and len(", ".join([*listed, name])) > _LINE:
            break
        listed.append(name)
    more = len(plain) - len(listed)
    return f"{', '.join(listed)} and {count(more)} more" if more else ", ".join(listed)


def legend(*names: str) -> tuple[str, ...]:
    """Return a sentence explaining each figure."""
    return tuple(f"{name}: {MEANINGS[name]}." for name in names)


def flat(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield dotted name and formatted value of each entry in nested settings."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, written(value)


def written(value: object) -> str:
    """Format a value of plain data."""
    if value is None or value in ({}, [], ()):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        between = "; " if any(isinstance(each, list) for each in value) else ", "
        return between.join(map(written, value))
    return str(value)


def points(change: float) -> str:
    """Format a change of accuracies in percentage points."""
    return f"{100 * change:+.1f} percentage points"
