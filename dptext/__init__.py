"""Word-level differential privacy for text. Imports nothing heavy.

>>> import dptext
>>> private = dptext.privatize(["Call me at noon."], profile="balanced")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline as Pipeline
    from dptext.profile import Profile

__version__ = "0.1.0"
__all__ = ["Pipeline", "__version__", "load_profile", "open_pipeline", "privatize"]


def load_profile(name: str, overrides: Mapping[str, Any] | None = None) -> Profile:
    """Read a profile by name or path; overrides are laid over its keys.

    Raises UsageError for an unknown name, key or value.
    """
    from dptext import profile

    return profile.load(name, overrides)


def open_pipeline(
    profile: str = "balanced", overrides: Mapping[str, Any] | None = None
) -> Pipeline:
    """Make a profile ready, its lexicon opened: the public work, done once.

    Raises UsageError and LexiconError.
    """
    from dptext import lexicons, pipeline

    recipe = load_profile(profile, overrides)
    return pipeline.build(recipe, lexicons.find(recipe.lexicon))


def privatize(
    texts: Iterable[str],
    profile: str = "balanced",
    overrides: Mapping[str, Any] | None = None,
) -> list[str]:
    """Replace the words of texts under a profile, with fresh secure randomness.

    Returns one text for each text, in order. Raises UsageError and LexiconError.
    """
    from dptext.randomness import RunKey
    from dptext.types import Record

    made = open_pipeline(profile, overrides)
    records = (Record(place, (text,), None) for place, text in enumerate(texts))
    return [new[0] for _, new in made.run(records, RunKey.fresh())]


def __getattr__(name: str) -> Any:
    """Give `Pipeline` without importing it before it is asked for."""
    if name == "Pipeline":
        from dptext.pipeline import Pipeline

        return Pipeline
    msg = f"module 'dptext' has no attribute {name!r}"
    raise AttributeError(msg)
