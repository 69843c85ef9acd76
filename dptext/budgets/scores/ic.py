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
from numpy.typing import NDArray

from dptext import models
from dptext.budgets import _spans
from dptext.errors import UsageError
from dptext.tokens.stop_words import STOP_WORDS
from dptext.types import Lexicon, Words

_WHAT = "the score ic from NLTK"


@dataclass(frozen=True, slots=True)
class Params:
    """source of the values; the rest is for nltk: its files, what of them, neutral."""

    source: Literal["lexicon", "nltk"] = "lexicon"
    files: Annotated[tuple[str, ...], Meta(min_length=1)] = ("ic-brown.dat",)
    measure: Literal["information", "count"] = "information"
    neutral: Annotated[float, Meta(ge=0, le=1e6)] = 1.0


@dataclass(frozen=True, slots=True)
class State:
    """content of each row, (V + 1,) float64, or None: NLTK is asked.

    digest, that of NLTK's data.
    """

    params: Params
    content: NDArray[np.float64] | None
    used: str
    digest: str = ""


def prepare(params: Params, lexicon: Lexicon) -> State:
    """Take the lexicon's values, or see that NLTK has its data."""
    if params.source == "nltk":
        models.need_nltk("wordnet", _WHAT)
        models.need_nltk("wordnet_ic", _WHAT)
        kind = "mean noun count" if params.measure == "count" else "information content"
        used = f"WordNet {kind} from {', '.join(params.files)}"
        return State(params, None, used, models.nltk_digest("wordnet", "wordnet_ic"))
    if lexicon.information_content is None:
        msg = (
            f"lexicon {lexicon.name} holds no information content; give the score ic "
            "source: nltk, or use the score frequency"
        )
        raise UsageError(msg)
    content = lexicon.information_content.astype(np.float64)
    used = f"WordNet information content of the lexicon {lexicon.name}"
    return State(params, np.append(content, content.max()), used)


def score(state: State, words: Words) -> NDArray[np.float64]:
    """Return the information content of each word."""
    if state.content is not None:
        return np.asarray(state.content[words.ids])
    params = state.params
    found = [
        _of_word(word.lower(), params.files, params.measure, params.neutral)
        for word in _spans.bodies(words)
    ]
    return np.array(found, np.float64)


def content(state: State) -> dict[str, str]:
    """Return the digest of NLTK's data, where it is asked."""
    return {"data": state.digest} if state.digest else {}


def describe(state: State) -> str:
    """Name the source."""
    return state.used


@lru_cache(maxsize=100_000)
def _of_word(word: str, files: tuple[str, ...], measure: str, neutral: float) -> float:
    values = []
    if measure == "information" and word.replace("’", "'") in STOP_WORDS:
        return neutral
    wordnet, tables = _wordnet(), [_table(file) for file in files]
    for table in tables:
        of_table = [
            value
            for synset in wordnet.synsets(word)
            if (value := _of_synset(synset, table, measure)) is not None
        ]
        if of_table:
            values.append(math.fsum(of_table) / len(of_table))
    mean = math.fsum(values) / len(values) if values else 0.0
    return mean or neutral


def _of_synset(synset: Any, table: Any, measure: str) -> float | None:
    if measure == "count":
        return float(table["n"].get(synset.offset(), 0.0))
    counts = table.get(synset.pos())
    if counts is None:  # adjectives and adverbs are not counted
        return None
    return math.log(counts[0] / max(counts.get(synset.offset(), 0.0), 1.0))


@lru_cache(maxsize=1)
def _wordnet() -> Any:
    wordnet = models.package("nltk.corpus", _WHAT, "nlp").wordnet
    wordnet.ensure_loaded()
    return wordnet


@lru_cache(maxsize=16)
def _table(file: str) -> Any:
    """Read counts by part of speech and offset; 0 is the whole."""
    reader = models.package("nltk.corpus", _WHAT, "nlp").wordnet_ic
    reader.ensure_loaded()
    if file not in reader.fileids():
        known = ", ".join(sorted(name for name in reader.fileids() if "ic-" in name))
        msg = f"the score ic: NLTK's wordnet_ic has no file {file!r}; known: {known}"
        raise UsageError(msg)
    return reader.ic(file)
