"""The audit of a release finds planted faults of its kinds, and no others.

Budgets are held against their settings on the lexicon that ships, all words of it.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext import calibration, pipeline, profile, registry
from dptext.attackers.channel import Channel
from dptext.engine import budget_audit, release_audit
from dptext.measures import calibrate
from dptext.pipeline import Pipeline
from dptext.randomness import BUDGET_LANE, RandomBits, Randomness
from dptext.tokens import numbers
from dptext.types import PARTS, Eps, Ids, Ints, Lexicon, Record, Released, Words
from dptext.writing import redrawing
from tests.conformance import components
from tests.decoders import models

ELSE = {"number": 9.5, "unknown": 1.5}
BANDS = {"top-100": 10.0, "top-1000": 9.0, "top-10000": 8.0, "rare": 7.0, **ELSE}
# By name or, where a budget has several ways, by name and way.
BUDGETS: dict[str, dict[str, Any]] = {
    **{
        name: dict(registry.find("budgets", name).Params.EXAMPLE)
        for name in components.BUDGETS
    },
    # Each class has its own epsilon.
    "declared": {"epsilons": BANDS},
    "declared by part of speech": {
        "name": "declared",
        "by": "part-of-speech",
        "epsilons": {name: 2.0 + at for at, name in enumerate(PARTS)} | ELSE,
    },
    "class-first": {"first": 0.5, "epsilons": BANDS},
    "released-past": {"epsilon": 60.0, "start": 4.0, "epsilons": BANDS},
    "linguistic per word": {
        "name": "linguistic",
        "epsilon_per_word": 4.0,
        "min": 2.0,
        "max": 7.0,
    },
    "linguistic published": {
        "name": "linguistic",
        "variant": "published",
        "epsilon": 40.0,
    },
}
SPENDING = sorted(set(BUDGETS) - {"uniform"})


def built(lexicon: Lexicon, budget: str = "uniform", **keys: Any) -> Pipeline:
    """Build a pipeline of rank with a budget and without a decoder."""
    recipe = {
        "mechanism": {"name": "rank", "weights": "staircase", "k": 4},
        "budget": {"name": budget, **BUDGETS[budget]},
        **keys,
    }
    return pipeline.build(profile.parse(recipe, "audited"), lexicon)


def found_in_budget(sanitizer: Pipeline) -> str:
    """Return what speaks against the budget of a pipeline."""
    public = budget_audit.scripted(sanitizer)
    return budget_audit.audit_budget(sanitizer, public)[1]


def planted_in(honest: Any, **methods: Any) -> Any:
    """Return a copy of an object with a fault in its methods."""
    members = {"__slots__": (), **methods}
    faulty = copy.copy(honest)
    object.__setattr__(faulty, "__class__", type("Planted", (type(honest),), members))
    return faulty


def overspending(sanitizer: Pipeline, rows: range, times: float) -> Pipeline:
    """Plant more epsilon for some rows; the budget describes itself as before."""
    kind: Any = type(sanitizer.budget)

    def spread(self: Any, words: Words, bits: RandomBits) -> Eps:
        eps = np.array(kind.spread(self, words, bits))
        eps[np.isin(words.ids, rows)] *= times
        return eps

    def release(self: Any, words: Words, bits: RandomBits, draw: Any) -> Any:
        def drawn(positions: Any, eps: Eps) -> Ids:
            inside = np.isin(words.ids[positions], rows)
            given = np.where(inside, times * eps, eps)
            return np.asarray(draw(positions, given))

        return kind.release(self, words, bits, drawn)

    each = {"spread": spread, "release": release}
    known = {name: method for name, method in each.items() if hasattr(kind, name)}
    return replace(sanitizer, budget=planted_in(sanitizer.budget, **known))


@pytest.mark.parametrize("budget", ["uniform", *SPENDING])
def test_every_word_is_drawn_with_the_epsilon_of_the_settings(
    budget: str, builtin: Lexicon
) -> None:
    """All words of the vocabulary; 1.4 times as much for a band of them is found."""
    sanitizer = built(builtin, budget)
    assert found_in_budget(sanitizer) == ""
    band = range(10_000, 65_500) if len(budget) % 2 else range(100, 1000)
    assert found_in_budget(overspending(sanitizer, band, 1.4))


def test_a_band_is_held_against_its_own_epsilon(builtin: Lexicon) -> None:
    """Also where it stays below that of another band, and where bands are misplaced."""
    sanitizer = built(builtin, "declared")
    for band, times in ((range(1000, 10_000), 1.01), (range(99, 100), 0.99)):
        assert found_in_budget(overspending(sanitizer, band, times))
    honest: Any = sanitizer.budget
    moved = replace(honest, epsilons=np.roll(honest.epsilons, 1))
    found = found_in_budget(replace(sanitizer, budget=moved))
    assert "is drawn with epsilon" in found


def test_a_table_of_classes_is_held_to(builtin: Lexicon, tmp_path: Path) -> None:
    """Each word of the table has its epsilon, all others have that of other."""
    path = tmp_path / "classes.csv"
    path.write_text("word,class\nriver,water\nlake,water\n")
    budget = {
        "name": "declared",
        "by": "table",
        "table": str(path),
        "epsilons": {"water": 2.0, "other": 5.0},
    }
    sanitizer = pipeline.build(
        profile.parse({"mechanism": "rank", "budget": budget}, "audited"), builtin
    )
    assert found_in_budget(sanitizer) == ""
    row = builtin.row_of["lake"]
    assert "'Lake'" in found_in_budget(
        overspending(sanitizer, range(row, row + 1), 1.4)
    )


class HandsOverMore(Pipeline):
    """A release that gives the mechanism more than it reports."""

    def draw(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw with more epsilon."""
        return super().draw(ids, np.where(ids % 7 == 3, 1.4 * eps, eps), bits)


