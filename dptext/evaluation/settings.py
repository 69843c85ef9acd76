"""The figures to compute for a pair of files, checked before the work begins."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from dptext import models
from dptext.errors import UsageError
from dptext.evaluation import classify
from dptext.evaluation.attackers import PublicText
from dptext.evaluation.linkage import EXTRA
from dptext.models import language
from dptext.run.interface import noun, option
from dptext.run.measures import Measures


def masked_model() -> tuple[str, str, language.Head]:
    """Return what errors say of the model of the masked-word attack."""
    return noun("masked-model"), "the masked-word attack", language.MASKED


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSettings(Measures):
    """The figures to compute for a pair of files."""

    bayes: bool = True
    #: Public texts of the same kind; one more attacker knows their pairs of words.
    public_text: PublicText | None = None

    @classmethod
    def begin(cls, measures: Measures, **others: Any) -> EvaluationSettings:
        """Take the measures of a command."""
        shown = {each.name: getattr(measures, each.name) for each in fields(measures)}
        return cls(**(shown | others))

    def check(self) -> None:
        """Raise UsageError for absent models, MissingExtra for absent packages."""
        classify.check_classifier(self.classifier)
        if self.labels or self.attributes:
            classify.need_packages(self.classifier)
        elif self.classifier != "tfidf":
            msg = (
                f"{noun('classifier')}: name the field to learn with "
                f"{option('label')} or {option('attribute')}"
            )
            raise UsageError(msg)
        if self.linkage:
            models.need("sklearn", noun("linkage"), EXTRA)
        if self.encoder is not None:
            models.need_sentence_model(self.encoder, "CS")
        if self.masked_model is not None:
            language.need(self.masked_model, *masked_model())
