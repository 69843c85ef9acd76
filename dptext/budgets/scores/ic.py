"""Information content of a word's meanings in WordNet (Resnik 1995), in nats.

source lexicon: the lexicon's own values (mean over the synsets of the word's lemmas;
words outside WordNet have their surprisal; an unknown word the greatest of all).
source nltk: the mean over the noun and verb synsets of the word's lemma of -ln of the
synset's share in each of the files, over all files; a synset counted less than once
counts as once. A word without such synsets gets neutral, and so do function words,
whose synsets are of other words ("at": astatine). measure count is what the published
code takes instead: the mean raw noun count of any word; common words score high by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from dptext import models
from dptext.budgets import scores
from dptext.errors import UsageError
from dptext.tokens.language_data import stop_words
from dptext.types import ENGLISH, Floats, Lexicon, Words

WHAT = "the score ic from NLTK"
Untyped = Any  # of NLTK


@dataclass(frozen=True, slots=True)
class FromNltk(scores.Score):
    """The settings, and the digest of NLTK's data."""

    params: Params
    digest: str

    @property
    def content(self) -> dict[str, str]:
        """Return the digest of NLTK's data."""
        return {"data": self.digest}

    @property
    def description(self) -> str:
        """Name the files."""
        counts = self.params.measure == "count"
        kind = "mean noun count" if counts else "information content"
        return f"WordNet {kind} from {', '.join(self.params.files)}"

    def values(self, words: Words) -> Floats:
        """Return the information content of each word, or its count."""
        asked = self.params.files, self.params.measure, self.params.neutral
        values = [_word_value(word.lower(), *asked) for word in scores.bodies(words)]
        return np.array(values, np.float64)


@lru_cache(maxsize=100_000)
def _word_value(
    word: str, files: tuple[str, ...], measure: str, neutral: float
) -> float:
    values = []
    if measure == "information" and word.replace("’", "'") in stop_words(ENGLISH):
        return neutral
    synsets = _wordnet().synsets(word)
    for table in map(_table, files):
        counted = (_synset_value(synset, table, measure) for synset in synsets)
        of_table = [value for value in counted if value is not None]
        if of_table:
            values.append(math.fsum(of_table) / len(of_table))
    return math.fsum(values) / len(values) or neutral if values else neutral


def _synset_value(synset: Untyped, table: Untyped, measure: str) -> float | None:
    if measure == "count":
        return float(table["n"].get(synset.offset(), 0.0))
    counts = table.get(synset.pos())
    if counts is None:  # adjectives and adverbs are not counted
        return None
    return math.log(counts[0] / max(counts.get(synset.offset(), 0.0), 1.0))


@lru_cache(maxsize=1)
def _wordnet() -> Untyped:
    wordnet = models.package("nltk.corpus", WHAT, "nlp").wordnet
    wordnet.ensure_loaded()
    return wordnet


@lru_cache(maxsize=16)
def _table(file: str) -> Untyped:
    """Read counts by part of speech and offset; 0 is the whole."""
    reader = models.package("nltk.corpus", WHAT, "nlp").wordnet_ic
    reader.ensure_loaded()
    if file not in reader.fileids():
        known = ", ".join(sorted(name for name in reader.fileids() if "ic-" in name))
        raise UsageError(
            f"the score ic: NLTK's wordnet_ic has no file {file!r}; known: {known}"
        )
    return reader.ic(file)


@dataclass(frozen=True, slots=True)
class Params(scores.Params):
    """source of the values; the rest is for nltk: its files, what of them, neutral."""

    source: Literal["lexicon", "nltk"] = "lexicon"
    files: Annotated[tuple[str, ...], Meta(min_length=1)] = ("ic-brown.dat",)
    measure: Literal["information", "count"] = "information"
    neutral: Annotated[float, Meta(ge=0, le=1e6)] = 1.0

    def prepare(self, lexicon: Lexicon) -> scores.Score:
        """Take the lexicon's values, or see that NLTK has its data."""
        if self.source == "nltk":
            models.need_nltk("wordnet", WHAT)
            models.need_nltk("wordnet_ic", WHAT)
            return FromNltk(self, models.nltk_digest("wordnet", "wordnet_ic"))
        if lexicon.information_content is None:
            raise UsageError(
                f"lexicon {lexicon.name} holds no information content; give the score "
                "ic source: nltk, or use the score frequency"
            )
        source = f"WordNet information content of the lexicon {lexicon.name}"
        by_row = lexicon.information_content.astype(np.float64)
        return scores.ByRow.from_words(by_row, source)
