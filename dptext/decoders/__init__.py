"""Decoders: from drawn words to the words that are written, one file each.

A decoder reads what is released of a text, the drawn words among the kept pieces, with
a public language model and the mechanism's output distribution, and writes the words
that make the likeliest or the closest text. It is post-processing: what it writes is a
function of a `Released` and of public files, never of the text (docs/decoding.md).

A file holds `Params`, a frozen dataclass and subclass of `decoders.Params`: the
settings in a profile. Their `prepare` returns a `Decoder`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dptext.readers import Reader
from dptext.readers.channel import Channel
from dptext.settings import Prepared
from dptext.types import Ids, Lexicon, Released


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a decoder; reads tells whether it needs the output distribution."""

    reads: ClassVar[bool] = True

    @property
    def brings_model(self) -> bool:
        """Tell whether its model is the user's: a statement then rests on that one."""
        return self.reads

    def of_lexicon(self, lexicon: Lexicon) -> Params:
        """Return the settings with what the lexicon brings along for them."""
        return self

    def fits(self, channel: Channel) -> bool:
        """Tell whether to decode at all: False writes the draws, and says so."""
        return True

    @abstractmethod
    def prepare(self, channel: Channel) -> Decoder:
        """Do the public work once. Raises UsageError for settings that do not fit.

        channel knows lexicon, policy, prior, and what is drawn for which word.
        """


class Decoder(Prepared, ABC):
    """A decoder made ready; `content` holds the digests of the files of its model."""

    __slots__ = ()

    @property
    def note(self) -> str:
        """Return what keeps its output from being the same on every machine, or ""."""
        return ""

    @property
    def reader(self) -> Reader | None:
        """Return the reader who attacks with the same model, as well as it can."""
        return None

    @abstractmethod
    def decode(self, released: Released) -> Ids:
        """Return the words to write, (n,) int32 rows below V that may be drawn.

        Each text is decoded by itself: what is written for it does not depend on the
        other texts of the batch.
        """
