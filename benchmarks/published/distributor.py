"""Epsilon distributor, PrivEmb: what follows from printed figures, and real models.

Table 5.1: s_i = mean over four scores of c_i / sum_j c_j, epsilon_i = E (1 / s_i) /
sum_j (1 / s_j). Figure 4.3: s_i times epsilon_i is the same for all words.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.private_rows import DATA
from benchmarks.published import figures as published

Row = dict[str, Any]
SCORES = (
    "ic",
    "pos_weight",
    "sentence_similarity_score",
    "word_similarity_score",
)
TOTAL = 30.0
SENTENCE = (
    "After graduating from Stanford University, John Smith moved to Munich to start "
    "his new job at SAP, where he works as a software engineer"
)
# The printed values are means of five files of WordNet counts: "Stanford" 44.9 and
# "Munich" 129.2 are (214.5 + 1 + 9 + 0) / 5 and (630 + 7 + 8 + 1) / 5 of these four.
# The fifth has neither and is not at hand; a factor for all words changes nothing.
FILES = ["ic-bnc.dat", "ic-brown.dat", "ic-treebank.dat", "ic-semcor.dat"]


def table_5_1() -> dict[str, float]:
    """Return the greatest differences of scores and epsilons from the formula's.

    The second "to" is absent from the source, so that the four sums over the sentence
    are fitted to the printed final scores (least squares of 23 rows).
    """
    rows = published.rows("distributor-table5.1")
    printed = [row for row in rows if row["origin"] == "printed"]
    columns = np.array([[float(row[name]) for name in SCORES] for row in printed])
    shown = np.array([float(row["final_score"]) for row in printed])
    inverse, *_ = np.linalg.lstsq(columns / 4.0, shown, rcond=None)
    final = columns @ inverse / 4.0
    missing = 1.0 - final.sum()
    parts = 1.0 / np.append(final, missing)
    epsilon = np.array([float(row["epsilon"]) for row in printed])
    ratio = TOTAL * parts[:-1] / parts.sum() / epsilon
    return {
        "score": float(np.abs(final - shown).max()),
        "missing": float(missing),
        "epsilon_percent": float(100 * np.abs(ratio - 1.0).max()),
    }


def figure_4_3() -> dict[str, float]:
    """Return least and greatest score times epsilon, and the sum of proportions."""
    rows = published.rows("distributor-figure4.3")
    products = [
        float(row["final_score"]) * float(row["epsilon"])
        for row in rows
        if row["final_score"]
    ]
    shares = sum(float(row["epsilon_proportion"]) for row in rows)
    return {"least": min(products), "greatest": max(products), "shares": shares}


def jl_dimensions() -> list[tuple[float, int, float]]:
    """Return PrivEmb's pairs of beta and m, with m beta^2, which is nearly constant."""
    pairs = []
    for row in published.rows("privemb-text"):
        if row["item"].startswith("beta for m="):
            m, beta = int(row["item"].partition("=")[2]), float(row["value"])
            pairs.append((beta, m, m * beta**2))
    return pairs


def rows(model: Path) -> Iterator[Row]:
    """Yield scores and epsilons of the sentence of Table 5.1, by two ways."""
    import nltk

    from dptext import lexicons, load_profile, pipeline

    scores = {
        "ic": {"source": "nltk", "measure": "count", "files": FILES},
        "pos": True,
        "sentence-similarity": {"model": str(model)},
        "word-similarity": {"model": str(model)},
    }
    budget = {"name": "linguistic", "epsilon": TOTAL, "scores": scores}
    budget["variant"] = "published"
    nltk.data.path.insert(0, str(DATA / "nltk_data"))
    sanitizer = pipeline.build(
        load_profile("santext", {"budget": budget}), lexicons.find("builtin")
    )
    spread: Any = sanitizer.budget
    columns = spread.columns(sanitizer.tokenizer.words([SENTENCE]))
    words = [
        position for position, token in enumerate(columns["token"]) if token != ","
    ]
    mine = {
        name: [round(float(columns[name][position]), 4) for position in words]
        for name in (*scores, "epsilon")
    }
    tokens = [columns["token"][position] for position in words]
    theirs = _as_the_thesis(model, tokens, mine["pos"])
    for number, token in enumerate(tokens):
        row = {name: values[number] for name, values in mine.items()}
        row |= {f"thesis {name}": values[number] for name, values in theirs.items()}
        yield {"part": "distributor", "token": token, **row}


def _as_the_thesis(
    model: Path, tokens: list[str], pos: list[float]
) -> dict[str, list[float]]:
    """Score as the thesis does.

    Without a word the other words are compared without the sentence's two commas; a
    word's WordNet count is that of its lemma.
    """
    from nltk.corpus import wordnet, wordnet_ic
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(str(model), device="cpu")
    left = [" ".join(tokens[:n] + tokens[n + 1 :]) for n in range(len(tokens))]
    vectors = encoder.encode([SENTENCE, *tokens, *left], normalize_embeddings=True)
    cosines = np.asarray(vectors[1:] @ vectors[0], np.float64)
    word, sentence = np.abs(cosines[: len(tokens)]), 1.0 - cosines[len(tokens) :]
    tables = [wordnet_ic.ic(file)["n"] for file in FILES]
    counts = []
    for token in tokens:
        lemma = wordnet.morphy(token.lower()) or token.lower()
        offsets = [synset.offset() for synset in wordnet.synsets(lemma)]
        sums = [sum(table.get(offset, 0.0) for table in tables) for offset in offsets]
        counts.append(float(np.mean(sums)) / 5.0 if any(sums) else 1.0)
    columns = (np.array(counts), np.array(pos), sentence, word)
    final = np.mean([column / column.sum() for column in columns], axis=0)
    epsilon = TOTAL / final / (1.0 / final).sum()
    named = {"ic": counts, "sentence": sentence, "word": word, "epsilon": epsilon}
    return {
        name: [round(float(value), 4) for value in values]
        for name, values in named.items()
    }
