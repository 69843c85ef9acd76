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
from dptext.content import of_path
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


@dataclass(frozen=True, slots=True)
class State:
    """The settings, and the digest of the pipeline."""

    params: Params
    digest: str


def prepare(params: Params, lexicon: Lexicon) -> State:
    """See that the pipeline is there."""
    folder = models.need_spacy(params.pipeline, "the score ner")
    return State(params, of_path(folder))


def content(state: State) -> dict[str, str]:
    """Return the digest of the pipeline."""
    return {"pipeline": state.digest}


def score(state: State, words: Words) -> NDArray[np.float64]:
    """Return the factor of each word, 1 outside entities."""
    params = state.params
    pipe = models.pipeline(params.pipeline, "ner", state.digest).pipe
    parts = list(_spans.chunks(words, _PIECES))
    begins, ends, factors = [], [], []
    # One document a batch: no text's entities depend on its neighbours.
    docs = pipe((text for _, text in parts), batch_size=1)
    for (offset, _), doc in zip(parts, docs, strict=True):
        for entity in doc.ents:
            begins.append(offset + entity.start_char)
            ends.append(offset + entity.end_char)
            factors.append(params.labels.get(entity.label_, params.multiplier))
    return _spans.greatest(words, begins, ends, factors, 1.0)


def describe(state: State) -> str:
    """Name the pipeline."""
    params = state.params
    name = Path(params.pipeline).name
    own = "".join(f", {label} {value:g}" for label, value in params.labels.items())
    return f"named entities by spaCy's {name}, times {params.multiplier:g}{own}"
