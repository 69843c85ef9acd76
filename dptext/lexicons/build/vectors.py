"""Vectors of words: factors of their contexts, set apart by inflection.

Lemmas are placed by the synsets near their meanings (relation walk), by the words of
the glosses there, by their neighbours in running gloss text, and by given groups. Each
block is weighted by positive pointwise mutual information and brought to unit rows; one
truncated SVD over all gives the main dimensions. A small fixed-seed jitter keeps words
apart that the database does not tell apart (synonyms of one meaning each). The last
dimensions, one an inflection or part of speech, set a form apart from its lemma and
bring it nearer to other words in the same form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.build import contexts, factor, graph
from dptext.lexicons.build.forms import Link
from dptext.lexicons.build.wordnet import WordNet

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Global constants, from a handful of trials.
GRAPH, GLOSS, RUNNING, GROUP = 1.0, 0.5, 0.35, 0.8
POWER = 0.5
FORMS = ("plural", "third", "past", "ing", "er", "est")
FORM_SHIFT = 0.40
CLASSES = ("n", "v", "a", "r", "")  # the last: words outside WordNet, grammar
CLASS_SHIFT = 0.45
SHIFTS = len(FORMS) + len(CLASSES)
JITTER = 0.12
DERIVED_JITTER = 0.30
_PLAIN = frozenset({"base", *FORMS})
_SMALLEST = 1e-3


def word_vectors(
    wordnet: WordNet,
    words: Sequence[str],
    links: Mapping[str, tuple[Link, ...]],
    weights: Mapping[tuple[str, str], float],
    groups: Sequence[tuple[str, ...]],
    *,
    dimensions: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return unit vectors of words (keys): (V, dimensions) float64."""
    root_of = {word: _root(word, links, weights) for word in words}
    lemmas = {link.lemma for word in words for link in links.get(word, ())}
    roots = {root: row for row, root in enumerate(sorted({*root_of.values(), *lemmas}))}
    rows = {word: roots[root] for word, root in root_of.items()}
    main = dimensions - SHIFTS
    matrix = _blocks(wordnet, roots, rows, groups)
    placed = _unit(factor.reduce(matrix, main, POWER, seed))
    mixed, shifts = _mixture(words, links, weights, roots, rows)
    vectors = _unit(np.asarray(mixed @ placed))
    vectors += _jitter(words, links, main, seed)
    return _unit(np.hstack((_unit(vectors), shifts)))


def _root(
    word: str,
    links: Mapping[str, tuple[Link, ...]],
    weights: Mapping[tuple[str, str], float],
) -> str:
    """Return the lemma under which a word of a gloss is counted."""
    ties = links.get(word, ())
    if not ties or any(tie.lemma == word for tie in ties):
        return word
    return max(ties, key=lambda t: (t.share * weights[t.lemma, t.pos], t.lemma)).lemma


def _blocks(
    wordnet: WordNet,
    roots: Mapping[str, int],
    rows: Mapping[str, int],
    groups: Sequence[tuple[str, ...]],
) -> csr_matrix:
    from scipy import sparse

    count = len(roots)
    meanings = contexts.meanings(wordnet, roots)
    near = graph.pruned(meanings @ graph.walk(wordnet), _SMALLEST)
    blocks = (
        (GRAPH, near),
        (GLOSS, near @ contexts.glosses(wordnet, rows, count)),
        (RUNNING, contexts.neighbours(wordnet, rows, count)),
        (GROUP, contexts.alike(groups, rows, count)),
    )
    weighted = [part * factor.unit_rows(factor.ppmi(block)) for part, block in blocks]
    return sparse.hstack(weighted).tocsr()


def _mixture(
    words: Sequence[str],
    links: Mapping[str, tuple[Link, ...]],
    weights: Mapping[tuple[str, str], float],
    roots: Mapping[str, int],
    rows: Mapping[str, int],
) -> tuple[Any, NDArray[np.float64]]:
    """Return each word's parts of roots (V, roots) and of inflections (V, shifts)."""
    from scipy import sparse

    locations, columns, parts = [], [], []
    shifts = np.zeros((len(words), SHIFTS))
    for row, word in enumerate(words):
        ties = links.get(word) or (Link(word, "", "base", 1.0),)
        uses = [tie.share * weights.get((tie.lemma, tie.pos), 1.0) for tie in ties]
        for tie, use in zip(ties, uses, strict=True):
            part = use / sum(uses)
            locations.append(row)
            columns.append(roots.get(tie.lemma, rows[word]))
            parts.append(part)
            shifts[row, len(FORMS) + _class(tie.pos)] += part * CLASS_SHIFT
            if tie.kind in FORMS:
                shifts[row, FORMS.index(tie.kind)] += part * FORM_SHIFT
    shape = (len(words), len(roots))
    return sparse.csr_matrix((parts, (locations, columns)), shape=shape), shifts


def _class(pos: str) -> int:
    return CLASSES.index(pos)


def _jitter(
    words: Sequence[str], links: Mapping[str, tuple[Link, ...]], width: int, seed: int
) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed + 1)
    noise = rng.standard_normal((len(words), width)) / np.sqrt(width)
    derived = [
        word in links and all(tie.kind not in _PLAIN for tie in links[word])
        for word in words
    ]
    return np.asarray(noise * np.where(derived, DERIVED_JITTER, JITTER)[:, None])


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring rows to length one; what is only rounding error becomes zero.

    A word without contexts has such a row; scaled up it would differ between machines.
    """
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.where(length > 1e-9, rows / np.maximum(length, 1e-9), 0.0))
