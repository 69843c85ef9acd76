"""Is the claim true? The exact worst loss of a mechanism, or a bound from samples.

The first that fits:
- identity: for P(y|x) ~ exp(-eta t(x, y) / 2) with a metric t, all pairs of V and the
  unknown word;
- rows: exact laws of chosen inputs over all outputs, every ordered pair of them;
- samples: a lower bound for noise mechanisms; it can refute a claim, never prove one.

Beside the mechanism's own claim the one of its paper is looked at, where the mechanism
promises nothing (`published`), and what is proven of it (`least_loss`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dptext.errors import UsageError
from dptext.guarantees.audit import identity, rows, samples
from dptext.guarantees.audit.finding import Finding, Published, Tally, label
from dptext.guarantees.audit.samples import Draw
from dptext.mechanisms import Channel

__all__ = ["Finding", "Published", "audit"]


def audit(
    channel: Channel,
    epsilon: float,
    draw: Draw,
    *,
    inputs: int = 200,
    runs: int = 20000,
) -> Finding:
    """Audit a mechanism at an epsilon.

    draw runs mechanism and mapping once for each id given; inputs is how many words an
    audit of chosen words takes; runs how often each of a few words is drawn for a noise
    mechanism. UsageError for a mechanism of whole texts that offers no laws of any.
    """
    module = channel.module
    if module.FAMILY == "context":
        return _of_texts(channel, epsilon)
    if getattr(module, "METRIC_LAW", False):
        return identity.audit(channel, epsilon)
    if channel.exact:
        found = rows.audit(channel, epsilon, inputs)
    else:
        found = samples.audit(channel, epsilon, draw, runs)
    return _proven(channel, epsilon, found)


def _of_texts(channel: Channel, epsilon: float) -> Finding:
    """Audit the rows of public texts that a mechanism of whole texts offers."""
    laws = getattr(channel.module, "laws", None)
    if laws is None:
        msg = (
            f"{channel.name} looks at the whole text, so there is no table of words to "
            "audit: its epsilon rests on the range to which it cuts its scores (see "
            f"dptext mechanisms {channel.name})"
        )
        raise UsageError(msg)
    law = np.asarray(laws(channel.state, epsilon), np.float64)
    bound = channel.module.guarantee(channel.state, epsilon).worst(epsilon)
    tally = Tally()
    every = np.arange(len(law))
    rows.compare(law, every, lambda a, b: np.full(len(a), bound), None, tally)
    return tally.finding(
        channel,
        epsilon,
        "exact: public example texts, all outputs",
        len(law),
        named=lambda row: f"example text {row + 1}",
    )


def _proven(channel: Channel, epsilon: float, found: Finding) -> Finding:
    """Take in what is proven of the worst loss of a mechanism."""
    module, state = channel.module, channel.state
    if not hasattr(module, "least_loss"):
        return found
    least = float(module.least_loss(state))
    a, b = module.least_pair(state)
    pair = (label(channel, a), label(channel, b))
    found = replace(found, proven=least, proven_pair=pair)
    if least > found.worst:
        found = replace(
            found,
            worst=least,
            worst_pair=pair,
            worst_output=label(channel, a),
            claim_of_worst=math.inf,
            infinite=found.infinite if math.isfinite(least) else 1.0,
        )
    if found.published is None or not found.confidence:
        return found
    ids = np.array([a], np.int32), np.array([b], np.int32)
    bound = float(module.published(state, epsilon, *ids)[0])
    if least <= bound:
        return found
    source = found.published.source
    by = Published(source, True, "proof", least / bound, pair, least, bound)
    return replace(found, published=by)
