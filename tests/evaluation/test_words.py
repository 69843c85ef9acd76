"""PP, LOW, CS and English share against cases counted by hand."""

from __future__ import annotations

import pytest

from dptext.evaluation.words import Meter
from tests import small

LEXICON = small.cloud(30, 3)
A, B, C, D = LEXICON.words[:4]


def test_counted_by_hand() -> None:
    """Four words of which one changes; the texts with other counts are not compared."""
    meter = Meter(LEXICON)
    meter.add([f"{A} {B}, {C}", f"{A} zq", f"{A}"], [f"{A} {D}, {C.upper()}", "qz", A])
    kept = meter.result()
    assert (kept.texts, kept.compared, kept.words) == (3, 2, 4)
    assert kept.perturbed == pytest.approx(1 / 4)
    # Distinct originals: A, B, C, zq; of these A and C still occur.
    assert kept.low == pytest.approx(2 / 4)
    assert kept.english_before == pytest.approx(5 / 6)
    assert kept.english == pytest.approx(4 / 5)


def test_equal_texts_keep_everything() -> None:
    """Cosine 1, nothing perturbed; in one batch or several."""
    texts = [f"{A} {B}", f"{C} {D} {D}", "!"]
    meter = Meter(LEXICON)
    for text in texts:
        meter.add([text], [text])
    kept = meter.result()
    assert kept.perturbed == 0.0
    assert kept.low == 1.0
    assert kept.similarity == pytest.approx(1.0)
    whole = Meter(LEXICON)
    whole.add(texts, texts)
    assert whole.result() == kept


def test_nothing_is_no_figure() -> None:
    """Without words the shares are null."""
    meter = Meter(LEXICON)
    meter.add(["", "?"], ["", "?"])
    kept = meter.result()
    assert (kept.perturbed, kept.low, kept.similarity, kept.english) == (None,) * 4
