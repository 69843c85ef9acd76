"""Which numbers an option admits, and what is said of those that it does not."""

from __future__ import annotations

import math
import typing
from dataclasses import dataclass

from dptext.errors import UsageError

# What no file, machine or epsilon comes near; larger integers break what counts them.
LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class Number:
    """The numbers from low to high (None: any); above: without low itself.

    other is a word that stands for a number, where there is one.
    """

    kind: type[int] | type[float]
    low: float | None = None
    high: float | None = None
    above: bool = False
    other: str = ""

    @classmethod
    def of(cls, name: str, hint: object) -> Number | None:
        """Return the numbers of an annotation, None where it is of no number.

        Every epsilon is above 0.
        """
        kinds, limits = _parts(hint)
        if kinds not in ({int}, {float}):
            return None
        kind: type[int] | type[float] = int if int in kinds else float
        low = next((each.min for each in limits if hasattr(each, "min")), None)
        high = next((each.max for each in limits if hasattr(each, "max")), None)
        if "epsilon" in name:
            return cls(kind, 0.0, high, above=True)
        shown = "".join(getattr(each, "metavar", None) or "" for each in limits)
        return cls(kind, low, high, other=shown.partition("|")[2])

    @property
    def accepted(self) -> str:
        """Say what is accepted, as in "an integer from 1 to 256"."""
        return self._range + f", or {self.other}" * bool(self.other)

    @property
    def _range(self) -> str:
        said = "an integer" if self.kind is int else "a number"
        if self.low is not None and self.high is not None:
            return f"{said} from {self.low:.12g} to {self.high:.12g}"
        if self.high is not None:
            return f"{said} of at most {self.high:.12g}"
        if self.low is not None:
            least = "above" if self.above else "of at least"
            return f"{said} {least} {self.low:.12g}"
        return said

    def check(self, name: str, value: float) -> None:
        """Raise UsageError for a number that the option does not admit."""
        problem = self._problem(value)
        if problem:
            shown = f"{value:g}" if self.kind is float else str(value)
            raise UsageError(self._line(name, shown, problem))

    def problem_of(self, name: str, values: list[str]) -> str:
        """Say what is wrong with the first of the values that is not admitted."""
        for text in values:
            try:
                problem = self._problem(self.kind(text))
            except ValueError:
                problem = self._kind_of(text)
            if problem:
                return self._line(name, text, problem)
        return f"{name}: give {self.accepted}"

    def _line(self, name: str, text: str, problem: str) -> str:
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        return f"{name} {shown}: {problem}; give {self.accepted}"

    def _kind_of(self, text: str) -> str:
        """Say what a text is that cannot be read as a number of this kind."""
        try:
            value = float(text)
        except ValueError:
            return "not a number"
        return "not finite" if not math.isfinite(value) else "not an integer"

    def _problem(self, value: float) -> str:
        """Say what is wrong with a number; "" where nothing is."""
        if value != value:
            return "not a number"
        if value in (math.inf, -math.inf):
            return "not finite"
        low, high = self.low, self.high
        if low is not None and (value <= low if self.above else value < low):
            return "too small"
        if high is not None and value > high:
            return "too large"
        if self.kind is int and abs(value) > LARGEST:
            return f"beyond {LARGEST}"
        return ""


def _parts(hint: object) -> tuple[set[object], list[object]]:
    """Return the types but None that a type is made of, and its annotations."""
    kinds: set[object] = set()
    notes = list(getattr(hint, "__metadata__", ()))
    inner = typing.get_args(hint)[:1] if notes else typing.get_args(hint)
    for part in inner:
        more, others = _parts(part)
        kinds |= more
        notes += others
    return (kinds or {hint}) - {type(None)}, notes
