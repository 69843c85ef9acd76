"""The weighted mean of word vectors, as a direction."""

from __future__ import annotations

import numpy as np
import pytest

from dptext import views
from dptext.errors import UsageError


def test_vectors_are_directions_and_marks_do_not_count() -> None:
    """Lengths are 1; marks and case change nothing, no word is as unknown ones."""
    view = views.prepare({"name": "sif"})
    texts = ["good film", "Good... film!", "...", "qzx wvb"]
    one, marked, none, unknown = view.vectors(texts)
    np.testing.assert_array_equal(one, marked)
    assert np.linalg.norm(one) == pytest.approx(1.0)
    np.testing.assert_array_equal(none, unknown)


def test_rare_words_weigh_more() -> None:
    """A frequent word beside a rare one hardly moves the vector."""
    view = views.prepare({"name": "sif"})
    rare, both, frequent = view.vectors(["volcano", "the volcano", "the"])
    assert rare @ both > 0.9
    assert both @ frequent < rare @ both


@pytest.mark.parametrize("settings", [{}, {"name": "sif", "a": 0}, {"name": "nobody"}])
def test_wrong_settings_are_one_line(settings: dict[str, object]) -> None:
    """No name, an unknown name, and a setting out of bounds."""
    with pytest.raises(UsageError) as error:
        views.prepare(settings)
    assert "\n" not in str(error.value)
