"""rank and its decoder beside the mechanisms of the comparative analysis.

On the same texts and measures, with the built-in lexicon; epsilon is what a risk asks
for. N_w and S_w are those of the draws. Unknown words are replaced, too.

LOW on all training texts of AG News, by both readings of its description.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import published_corpora as corpora
import published_measures as measures
from private_rows import privatized
from published_comparative import extended
from published_corpora import Ids
from published_faults import Published

Row = dict[str, Any]
RISKS = (0.2, 0.1)
DECODERS = ("none", "ngram")
# What LOW is measured of on all texts.
LOW = (("TEM", 1.0), ("SanText", 1.0), ("CMP", 1.0), ("TEM", 10.0), ("CMP", 10.0))


def rows(dataset: str, glove: Path, model: Path | None) -> Iterator[Row]:
    """Yield a row for each risk and decoder."""
    from dptext import lexicons, pipeline, profile
    from dptext.measures.public import public_draw

    corpus = corpora.corpus(dataset, glove)
    for risk in RISKS:
        for decoder in DECODERS:
            recipe = {
                "name": "replication",
                "lexicon": "builtin",
                "mechanism": {"name": "rank"},
                "decoder": decoder,
                "budget": {"name": "uniform", "risk": risk},
                "tokens": {"case": "lower", "agreement": "none"},
            }
            sanitizer = pipeline.build(
                profile.parse(recipe, "replication"), lexicons.find("builtin")
            )
            words = list(corpus.words)
            inside, back = extended(corpus, sanitizer.lexicon.words, words)
            epsilon = float(sanitizer.budget.description.high)
            draw = public_draw(sanitizer, epsilon)

            def change(ids: Ids, _: float, draw: Any = draw) -> Ids:
                return np.asarray(back[draw(inside[ids])])  # noqa: B023

            row = measures.deniability(corpus, change, epsilon)
            parts = []
            for texts in (corpus.train, corpus.test):
                written = privatized(
                    sanitizer, measures.texts_of(words, texts), 1, written=True
                )[1]
                parts.append(measures.split(back[written], texts))
            row |= measures.of_texts(corpus, words, parts[0], model)
            row |= measures.accuracy(corpus, words, parts)
            row = {key: round(value, 3) for key, value in row.items()}
            decoded = ", decoded" if decoder == "ngram" else ""
            yield {
                "part": "rank",
                "dataset": dataset,
                "kind": "dptext",
                "mechanism": f"rank, risk {risk:.0%}{decoded}",
                "epsilon": round(epsilon, 3),
                **row,
            }


def low(glove: Path) -> Iterator[Row]:
    """Yield LOW by both readings, on all training texts of AG News."""
    corpora.SIZES["AG News"] = (1_000_000, 1)
    corpus = corpora.corpus("AG News", glove)
    published = Published.of(corpus)
    rng = np.random.default_rng(0)
    before = np.concatenate(corpus.train)
    rare = set(measures.rarest([before]))
    for mechanism, epsilon in LOW:
        after = published.draw(mechanism, before, epsilon, rng)
        overlap = rare & set(measures.rarest([after]))
        yield {
            "part": "low",
            "dataset": "AG News",
            "mechanism": mechanism,
            "epsilon": epsilon,
            "tokens": len(before),
            "overlap": len(overlap) / 10.0,
            "present": len(rare & set(after.tolist())) / 10.0,
            "PP": round(100.0 * float((before != after).mean()), 2),
        }
