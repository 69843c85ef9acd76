"""The sensitivity thesis: its constants from its own numbers, and on vectors at hand.

Gumbel's scale is positive above (5 + 2 ln W) / d_min. Each space and mapping: how often
a word is written as itself (50 random words, 100 runs each) at the thesis's epsilons.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.published import figures as published
from dptext.types import Inputs
from tools import vector_folder

Row = dict[str, Any]
EPSILONS = (0.1, 1.0, 10.0, 50.0, 100.0, 150.0)
VOCABULARY = 8000
# The thesis's name -> dptext's space.
SPACES = {
    "none": "identity",
    "unit length": "unit",
    "unit length (adapted)": "ball",
    "interval [-1,1]": "interval",
    "observed range": "observed-range",
    "clipping to observed range": "clip",
    "dimensionality reduction (JL)": "jl",
}
MAPPINGS = ("nearest", "two-nearest")


def constants() -> dict[str, str]:
    """Return the numbers that the thesis gives in running text."""
    table = published.rows("sensitivity-thesis-constants")
    return {row["name"]: row["value"] for row in table}


def bounds() -> dict[str, tuple[float, float]]:
    """Return each printed constant with what its formula gives."""
    given = {
        name: float(value)
        for name, value in constants().items()
        if value.replace(".", "").replace("-", "").replace("e", "").isdigit()
    }
    least, width = given["min_distance_training_words"], given["embedding_dimension"]
    reach = given["observed_range_max"] - given["observed_range_min"]
    unique = given["jl_unique_tokens_ag_news"]
    gaussian = math.sqrt(2.0 * math.log(unique))
    root = gaussian + math.sqrt(math.log(1.0 / given["jl_delta"]))
    formulas = {
        "sensitivity_unit_length": 2.0 / least,
        "sensitivity_interval": 2.0 * math.sqrt(width) / least,
        "sensitivity_observed_range": math.sqrt(width) * reach / least,
        "sensitivity_jl": 1.0 + given["jl_beta"],
        "jl_gaussian_width_bound": gaussian,
        "jl_target_dimension": float(math.ceil(root**2 / given["jl_beta"] ** 2)),
    }
    return {name: (given[name], value) for name, value in formulas.items()}


def thresholds() -> dict[str, tuple[float, int]]:
    """Return from which epsilon Gumbel has a scale, and how many of six are above."""
    size = int(constants()["mapping_vocabulary_words"])
    results = {}
    for row in published.rows("sensitivity-thesis-table5.2"):
        least = float(row["gumbel_distance_min"])
        low = (5.0 + 2.0 * math.log(size)) / least
        results[row["sensitivity_approach"]] = low, sum(e > low for e in EPSILONS)
    return results


def rows(glove: Path, data: Path) -> Iterator[Row]:
    """Yield distances, exact Lipschitz constants and N_w of each space."""
    from dptext import load_profile, pipeline
    from dptext.errors import DptextError
    from dptext.lexicons.importing import Settings
    from dptext.measures.public import public_draw

    sources = {
        "GloVe 6B, 50 dimensions": glove,
        "SGNS, 300 dimensions": data / "embeddings" / "sgns-wiki-imdb-300d",
    }
    settings = Settings(max_words=VOCABULARY, outputs=0)
    for vectors, folder in sources.items():
        lexicon = vector_folder.lexicon(folder, settings)
        chosen = np.random.default_rng(1).choice(len(lexicon.words), 50, replace=False)
        words = np.repeat(chosen, 100).astype(np.int32)
        for label, space in SPACES.items():
            jl = {"name": "jl", "beta": 0.9, "delta": 1e-6, "unit_length": True}
            over: dict[str, Any] = {"space": jl if space == "jl" else space}
            first = True
            for mapping in MAPPINGS:
                over["mapping"] = {"name": mapping}
                if mapping == "two-nearest":
                    over["mapping"]["t"] = 0.75
                try:
                    sanitizer = pipeline.build(
                        load_profile("thesis-laplace", over), lexicon
                    )
                except DptextError as error:
                    yield {
                        "part": "thesis",
                        "vectors": vectors,
                        "space": label,
                        "refused": str(error),
                    }
                    break
                measured = sanitizer.mechanism.space
                shares = {}
                for epsilon in EPSILONS:
                    drawn = public_draw(sanitizer, epsilon)(words)
                    shares[f"{epsilon:g}"] = round(
                        100 * float((drawn == words).mean()), 2
                    )
                row: Row = {
                    "part": "thesis",
                    "vectors": vectors,
                    "space": label,
                    "mapping": mapping,
                    "N_w": shares,
                }
                if first:
                    row |= _geometry(measured)
                    first = False
                yield row


def _geometry(space: Any) -> Row:
    """Return dimension, distances and the exact Lipschitz constant of a space."""
    vectors = space.vectors[:-1].astype(np.float64)
    squares = np.einsum("vd,vd->v", vectors, vectors)
    least = np.inf
    for begin in range(0, len(vectors), 512):
        part = slice(begin, begin + 512)
        gaps = squares[part, None] + squares - 2.0 * vectors[part] @ vectors.T
        np.fill_diagonal(gaps[:, begin:], np.inf)
        least = min(least, float(gaps.min()))
    return {
        "dimension": vectors.shape[1],
        "least": round(math.sqrt(max(least, 0.0)), 4),
        "diameter": round(space.geometry.diameter, 4),
        "lipschitz": round(float(space.lipschitz.over(Inputs.WORDS)), 4),
        "published_constant": space.published,
    }
