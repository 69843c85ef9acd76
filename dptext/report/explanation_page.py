"""An explanation of one text as a page."""

from __future__ import annotations

from dptext.report import _page, _promise, _svg
from dptext.report._page import Html, Section
from dptext.report._private_page import COLOURS
from dptext.report.explanation import Explanation
from dptext.report.figures import share


def render(result: Explanation) -> bytes:
    """Return the page as UTF-8."""
    promise = result.guarantee
    words = [token for token in result.tokens if token.epsilon is not None]
    scores = list(dict.fromkeys(name for token in words for name in token.scores))
    spread = _page.table(
        ("token", *scores, "part", "epsilon"),
        [
            (
                token.text,
                *(_number(token.scores.get(name)) for name in scores),
                share(token.proportion),
                f"{token.epsilon:.4g}",
            )
            for token in words
        ],
    )
    groups = [_svg.Group(token.text, (token.epsilon,)) for token in words[:60]]
    picture = _svg.bars(groups, ("epsilon",), title="Epsilon of each word")
    sections = [
        _promise.promised(
            "What is promised",
            promise,
            _page.paragraphs((promise.sentence, promise.text_level)),
        ),
        Section("What happens to each token", _treated(result)),
        Section("Epsilon", (picture if groups else Html(""), spread)),
    ]
    if any(token.likeliest for token in words):
        sections.append(Section("What each word may become", (_replacements(result),)))
    if result.notes:
        sections.append(Section("On what this rests", (_page.bullets(result.notes),)))
    lead = _page.note(f"{result.audience}; this page shows the text")
    return _page.page(
        f"How {result.profile} treats a text",
        sections,
        lead=lead,
        footer=f"dptext explain, mechanism {result.mechanism}",
    )


def _treated(result: Explanation) -> tuple[Html, Html]:
    """Return the tokens in the colours of their treatments, and what these mean."""
    tokens = (_marked(token.text, token.treatment) for token in result.tokens)
    names = (_page.element("li", _marked(name, name)) for name in result.treatments)
    return (
        _page.element("p", _page.join(tokens, " "), class_="tokens"),
        _page.element("ul", _page.join(names), class_="legend"),
    )


def _marked(text: str, treatment: str) -> Html:
    return _page.element("mark", text, class_=f"t s{COLOURS.get(treatment, 0)}")


def _replacements(result: Explanation) -> Html:
    return _page.table(
        ("token", "stays", "likeliest replacements"),
        [
            (
                token.text,
                share(token.stays),
                ", ".join(f"{e.word} {share(e.probability)}" for e in token.likeliest),
            )
            for token in result.tokens
            if token.stays is not None
        ],
        numbers=(1,),
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
