"""What vectors of whole texts are worth, as measured on public news.

At a small loss of a text its noise is far larger than the distance between texts. The
figures ship (python -m benchmarks text_vectors), by all that decides the vectors. What
a classifier learns at one loss holds as an upper limit for every smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from dptext import cache

TEXT_VECTORS_FILE = "text_vectors.json"
# Settings that decide a vector, beside the loss of a text.
_SETTINGS = ("space", "mechanism", "tokens")


@dataclass(frozen=True, kw_only=True, slots=True)
class TextVectors:
    """What a linear classifier learns of the topics of public texts."""

    #: `key` of the settings.
    settings: str
    #: The largest loss between two texts, in nats.
    loss: float
    corpus: str
    texts: int
    #: How often the classifier is right; by chance; and on vectors without noise.
    accuracy: float
    chance: float
    original: float
    #: Standard deviations of a coordinate: of the noise, and of texts without it.
    noise: float
    spread: float


def key(settings: Mapping[str, Any], lexicon: str) -> str:
    """Return the name of figures: of a release's settings and its lexicon's digest."""
    options = settings.get("embed")
    if not isinstance(options, Mapping):  # settings of a report may be anything
        return ""
    if options.get("public") is not None:
        return ""  # directions of other texts than those that were measured
    pool = options.get("pool")
    weight = options.get("sif") if pool == "sif" else None
    chosen = {name: settings.get(name) for name in _SETTINGS}
    return cache.key_of("text vectors", 1, lexicon, pool, weight, chosen)


def worth(
    settings: Mapping[str, Any], lexicon: str, loss: float | None
) -> TextVectors | None:
    """Return the figures at the smallest measured loss that is no smaller, if any."""
    file = cache.shipped_file().with_name(TEXT_VECTORS_FILE)
    known = msgspec.convert(
        cache.shipped_entry(file, "measured") or [], tuple[TextVectors, ...]
    )
    name = key(settings, lexicon)
    rows = [row for row in known if row.settings == name]
    larger = [row for row in rows if loss is not None and loss <= row.loss]
    return min(larger, key=lambda row: row.loss, default=None)
