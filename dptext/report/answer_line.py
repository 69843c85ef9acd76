"""A line of the short answer, as a sentence for people and as figures."""

from __future__ import annotations

from dataclasses import dataclass, field

from dptext.types import JsonObject


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """An answer."""

    #: Its question in a word or two.
    name: str
    #: For pages and for machines.
    sentence: str
    figures: JsonObject = field(default_factory=dict)
    #: The sentence for a terminal, if it is a shorter one.
    short: str | None = None