class DrawsEachPlace(Pipeline):
    """A release that draws every place of a word anew, whatever the strategy."""

    def replace(
        self,
        ids: Ids,
        eps: Eps,
        bits: RandomBits,
        records: Ints,
        randomness: Randomness,
    ) -> Ids:
        """Draw each word."""
        return self.draw(ids, eps, bits)


def of_kind(sanitizer: Pipeline, kind: type[Pipeline]) -> Pipeline:
    """Return a copy of a pipeline with a faulty class."""
    faulty = copy.copy(sanitizer)
    object.__setattr__(faulty, "__class__", kind)
    return faulty


SMALL = components.ENGLISH


@pytest.mark.parametrize("strategy", ["token", "record", "data-set"])
@pytest.mark.parametrize("budget", ["uniform", *SPENDING])
def test_the_mechanism_is_given_what_is_reported(budget: str, strategy: str) -> None:
    """For each budget and strategy; more for one word in seven is found."""
    if strategy != "token" and budget != "uniform":
        pytest.skip("words that are drawn once have one epsilon")
    if "speech" in budget:
        pytest.skip("the small lexicon has no parts of speech")
    sanitizer = built(SMALL, budget, strategy=strategy)
    assert found_in_budget(sanitizer) == ""
    assert "is drawn with an epsilon" in found_in_budget(
        of_kind(sanitizer, HandsOverMore)
    )
    if strategy != "token":
        found = found_in_budget(of_kind(sanitizer, DrawsEachPlace))
        assert f"strategy {strategy} draws" in found


# Random bits.

RECIPES: dict[str, dict[str, Any]] = {
    "rank": {"mechanism": {"name": "rank", "weights": "staircase", "k": 4}},
    "classes": {
        "mechanism": {"name": "rank", "weights": "staircase", "k": 4},
        "budget": {"name": "class-first", "first": 0.5, "epsilons": {"other": 3.0}},
    },
    "noise": {
        "mechanism": "laplace",
        "mapping": "two-nearest",
        "budget": {"name": "class-first", "first": 0.5, "epsilons": {"other": 3.0}},
    },
    "digits": {
        "mechanism": {"name": "rank", "weights": "staircase", "k": 4},
        "tokens": {"number": "digits", "forms": ["email", "date", "phone"]},
    },
}


def recipe_of(name: str, **keys: Any) -> Pipeline:
    """Build one of the recipes for the small lexicon."""
    budget = {"name": "uniform", "epsilon": 3.0}
    recipe = {"budget": budget, **RECIPES[name], **keys}
    return pipeline.build(profile.parse(recipe, "audited"), SMALL)


@pytest.mark.parametrize("mapping", components.MAPPINGS)
@pytest.mark.parametrize("mechanism", components.NOISES)
def test_no_noise_and_no_mapping_use_bits_twice(mechanism: str, mapping: str) -> None:
    """Every mechanism of noise with every mapping, classes drawn first where it can."""
    sanitizer = components.built("ENGLISH", mechanism, mapping)
    assert not release_audit.check_random_bits(sanitizer).refuted


@pytest.mark.parametrize("mechanism", components.CHOICES)
def test_no_mechanism_uses_bits_twice(mechanism: str) -> None:
    """Every mechanism that draws words."""
    sanitizer = components.built("ENGLISH", mechanism, None)
    assert not release_audit.check_random_bits(sanitizer).refuted


@pytest.mark.parametrize("strategy", ["token", "record", "data-set"])
@pytest.mark.parametrize("name", RECIPES)
def test_no_step_uses_bits_twice(name: str, strategy: str) -> None:
    """Budget, mapping, digits and numbers, by each strategy."""
    if strategy != "token" and "budget" in RECIPES[name]:
        pytest.skip("words that are drawn once have one epsilon")
    sanitizer = recipe_of(name, strategy=strategy)
    assert not release_audit.check_random_bits(sanitizer).refuted


