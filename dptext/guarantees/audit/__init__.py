"""Whether a claim is true, and whether the program does what its formula says.

The claim against the formula, the first that fits:
- identity: for P(y|x) ~ exp(-eta t(x, y) / 2) with a metric t, all pairs of V and the
  unknown word;
- rows: exact output distributions of chosen inputs, every ordered pair of them;
- pairs: for noise mechanisms the density at the words' vectors, and a lower bound from
  draws that needs no density;
- samples: a lower bound from the words drawn; it can refute a claim, never prove one.

The program against the formula, by draws: sampler where the output distribution is
exact, noise for noise mechanisms.

Beside the mechanism's own claim the one of its paper is looked at, where the mechanism
promises nothing (`published`), and what is proven of it (`least_loss`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dptext.errors import UsageError
from dptext.guarantees.audit import identity, noise, pairs, rows, sampler, samples
from dptext.guarantees.audit.draws import Draws
from dptext.guarantees.audit.finding import Finding, Published, Tally, label
from dptext.guarantees.audit.program import Deviation, Power, Program
from dptext.mechanisms import Channel

__all__ = [
    "DRAWS",
    "Deviation",
    "Draws",
    "Finding",
    "Power",
    "Program",
    "Published",
    "audit",
]
# Draws of words in a test of the program; of points, which take longer, a tenth.
DRAWS = 4_000_000


def audit(
    channel: Channel,
    epsilon: float,
    draws: Draws | None,
    *,
    inputs: int = 200,
    runs: int = 20000,
    number: int = DRAWS,
    progress: Callable[[str], None] = lambda line: None,
) -> Finding:
    """Audit a mechanism at an epsilon.

    draws runs the program by the path of a release; without it only formulas are
    looked at. inputs is how many words an audit of chosen words takes; runs how often
    each of a few pairs of words is drawn where there is no exact output distribution;
    number, the draws that hold the program against its formula; progress is called
    with lines for people. UsageError for a mechanism of whole texts that offers no
    rows of any, and for one that can only be drawn from where draws is None.
    """
    module = channel.module
    if module.FAMILY == "context":
        program = Program(False, False, "a mechanism of whole texts is not drawn from")
        return replace(_of_texts(channel, epsilon), program=program)
    if module.FAMILY == "noise" and hasattr(module, "perturb"):
        return _of_noise(channel, epsilon, draws, runs, number // 10, progress)
    if not channel.exact:
        progress(f"drawing pairs of words, {runs:,} draws of each")
        if draws is None:
            msg = f"audit: {channel.name} can only be judged by draws"
            raise UsageError(msg)
        result = samples.audit(channel, epsilon, draws.words, runs)
        program = Program(
            False,
            False,
            "there is no exact output distribution of a vocabulary of this size",
            untested=("the program: there is nothing exact to hold it against",),
        )
        return _proven(channel, epsilon, replace(result, program=program))
    if getattr(module, "METRIC_LAW", False):
        progress("computing the losses of all pairs of words")
        result = identity.audit(channel, epsilon)
    else:
        progress(f"computing the losses of all pairs of {inputs} words")
        result = _proven(channel, epsilon, rows.audit(channel, epsilon, inputs))
    if draws is None:
        return result
    program = sampler.audit(channel, epsilon, draws, inputs, number, progress)
    return replace(result, program=program)


def _of_noise(
    channel: Channel,
    epsilon: float,
    draws: Draws | None,
    runs: int,
    number: int,
    progress: Callable[[str], None],
) -> Finding:
    """Audit noise: the program first, then pairs of words."""
    if draws is None:
        msg = f"audit: {channel.name} can only be judged by draws"
        raise UsageError(msg)
    program, book = noise.audit(channel, epsilon, draws, number, progress)
    progress(f"drawing pairs of words, {runs:,} draws of each")
    result = pairs.audit(channel, epsilon, draws, runs, book)
    tested = program.tested or book.tests > 0
    method = program.method
    if hasattr(channel.module, "log_density"):
        method = f"{method}; density ratios of {result.sampled_pairs} pairs"
    mapping = "the mapping: it sees the noisy vector alone and can lose no more"
    program = replace(
        program,
        tested=tested,
        refuted=book.worst is not None,
        method=method,
        tests=book.tests,
        power=tuple(book.power),
        deviation=book.worst,
        untested=(*program.untested, mapping),
    )
    return replace(_proven(channel, epsilon, result), program=program)


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
