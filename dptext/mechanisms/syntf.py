"""SynTF: the exponential mechanism over the vocabulary, rated by synonymy.

P(y|x) ~ exp(eps rho(x, y) / 2) with rho 1 for the word itself, `synonym` for its
synonyms in the lexicon and 0 for all other words. Unknown words have no synonyms: they
become a uniform word.

Guarantee: epsilon-LDP over all of V and over unknown words: rho lies in [0, 1] whatever
x is, and every word can be written for every word. With published: true none: only the
word and its own synonyms are candidates, so that most words can never be written.
Instead: leave published out: the same ratings, with all of V as candidates.
Source: Weggenmann and Kerschbaum, SIGIR 2018, section 4, arXiv:1805.00904; in place,
word by word. published: the form of the comparative analysis of word-level mechanisms.
Known gaps: the published form as above; its scores come from the private corpus, which
are not offered. Words keep their places here; SynTF itself gives out only counts.
Example: dptext sanitize reviews.jsonl --mechanism syntf --epsilon 20
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, VaryingEpsilon

FAMILY = "choice"


@dataclass(frozen=True, slots=True)
class Params:
    """synonym, the rating of a synonym; published narrows the candidates to those."""

    synonym: Annotated[float, Meta(ge=0, le=1)] = 0.8
    published: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """Those of row x: synonyms[begins[x] : begins[x] + counts[x]]; both (V + 1,)."""

    params: Params
    begins: NDArray[np.int64]
    counts: NDArray[np.int64]
    synonyms: NDArray[np.int32]
    size: int


def prepare(params: Params, space: Space) -> State:
    """Take the lexicon's synonyms; UsageError where it has none."""
    lexicon = space.lexicon
    if lexicon.synonym_ends is None or lexicon.synonyms is None:
        msg = (
            f"mechanism syntf: the lexicon {lexicon.name!r} has no synonyms; use one "
            "that has (the built-in English one) or another mechanism (rank, santext)"
        )
        raise UsageError(msg)
    ends = lexicon.synonym_ends.astype(np.int64)
    counts = np.append(np.diff(ends, prepend=0), 0)
    begins = np.append(ends, ends[-1]) - counts
    return State(params, begins, counts, lexicon.synonyms, space.size)


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return epsilon-LDP over the whole vocabulary; none for the published form."""
    source = "Weggenmann and Kerschbaum 2018, section 4"
    if not state.params.published:
        left = VaryingEpsilon(word=1.0, total=1.0, drift=0.5)
        return Guarantee.ldp(source, varying_epsilon=left)
    return Guarantee.nothing(
        "only the word and its own synonyms are candidates, so that an output rules "
        "out every word that is neither, and a word without synonyms is always itself. "
        "Leave published: true out instead.",
        source=source,
    )


def published(
    state: State, epsilon: float, a: NDArray[Any], b: NDArray[Any]
) -> NDArray[np.float64]:
    """Return what is claimed of any two words, epsilon: (n,) nats.

    inf for the unknown word, of which nothing is said.
    """
    return np.where((a < 0) | (b < 0), np.inf, epsilon)


def _parts(
    state: State, rows: NDArray[np.int64], eps: Eps
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return weights over exp(eps / 2): the word's own, one synonym's, one other's.

    The first two in excess of the third, which every word has. (n,) each.
    """
    other = np.exp(-eps / 2.0)
    alike = np.exp((state.params.synonym - 1.0) * eps / 2.0)
    own = -np.expm1(-eps / 2.0)
    if state.params.published:
        # Unknown words have no candidates of their own: any word.
        other = np.where(rows < state.size, 0.0, 1.0)
        own = np.ones(len(rows))
    else:
        alike = np.maximum(alike - other, 0.0)
    return np.where(rows < state.size, own, 0.0), alike, other


def choose(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) nats -> (n,) ids.

    One uniform finds the part, itself, a synonym or any word; a second finds the word.
    """
    rows = ids.astype(np.int64) % (state.size + 1)
    own, alike, other = _parts(state, rows, eps)
    counts = state.counts[rows]
    integers = bits.integers(0)
    uniform = RandomBits.unit(integers[:, 0])
    target = uniform * (own + counts * alike + state.size * other)
    drawn = bits.below(integers[:, 1], state.size).astype(np.int32)
    itself = target < own
    drawn[itself] = ids[itself]
    few = np.flatnonzero(~itself & (target < own + counts * alike))
    # The second uniform chooses among the synonyms.
    positions = ((integers[few, 1] >> np.uint64(12)) * 2.0**-52 * counts[few]).astype(
        np.int64
    )
    drawn[few] = state.synonyms[state.begins[rows[few]] + positions]
    return drawn


def log_weights(state: State, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    """Return eps (rho(x, y) - 1) / 2, -inf where y is no candidate: (n, V) float64."""
    rows = ids.astype(np.int64) % (state.size + 1)
    counts = state.counts[rows]
    out = np.repeat((eps / -2.0)[:, None], state.size, axis=1)
    if state.params.published:
        out[rows < state.size] = -np.inf
    where = np.repeat(np.arange(len(rows)), counts)
    steps = np.arange(len(where)) - np.repeat(np.cumsum(counts) - counts, counts)
    words = state.synonyms[np.repeat(state.begins[rows], counts) + steps]
    out[where, words] = (state.params.synonym - 1.0) * eps[where] / 2.0
    known = np.flatnonzero(rows < state.size)
    out[known, rows[known]] = 0.0
    return out


def best_guesses(
    state: State,
    prior: NDArray[np.float64],
    epsilon: float,
    bands: list[tuple[int, int]],
) -> NDArray[np.float64]:
    """Return max of prior(x) P(y|x) over the x of each band: (bands, V).

    In O(V): every y has the best word at the weight of others, then itself and the
    words whose synonym it is.
    """
    rows = np.arange(state.size)
    counts = state.counts[:-1]
    own, alike, other = _parts(state, rows, np.full(state.size, epsilon))
    worth = prior / (own + counts * alike + state.size * other)
    best = np.empty((len(bands), state.size))
    for number, (begin, end) in enumerate(bands):
        part = slice(begin, end)
        best[number] = (worth[part] * other[part]).max()
        inputs = np.repeat(rows[part], counts[part])
        words = state.synonyms[state.begins[begin] :][: len(inputs)]
        value = worth[inputs] * (alike + other)[inputs]
        np.maximum.at(best[number], words, value)
        itself = worth[part] * (own + other)[part]
        best[number, part] = np.maximum(best[number, part], itself)
    return best


def numerical_slack(state: State, epsilon: float) -> float:
    """Return how far 52-bit uniforms may take the loss above epsilon, in nats.

    The borders between outputs are exact to 2^-52 and the rarest has probability 1/Z.
    """
    most = 1.0 + float(state.counts.max()) + state.size
    return float(2.0**-50 * most * np.exp(min(epsilon, 600.0) / 2.0))
