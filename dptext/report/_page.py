"""The frame of HTML reports: escaping, sections, tables, notes and one style sheet.

A page is one file without scripts that loads nothing: a content security policy in it
says so to the browser. Whatever is a plain string is escaped; only `Html` is not.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from dptext.report._style import CSS

# What would end a text, reorder it or be lost: shown as a replacement character.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_COLUMNS = 3  # more do not fit beside each other on a narrow screen
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'"


class Html(str):
    """A string that is markup already; what is added to it is escaped."""

    __slots__ = ()

    def __add__(self, other: str) -> Html:
        return Html(str.__add__(self, escape(other)))


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a page.

    tone ("good", "fair", "bad") colours it as a box; label stands above the title and
    says the same in words, and beside it more labels, each with its tone.
    """

    title: str
    parts: tuple[Html, ...]
    tone: str = ""
    label: str = ""
    boxed: bool = False
    more: tuple[tuple[str, str], ...] = ()


def escape(value: object) -> Html:
    """Return any value as text of a page; markup stays as it is."""
    if isinstance(value, Html):
        return value
    return Html(html.escape(_UNSHOWN.sub("\ufffd", str(value))))


def join(parts: Iterable[object], between: str = "") -> Html:
    """Return the parts, escaped where they are not markup, one after the other."""
    return Html(between.join(escape(part) for part in parts))


def element(name: str, content: object = "", **attributes: object) -> Html:
    """Return an element; `_` in attribute names is `-`, and a last one is cut off."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{written}>{escape(content)}</{name}>")


def page(
    title: str,
    sections: Sequence[Section | Sequence[Section]],
    *,
    lead: Html = Html(""),  # noqa: B008 - a constant
    footer: object = "",
) -> bytes:
    """Return a page as UTF-8.

    Sections given together stand side by side where there is room. lead stands under
    the title; footer at the end.
    """
    rows = [(each,) if isinstance(each, Section) else each for each in sections]
    titles = [each.title for row in rows for each in row]
    names = _names(titles)
    links = (
        Html(f'<li><a href="#{name}">{escape(title)}</a></li>')
        for name, title in zip(names, titles, strict=True)
    )
    unused = iter(names)
    body = []
    for row in rows:
        beside = [_section(each, next(unused)) for each in row]
        pair = len(beside) > 1
        body.append(element("div", join(beside), class_="pair") if pair else beside[0])
    head = (
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{CSS}</style>"
    )
    contents = Html(f'<nav aria-label="Contents"><ul>{join(links)}</ul></nav>')
    document = (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n'
        f"<header><h1>{escape(title)}</h1>{lead}{contents}</header>\n"
        f"<main>{join(body, chr(10))}</main>\n<footer>{escape(footer)}</footer>\n"
        "</body></html>\n"
    )
    return document.encode()


def _section(section: Section, name: str) -> Html:
    boxed = section.boxed or section.tone
    classes = " ".join(filter(None, ("box" if boxed else "", section.tone)))
    labels = [("", section.label)] if section.label else []
    label = join(
        (
            element("p", text, class_=f"label {tone}".rstrip())
            for tone, text in (*labels, *section.more)
        ),
        " ",
    )
    title = element("h2", section.title, id=name)
    return element(
        "section",
        join((label, title, *section.parts)),
        class_=classes or None,
        aria_labelledby=name,
    )


def _names(titles: Sequence[str]) -> list[str]:
    """Return an id for each title, all different."""
    names: list[str] = []
    for title in titles:
        plain = unicodedata.normalize("NFKD", title.lower())
        name = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:40] or "part"
        while name in names:
            name += "-more"
        names.append(name)
    return names


def paragraphs(lines: Iterable[object]) -> Html:
    """Return each line as a paragraph."""
    return join(element("p", line) for line in lines)


def bullets(lines: Iterable[object]) -> Html:
    """Return the lines as a list."""
    return element("ul", join(element("li", line) for line in lines))


def note(text: object) -> Html:
    """Return a small remark."""
    return element("p", text, class_="note")


def code(text: object) -> Html:
    """Return what a machine reads: a command, a digest, a name."""
    return element("code", text)


def heading(title: object) -> Html:
    """Return a title inside a section."""
    return element("h3", title)


def facts(pairs: Iterable[tuple[object, object]]) -> Html:
    """Return names with their values, one below the other."""
    return element(
        "dl",
        join(
            element("div", element("dt", name) + element("dd", value))
            for name, value in pairs
        ),
    )


def table(
    headers: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    caption: str = "",
    numbers: Collection[int] | None = None,
) -> Html:
    """Return a table whose first column names the rows.

    numbers are the columns set right, by default all but the first. A table that is too
    wide scrolls by itself; on a narrow screen one of more than three columns becomes a
    card for each row, whose values stand beside the names of their columns.
    """
    cards = len(headers) > _COLUMNS
    right = range(1, len(headers)) if numbers is None else numbers

    def cell(name: str, position: int, value: object, scope: str | None) -> Html:
        sort = "n" if position in right else None
        label = headers[position] if cards and name == "td" else None
        return element(name, value, class_=sort, scope=scope, data_label=label)

    head = join(cell("th", n, value, "col") for n, value in enumerate(headers))
    body = join(
        element(
            "tr",
            join(
                cell("td" if n else "th", n, value, None if n else "row")
                for n, value in enumerate(row)
            ),
        )
        for row in rows
    )
    title = element("caption", caption) if caption else Html("")
    inner = f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    # To be scrolled from the keyboard it takes the focus.
    return element(
        "div",
        Html(inner),
        class_="scroll cards" if cards else "scroll",
        tabindex="0",
        role="group",
        aria_label=caption or "Table",
    )


def beside(*parts: object) -> Html:
    """Return parts side by side where there is room, else below each other."""
    return element("div", join(element("div", part) for part in parts), class_="beside")
