"""A factor for words of named entities found by a spaCy pipeline.

It multiplies the mean of the other scores: words in entities weigh twice as much by
default. A word that overlaps several entities gets the largest factor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from dptext import models, settings
from dptext.budgets import scores
from dptext.types import Floats, Lexicon, Words

Factor = Annotated[float, Meta(gt=0, le=1e6)]


@dataclass(frozen=True, slots=True)
class Params(scores.Params):
    """Settings of the score."""

    #: A name or a folder.
    pipeline: str = models.PIPELINE
    #: Of entities.
    multiplier: Factor = 2.0
    #: Other multipliers by label; with 1 a label does not count.
    labels: dict[str, Factor] = field(default_factory=dict)

    def prepare(self, lexicon: Lexicon) -> NamedEntities:
        """Find the pipeline."""
        folder = models.need_spacy(self.pipeline, "the score ner")
        return NamedEntities(self, settings.digest_of_path(folder))


@dataclass(frozen=True, slots=True)
class NamedEntities(scores.Score):
    """Prepared score by named entities."""

    multiplies = True
    params: Params
    #: Of the pipeline.
    digest: str

    @property
    def content(self) -> dict[str, str]:
        """Return the digest of the pipeline."""
        return {"pipeline": self.digest}

    @property
    def description(self) -> str:
        """Name the pipeline."""
        params = self.params
        name = Path(params.pipeline).name
        labels = "".join(f", {label} {by:g}" for label, by in params.labels.items())
        return f"named entities by spaCy's {name}, times {params.multiplier:g}{labels}"

    def values(self, words: Words) -> Floats:
        """Return the factor of each word, 1 outside entities."""
        params = self.params
        pipeline = models.pipeline(params.pipeline, "ner", self.digest)
        entities = []
        for offset, doc in scores.spacy_documents(words, pipeline):
            for each in doc.ents:
                factor = params.labels.get(each.label_, params.multiplier)
                begin, end = offset + each.start_char, offset + each.end_char
                entities.append((begin, end, factor))
        return scores.greatest_values(words, entities, 1.0)
