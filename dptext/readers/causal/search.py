"""Beam search over the candidates of drawn words, and the posterior on its tree.

score = weight * ln L(x_1 ... x_i with the known pieces) + the evidence of each word. A
beam's word of several tokens is first weighed by what its later tokens are worth on
average, then by what the model says of them. The posterior of each word is that of the
tree that was searched: its sums run over all beams and over all candidates that each
beam was followed by, forward as they were weighed, backward by what became of them;
those that were not followed count as much less or more as all others did. With beams
for all texts both are exact.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.readers.causal.entries import Node, room
from dptext.readers.causal.texts import Known

Floats = NDArray[np.float64]


class Step(NamedTuple):
    """A drawn word: c candidates, their tokens, and what is known after it.

    evidence (c,), ln P(y|x) or a posterior of another reader; ahead (c,), ln p of later
    tokens as far as known without the model.
    """

    spelled: Sequence[tuple[int, ...]]
    evidence: Floats
    ahead: Floats
    after: Sequence[Known]

    @property
    def firsts(self) -> NDArray[np.int64]:
        """Return the first token of each candidate: (c,)."""
        return np.array([tokens[0] for tokens in self.spelled], np.int64)


class Found(NamedTuple):
    """The candidates (n,) of the likeliest text, and the posterior of each word."""

    best: list[int]
    posterior: list[Floats]


class _Beams(NamedTuple):
    """What was weighed for one word: (b, c) scores of beams followed by candidates.

    entered (b,) scores of the beams; chosen (k,) index of the pairs that were followed,
    scores (k,) theirs after all of their tokens.
    """

    entered: Floats
    weighed: Floats
    chosen: NDArray[np.int64]
    scores: Floats


# A search yields leaves that are to be read with all before them, and goes on once
# their log_probs are there.
Search = Generator[list[Node], None, Found]


def search(
    start: Sequence[Known],
    steps: Sequence[Step],
    width: int,
    weight: float,
    capacity: int,
) -> Search:
    """Search one text with width beams; capacity, entries of the cache."""
    root = _chain(None, start, steps[0].firsts)
    yield [root[-1]]
    leaves, scores = [root[-1]], np.zeros(1)
    passed: list[_Beams] = []
    for number, step in enumerate(steps):
        last = number + 1 == len(steps)
        weighed = scores[:, None] + step.evidence
        firsts = np.stack([leaf.log_probs for leaf in leaves])
        weighed = weighed + weight * (firsts + step.ahead)
        order = np.argsort(-weighed.ravel(), kind="stable")[:width]
        chosen = order[np.isfinite(weighed.ravel()[order])]
        beams, candidates = np.divmod(chosen, len(step.spelled))
        wanted = None if last else steps[number + 1].firsts
        chains = [
            _chain(leaves[beam], [Known(step.spelled[word]), *step.after], wanted)
            for beam, word in zip(beams.tolist(), candidates.tolist(), strict=True)
        ]
        # The last token of a text is not read: nothing comes after it.
        ends = [chain[-1].parent if last else chain[-1] for chain in chains]
        yield [end for end in ends if end is not None]
        known = scores[beams] + step.evidence[candidates]
        known += weight * (firsts[beams, candidates] + np.array([*map(_sum, chains)]))
        entered, scores = scores, known
        leaves = [chain[-1] for chain in chains]
        if not last and _full(leaves, steps[number + 1], width, capacity):
            best = int(scores.argmax())
            chosen, scores = chosen[best : best + 1], scores[best : best + 1]
            leaves = [_again(leaves[best], steps[number + 1].firsts, capacity)]
            yield leaves
        passed.append(_Beams(entered, weighed, chosen, scores))
    return Found(_best(passed), _posterior(passed))


def _chain(
    parent: Node | None, known: Sequence[Known], wanted: NDArray[np.int64] | None
) -> list[Node]:
    """Return nodes of tokens one after another; each asks for the next that counts."""
    nodes: list[Node] = []
    for part in known:
        for token in part.tokens:
            if nodes and part.counts:
                nodes[-1].wanted = np.array([token])
            parent = Node(token, parent)
            nodes.append(parent)
    if wanted is not None:
        nodes[-1].wanted = wanted
    return nodes


def _sum(chain: list[Node]) -> float:
    """Return ln p of the tokens of a chain but the first."""
    return float(sum(node.log_probs[0] for node in chain[:-1] if len(node.wanted)))


def _full(leaves: list[Node], step: Step, width: int, capacity: int) -> bool:
    """Tell whether the next tokens might not find a free entry."""
    after = sum(len(known.tokens) for known in step.after)
    longest = max(map(len, step.spelled)) + after
    return room(leaves) + width * longest >= capacity - 1


def _again(leaf: Node, wanted: NDArray[np.int64], capacity: int) -> Node:
    """Return a leaf that begins anew with the last tokens before it."""
    tokens = [node.token for node in leaf.path()]
    kept = tokens[:1] + tokens[1:][-(capacity // 4) :]
    return _chain(None, [Known(tuple(kept), counts=False)], wanted)[-1]


def _best(passed: list[_Beams]) -> list[int]:
    """Return the candidates on the way to the beam with the best score."""
    words: list[int] = []
    beam = int(passed[-1].scores.argmax())
    for step in reversed(passed):
        beam, word = divmod(int(step.chosen[beam]), step.weighed.shape[1])
        words.append(word)
    return words[::-1]


def _posterior(passed: list[_Beams]) -> list[Floats]:
    """Return the posterior of the candidates of each word: (c,) each, sums to 1."""
    posteriors: list[Floats] = []
    later: Floats | None = None
    for step in reversed(passed):
        followed = step.scores if later is None else step.scores + later
        total = step.weighed.ravel().copy()
        gone = _log_sum(followed, 0) - _log_sum(total[step.chosen], 0)
        total += gone
        total[step.chosen] = followed
        table: Floats = total.reshape(step.weighed.shape)
        words = _log_sum(table, 0)
        posteriors.append(np.exp(words - _log_sum(words, 0)))
        later = _log_sum(table, 1) - step.entered
    return posteriors[::-1]


def _log_sum(logs: Floats, axis: int) -> Floats:
    """Return ln of the sum of exp along an axis."""
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(logs - top).sum(axis=axis))
    return np.asarray(sums + np.squeeze(top, axis))
