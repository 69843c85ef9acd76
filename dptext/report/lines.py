"""A line of the short answer, as a sentence for people and as figures."""

from __future__ import annotations

from dataclasses import dataclass, field

from dptext.types import JsonObject


@dataclass(frozen=True, slots=True)
class Line:
    """An answer: its question in a word or two, the sentence, and its figures."""

    name: str
    sentence: str
    figures: JsonObject = field(default_factory=dict)
