"""Mechanisms made ready for small lexicons."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext import mechanisms, registry, spaces
from dptext.mechanisms import Channel
from dptext.spaces import Space
from dptext.types import Ids, Lexicon
from tests import laws


def space_of(lexicon: Lexicon, name: str = "identity") -> Space:
    """Put a lexicon into a space."""
    module: Any = registry.find("spaces", name)
    return spaces.prepare(lexicon, name, module.Params())


def ready(name: str, lexicon: Lexicon, **params: Any) -> Channel:
    """Make a mechanism ready for a lexicon's own vectors."""
    module = registry.find("mechanisms", name)
    return mechanisms.ready(name, module, module.Params(**params), space_of(lexicon))


def law(channel: Channel, epsilon: float) -> NDArray[np.float64]:
    """Return P(y|x) for all words x, and for unknown words in the last row."""
    ids = np.append(np.arange(channel.space.size), -1).astype(np.int32)
    eps = np.full(len(ids), epsilon)
    return laws.normalised(channel.module.log_weights(channel.state, ids, eps))


def repeated(size: int, times: int) -> Ids:
    """Return every word and the unknown one (last), each `times` times, mixed."""
    ids = np.append(np.arange(size), -1).astype(np.int32)
    return np.tile(ids, times)


def hold_law(
    channel: Channel, epsilons: list[float], times: int, seed: int = 0
) -> None:
    """Hold draws against the exact law: all inputs, epsilons mixed in one batch."""
    size = channel.space.size
    ids = np.tile(repeated(size, 1), times)
    eps = np.array(epsilons)[np.arange(len(ids)) // (size + 1) % len(epsilons)]
    drawn = channel.module.choose(channel.state, ids, eps, laws.bits(len(ids), seed))
    assert drawn.dtype == np.int32
    alarm = laws.ALARM / (len(epsilons) * (size + 1))
    for epsilon in epsilons:
        exact = law(channel, epsilon)
        for row in range(size + 1):
            input_id = row if row < size else -1
            mine = drawn[(eps == epsilon) & (ids == input_id)]
            laws.assert_follows(mine, exact[row], alarm)
