"""Lines of the short answer: sentences from answer.toml, filled with figures.

A sentence is one entry of the file. A placeholder names a figure and its format:
`{found:whole}` in whole percent, `{words:word}` as "1 word" or "2 words",
`{texts:is|are}` by number, `{exact:never|hardly ever}` by a condition,
`{option:key-file}` as the reader writes this option. A part in brackets appears only
if all of its figures have a value.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from dptext.guarantees import claims, sentences
from dptext.guarantees import templates as guarantee_templates
from dptext.report import blocks, figures
from dptext.run.interface import noun, option
from dptext.types import JsonObject

_FILE = Path(__file__).with_name("answer.toml")
_OPTIONS = {"option": option, "noun": noun}
_PART = re.compile(r"\[([^\[\]]*)\]")
# How blanks are written.
_WRITERS: dict[str, Callable[[Any], str]] = {
    "bound": figures.bound,
    "count": figures.count,
    "exact": figures.exact,
    "limit": sentences.percent,
    "nats": claims.format_up,
    "list": ", ".join,
    "nearest": sentences.nearest_percent,
    "plain": claims.number,
    "share": figures.share,
    "short": figures.short,
    "span": figures.span,
    "whole": figures.whole,
}


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A line of the summary."""

    #: Its question in a word or two.
    name: str
    #: For pages and for machines.
    sentence: str
    figures: JsonObject = field(default_factory=dict)
    #: The sentence for a terminal, if it is a shorter one.
    short: str | None = None


class _Writer(Formatter):
    """Fills placeholders of a sentence, from names or an object's attributes."""

    def get_value(
        self, key: int | str, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        """Return the value of a placeholder."""
        name = str(key)
        return kwargs[name] if name in kwargs else getattr(args[0], name)

    def find(self, name: str, source: object, values: Mapping[str, object]) -> object:
        """Return the value of a dotted name, None if any part is missing."""
        with contextlib.suppress(AttributeError):
            return self.get_field(name, (source,), values)[0]
        return None

    def format_field(self, value: Any, format_spec: str) -> str:
        """Format a figure, a count with noun, one of two words, or an option."""
        one, either, other = format_spec.partition("|")
        if callable(value):
            return str(value(*format_spec.split(" ", 1)))
        if write := _WRITERS.get(format_spec):
            return write(value)
        if either:
            return one if value == 1 else other
        if isinstance(value, int) and format_spec:
            return figures.numbered(value, format_spec)
        return format(value, format_spec)


@cache
def templates() -> dict[str, Any]:
    """Return the content of answer.toml."""
    return guarantee_templates.read_templates(_FILE)


def say(name: str, source: object = None, /, **blanks: object) -> str:
    """Look up a sentence by its dotted name and fill its placeholders.

    source: the object whose attributes fill other placeholders.
    """
    writer, values = _Writer(), {**_OPTIONS, **guarantee_templates.BLANKS, **blanks}

    def part(match: re.Match[str]) -> str:
        parsed = [*writer.parse(match[1])]
        names = [name for _, name, how, _ in parsed if name and "|" not in (how or "")]
        has_all = all(_is_given(writer.find(name, source, values)) for name in names)
        if names:
            return match[1] if has_all else ""
        return match[0]

    text = _PART.sub(part, guarantee_templates.find_template(templates(), name))
    return writer.vformat(text, (source,), values)


def page_rows(name: str, source: object = None, /, **blanks: object) -> blocks.Rows:
    """Return a table's rows that have a value, with machine-readable text as code."""
    shown: blocks.Rows = []
    for key, template in templates()["rows"][name].items():
        text = say(f"rows.{name}.{key}", source, **blanks)
        if text or not template.startswith("["):
            shown.append((key, blocks.Code(text[1:-1]) if "`" in template else text))
    return shown


def _is_given(value: object) -> bool:
    return isinstance(value, float) or bool(value)


def line(
    name: str,
    key: str = "always",
    figures: Mapping[str, object] | None = None,
    source: object = None,
    /,
    **blanks: object,
) -> AnswerLine:
    """Return a line from one of its sentences; figures also fill placeholders."""
    shown = {**(figures or {})}
    return AnswerLine(name, say(f"{name}.{key}", source, **{**shown, **blanks}), shown)
