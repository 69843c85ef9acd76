"""Mechanisms made ready for small lexicons."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext import registry, spaces
from dptext.mechanisms import Aim, Mechanism, WordMechanism
from dptext.spaces import Space
from dptext.types import Ids, Lexicon
from tests import distributions


def space_of(lexicon: Lexicon, name: str = "identity") -> Space:
    """Put a lexicon into a space."""
    module: Any = registry.find("spaces", name)
    return spaces.prepare(lexicon, name, module.Params())


def ready(name: str, lexicon: Lexicon, **params: Any) -> Any:
    """Make a mechanism ready for a lexicon's own vectors."""
    module = registry.find("mechanisms", name)
    mechanism: Mechanism = module.Params(**params).prepare(space_of(lexicon), Aim())
    return mechanism


def probabilities(mechanism: Mechanism, epsilon: float) -> NDArray[np.float64]:
    """Return P(y|x) for all words x, and for unknown words in the last row."""
    ids = np.append(np.arange(mechanism.space.size), -1).astype(np.int32)
    rows = mechanism.probs(ids, epsilon)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=0, atol=1e-9)
    return rows


def repeated(size: int, times: int) -> Ids:
    """Return every word and the unknown one (last), each `times` times, mixed."""
    ids = np.append(np.arange(size), -1).astype(np.int32)
    return np.tile(ids, times)


def hold_draws(
    mechanism: WordMechanism, epsilons: list[float], times: int, seed: int = 0
) -> None:
    """Hold draws against exact distributions: all inputs, epsilons in one batch."""
    size = mechanism.space.size
    ids = np.tile(repeated(size, 1), times)
    eps = np.array(epsilons)[np.arange(len(ids)) // (size + 1) % len(epsilons)]
    drawn = mechanism.sample(ids, eps, distributions.bits(len(ids), seed))
    assert drawn.dtype == np.int32
    alarm = distributions.ALARM / (len(epsilons) * (size + 1))
    for epsilon in epsilons:
        exact = probabilities(mechanism, epsilon)
        for row in range(size + 1):
            input_id = row if row < size else -1
            mine = drawn[(eps == epsilon) & (ids == input_id)]
            distributions.assert_follows(mine, exact[row], alarm)


def hold_batches(mechanism: Any, ids: Ids, eps: NDArray[np.float64]) -> None:
    """Compare draws alone and in parts with all together, to the last bit."""
    bits = distributions.bits(len(ids))
    whole = mechanism.sample(ids, eps, bits)
    size = len(ids)
    ends = [(at, at + 1) for at in (*range(0, size, -(-size // 25)), size - 1)]
    for begin, end in (*ends, (size // 3, 14 * size // 15), (1, 7 * size // 8)):
        part = np.arange(begin, end)
        again = mechanism.sample(ids[part], eps[part], bits.take(part))
        np.testing.assert_array_equal(again, whole[part])


def hold_spherical(noise: NDArray[np.float64], epsilon: float) -> None:
    """Hold noise (n, d): length ~ Gamma(d, 1 / epsilon), direction uniform (1e-6)."""
    from scipy import stats

    width = noise.shape[1]
    lengths = np.linalg.norm(noise, axis=1)
    alarm = distributions.ALARM / 4
    assert stats.kstest(lengths * epsilon, stats.gamma(width).cdf).pvalue > alarm
    directions = noise / lengths[:, None]
    if width == 1:
        signs = (directions[:, 0] > 0).astype(int)
        distributions.assert_follows(signs, np.full(2, 0.5), alarm)
        return
    # (u . axis + 1) / 2 of a uniform direction is Beta((d - 1) / 2, (d - 1) / 2).
    half = (width - 1) / 2.0
    for axis in (np.eye(width)[0], np.eye(width)[-1], np.full(width, width**-0.5)):
        shares = (directions @ axis + 1.0) / 2.0
        assert stats.kstest(shares, stats.beta(half, half).cdf).pvalue > alarm
    # Length and direction are independent.
    fast = lengths > np.median(lengths)
    test = stats.ks_2samp(directions[fast, 0], directions[~fast, 0])
    assert test.pvalue > alarm
