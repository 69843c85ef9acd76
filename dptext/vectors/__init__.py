"""Turns texts into noisy vectors: `dptext embed`.

settings -> VectorRelease (`release.prepare`): prepares the mechanism
records  -> `VectorRelease.rows`: encode -> position -> noise, on a grid
rows     -> `columns`: .npy, .npz or .parquet

`statement` has figures and sentences of the guarantee, and figures on public words or
texts; `run` embeds files and puts all of it into a report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dptext.types import Inputs


class Pool(StrEnum):
    """What a released vector represents."""

    #: A word.
    WORD = "word"
    #: A text: the mean of the vectors of its words.
    MEAN = "mean"
    #: A text: the mean, weighted by smooth inverse frequency.
    SIF = "sif"
    #: A text: the vector of a sentence model.
    SENTENCE = "sentence"

    @property
    def inputs(self) -> Inputs:
        """Return the mechanism's kind of inputs."""
        inputs = {Pool.WORD: Inputs.WORDS, Pool.SENTENCE: Inputs.VECTORS}
        return inputs.get(self, Inputs.MEANS)


@dataclass(slots=True, kw_only=True)
class Counts:
    """Counts of a vectors run; all depend on the private text."""

    records: int = 0
    faults: int = 0
    texts: int = 0
    words: int = 0
    vectors: int = 0
    #: Number of vectors of each subject, by a digest of its value.
    subjects: Counter[bytes] = field(default_factory=Counter)
    seconds: float = 0.0
    #: Name of the format of the input.
    format: str = ""
    #: The id field with its kind, if it looks identifying.
    identifying: Mapping[str, str] = field(default_factory=dict)
