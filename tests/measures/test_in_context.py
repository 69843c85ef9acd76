"""Attackers of whole texts: what they find, with what confidence, at which epsilon."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import msgspec
import numpy as np
import pytest

from dptext import open_pipeline, pipeline, profile
from dptext.attackers import Attacker, ngrams
from dptext.attackers.channel import UnigramAttacker
from dptext.attackers.pairs import PairAttacker
from dptext.attackers.training import PairCounts
from dptext.budgets import uniform
from dptext.errors import LexiconError, UsageError
from dptext.evaluation.attackers import search_by_attacker
from dptext.guarantees import binomial
from dptext.measures import calibrate, context_risk
from dptext.measures.context_risk import Reading, Success
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Ids, Record, Released
from tests import small

LEXICON = small.cloud(40, 3)
WORDS = LEXICON.words[:-1]


def texts(count: int, seed: int = 3) -> list[str]:
    """Write texts in which each word mostly follows one other."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 39, count * 12)
    follow = np.random.default_rng(0).permutation(39)
    for at in range(1, len(rows)):
        if rng.random() < 0.7:
            rows[at] = follow[rows[at - 1]]
    words = [WORDS[row] for row in rows]
    return [" ".join(words[12 * n : 12 * n + 12]) + "." for n in range(count)]


def records(count: int, seed: int = 3) -> list[tuple[str, ...]]:
    """Write records of one text."""
    return [(text,) for text in texts(count, seed)]


def build(folder: Path, epsilon: float = 3.0, decode: bool = False) -> Pipeline:
    """Make rank ready, with a model of the texts."""
    counts = PairCounts(LEXICON)
    counts.add(texts(2000))
    ngrams.save(counts.model(1, {}), folder / "pairs")
    decoder = {"name": "ngram", "model": str(folder / "pairs"), "candidates": 40}
    data = {
        "mechanism": {"name": "rank", "weights": "power", "k": 12},
        "budget": {"name": "uniform", "epsilon": epsilon},
        "decoder": decoder if decode else "none",
    }
    return pipeline.build(profile.parse(data, "test"), LEXICON)


def test_who_reads_finds_more(tmp_path: Path) -> None:
    """A model of pairs finds far more than the best guess of each word alone."""
    ready = build(tmp_path)
    model = ngrams.load(tmp_path / "pairs")
    attackers: list[Attacker] = [
        UnigramAttacker(ready.channel),
        PairAttacker(ready.channel, model),
    ]
    randomness = ready.randomness(RunKey.from_seed(1))
    alone, pairs = context_risk.attack_records(
        ready, attackers, [records(90), records(60, 4)], randomness
    ).result()
    assert (alone.attacker, pairs.attacker) == ("alone", "ngram")
    assert alone.classes[0].words == 150 * 12
    assert pairs.success > alone.success + 0.1
    assert pairs.classes[0].low < pairs.success < pairs.classes[0].high
    assert [each.name for each in pairs.classes][:2] == ["all words", "content words"]


def test_the_lone_attacker_is_the_attacker_of_the_bayes_risk(tmp_path: Path) -> None:
    """Its guesses are argmax prior(x) P(y|x), by the whole table of the mechanism."""
    ready = build(tmp_path)
    words = ready.tokenizer.words(texts(40))
    randomness = ready.randomness(RunKey.from_seed(2))
    records = [Record(n, (text,), None) for n, text in enumerate(texts(40))]
    draws = ready.draws(records, randomness)
    guess = UnigramAttacker(ready.channel).guess(
        ready.released(words, draws.drawn, draws.eps)
    )
    rows = np.arange(len(LEXICON.words), dtype=np.int32)
    joint = ready.channel.prior[:, None] * ready.mechanism.probs(rows, 3.0)
    np.testing.assert_array_equal(guess, joint.argmax(axis=0)[draws.drawn])


