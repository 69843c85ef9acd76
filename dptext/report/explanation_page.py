"""An explanation of one text as a page."""

from __future__ import annotations

from pathlib import Path

from dptext.report import _badges, _page, _svg
from dptext.report._page import Html, Section
from dptext.report._private_page import COLOURS
from dptext.report.explanation import Explanation
from dptext.report.figures import share
from dptext.streams import open_output


def render(found: Explanation) -> bytes:
    """Return the page as UTF-8."""
    promise = found.guarantee
    (tone, label), other = _badges.badges(promise)
    words = [token for token in found.tokens if token.epsilon is not None]
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
    picture = _svg.bars(
        groups, ("epsilon",), title="Epsilon of each word", values=False
    )
    sections = [
        Section(
            "What is promised",
            (_page.paragraphs((promise.sentence, promise.text_level)),),
            tone=tone,
            label=label,
            more=(other,),
        ),
        Section("What happens to each token", _treated(found)),
        Section("Epsilon", (picture if groups else Html(""), spread)),
    ]
    if any(token.likeliest for token in words):
        sections.append(Section("What each word may become", (_replacements(found),)))
    if found.notes:
        sections.append(Section("On what this rests", (_page.bullets(found.notes),)))
    lead = _page.note(f"{found.audience}; this page shows the text")
    return _page.page(
        f"How {found.profile} treats a text",
        sections,
        lead=lead,
        footer=f"dptext explain, mechanism {found.mechanism}",
    )


def _treated(found: Explanation) -> tuple[Html, Html]:
    """Return the tokens in the colours of their treatments, and what these mean."""
    tokens = (_marked(token.text, token.treatment) for token in found.tokens)
    names = (_page.element("li", _marked(name, name)) for name in found.treatments)
    return (
        _page.element("p", _page.join(tokens, " "), class_="tokens"),
        _page.element("ul", _page.join(names), class_="legend"),
    )


def _marked(text: str, treatment: str) -> Html:
    return _page.element("mark", text, class_=f"t s{COLOURS.get(treatment, 0)}")


def _replacements(found: Explanation) -> Html:
    return _page.table(
        ("token", "stays", "likeliest replacements"),
        [
            (
                token.text,
                share(token.stays),
                ", ".join(f"{e.word} {share(e.probability)}" for e in token.likeliest),
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
