"""The server that was asked, and the number of texts that it was asked about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from msgspec import Meta

# The fields of ServerUse that are counts.
_COUNTS = (
    "texts",
    "unanswered",
    "requests",
    "tokens_sent",
    "tokens_received",
)


@dataclass(frozen=True, slots=True)
class ServerAsked:
    """The server that a run asked, without anything that depends on the texts."""

    host: Annotated[
        str,
        Meta(
            description=(
                "Host of the address in the settings: dptext does not know which "
                "machine answers there, and who else gets the requests."
            )
        ),
    ]
    model: Annotated[str, Meta(description="Name of the model in the settings.")]
    proxy: Annotated[
        bool,
        Meta(
            description=(
                "Whether requests went to that address through a proxy, as the "
                "environment asks."
            )
        ),
    ] = False


@dataclass(frozen=True, slots=True)
class ServerUse:
    """The traffic with a server. Host, model and proxy are those of ServerAsked."""

    host: Annotated[str, Meta(description="Host of the address in the settings.")]
    model: Annotated[str, Meta(description="Name of the model in the settings.")]
    texts: Annotated[int, Meta(description="Number of texts that it was asked about.")]
    unanswered: Annotated[
        int,
        Meta(description="Texts of which some or all words were written without it."),
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
        """Return the growth since an earlier state."""
        added = {name: getattr(self, name) - getattr(before, name) for name in _COUNTS}
        return replace(self, **added)
