"""Which readers can read what a pipeline releases; what they found in public texts.

Figures that ship are looked up by all that decides them: mechanism, lexicon, epsilon
and which words are replaced; the decoder has no part in them. Other settings have none:
`dptext evaluate` measures them on one's own texts.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from dptext import cache
from dptext.errors import LexiconError, UsageError
from dptext.measures.in_context import Reading
from dptext.readers import Reader, locations
from dptext.readers.alone import Alone
from dptext.readers.pairs import PairReader
from dptext.types import JsonObject

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline

AT_LEAST = (
    "Measured on draws of public texts; at least, since a better language model or "
    "knowledge of the text finds more."
)


@dataclass(frozen=True, slots=True)
class InContext:
    """What readers find in a public corpus; model, digest of the n-gram model."""

    corpus: str
    model: str
    readings: tuple[Reading, ...]


def available(pipeline: Pipeline) -> list[Reader]:
    """Return the readers that there are for a pipeline: none without a channel.

    The one who sees a word alone, the one with the n-gram model that ships where it
    fits the lexicon, and that of the decoder, which may know more.
    """
    channel = pipeline.channel
    if not channel.mechanism.has_log_probs:
        return []
    readers: list[Reader] = [Alone(channel)]
    theirs = pipeline.decoder.reader
    if theirs is None or theirs.name != PairReader.name:
        with contextlib.suppress(LexiconError):
            model = locations.find(locations.ENGLISH, channel)
            readers.append(PairReader.strongest(channel, model))
    return readers if theirs is None else [*readers, theirs]


def named(pipeline: Pipeline, name: str) -> Reader:
    """Return a reader by its name. Raises UsageError where it is not available."""
    readers = available(pipeline)
    for reader in readers:
        if reader.name == name:
            return reader
    known = ", ".join(reader.name for reader in readers)
    msg = (
        f"no reader named {name!r} for these settings; "
        + (f"known: {known}" if known else "their output distribution is not known")
        + " (the reader of a decoder: --decode NAME)"
    )
    raise UsageError(msg)


def shipped_file() -> Path:
    """Return the file of figures that ship (benchmarks/ship_readers.py)."""
    return cache.shipped_file().with_name("readers.json")


def key_of(pipeline: Pipeline) -> str:
    """Return the name under which the figures of a pipeline ship."""
    return cache.key_of(
        *("in context", 1, *pipeline.mechanism.identity),
        asdict(pipeline.budget.description),
        asdict(pipeline.profile.tokens),
        str(pipeline.profile.strategy),
    )


def shipped(pipeline: Pipeline) -> tuple[InContext, ...]:
    """Return what readers were found to find under the same settings, if measured."""
    path = shipped_file()
    try:
        known = _read(path, path.stat().st_mtime_ns)
    except OSError:
        return ()
    return msgspec.convert(known.get(key_of(pipeline), []), tuple[InContext, ...])


@lru_cache(maxsize=1)
def _read(path: Path, changed: int) -> JsonObject:
    data = json.loads(path.read_bytes())
    return data if isinstance(data, dict) else {}
