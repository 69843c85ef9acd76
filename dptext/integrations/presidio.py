"""dptext as an anonymizer of Presidio: it replaces the words of detected spans.

All other text is unchanged, as the statement in the report says.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from dptext import keywords
from dptext.errors import MissingExtra
from dptext.profile import FOR_PROGRAMS
from dptext.run.python import CHOICES, takes
from dptext.sanitizer import Sanitizer
from dptext.types import Record

if TYPE_CHECKING:
    from dptext.report.notebook import Report

try:
    from presidio_anonymizer.entities import InvalidParamError
    from presidio_anonymizer.operators import Operator, OperatorType
except ImportError:
    raise MissingExtra.for_package("an operator of Presidio", "presidio") from None


_RUN = "run"


class Run:
    """Prepared settings for many documents, and counts of their spans.

    Settings and errors are as for `dptext.privatize`, but the default profile is
    balanced, since readable copies the common words of a span. With a key, the same
    spans in the same order get the same words.
    """

    @takes(*(each for each in CHOICES if each.name != "topics"))
    def __init__(
        self,
        profile: str | os.PathLike[str] = FOR_PROGRAMS,
        overrides: Mapping[str, object] | None = None,
        **choices: Unpack[keywords.ChoiceKeywords],
    ) -> None:
        self._call = Sanitizer.for_one_call(profile, overrides, **choices).begin()
        self._randomness = self._call.pipeline.randomness(self._call.key)
        self._lock = threading.Lock()

    def privatize(self, span: str) -> str:
        """Return a span with its words replaced."""
        call, tally = self._call, self._call.tally
        with self._lock:  # noise depends on the number of a span, which must be unique
            record = Record(tally.records, (span,), None)
            private = call.pipeline.privatize([record], self._randomness)
            tally.count(private)
        return private.texts[0][0]

    def report(self) -> Report:
        """Return the internal report of all spans so far, with spans as texts."""
        with self._lock:
            return self._call.end(finder="Presidio")()


class DptextOperator(Operator):  # type: ignore[misc, unused-ignore]
    """The Presidio operator "dptext", with a `Run` as its parameter "run"."""

    def operate(
        self, text: str = "", params: Mapping[str, object] | None = None
    ) -> str:
        """Return a span with its words replaced."""
        run = (params or {})[_RUN]
        assert isinstance(run, Run)
        return run.privatize(text)

    def validate(self, params: Mapping[str, object] | None = None) -> None:
        """Raise InvalidParamError without a `Run`."""
        if not isinstance((params or {}).get(_RUN), Run):
            raise InvalidParamError(
                'dptext: give {"run": dptext.integrations.presidio.Run(...)}'
            )

    def operator_name(self) -> str:
        """Return the operator's name for OperatorConfig."""
        return "dptext"

    def operator_type(self) -> OperatorType:
        """Return that this operator anonymizes."""
        return OperatorType.Anonymize
