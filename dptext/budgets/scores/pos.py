"""A weight for the part of speech of a word in its sentence (Penn tags).

The longest matching prefix in weights applies, or else `other`. A word
that the tagger divides ("don't") has the greatest weight of its parts. Taggers are for
English: tags in other languages mean little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from dptext import models, settings
from dptext.budgets import scores
from dptext.types import Floats, Lexicon, Words

Weight = Annotated[float, Meta(ge=0, le=1e6)]
# The weights of the epsilon-distributor thesis.
WEIGHTS = {"NN": 15.0, "PR": 14.0, "VB": 8.0, "CD": 6.0, "JJ": 3.7, "RB": 3.4}
_TAGGER = "averaged_perceptron_tagger_eng"
_WHAT = "the score pos"
_TOKEN = re.compile(r"\w+|[^\w\s]")
Untyped = Any  # of NLTK
_Tagged = Iterator[tuple[int, int, str]]  # begin, end, tag


@dataclass(frozen=True, slots=True)
class Params(scores.Params):
    """Settings of the score."""

    #: By the beginning of a tag.
    weights: dict[str, Weight] = field(default_factory=lambda: dict(WEIGHTS))
    #: Of all other tags.
    other: Weight = 0.1
    tagger: Literal["nltk", "spacy"] = "nltk"
    #: A name or a folder, for spacy.
    pipeline: str = models.PIPELINE

    def prepare(self, lexicon: Lexicon) -> PartsOfSpeech:
        """Find the tagger."""
        if self.tagger == "nltk":
            models.need_nltk(_TAGGER, _WHAT)
            return PartsOfSpeech(self, models.nltk_digest(_TAGGER))
        folder = models.need_spacy(self.pipeline, _WHAT)
        return PartsOfSpeech(self, settings.digest_of_path(folder))

    def weight(self, tag: str) -> float:
        """Return the weight of a tag."""
        fits = [prefix for prefix in self.weights if tag.startswith(prefix)]
        return self.weights[max(fits, key=len)] if fits else self.other


@dataclass(frozen=True, slots=True)
class PartsOfSpeech(scores.Score):
    """Prepared score by part-of-speech tags."""

    params: Params
    #: Of the data of the tagger.
    digest: str

    @property
    def content(self) -> dict[str, str]:
        """Return the digest of the tagger's data."""
        return {"pipeline": self.digest}

    @property
    def description(self) -> str:
        """Name the tagger."""
        name = Path(self.params.pipeline).name
        nltk = self.params.tagger == "nltk"
        by = "NLTK's perceptron" if nltk else f"spaCy's {name}"
        return f"weights of parts of speech, tagged by {by}"

    def values(self, words: Words) -> Floats:
        """Return the weight of each word's tag."""
        params = self.params
        nltk = params.tagger == "nltk"
        tagged = _by_nltk(words) if nltk else self._by_spacy(words)
        tokens = [(begin, end, params.weight(tag)) for begin, end, tag in tagged]
        return scores.greatest_values(words, tokens, params.other)

    def _by_spacy(self, words: Words) -> _Tagged:
        pipeline = models.pipeline(self.params.pipeline, "tagger", self.digest)
        for offset, doc in scores.spacy_documents(words, pipeline):
            for token in doc:
                begin = offset + token.idx
                yield begin, begin + len(token), token.tag_


def _by_nltk(words: Words) -> _Tagged:
    tokenize, tagger = _nltk()
    for offset, text in scores.sentences(words):
        try:
            spans = list(tokenize(text))
        except ValueError:  # NLTK converts some quotation marks and cannot find them
            spans = [match.span() for match in _TOKEN.finditer(text)]
        tags = tagger.tag([text[begin:end] for begin, end in spans])
        for (begin, end), (_, tag) in zip(spans, tags, strict=True):
            yield offset + begin, offset + end, tag


@cache
def _nltk() -> tuple[Untyped, Untyped]:
    """Return a function from texts to NLTK token spans, and NLTK's tagger."""
    tokenizer = models.package("nltk.tokenize", _WHAT, "nlp").NLTKWordTokenizer()
    tagger = models.package("nltk.tag", _WHAT, "nlp").PerceptronTagger(lang="eng")
    return tokenizer.span_tokenize, tagger
