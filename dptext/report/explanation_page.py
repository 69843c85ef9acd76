"""An explanation of one text as a page."""

from __future__ import annotations

from pathlib import Path

from dptext.report import _page, _plain, _svg
from dptext.report._page import Html, Section
from dptext.report.explanation import Explanation
from dptext.streams import open_output


def render(found: Explanation) -> bytes:
    """Return the page as UTF-8."""
    promise = found.guarantee
    tone, label = _plain.verdict(promise)
    words = [token for token in found.tokens if token.epsilon is not None]
    scores = list(dict.fromkeys(name for token in words for name in token.scores))
    spread = _page.table(
        ("token", *scores, "part", "epsilon"),
        [
            (
                token.text,
                *(_number(token.scores.get(name)) for name in scores),
                f"{token.proportion:.1%}",
                f"{token.epsilon:.4g}",
            )
            for token in words
        ],
    )
    groups = [_svg.Group(token.text, (token.epsilon,)) for token in words[:60]]
    picture = _svg.bars(
        groups, ("epsilon",), title="Epsilon of each word", values=False
    )
    sections = [
        Section(
            "What is promised",
            (_page.paragraphs((promise.sentence, promise.text_level)),),
            tone=tone,
            label=label,
        ),
        Section("Epsilon", (picture if groups else Html(""), spread)),
    ]
    if any(token.likeliest for token in words):
        sections.append(Section("What each word may become", (_replacements(found),)))
    sections.append(Section("On what this rests", (_page.bullets(found.notes),)))
    lead = _page.note(f"{found.audience}; this page shows the text")
    return _page.page(
        f"How {found.profile} treats a text",
        sections,
        lead=lead,
        footer=f"dptext explain, mechanism {found.mechanism}",
    )


def _replacements(found: Explanation) -> Html:
    return _page.table(
        ("token", "stays", "likeliest replacements"),
        [
            (
                token.text,
                f"{token.stays:.2%}",
                ", ".join(f"{e.word} {e.probability:.2%}" for e in token.likeliest),
            )
            for token in found.tokens
            if token.stays is not None
        ],
        numbers=(1,),
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def write(found: Explanation, path: Path) -> None:
    """Write the page to a file."""
    with open_output(str(path)) as sink:
        sink.stream.write(render(found))
