"""The vector of a sentence model, as a direction."""

from __future__ import annotations

import numpy as np
import pytest

from dptext import models, views
from dptext.errors import UsageError


@pytest.mark.skipif(
    models.default_sentence_model() is None, reason="no sentence model is installed"
)
def test_vectors_are_directions() -> None:
    """Each text has a vector of length 1, no text has none."""
    view = views.prepare({"name": "sentence", "model": models.PACKAGE})
    found = view.vectors(["A good film.", "Rain at the coast."])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-6)
    assert view.vectors([]).shape[0] == 0


def test_a_missing_model_is_one_line() -> None:
    """A folder without a model is named."""
    pytest.importorskip("sentence_transformers")
    with pytest.raises(UsageError, match="--model"):
        views.prepare({"name": "sentence", "model": "/nowhere/model"})
