"""The counts of a run that embeds a file; all are functions of the private text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Counts:
    """Counts of records, texts, words and vectors."""

    records: int = 0
    faults: int = 0
    texts: int = 0
    words: int = 0
    vectors: int = 0
    #: Number of vectors of each subject, by a digest of its value.
    subjects: Counter[bytes] = field(default_factory=Counter)
    seconds: float = 0.0
    #: Name of the format of the input.
    format: str = ""
    #: The id field with its kind, if it looks identifying.
    identifying: Mapping[str, str] = field(default_factory=dict)
