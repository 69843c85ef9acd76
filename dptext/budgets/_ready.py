"""The scores of a profile made ready, and their weighted mean over the words."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dptext import registry
from dptext.budgets import _sharing
from dptext.errors import UsageError
from dptext.types import Lexicon, Words

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ready:
    """A score with its weight > 0 and its state."""

    name: str
    weight: float
    module: Any
    state: Any

    @property
    def multiplies(self) -> bool:
        """Tell whether it is a factor on the mean of the others."""
        return bool(getattr(self.module, "MULTIPLIES", False))

    def content(self) -> dict[str, str]:
        """Return the digests of what its settings name, and of another's code."""
        digests = getattr(self.module, "content", None)
        named = dict(digests(self.state)) if digests else {}
        code = registry.code("budgets.scores", self.name)
        if code:
            named |= {"code": code, "used": self.module.describe(self.state)}
        return {f"scores.{self.name}.{key}": value for key, value in named.items()}

    def told(self) -> str:
        """Say name, weight and what it rests on."""
        what = self.module.describe(self.state)
        return f"{self.name} (weight {self.weight:g}): {what}"


def ready(given: Mapping[str, Any], lexicon: Lexicon) -> tuple[Ready, ...]:
    """Read a mapping from names to weights or settings; leave out what is off.

    Raises UsageError that names the key.
    """
    made = []
    for name, settings in given.items():
        module = registry.find("budgets.scores", name)
        weight, params = _settings(name, settings, module)
        if weight > 0:
            state = module.prepare(params, lexicon)
            made.append(Ready(name, weight, module, state))
    if not made:
        msg = "budget: scores: none is on; name at least one, as in frequency: 1"
        raise UsageError(msg)
    return tuple(made)


def combined(
    scores: tuple[Ready, ...], words: Words
) -> tuple[Column, dict[str, Column]]:
    """Return the final score, (n,) sums to 1 over each text, and a column by score."""
    count = len(words.ends)
    columns: dict[str, Column] = {}
    final, weights = np.zeros(len(words.ids)), 0.0
    factor = np.ones(len(words.ids))
    for each in scores:
        columns[each.name] = raw = _checked(each, words)
        if each.multiplies:
            factor *= np.maximum(1.0 + each.weight * (raw - 1.0), 0.0)
            continue
        columns[f"{each.name} share"] = share = _sharing.normalized(
            raw, words.texts, count
        )
        final += each.weight * share
        weights += each.weight
    # Factors alone work on equal shares.
    mean = final / weights if weights else np.ones(len(final))
    return _sharing.normalized(mean * factor, words.texts, count), columns


def _checked(each: Ready, words: Words) -> Column:
    raw: Column = each.module.score(each.state, words)
    if raw.shape != words.ids.shape or not (np.isfinite(raw) & (raw >= 0)).all():
        msg = f"the score {each.name} gave something else than numbers from 0 up"
        raise UsageError(msg)
    return raw


def _settings(name: str, given: Any, module: Any) -> tuple[float, Any]:
    """Return weight and parameters."""
    location = f"budget: scores.{name}"
    if not isinstance(given, Mapping):
        given = {"weight": given}
    rest = {key: value for key, value in given.items() if key != "weight"}
    known = tuple(each.name for each in dataclasses.fields(module.Params))
    for key in rest:
        if key not in known:
            hint = registry.suggest(str(key), ("weight", *known))
            msg = f"{location}.{key}: unknown key; {hint}"
            raise UsageError(msg)
    weight = given.get("weight", 1.0)
    if not isinstance(weight, int | float) or not 0 <= weight <= 1e6:
        msg = f"{location}: the weight is a number from 0 to 1000000, true or false"
        raise UsageError(msg)
    try:
        return float(weight), msgspec.convert(rest, module.Params)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        msg = f"{location}{path.rstrip('`')}: {reason}"
        raise UsageError(msg) from None
