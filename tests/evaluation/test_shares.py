"""Shares of topics from private outputs: unbiased, with intervals that hold."""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dptext.evaluation import shares
from dptext.evaluation.shares import ResponseLaw, Target
from dptext.mechanisms import Aim, subset
from tests import distributions, made_topics, prepared, small
from tests.cli.running import here

# Of 400 intervals at 95%, so many hold except with a chance of 1e-6.
_RUNS, _LEAST = 400, 356


def drawn(law: ResponseLaw, topics: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the written topics of texts."""
    other = rng.integers(0, law.topics - 1, len(topics))
    other += other >= topics
    return np.where(rng.random(len(topics)) < law.right, topics, other)


@pytest.mark.parametrize(
    ("topics", "epsilon", "texts", "share"),
    [(4, 2.0, 30, 0.25), (4, 2.0, 300, 0.1), (16, 3.0, 2000, 0.02), (4, 4.0, 50, 0.04)],
)
def test_intervals_hold(topics: int, epsilon: float, texts: int, share: float) -> None:
    """95% intervals hold the share of the file, and of the people behind it."""
    law, rng = ResponseLaw(topics, epsilon), np.random.default_rng(3)
    hits = dict.fromkeys(Target, 0)
    for _ in range(_RUNS):
        first = round(share * texts)
        others = rng.integers(1, topics, texts - first)
        fixed = np.concatenate((np.zeros(first, np.int64), others))
        one = shares.estimates(law, drawn(law, fixed, rng), Target.FILE)[0]
        hits[Target.FILE] += one.low <= first / texts <= one.high
        random = np.where(rng.random(texts) < share, 0, rng.integers(1, topics, texts))
        one = shares.estimates(law, drawn(law, random, rng), Target.PEOPLE)[0]
        hits[Target.PEOPLE] += one.low <= share <= one.high
    assert min(hits.values()) >= _LEAST


def sets(law: ResponseLaw, topics: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a set of topics for each text, by the program."""
    bits = distributions.bits(len(topics), int(rng.integers(2**31)))
    eps = np.full(len(topics), law.epsilon)
    mechanism = subset_mechanism(law.topics, law.together)
    return np.asarray(mechanism.sets(topics.astype(np.int32), eps, bits))


@cache
def subset_mechanism(topics: int, together: int) -> subset.Subset:
    """Prepare the mechanism that draws sets of topics."""
    space = prepared.space_of(small.cloud(topics, 2))
    return subset.Params(k=together).prepare(space, Aim())


def test_intervals_of_subset_selection_hold() -> None:
    """Of sets of topics, too: of a file, of people, and of persons with many texts."""
    law, rng = ResponseLaw(20, 1.0, 5), np.random.default_rng(8)
    hits = dict.fromkeys(("file", "people", "persons"), 0)
    fixed = np.repeat(np.arange(20), [34, *[14] * 19])
    groups = np.repeat(np.arange(60), 5)
    for _ in range(_RUNS):
        one = shares.estimates(law, sets(law, fixed, rng), Target.FILE)[0]
        hits["file"] += one.low <= 34 / len(fixed) <= one.high
        random = np.where(rng.random(300) < 0.2, 0, rng.integers(1, 20, 300))
        one = shares.estimates(law, sets(law, random, rng), Target.PEOPLE)[0]
        hits["people"] += one.low <= 0.2 <= one.high
        of_person = np.where(rng.random(60) < 0.2, 0, rng.integers(1, 20, 60))[groups]
        one = shares.estimates(
            law, sets(law, of_person, rng), Target.PEOPLE, groups=groups
        )[0]
        hits["persons"] += one.low <= 0.2 <= one.high
    assert min(hits.values()) >= _LEAST


def test_sets_halve_the_error_of_many_topics_at_a_small_epsilon() -> None:
    """50 topics at 1 nat: less than half of that of one topic, without bias."""
    topics, rng = np.repeat(np.arange(50), 40), np.random.default_rng(9)
    errors = {}
    for law in (ResponseLaw(50, 1.0), ResponseLaw(50, 1.0, subset.best_size(50, 1.0))):
        draw = drawn if law.together == 1 else sets
        runs = [
            shares.estimates(law, draw(law, topics, rng), Target.FILE)
            for _ in range(30)
        ]
        found = np.array([[each.share for each in run] for run in runs])
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
        assert abs(found[:, 0].mean() - 0.02) < 5 * found[:, 0].std() / 30**0.5
        errors[law.together] = np.abs(found - 0.02).sum(axis=1).mean()
    assert errors[13] < 0.5 * errors[1]


def test_texts_of_one_person_and_of_one_draw_are_groups() -> None:
    """Five equal texts of a person, or five of one draw, do not shrink an interval."""
    law, rng = ResponseLaw(4, 4.0), np.random.default_rng(4)
    hits = dict.fromkeys(Target, 0)
    groups = np.repeat(np.arange(100), 5)
    for _ in range(_RUNS):
        topics = np.where(rng.random(100) < 0.2, 0, rng.integers(1, 4, 100))
        written = drawn(law, topics[groups], rng)
        one = shares.estimates(law, written, Target.PEOPLE, groups=groups)[0]
        hits[Target.PEOPLE] += one.low <= 0.2 <= one.high
        shared = drawn(law, topics, rng)[groups]
        one = shares.estimates(law, shared, Target.FILE, groups=groups)[0]
        hits[Target.FILE] += one.low <= (topics == 0).mean() <= one.high
    assert min(hits.values()) >= _LEAST


def test_estimates_are_unbiased_and_may_be_negative() -> None:
    """Their mean over draws is the share, and those of all topics add up to 1."""
    law, rng = ResponseLaw(8, 1.0), np.random.default_rng(5)
    topics = np.repeat([0, 1, 2], [500, 300, 200])
    found = np.array(
        [
            [
                each.share
                for each in shares.estimates(law, drawn(law, topics, rng), Target.FILE)
            ]
            for _ in range(200)
        ]
    )
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
    error = found.std(axis=0) / np.sqrt(200)
    assert (np.abs(found.mean(axis=0)[:3] - [0.5, 0.3, 0.2]) < 5 * error[:3]).all()
    assert found.min() < 0


def test_growth_has_an_interval() -> None:
    """The growth between two outputs lies in its interval."""
    law, rng = ResponseLaw(4, 3.0), np.random.default_rng(6)
    hits = 0
    for _ in range(_RUNS):
        one = np.where(rng.random(400) < 0.2, 0, rng.integers(1, 4, 400))
        two = np.where(rng.random(600) < 0.35, 0, rng.integers(1, 4, 600))
        before = shares.estimates(law, drawn(law, one, rng), Target.PEOPLE)
        after = shares.estimates(law, drawn(law, two, rng), Target.PEOPLE)
        _, low, high = shares.differences(before, after)[0]
        hits += low <= 0.15 <= high
    assert hits >= _LEAST


def test_texts_of_a_record_are_of_one_person(tmp_path: Path, run_folders: Path) -> None:
    """Two fields of a record say no more of people than one: intervals stay as wide."""
    made_topics.make("fields")
    rng, texts = np.random.default_rng(7), made_topics.public_texts().texts
    rows = [f"{texts[row]} indeed" for row in rng.integers(0, len(texts), 60)]
    source, target = tmp_path / "in.jsonl", str(tmp_path / "out.jsonl")
    lines = [json.dumps({"title": row, "text": row}) + "\n" for row in rows]
    source.write_text("".join(lines))
    run = ("sanitize", str(source), "-f", "text", "-f", "title", "--topics", "fields")
    assert here(*run, "--epsilon", "8", "-q", "-o", target).code == 0
    widths = []
    for more in ((), ("--target", "file")):
        ran = here("topics", "estimate", target, "--json", *more)
        assert ran.code == 0, ran.err
        (table,) = json.loads(ran.out)["tables"]
        first = max(table["topics"], key=lambda each: each["share"])
        widths.append(first["high"] - first["low"])
    # Of 60 people 95% intervals of a share near 1/8 are some 17 points wide.
    assert widths[0] > 0.13
    assert widths[1] < 0.05


def test_no_text_and_one_person_say_nothing() -> None:
    """Without texts there is no share; of one person alone no interval."""
    law = ResponseLaw(4, 2.0)
    (none, *_) = shares.estimates(law, np.empty(0, np.int64), Target.FILE)
    assert np.isnan(none.share)
    one = shares.estimates(
        law, np.zeros(5, np.int64), Target.PEOPLE, groups=np.zeros(5, np.int64)
    )
    assert one[0].low == -np.inf


@pytest.mark.parametrize(
    "sizes", [[1] * 7, [2] * 5, [60, 60], [3, 1, 1], [9, 4, 4, 1, 1, 1], [500]]
)
@pytest.mark.parametrize("epsilon", [1.0, 3.0, 6.0])
def test_intervals_of_a_file_hold_for_every_share(
    sizes: list[int], epsilon: float
) -> None:
    """Exactly, over all draws of few texts, some of which share their draws.

    Of any number of draws that have the topic, none and all of them as well.
    """
    law, draws = ResponseLaw(3, epsilon), len(sizes)
    groups = np.repeat(np.arange(draws), sizes)
    limits: dict[int, tuple[float, float]] = {}
    for of_topic in product([False, True], repeat=draws):
        share = float(np.dot(of_topic, sizes)) / sum(sizes)
        holds = 0.0
        for is_written in product([False, True], repeat=draws):
            chance = math.prod(
                own if written else 1.0 - own
                for written, topic in zip(is_written, of_topic, strict=True)
                for own in [law.right if topic else law.wrong]
            )
            count = int(np.dot(is_written, sizes))
            if count not in limits:
                drawn = np.where(np.array(is_written)[groups], 0, 1)
                found = shares.estimates(law, drawn, Target.FILE, groups=groups)[0]
                limits[count] = found.low, found.high
            low, high = limits[count]
            holds += chance * (low <= share <= high)
        assert holds >= 0.95, (of_topic, holds)


@pytest.mark.parametrize("people", [2, 3, 10])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("alike", [False, True])
def test_intervals_of_few_people_hold(people: int, share: float, alike: bool) -> None:
    """Where all agree, nobody does, or each has as many texts of a topic, too."""
    law, rng, hits = ResponseLaw(4, 4.0), np.random.default_rng(people), 0
    groups = np.repeat(np.arange(people), 4)
    for _ in range(_RUNS):
        texts = people if alike else len(groups)
        topics = np.where(rng.random(texts) < share, 0, rng.integers(1, 4, texts))
        written = drawn(law, topics[groups] if alike else topics, rng)
        one = shares.estimates(law, written, Target.PEOPLE, groups=groups)[0]
        hits += one.low <= share <= one.high
    assert hits >= _LEAST


@pytest.mark.parametrize("target", Target)
@pytest.mark.parametrize("sizes", [[1] * 12, [2] * 6, [4] * 3, [6, 6], [7, 3, 2]])
def test_no_interval_is_narrower_than_that_of_as_many_texts(
    target: Target, sizes: list[int]
) -> None:
    """Texts of one person or one draw say no more than texts of many; none is a point.

    Of people of one mind, and of people with the same mixture, too.
    """
    law, texts = ResponseLaw(3, 3.0), sum(sizes)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    ways: list[Any] = [
        np.arange(texts) % 2,
        np.zeros(texts, np.int64),
        np.ones(texts, np.int64),
    ]
    ways += [np.random.default_rng(n).integers(0, 3, texts) for n in range(20)]
    ways += [
        (np.random.default_rng(n).random(len(sizes)) < 0.5)[groups] for n in (1, 2)
    ]
    for written in ways:
        ids = np.asarray(written, np.int64)
        apart = shares.estimates(law, ids, target)
        together = shares.estimates(law, ids, target, groups=groups)
        for one, two in zip(apart, together, strict=True):
            assert two.high - two.low >= (one.high - one.low) * (1.0 - 1e-9)
            assert one.high - one.low > 0.1
            assert two.low <= two.share == one.share <= two.high


def test_few_people_have_the_quantiles_of_student() -> None:
    """Four people who differ a little; three with one mixture count as three texts."""
    law, groups = ResponseLaw(4, 3.0), np.repeat(np.arange(4), 50)
    counts = [20, 25, 30, 25]
    ids = np.concatenate([np.where(np.arange(50) < n, 0, 1) for n in counts])
    one = shares.estimates(law, ids, Target.PEOPLE, groups=groups)[0]
    deviation = np.std(np.array(counts) / 50, ddof=1) / 2.0 / (law.right - law.wrong)
    wide = 2.0 * stats.t.ppf(0.975, 3) * deviation
    assert wide * 0.9 < one.high - one.low < wide * 1.3
    alike = np.arange(150) % 2
    one = shares.estimates(law, alike, Target.PEOPLE, groups=groups[:150])[0]
    assert one.high - one.low > 0.9


def test_people_with_one_text_each_have_the_limits_of_a_share() -> None:
    """None, some and all of them: those of Clopper and Pearson, for any confidence."""
    law = ResponseLaw(4, 2.0)
    for count, texts, confidence in product((0, 1, 7, 20), (20,), (0.9, 0.95, 0.999)):
        ids = np.where(np.arange(texts) < count, 0, 1)
        one = shares.estimates(law, ids, Target.PEOPLE, confidence)[0]
        tail = (1.0 - confidence) / 2.0
        low = stats.beta.ppf(tail, count, texts - count + 1) if count else 0.0
        high = 1.0
        if count < texts:
            high = stats.beta.ppf(1.0 - tail, count + 1, texts - count)
        assert one.low == pytest.approx(law.share(low), abs=1e-9)
        assert one.high == pytest.approx(law.share(high), abs=1e-9)


def test_many_texts_have_nearly_the_limits_of_exact_tails() -> None:
    """On both sides of the number up to which tails are summed; at both ends."""
    law = ResponseLaw(5, 2.0)
    for share in (0.0, 0.1, 0.5, 1.0):
        for texts in (shares._EXACT, shares._EXACT + 1):
            ids = np.where(np.arange(texts) < share * texts, 0, 1)
            one = shares.estimates(law, ids, Target.FILE)[0]
            low, high = shares._exact_limits_of_file(law, one.written, texts, 0.05)
            assert np.clip(one.low, 0.0, 1.0) == pytest.approx(low, abs=0.02)
            assert np.clip(one.high, 0.0, 1.0) == pytest.approx(high, abs=0.02)


def test_growth_is_as_wide_as_both_shares_together() -> None:
    """By the squares of the distances to the limits, each on its own side."""
    one = shares.Estimate(0.2, 0.1, 0.5, 3)
    two = shares.Estimate(0.6, 0.2, 0.7, 9)
    ((difference, low, high),) = shares.differences([one], [two])
    assert difference == pytest.approx(0.4)
    assert low == pytest.approx(0.4 - math.hypot(0.4, 0.3))
    assert high == pytest.approx(0.4 + math.hypot(0.1, 0.1))


def test_the_command_reads_the_output_alone(tmp_path: Path, run_folders: Path) -> None:
    """Shares by group follow from output and report; other files are refused."""
    made_topics.make("shares")
    public = made_topics.public_texts()  # of which private texts must not be copies
    source = tmp_path / "in.jsonl"
    assert public.labels is not None
    rows = zip(public.texts, public.labels, strict=True)
    lines = [
        json.dumps({"text": f"{text} indeed", "kind": label}) + "\n"
        for text, label in rows
    ]
    source.write_text("".join(lines))
    target = str(tmp_path / "out.jsonl")
    ran = here(
        "sanitize",
        str(source),
        "--field=text",
        "--topics=shares",
        "--epsilon=5",
        "--seed=1",
        f"--output={target}",
    )
    assert ran.code == 0, ran.err
    ran = here("topics", "estimate", target, "--by", "kind", "--json")
    assert ran.code == 0, ran.err
    tables = json.loads(ran.out)["tables"]
    assert {table["group"] for table in tables} == {
        f"kind: {k}" for k in set(public.labels)
    }
    for table in tables:
        assert max(each["share"] for each in table["topics"]) > 0.4
    assert "Estimates" in here("topics", "estimate", target).out.decode()
    plain = tmp_path / "plain.jsonl"
    plain.write_text('{"text": "a"}\n')
    assert here("topics", "estimate", str(plain)).code == 2
    Path(target).write_text("changed\n")
    assert "describes another file" in here("topics", "estimate", target).err


@pytest.mark.parametrize(
    ("topics", "epsilon", "people", "each", "share"),
    [(4, 2.0, 3, 40, 0.5), (16, 6.0, 3, 40, 0.5), (4, 4.0, 10, 60, 0.8)],
)
def test_people_who_agree_by_chance_do_not_speak_for_all(
    topics: int, epsilon: float, people: int, each: int, share: float
) -> None:
    """Few people, each of one mind with many texts: their draws differ, minds may not.

    Of 400 intervals at 95%, 356 hold except with a chance of 1e-6.
    """
    law, rng = ResponseLaw(topics, epsilon), np.random.default_rng(11)
    groups, hits = np.repeat(np.arange(people), each), [0, 0]
    for _ in range(_RUNS):
        minds = np.where(rng.random(people) < share, 0, 1)
        written = drawn(law, np.repeat(minds, each), rng)
        found = shares.estimates(law, written, Target.PEOPLE, groups=groups)
        for topic, truth in ((0, share), (1, 1.0 - share)):
            hits[topic] += found[topic].low <= truth <= found[topic].high
    assert min(hits) >= _LEAST
