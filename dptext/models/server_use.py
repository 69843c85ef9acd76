"""What a server was asked: who, and of how many texts."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class ServerAsked:
    """Whom a run asked, as far as a program can know: nothing of the texts.

    host is that of the address in the settings: who answers there, and who else gets
    what arrives, dptext does not know. proxy: whether requests went to that address
    through a proxy, as the environment asks.
    """

    host: str
    model: str
    proxy: bool = False


@dataclass(frozen=True, slots=True)
class ServerUse:
    """What a third party was asked: of how many texts.

    host, model and proxy as in ServerAsked; unanswered, texts of which some or all
    words were written without it; tokens as far as the server counts them.
    """

    host: str
    model: str
    texts: int
    unanswered: int
    requests: int
    tokens_sent: int
    tokens_received: int
    proxy: bool = False

    @property
    def asked(self) -> ServerAsked:
        """Return what of it does not depend on the texts."""
        return ServerAsked(self.host, self.model, self.proxy)

    def since(self, before: ServerUse) -> ServerUse:
        """Return what was added to an earlier state."""
        counts = [each.name for each in fields(self) if each.type == "int"]
        added = {name: getattr(self, name) - getattr(before, name) for name in counts}
        return replace(self, **added)
