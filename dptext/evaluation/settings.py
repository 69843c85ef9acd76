"""The figures to compute for a pair of files, checked before the work begins."""

from __future__ import annotations

from dataclasses import dataclass

from dptext import models
from dptext.errors import UsageError
from dptext.evaluation import classify
from dptext.evaluation.attackers import PublicText
from dptext.evaluation.linkage import LINKAGE
from dptext.models import language

ALPHAS = (0.25, 0.5, 0.75)
# What loads the model of the masked-word attack, for its errors.
MASKED = "--masked-model", "the masked-word attack", language.MASKED


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """The figures to compute for a pair of files."""

    #: Names of fields to learn, for utility.
    labels: tuple[str, ...] = ()
    #: Names of fields to learn, for attacks.
    attributes: tuple[str, ...] = ()
    classifier: str = "tfidf"
    splits: int = 3
    alphas: tuple[float, ...] = ALPHAS
    encoder: str | None = None
    masked_model: str | None = None
    bayes: bool = True
    #: Whether the attackers attack that send nothing.
    attackers: bool = True
    #: Name of one more attacker, which may send released text.
    attacker: str | None = None
    #: Public texts of the same kind; one more attacker knows their pairs of words.
    public_text: PublicText | None = None
    #: Whether to measure linkage attacks.
    linkage: bool = False

    def check(self) -> None:
        """Raise UsageError for absent models, MissingExtra for absent packages."""
        classify.check_classifier(self.classifier)
        if self.labels or self.attributes:
            classify.need_packages(self.classifier)
        elif self.classifier != "tfidf":
            msg = "--classifier: name the field to learn with --label or --attribute"
            raise UsageError(msg)
        if self.linkage:
            models.need("sklearn", *LINKAGE)
        if self.encoder is not None:
            models.need_sentence_model(self.encoder, "CS")
        if self.masked_model is not None:
            language.need(self.masked_model, *MASKED)
