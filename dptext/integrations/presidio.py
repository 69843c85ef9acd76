"""dptext as an anonymizer of Presidio: new words in the spans that its analyzer found.

All other text stays as it is, which the statement of the report says.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dptext import profile as profiles
from dptext.api import Call, CallChoices, Path
from dptext.errors import MissingExtra
from dptext.types import Record, Selection

if TYPE_CHECKING:
    from dptext.report.notebook import Report

try:
    from presidio_anonymizer.entities import InvalidParamError
    from presidio_anonymizer.operators import Operator, OperatorType
except ImportError:
    raise MissingExtra.for_package("an operator of Presidio", "presidio") from None


_RUN = "run"


class Run:
    """Settings made ready once for many documents, and what was counted in them.

    Settings and errors are those of `dptext.privatize`. With a key, equal spans in an
    equal order of all spans get the same words.
    """

    def __init__(
        self,
        profile: Path = profiles.DEFAULT,
        overrides: Mapping[str, object] | None = None,
        *,
        risk: str | float | None = None,
        epsilon: float | None = None,
        mechanism: str | None = None,
        lexicon: Path | None = None,
        decode: str | None = None,
        key: bytes | Path | None = None,
    ) -> None:
        chosen = CallChoices(
            risk=risk,
            epsilon=epsilon,
            mechanism=mechanism,
            lexicon=lexicon,
            decode=decode,
            key=key,
        )
        self._call = Call(profile, overrides, chosen)
        self._randomness = self._call.pipeline.randomness(self._call.key)
        self._lock = threading.Lock()

    def privatize(self, span: str) -> str:
        """Return a span with its words replaced."""
        call, tally = self._call, self._call.tally
        assert tally is not None
        with self._lock:  # no two spans have one number, which their noise goes by
            record = Record(tally.records, (span,), None)
            private = call.pipeline.privatize([record], self._randomness)
            tally.count(private)
        return private.texts[0][0]

    def report(self) -> Report:
        """Return the internal report of all spans so far: its texts are spans."""
        with self._lock:
            return self._call.report(Selection(), finder="Presidio")


class DptextOperator(Operator):  # type: ignore[misc, unused-ignore]
    """The operator "dptext", with a `Run` as its parameter "run"."""

    def operate(self, text: str = "", params: dict[str, Any] | None = None) -> str:
        """Return a span with its words replaced."""
        run = (params or {})[_RUN]
        assert isinstance(run, Run)
        return run.privatize(text)

    def validate(self, params: dict[str, Any] | None = None) -> None:
        """Raise InvalidParamError where there is no `Run`."""
        if not isinstance((params or {}).get(_RUN), Run):
            raise InvalidParamError(
                'dptext: give {"run": dptext.integrations.presidio.Run(...)}'
            )

    def operator_name(self) -> str:
        """Return the name that an OperatorConfig gives."""
        return "dptext"

    def operator_type(self) -> OperatorType:
        """Return that it hides, and does not bring back."""
        return OperatorType.Anonymize