def _numbered_by_four(self: Randomness, nonces: Any, records: Any) -> RandomBits:
    bits = BITS(self, nonces, records)
    bits._number = bits._number % np.uint64(4)
    return bits


def _without_texts(self: Randomness, record: Record) -> bytes:
    return NONCE(self, replace(record, texts=(), identity=None, ordinal=0))


def _without_ordinal(self: Randomness, record: Record) -> bytes:
    return NONCE(self, replace(record, ordinal=0))


def _same_lane(self: RandomBits, lane: int, lanes: int = 1) -> Any:
    return INTEGERS(self, 0, lanes)


BITS, NONCE = Randomness.bits, Randomness.nonce
INTEGERS = RandomBits.integers
SHARED: dict[str, tuple[str, Any, str, Any]] = {
    "budget with mechanism": ("classes", pipeline, "BUDGET_LANE", 0),
    "mapping with mechanism": ("noise", pipeline, "MAPPING_LANE", 0),
    "mapping with budget": ("noise", pipeline, "MAPPING_LANE", BUDGET_LANE),
    "numbers with mechanism": ("rank", numbers, "NUMBER_LANE", 0),
    "digits with mechanism": ("digits", redrawing, "JOINER_LANE", 0),
    "lanes of a step": ("noise", RandomBits, "integers", _same_lane),
    "words": ("rank", Randomness, "bits", _numbered_by_four),
    "all records": ("rank", Randomness, "nonce", _without_texts),
    "equal records": ("rank", Randomness, "nonce", _without_ordinal),
}


