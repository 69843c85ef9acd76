"""Chooses words that fit the copied words around them, weighted by their draw.

For texts in which most words are copied (dptext.attackers.context_writer).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from dptext import decoders
from dptext.attackers import ngrams
from dptext.attackers.channel import Channel
from dptext.attackers.context_writer import ContextWriter
from dptext.attackers.ngrams import Ngrams
from dptext.attackers.reader import Reader
from dptext.decoders._pairs import PairParams
from dptext.types import Ids, Released


@dataclass(frozen=True, slots=True)
class Params(PairParams):
    """Settings of the decoder."""

    #: Power of the topic of the text, 0 for none.
    topic: Annotated[float, Meta(ge=0, le=20)] = 12.0
    #: Scale of the Gumbel variables: with more, other words than the likeliest.
    variety: Annotated[float, Meta(ge=0, le=10)] = 1.2

    def prepare(self, channel: Channel) -> Context:
        """Open the model. Raises LexiconError and UsageError if it does not fit."""
        channel.check()
        return Context(self, channel, ngrams.find_model(self.model, channel))


class Context(decoders.Decoder):
    """Chooses words by the copied words around them."""

    def __init__(self, params: Params, channel: Channel, model: Ngrams) -> None:
        self._channel, self._model = channel, model
        self.writer = ContextWriter(
            channel, model, topic=params.topic, variety=params.variety
        )

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digests of the model and the lists of sensitive words."""
        return {"model": self._model.digest, **self._channel.lists}

    @property
    def attacker(self) -> Reader:
        """Return the strongest attacker with the same model."""
        return Reader(self._channel, self._model)

    def decode(self, released: Released) -> Ids:
        """Return the words to write: (n,)."""
        return self.writer.write(released)
