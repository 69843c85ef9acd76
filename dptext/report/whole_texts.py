"""Releases of topics in reports: their figures, and what attackers find.

Each text became one topic, drawn by a known law, so all figures are exact or bounds for
whole texts, except those of the private texts themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from dptext.guarantees.claims import picked_after, picked_share
from dptext.guarantees.sentences import ORIGINALS, nearest_percent, percent
from dptext.guarantees.statement import topic_terms
from dptext.measures.bayes_risk import Share
from dptext.report.blocks import Block, Column, Paragraph, Table
from dptext.report.figures import count
from dptext.report.lines import say
from dptext.run.interface import option

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline

Count = Annotated[int, Meta(ge=0)]


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicFigures:
    """Success of attackers who hold originals, if whole texts become topics."""

    topics: Annotated[Count, Meta(description="Number of topics.")]
    nearest: Annotated[
        Share,
        Meta(
            description=(
                "Probability that the topic nearest to a text is written, exact."
            )
        ),
    ]
    originals: Annotated[
        Count,
        Meta(
            description=(
                "Number of equally likely originals, alike in all unchanged fields, "
                "that the attacker holds."
            )
        ),
    ]
    picked: Annotated[
        Share, Meta(description="Upper limit of picking the right one, on average.")
    ]
    picked_after: Annotated[
        Share, Meta(description="The same after any single output.")
    ]
    picked_of_two: Annotated[Share, Meta(description="The same for two originals.")]
    together: Annotated[
        Count, Meta(description="Number of topics written for a text, as a set.")
    ] = 1

    @classmethod
    def from_pipeline(cls, pipeline: Pipeline) -> TopicFigures | None:
        """Return the figures of a pipeline of topics, None for one of words."""
        terms = topic_terms(pipeline.mechanism, pipeline.budget.description)
        if terms is None:
            return None
        epsilon = pipeline.budget.description.high
        return cls(
            topics=terms.size,
            nearest=terms.nearest,
            originals=ORIGINALS,
            picked=picked_share(epsilon, ORIGINALS, terms),
            picked_after=picked_after(epsilon, ORIGINALS),
            picked_of_two=picked_after(epsilon, 2),
            together=terms.together,
        )


def blocks(topics: TopicFigures, *, seeded: bool) -> tuple[Block, ...]:
    """Return a table on attackers who hold originals."""
    if seeded:
        reason = say("not_measured.seed")
        return (Paragraph(f"Someone with original texts: {reason}"),)
    held = f"one of {count(topics.originals)} originals"
    bound = Column("picks the right one in at most", percent, full=1.0)
    table = Table(
        [Column("someone who holds"), bound, Column("without output", percent)],
        [
            (f"{held}, on average", topics.picked, 1.0 / topics.originals),
            (f"{held}, after any one output", topics.picked_after, None),
            ("one of two originals", topics.picked_of_two, 0.5),
        ],
        title="Someone with original texts",
    )
    note = (
        "Originals agree in all unchanged fields, are equally likely, and their order "
        "is not known; unchanged fields, and the order of records unless it is random "
        f"({option('shuffle')}), may find a row at once. The nearest topic is "
        "written in "
        f"{nearest_percent(topics.nearest)} of texts."
    )
    return (table, Paragraph(note, "note"))
