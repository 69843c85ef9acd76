"""Texts become noisy vectors: `dptext embed`.

settings -> VectorRelease (`release.of`): all public work, the mechanism made ready
records  -> `VectorRelease.rows`: encode -> position -> noise, on a grid
rows     -> `columns`: .npy, .npz or .parquet (`job` for files)
beside the path: `statement` (figures and sentences of the promise, and figures on
public words or texts), which goes into the report of dptext.report.
"""

from __future__ import annotations

from enum import StrEnum

from dptext.types import Inputs


class Pool(StrEnum):
    """What a released vector is of.

    WORD: one word; MEAN: a text, the mean of the vectors of its words; SIF: the same,
    weighted by smooth inverse frequency; SENTENCE: a text, by a sentence model.
    """

    WORD = "word"
    MEAN = "mean"
    SIF = "sif"
    SENTENCE = "sentence"

    @property
    def inputs(self) -> Inputs:
        """Return what a mechanism takes in."""
        of = {Pool.WORD: Inputs.WORDS, Pool.SENTENCE: Inputs.VECTORS}
        return of.get(self, Inputs.MEANS)
