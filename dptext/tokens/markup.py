"""Recognises HTML tags and entities, and Markdown code and numbered lists.

A piece of markup is reduced to these parts, all from public lists: the name of an HTML
element ("span" for unknown ones), whether a tag opens, closes or does both, an entity
of a mark or a space, the number of a list at the beginning of a line. Attributes,
comments, scripts, style sheets and code between backticks are reduced to their
position. Escaped tags (&lt;b&gt;) are tags.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache

from dptext.tokens import language_data
from dptext.tokens.symbols import is_mark

_LISTS = dict(language_data.sections("form_words"))
_ELEMENTS = frozenset(_LISTS["elements"])
_BLOCKS = frozenset(_LISTS["blocks"])
# Replaces unknown elements.
_OTHER = "span"
CODE = "code"

_VALUE = r"""(?:"[^"<]*+"|'[^'<]*+'|&quot;[^&<]*+&quot;|[^\s<>"'&]++)"""
_VALUED = rf"\s++[^\s<>\"'=/&]++\s*+=\s*+{_VALUE}"
_ATTRIBUTES = rf"(?:{_VALUED}|\s++[^\s<>\"'=/&]++)*+"
_TAG = re.compile(
    rf"(?P<open><|&lt;)(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9:._-]*+)"
    rf"(?:(?P<valued>(?:{_VALUED})*+)|(?P<loose>{_ATTRIBUTES}))\s*+"
    r"(?P<empty>/?)(?P<end>>|&gt;)",
    re.IGNORECASE,
)
_ENTITY = re.compile(
    r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
)
# Blocks: begin, end, and layout.
_BLOCKS_BY_START = (
    ("<!--", "-->", "<!-- -->"),
    ("<![CDATA[", "]]>", "<!-- -->"),
    ("<?", "?>", "<!-- -->"),
    ("<!doctype", ">", "<!DOCTYPE html>"),
    ("```", "```", f"```\n{CODE}\n```"),
)
_RAW = re.compile(r"<(script|style)\b", re.IGNORECASE)
_INLINE = re.compile(r"`[^`\n]++`")
# Marks before "2)" inside a line, and most characters of Markdown before a number.
_BEFORE_BRACKETS = frozenset(".;:,!?")
_MARKDOWN = 8
_BRACKET = re.compile(r"(?:(?<=\s)|(?<=\A)|(?<=\())\(|(?<![:;=-])\)(?=[\s.,;:!?)]|\Z)")
_INSIDE = 200  # characters that are looked at before a number
_LIST_NUMBER = re.compile(r"[0-9]{1,2}[.)](?= )")
# First characters of markup, except for numbers of lists.
BEGINS = "<&`"


class MarkupFinder:
    """Finds markup in a text, searching for missing end tags only once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._missing: set[str] = set()

    def at(self, begin: int) -> tuple[int, str] | None:
        """Return end and layout of the markup at a position, or None."""
        text, first = self._text, self._text[begin]
        if first == "&":
            return _tag(text, begin) or _entity(text, begin)
        if first == "`":
            match = _INLINE.match(text, begin)
            whole = self._block(begin)
            return whole or (match and (match.end(), f"`{CODE}`"))
        if raw := _RAW.match(text, begin):
            # It ends with its name in the same letters.
            end = self._after(f"</{raw[1]}", begin)
            end = end and self._after(">", end)
            if end:
                name = raw[1].lower()
                return end, f"<{name}></{name}>"
        return self._block(begin) or _tag(text, begin)

    def _block(self, begin: int) -> tuple[int, str] | None:
        for start, end, layout in _BLOCKS_BY_START:
            head = self._text[begin : begin + len(start)]
            if head.lower() == start.lower():
                after = self._after(end, begin + len(start))
                return (after, layout) if after else None
        return None

    def _after(self, end: str, begin: int) -> int:
        """Return the position after the next `end` from begin on, 0 if none."""
        if end in self._missing:
            return 0
        at = self._text.find(end, begin)
        if at < 0:
            self._missing.add(end)
            return 0
        return at + len(end)


def find_layout(text: str) -> str | None:
    """Return the layout of a text, None unless it is a single piece of markup."""
    if text[:1] in BEGINS and text:
        markup = MarkupFinder(text).at(0)
        return markup[1] if markup and markup[0] == len(text) else None
    match = _LIST_NUMBER.match(text + " ")
    return text if match and match.end() == len(text) else None


def list_number(text: str, begin: int) -> int:
    """Return the end of a list number, 0 if there is none.

    It begins a line, also behind marks of Markdown, or with a bracket a sentence. In
    brackets there is none: "(no. 14)".
    """
    match = _LIST_NUMBER.match(text, begin)
    if match is None or (match[0][-1] == ")" and _is_in_brackets(text, begin)):
        return 0
    if begin > 1 and text[begin - 2] in _BEFORE_BRACKETS and match[0][-1] == ")":
        return match.end() if text[begin - 1] == " " else 0
    line = text[max(text.rfind("\n", 0, begin) + 1, begin - _MARKDOWN) : begin]
    return 0 if line.strip("#>* ") else match.end()


def _is_in_brackets(text: str, position: int) -> bool:
    """Return whether a bracket before a position is not closed there."""
    depth = 0
    for match in _BRACKET.finditer(text[max(0, position - _INSIDE) : position]):
        depth = depth + 1 if match[0] == "(" else max(0, depth - 1)
    return depth > 0


def ends_line(layout: str) -> bool:
    """Return whether words after a piece of markup begin a sentence."""
    name = re.sub(r"&lt;|&gt;|[</>]", "", layout)
    return name in _BLOCKS


def _tag(text: str, begin: int) -> tuple[int, str] | None:
    match = _TAG.match(text, begin)
    if match is None or (match["open"] == "<") != (match["end"] == ">"):
        return None
    name = match["name"].lower()
    if name not in _ELEMENTS:
        # "<John Smith>" is not a tag.
        if match["loose"] is not None:
            return None
        name = _OTHER
    empty = "/" if match["empty"] and not match["close"] else ""
    layout = f"{match['close']}{name}{empty}"
    return match.end(), f"{match['open'].lower()}{layout}{match['end'].lower()}"


def _entity(text: str, begin: int) -> tuple[int, str] | None:
    match = _ENTITY.match(text, begin)
    if match is None or not _is_mark(match[0]):
        return None
    return match.end(), match[0]


@lru_cache(maxsize=4096)
def _is_mark(entity: str) -> bool:
    """Return whether an entity represents marks or spaces."""
    plain = html.unescape(entity)
    return plain != entity and all(is_mark(each) or each.isspace() for each in plain)


def with_letters(text: str) -> str:
    """Replace entities for letters, digits and emoji by their characters.

    J&uuml;rgen becomes one word. Entities for marks and spaces stay.
    """
    if "&" not in text or ";" not in text:
        return text
    return _ENTITY.sub(
        lambda match: match[0] if _is_mark(match[0]) else html.unescape(match[0]), text
    )
