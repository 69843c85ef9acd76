"""A factor for words of named entities, as a spaCy pipeline finds them.

It multiplies the mean of the other scores: an entity's words weigh twice as much by
default, all others once. A word that touches several entities has the greatest factor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import models
from dptext.budgets import _spans
from dptext.types import Lexicon, Words

MULTIPLIES = True
Factor = Annotated[float, Meta(gt=0, le=1e6)]
_PIECES = 2000  # of one text that spaCy gets at a time


@dataclass(frozen=True, slots=True)
class Params:
    """pipeline: a name or a folder; multiplier of entities; labels with one of theirs.

    A label whose multiplier is 1 counts as no entity.
    """

    pipeline: str = models.PIPELINE
    multiplier: Factor = 2.0
    labels: dict[str, Factor] = field(default_factory=dict)


def prepare(params: Params, lexicon: Lexicon) -> Params:
    """See that the pipeline is there."""
    models.need_spacy(params.pipeline, "the score ner")
    return params


def score(state: Params, words: Words) -> NDArray[np.float64]:
    """Return the factor of each word, 1 outside entities."""
    pipe = models.pipeline(state.pipeline, "ner").pipe
    parts = list(_spans.chunks(words, _PIECES))
    begins, ends, factors = [], [], []
    # One document a batch: no text's entities depend on its neighbours.
    docs = pipe((text for _, text in parts), batch_size=1)
    for (offset, _), doc in zip(parts, docs, strict=True):
        for entity in doc.ents:
            begins.append(offset + entity.start_char)
            ends.append(offset + entity.end_char)
            factors.append(state.labels.get(entity.label_, state.multiplier))
    return _spans.greatest(words, begins, ends, factors, 1.0)


def describe(state: Params) -> str:
    """Name the pipeline."""
    name = Path(state.pipeline).name
    own = "".join(f", {label} {value:g}" for label, value in state.labels.items())
    return f"named entities by spaCy's {name}, times {state.multiplier:g}{own}"
