"""Decoders: choose the words to write for drawn words, one file each.

A decoder reads a release (drawn words among the kept pieces of a text) with a
public language model and the output distribution of the mechanism. It writes the words
that make the most likely or the closest text. This is post-processing: the result is a
function of a `Released` and of public files, never of the text
(docs/results/decoding.md). A decoder may send the release to a third party, which
writes the words or the text.

A file holds `Params`, a frozen dataclass and subclass of `decoders.Params`: the
settings in a profile. Their `prepare` returns a `Decoder`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from msgspec import Meta

from dptext.attackers import Attacker
from dptext.attackers.channel import Channel
from dptext.settings import Prepared
from dptext.types import Cost, Ids, Lexicon, Released, ThirdParty

# The fields of ServerUse that are counts.
_COUNTS = (
    "texts",
    "unanswered",
    "requests",
    "tokens_sent",
    "tokens_received",
)


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a decoder."""

    #: Whether it needs the output distribution of the mechanism.
    reads: ClassVar[bool] = True
    #: Settings that do not change the output: draws under a key stay the same.
    unkeyed: ClassVar[tuple[str, ...]] = ()

    @property
    def brings_model(self) -> bool:
        """Return whether the user supplied the model; the statement then says so."""
        return self.reads

    @property
    def third_party(self) -> ThirdParty | None:
        """Return the third party that receives and decodes draws, or None."""
        return None

    def for_lexicon(self, lexicon: Lexicon) -> Params:
        """Return settings that use the pair model of an adapted lexicon."""
        return self

    def fits(self, channel: Channel) -> bool:
        """Return whether the decoder applies; if not, the draws are written."""
        return True

    @abstractmethod
    def prepare(self, channel: Channel) -> Decoder:
        """Do the public work once. Raises UsageError if settings do not fit."""


class Decoder(Prepared, ABC):
    """A prepared decoder; `content` holds the digests of its model's files."""

    __slots__ = ()

    @property
    def note(self) -> str:
        """Return why output may differ on other machines, "" if it does not."""
        return ""

    @property
    def attacker(self) -> Attacker | None:
        """Return the strongest attacker with the same model, or None."""
        return None

    @property
    def server_attacker(self) -> Attacker | None:
        """Return the attacker that asks this decoder's third party, or None."""
        return None

    @property
    def offline(self) -> Decoder:
        """Return a decoder for measurements that contacts no third party."""
        return self

    @property
    def used(self) -> ServerUse | None:
        """Return the requests to a third party so far, or None."""
        return None

    @abstractmethod
    def decode(self, released: Released) -> Ids:
        """Return the words to write, (n,) int32 rows below V.

        Each text is decoded alone: the result does not depend on the other texts of the
        batch.
        """

    def rewrite(
        self, texts: list[str], spelled: Sequence[str], released: Released
    ) -> list[str]:
        """Rewrite texts of decoded words; `spelled` lists these words (n,)."""
        return texts

    def cost(
        self, texts: list[str], spelled: Sequence[str], released: Released
    ) -> Cost | None:
        """Return the estimated cost of writing a batch, or None."""
        return None


@dataclass(frozen=True, slots=True)
class ServerAsked:
    """The server that a run asked, with nothing that depends on the texts."""

    host: Annotated[
        str,
        Meta(
            description=(
                "Host in the settings' address. dptext does not know which machine "
                "answers there, or who else receives the requests."
            )
        ),
    ]
    model: Annotated[str, Meta(description="Name of the model in the settings.")]
    proxy: Annotated[
        bool,
        Meta(
            description=(
                "Whether requests went through a proxy set in the environment."
            )
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class ServerUse:
    """The traffic with a server. Host, model and proxy are as in ServerAsked."""

    host: Annotated[str, Meta(description="Host in the settings' address.")]
    model: Annotated[str, Meta(description="Name of the model in the settings.")]
    texts: Annotated[int, Meta(description="Number of texts sent to it.")]
    unanswered: Annotated[
        int,
        Meta(description="Texts with words that were written without it."),
    ]
    requests: Annotated[int, Meta(description="Number of requests.")]
    tokens_sent: Annotated[int, Meta(description="As far as the server counts them.")]
    tokens_received: Annotated[
        int, Meta(description="As far as the server counts them.")
    ]
    proxy: Annotated[
        bool, Meta(description="Whether requests went through a proxy.")
    ] = False

    @property
    def asked(self) -> ServerAsked:
        """Return the part that does not depend on the texts."""
        return ServerAsked(self.host, self.model, self.proxy)

    def since(self, before: ServerUse) -> ServerUse:
        """Return the increase since an earlier state."""
        added = {name: getattr(self, name) - getattr(before, name) for name in _COUNTS}
        return replace(self, **added)
