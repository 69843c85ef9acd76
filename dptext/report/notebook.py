"""A report that shows itself by its short answer, as text and in notebooks."""

from __future__ import annotations

from dptext.report.document import Document


class Report(Document):
    """A report as functions for Python programs return it."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return a line that names the profile and its guarantee."""
        bound = self.guarantee.bound
        return (
            f"Report(audience={self.audience!r}, profile={self.run.profile!r}, "
            f"notion={str(bound.notion)!r}, epsilon={bound.epsilon})"
        )

    def __str__(self) -> str:
        """Return the short answer as lines of 80 columns."""
        from dptext.report import answer  # quiet runs show none

        return answer.to_text(self)

    def _repr_html_(self) -> str:
        """Return the short answer as a part of a page."""
        from dptext.report import answer

        return answer.to_html(self)