@pytest.mark.parametrize("shared", SHARED)
def test_shared_random_bits_are_found(
    shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between steps, lanes of a step, words of a record, and records."""
    recipe, where, name, value = SHARED[shared]
    monkeypatch.setattr(where, name, value)
    check = release_audit.check_random_bits(recipe_of(recipe))
    assert "used twice" in check.fault


# Nonces.


def _short(size: int) -> Callable[[bytes], bytes]:
    return lambda nonce: nonce[:size] + bytes(16 - size)


def _stretched(nonce: bytes) -> bytes:
    return hashlib.sha256(nonce[:3]).digest()[:16]


def _twice(nonce: bytes) -> bytes:
    return nonce[:8] * 2


def _always_one(nonce: bytes) -> bytes:
    return bytes([nonce[0] | 1]) + nonce[1:]


NONCES: Mapping[str, Callable[[bytes], bytes]] = {
    "24 bits": _short(3),
    "24 bits, stretched": _stretched,
    "64 bits, doubled": _twice,
    "120 bits": _short(15),
    "one bit is always set": _always_one,
    "12 bytes": lambda nonce: nonce[:12],
}


def test_nonces_have_all_their_bits() -> None:
    """By number, id and texts of a record."""
    check = release_audit.check_nonces(recipe_of("rank"), 2**14)
    assert not check.refuted, check.fault


@pytest.mark.parametrize("fault", NONCES)
def test_short_nonces_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut, stretched, doubled, or with a bit that says nothing."""
    change = NONCES[fault]
    monkeypatch.setattr(Randomness, "nonce", lambda *given: change(NONCE(*given)))
    check = release_audit.check_nonces(recipe_of("rank"), 2**15)
    assert check.refuted


@pytest.mark.parametrize("left_out", ["ordinal", "identity", "texts", "borders"])
def test_a_nonce_follows_from_all_of_a_record(
    left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of the record that has no part in its nonce is found."""

    def nonce(self: Randomness, record: Record) -> bytes:
        changed: dict[str, Any] = {
            "ordinal": {"ordinal": 0},
            "identity": {"identity": None},
            "texts": {"texts": ()},
            "borders": {"texts": ("".join(record.texts),)},
        }
        return NONCE(self, replace(record, **changed[left_out]))

    monkeypatch.setattr(Randomness, "nonce", nonce)
    check = release_audit.check_nonces(recipe_of("rank"), 2**12)
    assert "are those of another" in check.fault


def test_half_of_a_nonce_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a whole nonce is made and only 64 bits of it are used."""

    def bits(self: Randomness, nonces: Any, records: Any) -> RandomBits:
        return BITS(self, [each[:8] * 2 for each in nonces], records)

    monkeypatch.setattr(Randomness, "bits", bits)
    check = release_audit.check_nonces(recipe_of("rank"), 2**12)
    assert "counter blocks" in check.fault


# Decoders.


class PeeksAtUnknownWords(Pipeline):
    """A release that writes the draw wherever the word was unknown."""

    def decode(self, words: Words, drawn: Ids, eps: Eps) -> Ids:
        """Decode known words alone."""
        return np.where(words.ids < 0, drawn, super().decode(words, drawn, eps))


class PeeksAtFrequentWords(Pipeline):
    """A release that writes the draw wherever the word was a frequent one."""

    def decode(self, words: Words, drawn: Ids, eps: Eps) -> Ids:
        """Decode rare words alone."""
        frequent = (words.ids >= 0) & (words.ids < 3000)
        return np.where(frequent, drawn, super().decode(words, drawn, eps))


class ShowsTheText(Pipeline):
    """A release with a decoder that sees how long each word was, instead of flags."""

    def released(self, words: Words, drawn: Ids, eps: Eps) -> Released:
        """Tell long words from short ones by their epsilon."""
        seen = super().released(words, drawn, eps)
        long = np.array([len(words.pieces[at]) > 6 for at in words.positions.tolist()])
        return replace(seen, drawn=np.where(long, drawn[:1], drawn).astype(np.int32))


def test_a_decoder_that_peeks_is_found(builtin: Lexicon) -> None:
    """At unknown words, at the frequency or at the length of the original."""
    sanitizer = calibration.build(profile.load("balanced"), builtin)
    assert not release_audit.check_decoder(sanitizer).refuted
    for kind in (PeeksAtUnknownWords, PeeksAtFrequentWords, ShowsTheText):
        assert release_audit.check_decoder(of_kind(sanitizer, kind)).refuted


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the models are written."""
    return tmp_path_factory.mktemp("models")


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "causal-lm" else [])
        for name in registry.names("decoders")
    ],
)
def test_no_decoder_sees_more_than_is_released(
    name: str, budget: str, folder: Path
) -> None:
    """With words, unknown words, numbers and epsilons that differ, for each budget."""
    if "speech" in budget:
        pytest.skip("the small lexicon has no parts of speech")
    slow = {"causal-lm": "uniform", "endpoint": "linguistic"}.get(name)
    if slow not in (None, budget):
        pytest.skip(f"{name} takes its time: only {slow}")
    each = models.settings(name, SMALL, folder)
    sanitizer = built(SMALL, budget)
    for params in each[:1] if slow else each:
        decoder = params.prepare(sanitizer.channel)
        part = profile.Part(name, params)
        decoded = replace(
            sanitizer,
            decoder=decoder,
            profile=replace(sanitizer.profile, decoder=part),
        )
        check = release_audit.check_decoder(decoded, turns=1 if slow else 2)
        assert not check.refuted


def test_a_decoder_that_sees_private_epsilons_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where these follow from the words of the text they are no part of a release."""
    (params, *_) = models.settings("ngram", SMALL, folder)
    decoder = {"name": "ngram", "model": params.model}  # type: ignore[attr-defined]
    sanitizer = built(SMALL, "linguistic", decoder=decoder)
    assert not release_audit.check_decoder(sanitizer).refuted
    monkeypatch.setattr(Channel, "public_epsilons", lambda self, eps, texts: eps)
    assert release_audit.check_decoder(sanitizer).refuted


# Priors.


@pytest.mark.parametrize("stop_word", ["perturb", "keep"])
def test_a_wrong_prior_is_found(stop_word: str, builtin: Lexicon) -> None:
    """Flat, sharper, of other words, or of words that are never replaced."""
    over = {"tokens": {"stop_word": stop_word}, "decoder": "none"}
    sanitizer = calibration.build(profile.load("balanced", over), builtin)
    assert not release_audit.check_prior(sanitizer).refuted
    right = sanitizer.channel.prior
    flat = np.where(right > 0.0, 1.0, 0.0)
    every = builtin.prior if stop_word == "keep" else flat
    one = right.copy()
    one[[40_000, 40_001]] = one[[40_000, 40_001]] * (1.5, 0.5)
    for wrong in (flat, right**1.1, np.roll(right, 1), every, one):
        channel = replace(sanitizer.channel, prior=wrong / wrong.sum())
        assert release_audit.check_prior(replace(sanitizer, channel=channel)).refuted
    channel = replace(sanitizer.channel, prior=right * 0.9)
    assert release_audit.check_prior(replace(sanitizer, channel=channel)).refuted


@pytest.mark.parametrize("times", [0.9, 1.1])
def test_an_epsilon_for_another_prior_is_found(
    times: float, builtin: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guess then succeeds more or less often than the risk says."""
    honest = calibrate.epsilon_for
    monkeypatch.setattr(calibrate, "epsilon_for", lambda *given: times * honest(*given))
    over = {"decoder": "none"}
    sanitizer = calibration.build(profile.load("balanced", over), builtin)
    assert "the best guess" in release_audit.check_prior(sanitizer).fault
