"""Every registered component, ready for a small lexicon, none of them named."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from dptext import pipeline, profile, registry
from dptext.errors import UsageError
from dptext.pipeline import Pipeline
from dptext.types import Lexicon
from tests import small

MECHANISMS = registry.names("mechanisms")
MAPPINGS = registry.names("mappings")
SPACES = registry.names("spaces")
BUDGETS = registry.names("budgets")
METRICS = registry.names("metrics")


def complete(lexicon: Lexicon) -> Lexicon:
    """Add what a mechanism may ask for: synonyms in pairs, information content."""
    size = len(lexicon.words)
    pairs = [[row ^ 1] if row ^ 1 < size else [] for row in range(size)]
    return dataclasses.replace(
        lexicon,
        digest=f"complete {lexicon.digest}",
        synonym_ends=np.cumsum([len(pair) for pair in pairs]).astype(np.int32),
        synonyms=np.array([row for pair in pairs for row in pair], np.int32),
        information_content=np.linspace(1.0, 9.0, size, dtype=np.float32),
    )


SIX = complete(small.cloud(6, 3))
ENGLISH = complete(
    small.english(
        "the",
        "cat",
        "dog",
        "do",
        "n't",
        "'s",
        "Paris",
        "runs",
        "well",
        "known",
        "naive",
    )
)


def family(name: str) -> str:
    """Return "words", "noise" or "texts"."""
    return str(registry.find("mechanisms", name).Params.family.value)


CHOICES = tuple(name for name in MECHANISMS if family(name) == "words")
NOISES = tuple(name for name in MECHANISMS if family(name) == "noise")
# Each way from a word to a word.
PATHS = tuple((name, None) for name in CHOICES) + tuple(
    (name, mapping) for name in NOISES for mapping in MAPPINGS
)


@cache
def built(
    lexicon: str,
    mechanism: str,
    mapping: str | None,
    space: str = "identity",
    epsilon: float = 2.0,
) -> Pipeline:
    """Build a pipeline of default parameters for the lexicon of that name."""
    recipe: dict[str, Any] = {
        "mechanism": mechanism,
        "mapping": mapping,
        "space": space,
        "budget": {"name": "uniform", "epsilon": epsilon},
    }
    chosen: Lexicon = globals()[lexicon]
    try:
        return pipeline.build(profile.parse(recipe, "conformance"), chosen)
    except UsageError as error:
        # A mechanism may be undefined at an epsilon, or need a model, if it says so.
        pytest.skip(str(error))


def modules(stage: str) -> Iterator[tuple[str, Any]]:
    """Return the modules of a stage by name."""
    for name in registry.names(stage):
        yield name, registry.find(stage, name)


def promises(path: tuple[str, str | None]) -> bool:
    """Tell whether a path's mechanism claims a guarantee."""
    sanitizer = built("SIX", path[0], path[1], epsilon=100.0)
    promise = sanitizer.mechanism.guarantee(100.0)
    return bool(promise.notion != "none")


# Paths with a claim, and mechanisms with a law, on a small lexicon.
PROMISING = tuple(path for path in PATHS if promises(path))
EXACT = tuple(
    name
    for name in CHOICES
    if built("SIX", name, None, epsilon=100.0).mechanism.has_log_probs
)
