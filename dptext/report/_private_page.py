"""The part of a page that holds functions of the private text."""

from __future__ import annotations

from dptext.guarantees.rounding import above
from dptext.report import _page, _svg, figures
from dptext.report._page import Html, Section
from dptext.report.document import Private, WordCounts
from dptext.report.figures import share as _share

_MARK = "For the owner of the text only"
# The colour of each treatment, as the series of a chart: none is an outline.
COLOURS = {
    "replaced": 1,
    "copied": 2,
    "random digits": 3,
    "random of its form": 4,
    "masked": 5,
    "left out": 7,
}


def sections(private: Private) -> tuple[Section, ...]:
    """Return the sections, each marked."""
    words = private.words
    assert words is not None
    return (
        Section("What happened to the words", _tokens(words), label=_MARK),
        Section("Epsilon per text", _epsilon(words), label=_MARK),
        Section("How much changed", _metrics(words), label=_MARK),
        Section("What was read", _read(private, words), label=_MARK),
    )


def _tokens(words: WordCounts) -> tuple[Html, ...]:
    total = sum(words.tokens.values())
    named = [
        (name.replace("_", " "), words.treatment.get(name, "not stated"), count)
        for name, count in words.tokens.items()
    ]
    table = _page.table(
        ("class of token", "treatment", "tokens", "share"),
        [
            (name, how, f"{count:,}", _share(count / total) if total else "")
            for name, how, count in named
        ],
        numbers=(2, 3),
    )
    copied = _page.paragraphs(
        (
            f"{_share(words.share_copied)} of the tokens that are neither "
            "punctuation nor space were copied unchanged.",
        )
    )
    if not total:
        return (table, copied)
    treated: dict[str, int] = {}
    for _, how, count in named:
        treated[how] = treated.get(how, 0) + count
    chart = _svg.strip(
        [(how, float(count)) for how, count in treated.items()],
        title="Tokens by what happened to them",
        show=lambda count: f"{count:,.0f}",
        colours=COLOURS,
    )
    return (_page.beside(_page.join((chart, copied)), table),)


def _epsilon(words: WordCounts) -> tuple[Html, ...]:
    spent = words.epsilon_per_text
    named = (
        ("least", "min", False),
        ("median", "median", False),
        ("95 of 100 texts have at most about", "p95", False),
        ("largest", "max", True),
        ("all texts together", "total", True),
    )
    rows = [
        (name, above(spent[key], 6) if up else f"{spent[key]:.4g}")
        for name, key, up in named
        if key in spent
    ]
    groups = [
        _svg.Group(name, (spent[key],))
        for name, key, _ in named
        if key in spent and key != "total"
    ]
    table = _page.table(("epsilon that a text spent", "epsilon"), rows)
    if not groups:
        return (_page.note("No text spent any."), table)
    chart = _svg.bars(groups, ("epsilon",), title="Epsilon per text")
    return (_page.beside(chart, table),)


def _metrics(words: WordCounts) -> tuple[Html, ...]:
    rows = []
    for name, metric in words.metrics.items():
        key, value = next(iter(metric.items()), ("", None))
        about = ", ".join(
            f"{key.replace('_', ' ')}: {figures.measure('', value)}"
            for key, value in [*metric.items()][1:]
        )
        what = figures.MEANINGS.get(name, key.replace("_", " "))
        rows.append((name, what, figures.measure(name, value), about))
    headers = ("metric", "what it is", "value", "about")
    return (_page.table(headers, rows, numbers=(2,)),)


def _read(private: Private, words: WordCounts) -> tuple[Html, ...]:
    facts = (
        ("Inputs", ", ".join(private.inputs)),
        ("Records", f"{private.records:,}"),
        ("Set aside as unreadable", f"{private.faults:,}"),
        ("Texts", f"{private.texts:,}"),
        *(
            (f"Records with field {name}", f"{count:,}")
            for name, count in words.fields.items()
        ),
        ("Time", f"{private.seconds:.3g} s"),
        ("Words per second", f"{words.words_per_second:,.0f}"),
    )
    return (_page.facts(facts),)
