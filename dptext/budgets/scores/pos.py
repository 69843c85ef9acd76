"""A weight for the part of speech of a word in its sentence (Penn tags).

The tag's longest prefix in weights counts, other where none is. A word that the tagger
divides ("don't") has the greatest weight of its parts. Taggers read English: other
languages get tags that mean little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import models
from dptext.budgets import _spans
from dptext.content import of_path
from dptext.types import Lexicon, Words

Weight = Annotated[float, Meta(ge=0, le=1e6)]
# The weights of the epsilon-distributor thesis.
WEIGHTS = {"NN": 15.0, "PR": 14.0, "VB": 8.0, "CD": 6.0, "JJ": 3.7, "RB": 3.4}
_TAGGER = "averaged_perceptron_tagger_eng"
_WHAT = "the score pos"
_TOKEN = re.compile(r"\w+|[^\w\s]")
_PIECES = 2000  # of one text that spaCy gets at a time


@dataclass(frozen=True, slots=True)
class Params:
    """weights by the beginning of a tag; other; tagger; the pipeline of spacy."""

    weights: dict[str, Weight] = field(default_factory=lambda: dict(WEIGHTS))
    other: Weight = 0.1
    tagger: Literal["nltk", "spacy"] = "nltk"
    pipeline: str = models.PIPELINE


@dataclass(frozen=True, slots=True)
class State:
    """The settings, and the digest of the tagger's data."""

    params: Params
    digest: str


def prepare(params: Params, lexicon: Lexicon) -> State:
    """See that the tagger is there."""
    if params.tagger == "nltk":
        models.need_nltk(_TAGGER, _WHAT)
        return State(params, models.nltk_digest(_TAGGER))
    return State(params, of_path(models.need_spacy(params.pipeline, _WHAT)))


def content(state: State) -> dict[str, str]:
    """Return the digest of the tagger's data."""
    return {"pipeline": state.digest}


def score(state: State, words: Words) -> NDArray[np.float64]:
    """Return the weight of each word's tag."""
    params = state.params
    tagged = _by_nltk(words) if params.tagger == "nltk" else _by_spacy(state, words)
    begins, ends, weights = [], [], []
    known: dict[str, float] = {}
    for begin, end, tag in tagged:
        if tag not in known:
            known[tag] = _weight(params, tag)
        begins.append(begin)
        ends.append(end)
        weights.append(known[tag])
    return _spans.greatest(words, begins, ends, weights, params.other)


def describe(state: State) -> str:
    """Name the tagger."""
    name = Path(state.params.pipeline).name
    by = "NLTK's perceptron" if state.params.tagger == "nltk" else f"spaCy's {name}"
    return f"weights of parts of speech, tagged by {by}"


def _weight(params: Params, tag: str) -> float:
    fits = [prefix for prefix in params.weights if tag.startswith(prefix)]
    return params.weights[max(fits, key=len)] if fits else params.other


def _by_nltk(words: Words) -> Iterator[tuple[int, int, str]]:
    tokenize, tagger = _nltk()
    for offset, text in _spans.sentences(words):
        try:
            spans = list(tokenize(text))
        except ValueError:  # NLTK cannot find some quotation marks again
            spans = [match.span() for match in _TOKEN.finditer(text)]
        tags = tagger.tag([text[begin:end] for begin, end in spans])
        for (begin, end), (_, tag) in zip(spans, tags, strict=True):
            yield offset + begin, offset + end, tag


def _by_spacy(state: State, words: Words) -> Iterator[tuple[int, int, str]]:
    pipe = models.pipeline(state.params.pipeline, "tagger", state.digest).pipe
    parts = list(_spans.chunks(words, _PIECES))
    # One document a batch: no text's tags depend on its neighbours, not by a rounding.
    docs = pipe((text for _, text in parts), batch_size=1)
    for (offset, _), doc in zip(parts, docs, strict=True):
        for token in doc:
            begin = offset + token.idx
            yield begin, begin + len(token), token.tag_


@cache
def _nltk() -> tuple[Any, Any]:
    """Return NLTK's splitter, as a function to spans, and its tagger."""
    tokenizer = models.package("nltk.tokenize", _WHAT, "nlp").NLTKWordTokenizer()
    tagger = models.package("nltk.tag", _WHAT, "nlp").PerceptronTagger(lang="eng")
    return tokenizer.span_tokenize, tagger
