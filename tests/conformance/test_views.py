"""Laws of all views: a vector follows from its own text, whatever the text is."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

from dptext import models, registry, views
from dptext.types import JsonObject
from dptext.views import View

TEXTS = [
    "The company reported profit.",
    "",
    " \n",
    "The players won the match in the league.",
    "qzx wvb",
    "Привет 你好 🙂",
    "soup " * 300,
]


@pytest.fixture(scope="module", params=registry.names("views"))
def view(request: pytest.FixtureRequest) -> View:
    """Make each view ready."""
    settings: JsonObject = {"name": request.param}
    if request.param == "sentence":
        if models.default_sentence_model() is None:
            pytest.skip("no sentence model is installed")
        settings["model"] = models.PACKAGE
    return views.prepare(settings)


def test_no_text_changes_the_vector_of_another(view: View) -> None:
    """Vectors are the same to the last bit, alone, in a batch and in another order."""
    together = view.vectors(TEXTS)
    assert together.shape == (len(TEXTS), view.dimensions)
    assert together.dtype == np.float64
    for text, vector in zip(TEXTS, together, strict=True):
        np.testing.assert_array_equal(view.vectors([text])[0], vector)
    np.testing.assert_array_equal(view.vectors(TEXTS[::-1])[::-1], together)


def test_a_view_says_all_that_it_reads(view: View) -> None:
    """Digests of what it reads name it; without them a change would not be seen."""
    params = sys.modules[type(view).__module__].Params
    settings = {each.name for each in dataclasses.fields(params)}
    assert view.content or not settings & {"lexicon", "model"}
    assert all(len(digest) == 64 for digest in view.content.values())
    assert view.is_repeatable
