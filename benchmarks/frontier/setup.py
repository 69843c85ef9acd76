"""The comparison at equal risk: levels, mechanisms, corpora."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.private_rows import read_rows
from dptext import lexicons, pipeline, profile
from dptext.pipeline import Pipeline

RISKS = (0.2, 0.1)
LOSSES = (8.0, 12.0)
# The risk in context at which mechanisms are compared, by the n-gram attacker.
IN_CONTEXT = 0.2
# And by the attacker who also has other public texts of the same kind.
SAME_KIND = 0.2
# Mechanisms with an output distribution, which can be decoded: the decoded texts are
# measured beside the draws, at risks alone and in context.
DECODED = ("rank", "santext", "custext", "syntf", "diffractor")
MECHANISMS: dict[str, dict[str, Any]] = {
    "rank": {"name": "rank"},
    "santext": {"name": "santext"},
    "custext": {"name": "custext", "mapping": "one_set"},
    "custext, published": {"name": "custext", "mapping": "balanced", "k": 20},
    "syntf": {"name": "syntf"},
    "syntf, published": {"name": "syntf", "published": True},
    "diffractor": {"name": "diffractor"},
    "laplace": {"name": "laplace"},
    "mahalanobis": {"name": "mahalanobis"},
    "gaussian": {"name": "gaussian"},
    "gumbel": {"name": "gumbel", "low_epsilon": True},
    "vickrey": {"name": "vickrey"},
}
# Its loss is known exactly over all pairs of words: it is not held to what it claims.
# tem is the same at these levels, its gamma being above the largest distance.
AUDITED = ("santext",)
AUDITS = (5.0, 8.0, 11.0, 13.0, 15.0, 18.0)
# At a worst loss rank takes the weights of this risk, which have an epsilon near it.
RISK_OF_WEIGHTS = {8.0: 0.14, 12.0: 0.5}
# Corpus -> training and test rows as (file, from, to), what to learn, is it an attack?
CORPORA: dict[str, tuple[tuple[str, int, int], tuple[str, int, int], str, bool]] = {
    "AG News": (
        ("agnews_train19k", 0, 2500),
        ("agnews_test5600", 0, 1200),
        "label",
        False,
    ),
    "SST-2": (("sst2_train20k", 0, 6000), ("sst2_dev", 0, 872), "label", False),
    "IMDb": (("imdb_5k", 0, 400), ("imdb_5k", 2000, 2300), "label", False),
    "Trustpilot": (
        ("trustpilot_en_train", 0, 2500),
        ("trustpilot_en_test", 0, 403),
        "gender",
        True,
    ),
}


def build(
    mechanism: dict[str, Any], budget: dict[str, Any], decoder: str = "none"
) -> Pipeline:
    """Make a pipeline like profile balanced, with these three settings."""
    recipe = {
        "name": "frontier",
        "lexicon": "builtin",
        "mechanism": mechanism,
        "decoder": decoder,
        "budget": {"name": "uniform", **budget},
        "tokens": {"case": "restore"},
    }
    return pipeline.build(profile.parse(recipe, "frontier"), lexicons.find("builtin"))


def levels() -> Iterator[str]:
    """Yield names of levels: what cannot be reached is refused later."""
    for risk in RISKS:
        yield f"risk {risk:.0%}"
    yield f"context {IN_CONTEXT:.0%}"
    yield f"kind {SAME_KIND:.0%}"
    for loss in LOSSES:
        yield f"loss {loss:g}"


def read_part(corpus: str, which: int) -> tuple[list[str], list[Any]]:
    """Return texts and labels for training (0) or testing (1)."""
    parts, label = CORPORA[corpus][:2], CORPORA[corpus][2]
    file, begin, end = parts[which]
    rows = read_rows(file)[begin:end]
    return [row["text"] for row in rows], [row[label] for row in rows]
