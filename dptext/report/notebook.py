"""A report that displays its summary, as text and in notebooks."""

from __future__ import annotations

from dptext.report.document import Document


class Report(Document):
    """A report as returned by the Python functions."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return a line with the profile and its guarantee."""
        bound = self.guarantee.bound
        return (
            f"Report(audience={self.audience!r}, profile={self.run.profile!r}, "
            f"notion={str(bound.notion)!r}, epsilon={bound.epsilon})"
        )

    def __str__(self) -> str:
        """Return the summary as lines of 80 columns."""
        from dptext.report import answer  # quiet runs show none

        return answer.to_text(self)

    def _repr_html_(self) -> str:
        """Return the summary as an HTML fragment."""
        from dptext.report import answer

        return answer.to_html(self)
