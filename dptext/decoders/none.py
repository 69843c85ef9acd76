"""No decoder: writes the drawn words unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dptext import decoders
from dptext.attackers.channel import Channel
from dptext.types import Ids, Released


@dataclass(frozen=True, slots=True)
class Params(decoders.Params):
    """No parameters."""

    reads: ClassVar[bool] = False

    def prepare(self, channel: Channel) -> WrittenAsDrawn:
        """Return the decoder."""
        return WrittenAsDrawn()


@dataclass(frozen=True, slots=True)
class WrittenAsDrawn(decoders.Decoder):
    """Writes the drawn words."""

    def decode(self, released: Released) -> Ids:
        """Return the drawn words."""
        return released.drawn
