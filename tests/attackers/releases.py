"""Releases of a few words, their channel, and their sequence for a model of pairs."""

from __future__ import annotations

import numpy as np

from dptext.attackers.channel import Channel
from dptext.tokens import kinds
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import BudgetDescription, BudgetKind, Released
from dptext.writing import joining
from tests import prepared, small

ENGLISH = small.english("the", "cat", "dog", "of", "runs")
SIZE = len(ENGLISH.words)
EPSILON = 2.0
TEXTS = [
    "cat dog, the runs. of cat",
    "",
    "zq the",
    "the 42 cat of!\nzq",
    "dog",
    "the, of",
    "... cat",
]
POLICIES = [
    Policy(),
    Policy(stop_word="keep"),
    Policy(stop_word="drop", number="mask"),
    Policy(unknown="mask", number="keep"),
    Policy(punctuation="drop"),
    Policy(punctuation="drop", stop_word="keep", unknown="drop"),
]


def make_channel(policy: Policy, name: str = "rank", **params: object) -> Channel:
    """Return the channel of a mechanism over the small lexicon, at one epsilon."""
    mechanism = prepared.ready(name, ENGLISH, **params)
    budget = BudgetDescription(BudgetKind.WORD, EPSILON, EPSILON)
    prior = np.array(ENGLISH.prior)
    if policy.stop_word != "perturb":
        prior[[ENGLISH.words.index("the"), ENGLISH.words.index("of")]] = 0.0
    if policy.number != "perturb":
        prior[-1] = 0.0
    return Channel(ENGLISH, policy, mechanism, budget, prior=prior / prior.sum())


def release(policy: Policy, texts: list[str], seed: int = 0) -> Released:
    """Release texts with random words of the first three for their words."""
    words = Tokenizer(ENGLISH, policy).words(texts)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 3, len(words.ids)).astype(np.int32)
    return joining.release(policy, words, drawn, np.full(len(drawn), EPSILON))


def sequence(batch: Released, row: int) -> list[tuple[str, int]]:
    """Return what a text is to a model of pairs: drawn words, known rows, ends."""
    begin = int(batch.ends[row - 1]) if row else 0
    index = {int(p): n for n, p in enumerate(batch.positions)}
    shown: list[tuple[str, int]] = [("known", SIZE + 1)]
    for position in range(begin, int(batch.ends[row])):
        kind = int(batch.flags[position]) & kinds.KIND
        if position in index:
            shown.append(("drawn", index[position]))
        elif batch.flags[position] & kinds.ENDER:
            shown.append(("known", SIZE + 1))
        elif kind == kinds.STOP_WORD:
            body = batch.pieces[position].lower()
            # A word that was left out is some word.
            shown.append(("known", ENGLISH.words.index(body) if body else SIZE))
        elif kind == kinds.NUMBER:
            shown.append(("known", SIZE - 1))
        elif kind == kinds.UNKNOWN:
            shown.append(("known", SIZE))
    return [*shown, ("known", SIZE + 1)]
