"""The transformers are scikit-learn's, as its own checks tell."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sklearn_checks: Any = pytest.importorskip("sklearn.utils.estimator_checks")

from sklearn import base, pipeline  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402

from dptext.errors import UsageError  # noqa: E402
from dptext.integrations.scikit_learn import (  # noqa: E402
    PrivateText,
    PrivateVectors,
    TextVectors,
)
from tests.cli.running import lexicon  # noqa: E402

KEY = bytes(range(7, 7 + 64))
# Fresh noise each time is what the transformer is for; with a key they pass.
FRESH = dict.fromkeys(
    ("check_estimators_pickle", "check_fit_idempotent"), "each call draws anew"
)
# Not run for any transformer that is not deterministic, or without SciPy's array API.
SKIPPED = {
    "check_pipeline_consistency",
    "check_transformer_general",
    "check_transformer_data_not_an_array",
    "check_array_api_input",
}


@pytest.mark.parametrize(
    ("mechanism", "key"), [("discrete-gaussian", KEY), ("laplace", None)]
)
def test_scikit_learns_own_checks_pass(mechanism: str, key: bytes | None) -> None:
    """All that apply; without a key except two that need the same noise twice."""
    estimator = PrivateVectors(mechanism=mechanism, key=key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = sklearn_checks.check_estimator(
            estimator, on_fail=None, expected_failed_checks={} if key else FRESH
        )
    failed = {each["check_name"] for each in checks if each["status"] == "failed"}
    assert not failed
    skipped = {each["check_name"] for each in checks if each["status"] == "skipped"}
    assert skipped <= SKIPPED
    assert sum(each["status"] == "passed" for each in checks) > 30


@pytest.mark.parametrize("kind", [TextVectors, PrivateText])
def test_the_checks_pass_for_texts(kind: Any) -> None:
    """The few that apply to what takes texts; it says that it takes nothing else."""
    with pytest.warns(UserWarning, match="string=True"):
        checks = sklearn_checks.check_estimator(kind(key=KEY))
    assert {each["status"] for each in checks} == {"passed"}


def test_texts_with_new_words_stand_in_pipelines(tmp_path: Path) -> None:
    """Cloned, searched and followed by a classifier; with a key always the same."""
    texts = ["the film was good", "the story was old"] * 6
    estimator = PrivateText("balanced", epsilon=3, lexicon=lexicon(tmp_path), key=KEY)
    copied = base.clone(estimator)
    assert copied.get_params() == estimator.get_params()
    private = estimator.fit(texts).transform(texts)
    assert private == copied.fit_transform(np.array(texts))
    assert len(private) == 12
    assert private != texts
    steps = pipeline.make_pipeline(copied, TfidfVectorizer(), LogisticRegression())
    fitted = steps.set_params(privatetext__epsilon=30.0).fit(texts, [0, 1] * 6)
    assert set(fitted.predict(texts)) <= {0, 1}
    assert "PrivateText" in repr(fitted)
    with pytest.raises(ValueError, match="string object received"):
        estimator.transform("the film was good")
    with pytest.raises(UsageError, match="give only one of epsilon, risk"):
        estimator.set_params(risk="10%").transform(texts)


def test_names_of_features_pass_through(tmp_path: Path) -> None:
    """A step after it names its features, in a search and beside other columns."""
    pandas = pytest.importorskip("pandas")
    texts = ["the film was good", "the story was old"] * 6
    frame = pandas.DataFrame({"text": texts, "stars": range(12)})
    private = PrivateText("balanced", epsilon=3, lexicon=lexicon(tmp_path), key=KEY)
    assert private.get_feature_names_out().tolist() == ["text"]
    words = pipeline.make_pipeline(private, TfidfVectorizer())
    columns = ColumnTransformer(
        [("words", words, "text"), ("stars", "passthrough", ["stars"])]
    )
    rows = columns.fit_transform(frame)
    assert len(columns.get_feature_names_out()) == rows.shape[1]
    assert columns.get_feature_names_out()[-1] == "stars__stars"
    searched = GridSearchCV(
        pipeline.make_pipeline(words, LogisticRegression()),
        {"pipeline__privatetext__epsilon": [3.0, 30.0]},
        cv=2,
    )
    assert searched.fit(texts, [0, 1] * 6).best_params_
    # A step after it would take the columns of a frame for texts.
    assert not hasattr(private, "set_output")


@pytest.mark.parametrize("kind", [TextVectors, PrivateText])
def test_a_table_is_no_list_of_texts(kind: Any) -> None:
    """The names of its columns would become private, and its texts go unused."""
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="a DataFrame is not a list of texts"):
        kind().fit([]).transform(pandas.DataFrame({"text": ["a", "b"]}))


def test_fit_looks_at_no_value() -> None:
    """Two fits on different data release the same, as long as the width is the same."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30, 5))
    one = PrivateVectors(key=KEY).fit(rows)
    other = PrivateVectors(key=KEY).fit(np.zeros((2, 5)))
    np.testing.assert_array_equal(one.transform(rows), other.transform(rows))


def test_noise_is_that_of_the_clip_and_of_each_row() -> None:
    """Sigma hides 2 C; equal rows get different noise, fresh keys other noise."""
    rows = np.full((4000, 3), 10.0)
    layer = PrivateVectors(epsilon=1.0, clip=0.5).fit(rows)
    released = layer.transform(rows).astype(np.float64)
    sigma = 3.7306316348 * 2 * 0.5
    noise = released - 0.5 / np.sqrt(3.0)
    assert noise.std() == pytest.approx(sigma, rel=0.05)
    assert abs(np.corrcoef(noise[:-1, 0], noise[1:, 0])[0, 1]) < 0.1
    assert (layer.transform(rows) != released).any()


def test_texts_in_a_pipeline(tmp_path: Any) -> None:
    """Texts go in, a classifier learns from their release."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = ["good film", "bad story", "very good", "not bad old sad"] * 10
    model = make_pipeline(
        TextVectors(lexicon=lexicon(tmp_path), epsilon=20.0), LogisticRegression()
    )
    predicted = model.fit(texts, [1, 0, 1, 0] * 10).predict(texts)
    assert predicted.shape == (40,)


def test_what_cannot_be_is_said() -> None:
    """Words have no single row, mahalanobis no public vectors."""
    with pytest.raises(ValueError, match="pool"):
        TextVectors(pool="word").fit([]).transform(["a"])
    with pytest.raises(UsageError, match="needs public vectors"):
        PrivateVectors(mechanism="mahalanobis").fit(np.eye(3))
    with pytest.raises(UsageError, match="too small for a grid"):
        PrivateVectors(mechanism="discrete-laplace", epsilon=1e-4).fit(np.eye(3))
