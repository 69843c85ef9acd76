from __future__ import annotations

import pytest

from dptext import registry
from dptext.decoders import Decoder, Params


@pytest.mark.parametrize("name", registry.names("decoders"))
def test_a_decoder_is_made_of_its_settings(name: str) -> None:
    """Settings extend those of the stage, and say whether the channel is read."""
    kind = registry.find("decoders", name).Params
    assert issubclass(kind, Params)
    assert isinstance(kind.reads, bool)
    assert Decoder.__abstractmethods__ == {"decode"}
