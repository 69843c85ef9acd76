from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import models, settings
from dptext.attackers import causal
from dptext.attackers.causal import CausalAttacker, CausalModel, Speller
from dptext.attackers.channel import Observation
from dptext.attackers.layout import ReleasedPiece, texts_in_pieces
from dptext.attackers.pairs import PairAttacker
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Released
from dptext.writing import joining
from tests import language_models
from tests.attackers import models as pairs
from tests.attackers.releases import (
    ENGLISH,
    EPSILON,
    POLICIES,
    SIZE,
    make_channel,
    release,
)

TEXTS = ["cat dog, the runs.", "", "zq the", "(the 42 cat!\nzq", "... cat", "the, of"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> CausalModel:
    """Return a small model."""
    path = language_models.llama(tmp_path_factory.mktemp("llama"))
    return CausalModel(path, settings.digest_of_path(path))


def make_line(
    attacker: CausalAttacker, pieces: list[ReleasedPiece], words: dict[int, int]
) -> tuple[list[int], list[bool]]:
    """Return the tokens of a text with these words, and which of them count."""
    spell = attacker.speller
    tokens, counted = list(spell.start), [False] * len(spell.start)
    for piece in pieces:
        text = piece.text
        if piece.drawn >= 0:
            shown = attacker.channel.lexicon.words[words[piece.drawn]]
            shown = "10" if shown == "<number>" else shown
            shown = shown[:1].upper() + shown[1:] if piece.capital else shown
            text = " " + shown if piece.spaced else shown
        tokens += (more := spell.spell(text))
        counted += [piece.is_released] * len(more)
    return tokens, counted


def brute(
    attacker: CausalAttacker, source: CausalModel, batch: Released, weight: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return posteriors (n, V) and the likeliest texts (n,), by reading all texts."""
    torch = models.package("torch", "the test", "semantic")
    model = causal.load(source).model
    rows, evidence, _ = attacker._evidence(batch)
    posterior = np.zeros((len(batch.drawn), SIZE))
    best = np.array(batch.drawn, np.int64)
    for text in texts_in_pieces(batch):
        index = [piece.drawn for piece in text if piece.drawn >= 0]
        possible = [np.flatnonzero(np.isfinite(evidence[:, i])) for i in index]
        logs, guesses = [], []
        for choice in product(*possible):
            words = {i: int(rows[k, i]) for i, k in zip(index, choice, strict=True)}
            tokens, counts = make_line(attacker, text, words)
            with torch.inference_mode():
                scores = model(torch.tensor([tokens])).logits[0].log_softmax(-1)
            # The tokens before the first drawn word are the same in all texts.
            after = np.arange(1, len(tokens))[counts[1:]]
            log = float(sum(scores[at - 1, tokens[at]] for at in after.tolist()))
            observed = sum(evidence[k, i] for i, k in zip(index, choice, strict=True))
            logs.append(weight * log + observed)
            guesses.append(words)
        chances = np.exp(np.array(logs) - max(logs))
        for words, chance in zip(guesses, chances / chances.sum(), strict=True):
            posterior[list(words), list(words.values())] += chance
        top = guesses[int(np.argmax(logs))]
        best[list(top)] = list(top.values())
    return posterior, best


@pytest.mark.parametrize(
    ("policy", "together"),
    [
        *((policy, False) for policy in POLICIES),
        (POLICIES[0], True),
        (POLICIES[1], True),
    ],
)
def test_with_beams_for_all_texts_both_are_exact(
    policy: Policy, together: bool, source: CausalModel
) -> None:
    """The likeliest text and the posterior are those of reading every text."""
    channel = make_channel(policy)
    other = PairAttacker(channel, pairs.model(channel.lexicon)) if together else None
    attacker = CausalAttacker(
        channel, source, other, beam=300, candidates=3, weight=0.7
    )
    batch = release(policy, TEXTS)
    wanted, best = brute(attacker, source, batch, 0.7)
    read = attacker.read(batch)
    posterior = np.zeros_like(wanted)
    for column in range(len(batch.drawn)):
        np.add.at(posterior[column], read.rows[:, column], read.likely[:, column])
    np.testing.assert_allclose(posterior, wanted, atol=1e-4)
    np.testing.assert_array_equal(read.best, best)
    guess = attacker.guess(batch)
    assert (wanted[np.arange(len(guess)), guess] > wanted.max(axis=1) - 1e-4).all()


def test_a_narrow_beam_finds_good_texts(source: CausalModel) -> None:
    """A few beams find the likeliest text more often than one, and one than none."""
    channel, right = make_channel(Policy()), np.zeros(2)
    for seed in range(3):
        batch = release(Policy(), ["cat dog the, runs"], seed)
        attackers = [
            CausalAttacker(channel, source, beam=beam, candidates=3) for beam in (1, 4)
        ]
        best = brute(attackers[0], source, batch, 1.0)[1]
        right += [
            (attacker.read(batch).best == best).mean() / 3 for attacker in attackers
        ]
    assert right[1] > 0.7
    assert right[1] >= right[0] > 0.3


@pytest.mark.parametrize("length", [3, 150])
def test_texts_are_read_by_themselves(length: int, source: CausalModel) -> None:
    """Alone, in any batch and any order, a text is read to the same last bit."""
    policy = Policy(stop_word="keep")
    rng = np.random.default_rng(1)
    texts = [
        " ".join(rng.choice(["cat", "dog", "the", "runs.", "zq,", "7"], size))
        for size in rng.integers(0, length, 13)
    ]
    attacker = CausalAttacker(make_channel(policy), source, beam=3, candidates=4)
    whole = release(policy, texts)
    together = attacker.read(whole)
    for row in (0, 5, 12):
        words = Tokenizer(attacker.channel.lexicon, policy).words([texts[row]])
        mine = whole.texts == row
        alone = attacker.read(
            joining.release(policy, words, whole.drawn[mine], whole.eps[mine])
        )
        np.testing.assert_array_equal(alone.likely, together.likely[:, mine])
        np.testing.assert_array_equal(alone.best, together.best[mine])


def test_long_texts_go_on_with_what_they_ended_in(source: CausalModel) -> None:
    """A text that is too long to read at once is read in parts that overlap."""
    policy = Policy(unknown="keep")
    text = "zq " * 700 + "cat dog, the runs. " * 150 + "zq " * 300 + "cat"
    attacker = CausalAttacker(make_channel(policy), source, beam=2, candidates=3)
    batch = release(policy, [text, "cat dog"])
    read = attacker.read(batch)
    np.testing.assert_allclose(read.likely.sum(axis=0), 1.0)
    assert len(set(read.best.tolist())) > 1


@pytest.mark.parametrize(
    ("make", "cached"),
    [
        (language_models.llama, True),
        (language_models.gpt2, True),
        (language_models.gptj, True),
        (language_models.bloom, True),
        (language_models.mamba, False),
    ],
)
def test_families_are_read_exactly_each_in_its_way(
    make: Callable[[Path], str], cached: bool, tmp_path: Path
) -> None:
    """Learnt, rotary, relative positions, and a Mamba, which has no keys and values."""
    path = make(tmp_path)
    source = CausalModel(path, settings.digest_of_path(path))
    attacker = CausalAttacker(make_channel(Policy()), source, beam=100, candidates=3)
    batch = release(Policy(), TEXTS[:3])
    np.testing.assert_array_equal(
        attacker.read(batch).best, brute(attacker, source, batch, 1.0)[1]
    )
    assert causal.load(source).is_cached == cached


def test_a_word_without_candidates_stays(
    source: CausalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If only unknown words are likely, the drawn word stays."""
    channel = make_channel(Policy())
    attacker = CausalAttacker(channel, source, beam=2, candidates=3)
    batch = release(Policy(), ["cat dog"])
    table = attacker.inputs.table(Observation(EPSILON))
    table.rows[batch.drawn[0]] = SIZE
    monkeypatch.setattr(attacker.inputs, "table", lambda epsilon: table)
    read = attacker.read(batch)
    assert read.best[0] == batch.drawn[0]
    assert read.likely[0, 0] == 1.0


def test_pieces_are_divided_as_they_stand() -> None:
    """A word has one spelling for each place; what it is worth sums to one."""
    cat = ENGLISH.words.index("cat")
    split = language_models.byte_tokenizer()
    speller = Speller(split, ENGLISH)
    assert speller.words[cat] == "cat"
    assert split.decode(speller.spell(" cat")) == " cat"
    assert split.decode(speller.spell(",")) == ","
    assert speller.start == tuple(split.encode("\n"))
    first: dict[int, list[float]] = {}
    for row in range(len(ENGLISH.words)):
        tokens = speller.spell(" " + speller.words[row])
        value = float(speller.ahead(True, False)[row])
        assert value <= 0.0
        if len(tokens) == 1:
            assert value == 0.0
        else:
            first.setdefault(tokens[0], []).append(value)
    assert first