def test_decoded_words_give_away_no_more(tmp_path: Path) -> None:
    """No guess from written words is right more often than the attacker of the draws.

    The best guess from each written word, learnt from 24,000 words of other texts.
    """
    ready = build(tmp_path, decode=True)
    attacker = ready.decoder.attacker
    assert attacker is not None
    written, truth, right = [], [], []
    for seed in range(20):
        records = [Record(n, (t,), None) for n, t in enumerate(texts(200, seed))]
        draws = ready.draws(records, ready.randomness(RunKey.from_seed(seed)))
        written.append(ready.decode(draws.words, draws.drawn, draws.eps))
        released = ready.released(draws.words, draws.drawn, draws.eps)
        right.append(attacker.guess(released) == draws.words.ids)
        truth.append(draws.words.ids)
    pairs = np.zeros((40, 40))
    for after, before in zip(written[:10], truth[:10], strict=True):
        np.add.at(pairs, (after, before), 1)
    learnt = pairs.argmax(axis=1)
    share = np.mean([learnt[a] == b for a, b in zip(written, truth, strict=True)][10:])
    assert share <= np.mean(right[10:]) + 0.01


def test_an_interval_needs_more_than_one_text() -> None:
    """Of one text nothing is known about others."""
    one = context_risk.success("all words", np.array([3]), np.array([4]))
    assert (one.low, one.success, one.high) == (0.0, 0.75, 1.0)


def test_intervals_of_few_words_are_no_points() -> None:
    """Of no word found in n texts at most 3.7 / n are found otherwise, with 95%."""
    for texts in (5, 40):
        words = np.full(texts, 3)
        none = context_risk.success("rare", words * 0, words)
        every = context_risk.success("rare", words, words)
        limit = 1.0 - 0.025 ** (1.0 / texts)
        assert (none.low, every.high) == (0.0, 1.0)
        assert none.high == pytest.approx(limit)
        assert every.low == pytest.approx(1.0 - limit)
    one = context_risk.success("rare", np.eye(40, dtype=int)[0], np.ones(40, int))
    low, high = binomial.limits(1.0, 40.0, 0.05)
    assert (one.low, one.high) == pytest.approx((low, high), rel=0.1)


