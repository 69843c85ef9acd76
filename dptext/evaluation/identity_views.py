"""Values that must not stand in private texts, as a section and as lines."""

from __future__ import annotations

from collections.abc import Iterator

from dptext.evaluation.identities import (
    COMMON,
    IdentitiesFound,
    IdentityMeter,
    Standing,
)
from dptext.report.blocks import Block, Column, Paragraph, Section, Table
from dptext.report.figures import between, count, share

NOT_AGAIN = (
    "Do not run again until none is found: no value would then ever come out as "
    "itself, so a name in the output would rule itself out for certain, an infinite "
    "loss. "
    "Leave the field or the record out, or choose other settings for the whole file."
)


def identities_section(figures: IdentitiesFound) -> Section:
    """Return how many values of a file stand in the private texts."""
    rows = [
        (
            name,
            standing.count,
            standing.share,
            between(standing.low, standing.high),
            _chance(standing),
        )
        for name, standing in (("whole", figures.whole), ("in part", figures.in_part))
    ]
    table = Table(
        [
            Column("in private text"),
            Column("how many", count),
            Column("share", share, full=1.0),
            Column("95% interval", str),
            Column("by chance", str),
        ],
        rows,
    )
    note = (
        f"Different values in {figures.file}: {count(figures.values)}. Originals that "
        f"hold any: {count(figures.records)}; values in them, each counted once in a "
        "record: "
        f"{count(figures.occurrences)}. Whole: all words of a value side by side, "
        "whatever the capitals, marks and spaces. In part: whole, or at least one of "
        "its words "
        f"that is not among the {count(COMMON)} most frequent. {figures.method} Values "
        f"whole in private texts whose originals do not hold them: "
        f"{count(figures.elsewhere)}."
    )
    if figures.not_in_originals:
        note += (
            " Spans that the originals of their records do not hold: "
            f"{count(figures.not_in_originals)}."
        )
    if figures.unsearchable:
        note += (
            " Values without letters and digits, which were not looked for: "
            f"{count(figures.unsearchable)}."
        )
    blocks: list[Block] = [table, Paragraph(note, "note")]
    if figures.in_part.count:
        blocks.append(Paragraph(NOT_AGAIN, "note"))
    return Section("Values that must not appear", blocks)


def _chance(standing: Standing) -> str:
    if standing.by_chance is None:
        return "not known"
    limits = between(standing.by_chance_low, standing.by_chance_high)
    return f"{share(standing.by_chance)} ({limits})"


def identity_records(meter: IdentityMeter) -> Iterator[str]:
    """Say in which records values stand: for the screen of the owner only."""
    lists = meter.whole_records, meter.part_records
    for how, numbers, more in zip(
        ("whole", "only in part"), lists, meter.unlisted, strict=True
    ):
        if numbers:
            shown = ", ".join(map(count, numbers))
            rest = f" and {count(more)} more" if more else ""
            noun = "record" if len(numbers) + more == 1 else "records"
            yield f"values of {meter.name} stand {how} in {noun} {shown}{rest}"
