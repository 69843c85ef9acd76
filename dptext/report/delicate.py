"""Records with sensitive words, which the owner should read before sharing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from dptext.lexicons.topics import topic_meta
from dptext.types import about

if TYPE_CHECKING:
    from dptext.engine.tally import Tally
    from dptext.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class SpecialRecords:
    """Records with a replaced word of a special category."""

    records: Annotated[
        int,
        about(
            "Number of records with a replaced word of the public lists of health, "
            "religion, origin, sexuality, politics, crime and money."
        ),
    ]
    first: Annotated[
        tuple[int, ...],
        about(
            "Numbers of the first 20 of them, of the records that could be read, "
            "in the order of the input, from 1."
        ),
    ]

    @property
    def named(self) -> str:
        """List the numbers as in a sentence, "" if there are none."""
        more = ", ..." if self.records > len(self.first) else ""
        return ", ".join(f"{number:,}" for number in self.first) + more

    @classmethod
    def from_tally(cls, pipeline: Pipeline, tally: Tally) -> SpecialRecords | None:
        """Return the records counted by a run, None if texts become topics."""
        if topic_meta(pipeline.lexicon) is not None:
            return None
        counted = tally.counted.special
        return cls(counted.special, counted.first)
