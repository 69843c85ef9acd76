"""rank and its decoder beside the mechanisms of the comparative analysis.

On the same texts and measures, with the built-in lexicon; epsilon is what a risk asks
for. N_w and S_w are those of the draws. Unknown words are replaced, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.private_rows import privatized
from benchmarks.published import corpora, measures
from benchmarks.published.comparative import extended
from benchmarks.published.corpora import Ids

Row = dict[str, Any]
RISKS = (0.2, 0.1)
DECODERS = ("none", "ngram")
UNKNOWN = "qxqxqz"


def rows(dataset: str, glove: Path, model: Path | None) -> Iterator[Row]:
    """Yield a row for each risk and decoder."""
    from dptext import calibration, lexicons, profile
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
            sanitizer = calibration.build(
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
                # A word that no training text has is one that no lexicon has.
                plain = [
                    t.replace("?", UNKNOWN) for t in measures.joined_texts(words, texts)
                ]
                written = privatized(sanitizer, plain, 1, written=True)[1]
                parts.append(measures.split(back[written], texts))
            row |= measures.measure_texts(corpus, words, parts[0], model)
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
