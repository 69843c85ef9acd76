"""Texts become noisy vectors: `dptext embed`.

settings -> VectorRelease (`release.prepare`): all public work for the mechanism
records  -> `VectorRelease.rows`: encode -> position -> noise, on a grid
rows     -> `columns`: .npy, .npz or .parquet (`job` for files)

`statement` has figures and sentences of the guarantee, and figures on public words or
texts; `documents` puts them into a report.
"""

from __future__ import annotations

from enum import StrEnum

from dptext.types import Inputs


class Pool(StrEnum):
    """The unit of a released vector."""

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
        """Return the kind of inputs of the mechanism."""
        inputs = {Pool.WORD: Inputs.WORDS, Pool.SENTENCE: Inputs.VECTORS}
        return inputs.get(self, Inputs.MEANS)
