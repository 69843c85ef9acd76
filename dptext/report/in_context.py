"""What readers of whole texts find in public texts, as people read it."""

from __future__ import annotations

from collections.abc import Iterable

from dptext.measures.in_context import ALL, CONTENT
from dptext.measures.readings import InContext
from dptext.report.figures import share


def rows_of(measured: Iterable[InContext]) -> list[tuple[str, str]]:
    """Return for each public corpus what each reader finds, as names and sentences."""
    rows = []
    for each in measured:
        for reading in each.readings:
            if reading.reader == "alone":
                continue
            named = {one.name: one for one in reading.classes}
            every, content = named[ALL], named.get(CONTENT)
            shown = f"at least {share(every.success)} of words"
            if content is not None:
                shown += f", {share(content.success)} of content words"
            rows.append(
                (
                    f"risk in context, {reading.reader}",
                    f"{shown} (95%: {share(every.low)} to {share(every.high)}; "
                    f"{every.words:,} words of {each.corpus})",
                )
            )
    return rows
