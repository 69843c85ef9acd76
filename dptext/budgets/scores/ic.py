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

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from dptext import models
from dptext.budgets import scores
from dptext.budgets.scores._wordnet import WHAT, FromNltk
from dptext.errors import UsageError
from dptext.types import Lexicon


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
        return scores.ByRow.of(by_row, source)
