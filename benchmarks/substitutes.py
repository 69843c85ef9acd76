"""Orders by substitutability: words first that fit the same contexts, tried for rank.

    python benchmarks/substitutes.py [--weights 0 2 5] [--risks 0.2 0.16 0.13]

A reader of whole texts picks the candidate that fits. So the lists of the built-in
lexicon are ranked again by -ln(rank) plus a weight times the cosine of context vectors:
rows of the gains of the model of pairs, what follows and what goes before, reduced to
100 dimensions. Prints, for each weight and each risk alone, what the reader of pairs
finds of all and of content words, and the accuracy of TF-IDF and of mean vectors,
trained and tested on private rows of the training files (two seeds).
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from private_rows import learned, privatized, rows_of
from scipy import sparse

from dptext import lexicons, pipeline, profile
from dptext.measures import in_context, readings
from dptext.randomness import RunKey
from dptext.readers import locations, ngrams
from dptext.types import Lexicon

# Rows for training and testing, none of them test rows.
CORPORA = {
    "AG News": ("agnews_train19k", slice(4000, 6500), slice(15000, 16200)),
    "SST-2": ("sst2_train20k", slice(0, 6000), slice(15000, 16500)),
}
_DIMENSIONS, _READ = 100, 400


def ready(lexicon: Lexicon, risk: float) -> pipeline.Pipeline:
    """Return profile balanced at a risk, without a decoder."""
    budget = {"name": "uniform", "risk": risk, "epsilon": None}
    over = {"decoder": {"name": "none"}, "budget": budget}
    return pipeline.build(profile.load("balanced", over), lexicon)


def contexts_of(lexicon: Lexicon) -> NDArray[np.float64]:
    """Return unit vectors of the contexts of words: (V, 100)."""
    size = len(lexicon.words)
    model = locations.find(locations.ENGLISH, ready(lexicon, 0.2).channel)
    gains = np.log(ngrams.decoded(np.asarray(model.gains)))
    first, second = model.contexts, np.asarray(model.following).astype(np.int64)
    inside = (first < size) & (second < size) & (gains > 0.0)
    pairs = (gains[inside], (first[inside], second[inside]))
    after = sparse.csr_matrix(pairs, (size, size))
    both = sparse.hstack([after, after.T]).tocsr()
    # A random projection with three power iterations (Halko, Martinsson, Tropp 2011).
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(both @ rng.standard_normal((2 * size, _DIMENSIONS + 20)))
    for _ in range(3):
        basis, _ = np.linalg.qr(both.T @ basis)
        basis, _ = np.linalg.qr(both @ basis)
    small = (both.T @ basis).T
    left, squares, _ = np.linalg.svd(small @ small.T)
    vectors = (basis @ left)[:, :_DIMENSIONS] * squares[:_DIMENSIONS] ** 0.25
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9))


def ranked_again(
    lexicon: Lexicon, contexts: NDArray[np.float64], weight: float
) -> Lexicon:
    """Return the lexicon with its lists in another order, the word itself first."""
    if not weight:
        return lexicon
    orders = np.array(lexicon.orders)
    ranks = -np.log1p(np.arange(orders.shape[1]))
    for begin in range(0, len(contexts), 2000):
        part = slice(begin, min(begin + 2000, len(contexts)))
        near = np.einsum("nkd,nd->nk", contexts[orders[part]], contexts[part])
        near[:, 0] = np.inf
        order = np.argsort(-(ranks + weight * near), axis=1, kind="stable")
        orders[part] = np.take_along_axis(orders[part], order, axis=1)
    return replace(lexicon, orders=orders, digest=f"substitutes {weight:g}")


def figures(lexicon: Lexicon, risk: float) -> str:
    """Return a line: success of the reader, and accuracies, of each corpus."""
    sanitizer = ready(lexicon, risk)
    (reader,) = (r for r in readings.available(sanitizer) if r.name == "ngram")
    cells = [f"{sanitizer.budget.description.high:.4g} nats"]
    for corpus, (file, *parts) in CORPORA.items():
        rows = rows_of(file)
        train, test = ([row["text"] for row in rows[part]] for part in parts)
        labels, answers = ([row["label"] for row in rows[part]] for part in parts)
        both = [
            learned(
                sanitizer,
                privatized(sanitizer, train, seed),
                labels,
                privatized(sanitizer, test, seed + 1000),
                answers,
            )
            for seed in (1, 2)
        ]
        randomness = sanitizer.randomness(RunKey.from_seed(11))
        texts = [test[:_READ]]
        (reading,) = in_context.measure(sanitizer, [reader], texts, randomness)
        success = " ".join(f"{each.success:.1%}" for each in reading.classes[:2])
        shown = " ".join(f"{value:.3f}" for value in np.mean(both, axis=0))
        cells.append(f"{corpus}: in context {success}, accuracy {shown}")
    return "; ".join(cells)


def main() -> None:
    """Print a line for each weight and risk."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--weights", nargs="+", type=float, default=[0.0, 2.0, 5.0])
    parser.add_argument("--risks", nargs="+", type=float, default=[0.2, 0.16, 0.13])
    arguments = parser.parse_args()
    lexicon = lexicons.find("builtin")
    contexts = contexts_of(lexicon)
    for weight in arguments.weights:
        other = ranked_again(lexicon, contexts, weight)
        for risk in arguments.risks:
            print(f"{weight:g}, {risk:.0%}: {figures(other, risk)}", flush=True)


if __name__ == "__main__":
    main()
