"""A report that notebooks, and `str`, show by its short answer."""

from __future__ import annotations

from dptext.report import answer
from dptext.report.document import Document


class Report(Document):
    """A report as functions for Python programs return it."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the short answer, a name and a sentence on each line."""
        return answer.to_text(self)

    def _repr_html_(self) -> str:
        """Return the short answer as a part of a page."""
        return answer.to_html(self)