@pytest.mark.parametrize("texts", [2, 3, 10, 400])
@pytest.mark.parametrize("of_four", range(5))
def test_texts_with_one_share_give_no_point(texts: int, of_four: int) -> None:
    """As many right words in each text, none and all as well: the texts count once.

    More words of each text, as many of them right, say no more.
    """
    limits = binomial.limits(of_four / 4.0 * texts, texts, 0.05)
    for times in (1, 50):
        words = np.full(texts, 4 * times)
        found = context_risk.success("all", words * of_four // 4, words)
        assert found.success == of_four / 4.0
        assert (found.low, found.high) == pytest.approx(limits)


def test_texts_that_are_almost_alike_say_no_more_than_their_words() -> None:
    """However little their shares differ, limits are those of so many words at most."""
    words = np.array([4, 4, 4, 4, 4, 4, 4, 5])
    found = context_risk.success("all", np.ones(8, int), words)
    assert (found.low, found.high) == pytest.approx(binomial.limits(8, 33, 0.05))


@pytest.mark.parametrize("texts", [3, 6, 20])
def test_intervals_of_few_texts_hold(texts: int) -> None:
    """Of 2,000 intervals of 95% at least 92% hold, of shares that differ by text.

    False alarm below one in 10^6 where 94.4% hold.
    """
    rng, words, hits = np.random.default_rng(texts), np.full(texts, 50), 0
    for _ in range(2000):
        shares = rng.normal(0.5, 0.1, texts).clip(0.0, 1.0)
        found = context_risk.success("all", rng.binomial(words, shares), words)
        assert 0.0 <= found.low <= found.success <= found.high <= 1.0
        hits += found.low <= 0.5 <= found.high
    assert hits >= 1840


class MoodyAttacker:
    """Finds more words of some texts than of others, as attackers of whole texts do.

    A share of its guesses is right that follows from the first word of the text; it is
    given draws that are the words themselves.
    """

    name, assumes = "moody", "nothing"

    def __init__(self, seed: int, spread: bool) -> None:
        self._rng, self._spread = np.random.default_rng(seed), spread

    def guess(self, released: Released) -> Ids:
        """Guess words: (n,)."""
        first = np.searchsorted(released.texts, released.texts)
        mood = np.where(released.drawn[first] % 2 == 0, 0.55, 0.05)
        share = mood if self._spread else np.full(len(mood), 0.3)
        right = self._rng.random(len(mood)) < share
        return np.where(right, released.drawn, (released.drawn + 1) % 40).astype(
            np.int32
        )


@pytest.mark.parametrize("spread", [True, False], ids=["clustered", "independent"])
def test_intervals_hold_where_texts_differ(spread: bool, tmp_path: Path) -> None:
    """Of 200 intervals of 95%, for each class of words, at least 170 hold the truth.

    Words of a text are found together or not at all: intervals that take them for
    independent are right for less than half. False alarm below one in 10^5 for each
    class, where 93% hold, as they do with few texts.
    """
    ready = build(tmp_path, epsilon=300.0)
    rng = np.random.default_rng(3)
    held: dict[str, list[bool]] = {}
    for seed in range(200):
        rows = rng.integers(0, 38, 60)
        batch = [
            (
                " ".join(
                    [WORDS[row], *(WORDS[each] for each in rng.integers(0, 39, 29))]
                ),
            )
            for row in rows
        ]
        attacker = MoodyAttacker(seed, spread)
        randomness = ready.randomness(RunKey.from_seed(seed))
        attack = context_risk.attack_records(ready, [attacker], [batch], randomness)
        (found,) = attack.result()
        for each in found.classes:
            held.setdefault(each.name, []).append(each.low <= 0.3 <= each.high)
    assert len(held) >= 3
    for name, holds in held.items():
        assert len(holds) == 200
        assert sum(holds) >= 170, name


def reading(success: float) -> Reading:
    """Return what a made-up attacker finds."""
    every = Success("all words", words=100, success=success, low=success, high=success)
    return Reading("made up", "", 1, (every,))


@pytest.mark.parametrize("start", [0.5, 5.0, 12.0])
def test_the_crossing_is_just_below_the_target(start: float) -> None:
    """The epsilon found meets the target, one 2% above it does not."""

    def read(epsilon: float) -> Reading:
        return reading(1.0 - np.exp(-epsilon / 10.0))

    if start == 0.5:
        start = 2.0
    epsilon, reached = search_by_attacker(read, 0.3, start)
    assert reached.success <= 0.3 < read(epsilon * 1.02).success


def test_a_target_out_of_reach_is_said() -> None:
    """Below what it always finds, or above all that it ever finds."""
    for share in (0.9, 0.1):
        with pytest.raises(UsageError, match="out of reach"):
            search_by_attacker(lambda epsilon, share=share: reading(share), 0.5, 4.0)  # type: ignore[misc]


def test_shipped_figures_are_those_of_equal_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are looked up by mechanism, epsilon and policy, for any decoder."""
    ready, other = build(tmp_path), build(tmp_path, epsilon=4.0)
    figures = context_risk.InContext("a corpus", "0" * 64, (reading(0.3),))
    file = tmp_path / "attackers.json"
    file.write_text(
        json.dumps({"attackers": {context_risk.key_of(ready): [asdict(figures)]}})
    )
    monkeypatch.setattr(calibrate, "shipped_attackers", lambda: file)
    assert context_risk.measured(ready) == (figures,)
    assert context_risk.measured(build(tmp_path, decode=True)) == (figures,)
    assert context_risk.measured(other) == ()
    assert msgspec.json.encode(figures)
    monkeypatch.setattr(calibrate, "shipped_attackers", lambda: tmp_path / "none.json")
    assert context_risk.measured(ready) == ()


def test_written_words_are_counted_as_they_are_written(tmp_path: Path) -> None:
    """The share of a run's written words that are the original, by class of word."""
    ready = build(tmp_path, decode=True)
    records = [Record(n, (text,), None) for n, text in enumerate(texts(300))]
    key = RunKey.from_seed(4)
    attack = context_risk.ContextAttack(ready, ())
    attack.add(records, ready.randomness(key))
    found = attack.written()
    private = ready.privatize(records, ready.randomness(key))
    same = private.joined.written == private.words.ids
    assert found is not None
    assert found.attacker == context_risk.AS_WRITTEN
    assert found.success == pytest.approx(same.mean())
    assert found.success != pytest.approx((private.drawn == private.words.ids).mean())
    (every, *others) = found.classes
    assert (every.name, every.words) == ("all words", 300 * 12)
    assert {each.name for each in others} >= {"content words"}


def test_figures_of_written_words_go_by_the_decoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are no figures for another decoder, another model or another epsilon."""
    ready = build(tmp_path, decode=True)
    figures = context_risk.InContext("a corpus", "0" * 64, (reading(0.3),))
    file = tmp_path / "attackers.json"
    written = {context_risk.written_key(ready): [asdict(figures)]}
    file.write_text(json.dumps({"written": written}))
    monkeypatch.setattr(calibrate, "shipped_attackers", lambda: file)
    assert context_risk.measured_written(ready) == (figures,)
    assert context_risk.measured_written(build(tmp_path)) == ()
    assert context_risk.measured_written(build(tmp_path, 4.0, decode=True)) == ()
    other = PairCounts(LEXICON)
    other.add(texts(500, 9))
    ngrams.save(other.model(1, {}), tmp_path / "pairs")
    decoder = {"name": "ngram", "model": str(tmp_path / "pairs"), "candidates": 40}
    settings = {**ready.profile.settings(), "name": "test", "decoder": decoder}
    changed = pipeline.build(profile.parse(settings, "test"), LEXICON)
    assert context_risk.measured_written(changed) == ()


def test_figures_of_another_version_are_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file beside a lexicon that says them otherwise ends no run."""
    ready = build(tmp_path)
    file = tmp_path / "attackers.json"
    key = context_risk.key_of(ready)
    ladder = calibrate.ladder_key(ready.profile.settings(), LEXICON)
    data = {"attackers": {key: [{"old": 1}]}, "ladders": {ladder: {"0.2": key}}}
    file.write_text(json.dumps(data))
    monkeypatch.setattr(calibrate, "shipped_attackers", lambda: file)
    assert context_risk.measured(ready) == ()
    assert context_risk.measured_ladder(ready) == {}


@pytest.mark.parametrize(
    ("over", "at"),
    [
        ({"budget": {"risk": "12%"}}, 0.1),
        ({"budget": {"risk": "22%"}}, 0.2),
        ({"budget": {"risk": "45%"}}, 0.3),
        ({"budget": {"risk": None, "epsilon": 9.0}}, 0.16),
        ({"budget": {"risk": "22%"}, "decoder": "none"}, 0.2),
        ({"budget": {"risk": "5.5%"}}, None),
        ({"budget": {"risk": "22%"}, "mechanism": {"k": 20}}, None),
        ({"budget": {"risk": "22%"}, "tokens": {"number": "mask"}}, None),
        ({"budget": {"risk": "22%"}, "tokens": {"keep": {"words": ["Lyon"]}}}, 0.2),
        (
            {"budget": {"risk": "22%"}, "tokens": {"keep": {"patterns": ["Lyon"]}}},
            None,
        ),
        ({"budget": {"risk": "22%"}, "tokens": {"forms": ["date"]}}, None),
        ({"budget": {"name": "per-text", "epsilon": 30.0}}, None),
    ],
)
def test_a_risk_between_measured_ones_has_a_lower_limit(
    over: dict[str, object], at: float | None
) -> None:
    """The figures of the next smaller risk, where settings differ in nothing else."""
    measures = PublicMeasures.measure(open_pipeline("balanced", over), with_risk=False)
    assert measures.attackers_risk == at
    assert bool(measures.in_context) == (at is not None)
    assert measures.written == ()
    exact = PublicMeasures.measure(open_pipeline("balanced"))
    assert exact.attackers_risk is None
    assert exact.in_context
    assert exact.written


def test_a_smaller_risk_finds_less_in_every_kind_of_text() -> None:
    """So that figures of a smaller measured risk are a lower limit for a larger one."""
    rungs = sorted(context_risk.measured_ladder(open_pipeline("balanced")).items())
    assert len(rungs) == 8
    before: dict[str, float] = {}
    for _, rung in rungs:
        data = json.loads(calibrate.shipped_attackers().read_text())
        corpora = {
            each["corpus"]: max(r["classes"][0]["success"] for r in each["readings"])
            for each in data["attackers"][rung.attackers]
        }
        assert all(share > before.get(name, 0.0) for name, share in corpora.items())
        before = corpora


def test_a_risk_in_context_becomes_a_risk_of_one_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest measured one where the upper limit of no attacker is above it."""
    recipe = profile.load("balanced")
    file = tmp_path / "attackers.json"
    monkeypatch.setattr(calibrate, "shipped_attackers", lambda: file)
    entries, rungs = {}, {}
    for risk, limits in ((0.1, (0.1, 0.2)), (0.2, (0.25, 0.4)), (0.3, (0.5, 0.3))):
        readings = tuple(reading(limit) for limit in limits)
        entries[f"at {risk}"] = [asdict(context_risk.InContext("a", "", readings))]
        rungs[f"{risk}"] = asdict(calibrate.Rung(8.0, f"at {risk}", ""))
    key = calibrate.ladder_key(recipe.settings(), LEXICON)
    file.write_text(json.dumps({"attackers": entries, "ladders": {key: rungs}}))
    for target, risk in ((0.2, 0.1), (0.39, 0.1), (0.41, 0.2), (0.9, 0.3)):
        assert calibrate.risk_for(recipe.settings(), LEXICON, target) == risk
    with pytest.raises(UsageError, match=r"find up to 20.00%"):
        calibrate.risk_for(recipe.settings(), LEXICON, 0.19)
    other = profile.load("strict")
    with pytest.raises(UsageError, match="no attacker was measured"):
        calibrate.risk_for(other.settings(), LEXICON, 0.3)


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000])
def test_damaged_figures_are_named(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line names the file and tells users to make it again."""
    file = tmp_path / "attackers.json"
    file.write_bytes(content)
    monkeypatch.setattr(calibrate, "shipped_attackers", lambda: file)
    with pytest.raises(LexiconError, match=r"attackers\.json: not valid JSON"):
        calibrate.risk_for(profile.load("balanced").settings(), LEXICON, 0.3)


def test_attackers_are_asked_for_by_name(tmp_path: Path) -> None:
    """Those that there are; an unknown name is refused with the known ones."""
    ready = build(tmp_path, decode=True)
    assert [each.name for each in context_risk.available(ready)] == ["alone", "ngram"]
    assert context_risk.named(ready, "ngram").name == "ngram"
    with pytest.raises(UsageError, match="known: alone, ngram"):
        context_risk.named(ready, "crystal-ball")


def test_a_share_for_attackers_sets_the_epsilon() -> None:
    """Attackers find at most the target under the settings; the next risk is above."""
    over = {"budget": {"risk": None, "attacker_risk": "25%"}}
    ready = open_pipeline("balanced", over)
    limits = [
        reading.classes[0].high
        for each in context_risk.measured(ready)
        for reading in each.readings
    ]
    assert 0.2 < max(limits) <= 0.25
    params = ready.profile.budget.params
    assert isinstance(params, uniform.Params)
    assert ready.profile.name == "balanced with attacker_risk=25%"
    plain = open_pipeline("balanced", {"budget": {"risk": params.risk}})
    assert params.epsilon == plain.budget.description.high
    assert "attacker_risk" not in str(plain.profile.settings())


def widths(ready: Pipeline, batch: list[tuple[str, ...]]) -> tuple[float, float]:
    """Return what the best guess of a word finds, and how wide its interval is.

    Means of three runs, as the width of one follows its draws.
    """
    found = []
    for seed in (3, 4, 5):
        (reading,) = context_risk.attack_records(
            ready,
            [UnigramAttacker(ready.channel)],
            [batch[:50], batch[50:]],
            ready.randomness(RunKey.from_seed(seed)),
        ).result()
        every = reading.classes[0]
        assert reading.texts == sum(map(len, batch))
        found.append((every.success, every.high - every.low))
    success, width = np.mean(found, axis=0)
    return float(success), float(width)


def test_copies_make_no_interval_narrower(tmp_path: Path) -> None:
    """Ten copies of each text, as records or as fields, are read as one of them is.

    Of texts that were independent the interval would be much narrower.
    """
    ready = build(tmp_path)
    once = records(60)
    _, width = widths(ready, once)
    _, copied = widths(ready, once * 10)
    _, fields = widths(ready, [texts * 10 for texts in once])
    _, nearly = widths(ready, [(f"{t}{end}",) for (t,) in once for end in (".", "!")])
    # Copies are drawn anew, so that a tenth of the noise of draws is left in them.
    for other in (copied, fields, nearly):
        assert width * 0.46 < other < width * 1.3
    _, many = widths(ready, records(600))
    assert many < width * 0.46
