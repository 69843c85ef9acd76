"""Pipelines with a fault planted in their mechanism or strategy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from dptext import pipeline, profile
from dptext.guarantees import audit
from dptext.pipeline import Pipeline
from dptext.randomness import RandomBits
from dptext.report import audit_draws
from dptext.types import Eps, Ids, Lexicon

# state, ids, eps, noise and the honest function -> ids or points
Fault = Callable[[Any, Ids, Eps, RandomBits, Any], Any]


def built(lexicon: Lexicon, mechanism: Any, epsilon: float, **keys: Any) -> Pipeline:
    """Build a pipeline."""
    budget = {"name": "uniform", "epsilon": epsilon}
    recipe = {"mechanism": mechanism, "budget": budget, **keys}
    return pipeline.build(profile.parse(recipe, "planted"), lexicon)


def planted(made: Pipeline, fault: Fault, **members: Any) -> Pipeline:
    """Put a fault in the place of choose or perturb; other members as they are."""
    module = made.channel.module
    name = "perturb" if module.FAMILY == "noise" else "choose"
    honest = getattr(module, name)

    def wrong(state: Any, ids: Ids, eps: Eps, bits: RandomBits) -> Any:
        return fault(state, ids, eps, bits, honest)

    fields = {**vars(module), name: wrong, **members}
    fields = {key: value for key, value in fields.items() if value is not None}
    channel = replace(made.channel, module=SimpleNamespace(**fields))
    return replace(made, channel=channel)


def audited(made: Pipeline, **effort: Any) -> audit.Finding:
    """Audit a pipeline at its epsilon."""
    draws = audit_draws.of(made)
    return audit.audit(made.channel, made.budget.description.high, draws, **effort)


def sometimes(bits: RandomBits, chance: float) -> Any:
    """Return where a fault strikes, (n,), by bits that no mechanism uses."""
    return bits.uniform(2**20)[:, 0] < chance


def copied(chance: float) -> Fault:
    """Copy the input with a chance."""

    def fault(state: Any, ids: Ids, eps: Eps, bits: RandomBits, honest: Any) -> Ids:
        drawn = honest(state, ids, eps, bits)
        return np.where(sometimes(bits, chance) & (ids >= 0), ids, drawn)

    return fault
