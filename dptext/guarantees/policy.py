"""A policy for exports: what a public report must state for a file to pass.

A policy file, .dptext.yaml by default:

    notion: [LDP, metric-DP]     # accepted; "none" is never
    max_epsilon: 12              # nats, as LDP; of metric DP at the farthest words
    max_loss: 20                 # nats between any two words
    max_risk: 15%                # best possible guess of a word
    allow: [punctuation]         # classes that need not be protected
    lexicons: [DIGEST, ...]      # accepted lexicons; absent: any
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dptext.errors import UsageError

NAME = ".dptext.yaml"
CLASSES = ("punctuation", "stop_word", "number", "unknown", "case")
_PROTECTED = {
    "punctuation": "drop",
    "stop_word": "perturb",
    "number": "perturb",
    "unknown": "perturb",
}


@dataclass(frozen=True, slots=True)
class ExportPolicy:
    """The strictest values that still pass; None asks nothing."""

    notion: tuple[str, ...] = ("LDP", "metric-DP")
    max_epsilon: float | None = None
    max_loss: float | None = None
    max_risk: float | None = None
    allow: tuple[str, ...] = ("punctuation",)
    lexicons: tuple[str, ...] | None = None


def load(path: Path) -> ExportPolicy:
    """Read a policy file. Raises UsageError for anything that it may not hold."""
    from dptext import profile

    return check(
        profile.convert(profile.read(path), ExportPolicy, path.name), path.name
    )


def check(policy: ExportPolicy, place: str) -> ExportPolicy:
    """Return the policy if its names are known. Raises UsageError."""
    for name in policy.allow:
        if name not in CLASSES:
            msg = f"{place}: allow: {name!r} is no class; known: {', '.join(CLASSES)}"
            raise UsageError(msg)
    for name in policy.notion:
        if name not in ("LDP", "metric-DP"):
            msg = f"{place}: notion: {name!r} is not one of LDP, metric-DP"
            raise UsageError(msg)
    return policy


def unprotected(tokens: dict[str, Any]) -> tuple[str, ...]:
    """Return the classes that a profile's token settings leave unprotected."""
    found = [name for name, safe in _PROTECTED.items() if tokens.get(name) != safe]
    if tokens.get("case") not in ("restore", "lower"):
        found.append("case")
    return tuple(found)
