"""Settings of decoders that use a pair model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from dptext import decoders
from dptext.attackers import ngrams
from dptext.attackers.channel import Channel
from dptext.types import Lexicon


@dataclass(frozen=True, slots=True)
class PairParams(decoders.Params):
    """The pair model, and whether decoding is optional."""

    #: The model that ships, one of `dptext lexicon ngrams` by its name, or a folder.
    model: str = ngrams.ENGLISH
    #: Write the draws if the model that ships does not fit the language of the lexicon,
    #: or the mechanism has no output distribution.
    optional: bool = False

    def for_lexicon(self, lexicon: Lexicon) -> Self:
        """Replace the shipped pair model by that of an adapted lexicon."""
        pairs = lexicon.meta.get("pairs")
        if pairs is None or self.model != ngrams.ENGLISH:
            return self
        return replace(self, model=str(pairs))

    def fits(self, channel: Channel) -> bool:
        """Return whether to decode: always, unless the model is optional.

        Raises LexiconError if the model is damaged, or if a model of the user is
        missing or does not fit the lexicon.
        """
        if not self.optional:
            return True
        if self.brings_model:
            ngrams.find_model(self.model, channel)
        elif ngrams.shipped_model(channel) is None:
            return False
        return channel.mechanism.has_log_probs

    @property
    def brings_model(self) -> bool:
        """Return whether a model other than the shipped one is set."""
        return self.model != ngrams.ENGLISH
