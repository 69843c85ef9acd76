"""A sentence model's vector, scaled to length 1.

Each text is read separately, so its vector does not depend on others. The same machine
and packages give the same vectors; others may round differently, so a key repeats draws
only on the same machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import models, noise, views
from dptext.run.interface import noun


@dataclass(frozen=True, slots=True)
class Params(views.Params):
    """Settings of the view."""

    #: A sentence model: a folder or a package.
    model: str

    def prepare(self) -> Sentence:
        """Find the model; it is loaded at the first text."""
        folder = models.need_sentence_model(self.model, noun("model"))
        return Sentence(folder, models.weights_digest(folder))


class Sentence(views.View):
    """View with the directions of sentence-model vectors."""

    def __init__(self, folder: str, digest: str) -> None:
        self._folder, self._digest = folder, digest

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digest of the model."""
        return {"model": self._digest}

    @property
    def dimensions(self) -> int:
        """Return the length of the model's vectors."""
        return int(self.vectors(["a"]).shape[1])

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the directions of the vectors: (n, d)."""
        blocks = models.embed(
            self._folder, "cpu", [[text] for text in texts], self._digest
        )
        if not blocks:
            return np.empty((0, 0))
        return noise.unit(np.concatenate(blocks).astype(np.float64))
