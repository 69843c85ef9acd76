"""Pipelines with a fault planted in their mechanism or strategy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dptext import pipeline, profile
from dptext.engine import release_audit as audits
from dptext.guarantees import audit
from dptext.pipeline import Pipeline
from dptext.randomness import RandomBits
from dptext.types import Eps, Ids, Lexicon

# mechanism, ids, eps, bits and the honest method -> ids or points
Fault = Callable[[Any, Ids, Eps, RandomBits, Any], Any]


def built(lexicon: Lexicon, mechanism: Any, epsilon: float, **keys: Any) -> Pipeline:
    """Build a pipeline."""
    budget = {"name": "uniform", "epsilon": epsilon}
    recipe = {"mechanism": mechanism, "budget": budget, **keys}
    return pipeline.build(profile.parse(recipe, "planted"), lexicon)


def planted(sanitizer: Pipeline, fault: Fault, **members: Any) -> Pipeline:
    """Put a fault in the place of sample; other members of the class as given."""
    mechanism = copy.copy(sanitizer.mechanism)
    kind: Any = type(mechanism)

    def wrong(self: Any, ids: Ids, eps: Eps, bits: RandomBits) -> Any:
        return fault(self, ids, eps, bits, partial(kind.sample, self))

    planted_kind = type("Planted", (kind,), {"sample": wrong, **members})
    object.__setattr__(mechanism, "__class__", planted_kind)
    return replace(sanitizer, mechanism=mechanism)


def audited(sanitizer: Pipeline, **effort: Any) -> audit.AuditResult:
    """Audit a pipeline at its epsilon."""
    draws = audits.draws(sanitizer)
    return audit.audit(
        sanitizer.mechanism, sanitizer.budget.description.high, draws, **effort
    )


def sometimes(bits: RandomBits, chance: float) -> Any:
    """Return where a fault strikes, (n,), by bits that no mechanism uses."""
    return bits.uniform(2**20)[:, 0] < chance


def copied(chance: float) -> Fault:
    """Copy the input with a chance."""

    def fault(mechanism: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Any) -> Ids:
        drawn = honest(ids, eps, bits)
        return np.where(sometimes(bits, chance) & (ids >= 0), ids, drawn)

    return fault
