"""Information content of a word's meanings in WordNet (Resnik 1995), in nats.

source lexicon: the lexicon's own values (mean over the synsets of the word's lemmas;
words outside WordNet have their surprisal, unknown words the greatest of all values).
source nltk: for each file the mean, over the noun and verb synsets of the word's lemma,
of -ln of the synset's share; then the mean over files. Counts below one count as one. A
word without such synsets has the value neutral, and so have function words, as their
synsets belong to other words ("at": astatine). measure count is that of the published
code: the mean raw noun count of any word, by which common words score high.
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
    """Prepared score with NLTK's data."""

    params: Params
    digest: str

    @property
    def content(self) -> dict[str, str]:
        """Return the digest of NLTK's data."""
        return {"data": self.digest}

    @property
    def description(self) -> str:
        """Name the data files."""
        counts = self.params.measure == "count"
        kind = "mean noun count" if counts else "information content"
        return f"WordNet {kind} from {', '.join(self.params.files)}"

    def values(self, words: Words) -> Floats:
        """Return each word's information content, or its count."""
        settings = self.params.files, self.params.measure, self.params.neutral
        values = [_word_value(word.lower(), *settings) for word in scores.bodies(words)]
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
        in_table = [value for value in counted if value is not None]
        if in_table:
            values.append(math.fsum(in_table) / len(in_table))
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
    """Read counts by part of speech and offset; offset 0 holds the totals."""
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
    """Settings of the score; all except source apply to nltk only."""

    source: Literal["lexicon", "nltk"] = "lexicon"
    #: Of NLTK's wordnet_ic.
    files: Annotated[tuple[str, ...], Meta(min_length=1)] = ("ic-brown.dat",)
    measure: Literal["information", "count"] = "information"
    #: The value of words without counted synsets.
    neutral: Annotated[float, Meta(ge=0, le=1e6)] = 1.0

    def prepare(self, lexicon: Lexicon) -> scores.Score:
        """Load the lexicon's values, or check that NLTK has its data."""
        if self.source == "nltk":
            models.need_nltk("wordnet", WHAT)
            models.need_nltk("wordnet_ic", WHAT)
            return FromNltk(self, models.nltk_digest("wordnet", "wordnet_ic"))
        if lexicon.information_content is None:
            raise UsageError(
                f"lexicon {lexicon.name} has no information content; set source: nltk "
                "for the score ic, or use the score frequency"
            )
        source = f"WordNet information content of the lexicon {lexicon.name}"
        by_row = lexicon.information_content.astype(np.float64)
        return scores.ByRow.from_words(by_row, source)
