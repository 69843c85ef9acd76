"""Decoders: from drawn words to the words that are written, one file each.

A decoder reads what is released of a text, the drawn words among the kept pieces, with
a public language model and the mechanism's output distribution, and writes the words
that make the likeliest or the closest text. It is post-processing: what it writes is a
function of a `Released` and of public files, never of the text (docs/decoding.md); one
may send what is released to a third party, who writes the words or the text.

A file holds `Params`, a frozen dataclass and subclass of `decoders.Params`: the
settings in a profile. Their `prepare` returns a `Decoder`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dptext.attackers import Attacker
from dptext.attackers.channel import Channel
from dptext.server_use import ServerUse
from dptext.settings import Prepared
from dptext.types import Cost, Ids, Lexicon, Released, ThirdParty


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a decoder; reads tells whether it needs the output distribution.

    unkeyed names settings that decide nothing of the output: a key draws the same.
    """

    reads: ClassVar[bool] = True
    unkeyed: ClassVar[tuple[str, ...]] = ()

    @property
    def brings_model(self) -> bool:
        """Tell whether its model is the user's: a statement then rests on that one."""
        return self.reads

    @property
    def third_party(self) -> ThirdParty | None:
        """Return to whom draws are sent to be decoded, None for nobody."""
        return None

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
    def attacker(self) -> Attacker | None:
        """Return the attacker who attacks with the same model, as well as it can."""
        return None

    @property
    def server_attacker(self) -> Attacker | None:
        """Return the attacker who sends draws to a third party, if this one does."""
        return None

    @property
    def offline(self) -> Decoder:
        """Return the decoder for what is no release: it sends nothing to anybody."""
        return self

    @property
    def used(self) -> ServerUse | None:
        """Return what a third party was asked so far, None where nobody is."""
        return None

    @abstractmethod
    def decode(self, released: Released) -> Ids:
        """Return the words to write, (n,) int32 rows below V that may be drawn.

        Each text is decoded by itself: what is written for it does not depend on the
        other texts of the batch.
        """

    def rewrite(
        self, texts: list[str], spelled: Sequence[str], released: Released
    ) -> list[str]:
        """Return the texts to write for those that `decode` gave, one for each.

        spelled (n,) are the words of the texts that stand for drawn ones.
        """
        return texts

    def cost(
        self, texts: list[str], spelled: Sequence[str], released: Released
    ) -> Cost | None:
        """Return about what it costs to write a batch, None where that is nothing."""
        return None
