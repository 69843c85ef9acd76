"""The grammatical form of a replaced word, where a policy shows it."""

from __future__ import annotations

import numpy as np
import pytest

from dptext.attackers.channel import Observation
from dptext.guarantees.claims import Unprotected, unprotected
from dptext.guarantees.sentences import shown
from dptext.tokens import grammar, kinds
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon, Strategy
from dptext.writing.joining import release

POLICY = Policy(common=3000, case="copy", grammar="show")


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("quilt", grammar.NOUN),
        ("quilts", grammar.PLURAL),
        ("resided", grammar.PAST),
        ("woven", grammar.PAST),
        ("dangling", grammar.ING),
        ("reputable", grammar.ADJECTIVE),
        ("briskly", grammar.ADVERB),
        ("qzzxed", grammar.PAST),
        ("qzzxes", grammar.PLURAL),
        ("qzzx", grammar.NOUN),
    ],
)
def test_a_form_is_seen_in_the_spelling(builtin: Lexicon, word: str, form: int) -> None:
    """By part of speech and ending, of unknown words by the ending alone."""
    words = Tokenizer(builtin, POLICY).words([f"the {word} of"])
    assert words.grammar is not None
    assert words.grammar.tolist() == [form], grammar.FORMS[words.grammar[0]]


def test_it_is_released_only_where_it_is_shown(builtin: Lexicon) -> None:
    """So are capitals inside a sentence, and copied words as rows."""
    text = ["The quilts of Great quilts"]
    for policy in (POLICY, Policy(common=3000), Policy()):
        words = Tokenizer(builtin, policy).words(text)
        seen = release(policy, words, words.ids, np.ones(len(words.ids)))
        titles = (seen.flags & kinds.TITLE) != 0
        if policy is POLICY:
            assert seen.grammar is not None
            assert seen.grammar.tolist() == [2, 7, 2]
            assert titles.tolist() == [False, False, False, True, False]
        else:
            assert seen.grammar is None
            assert not titles.any()
        copied = [-1] * 5 if seen.copied is None else seen.copied.tolist()
        rows = [builtin.row_of["the"], -1, builtin.row_of["of"], -1, -1]
        assert copied == (rows if policy.common else [-1] * 5)


def test_a_attacker_goes_by_it(builtin: Lexicon) -> None:
    """Words of other forms are no inputs; common ones are where a capital stands."""
    from dptext import open_pipeline

    over = {"tokens": {"common": 3000, "case": "copy", "grammar": "show"}}
    channel = open_pipeline("readable", over).channel
    every = np.full(len(builtin.words) + 1, 1.0)
    rows = builtin.row_of
    plural = channel.restrict_prior(Observation(4.0, form=grammar.PLURAL), every)
    assert plural[rows["quilts"]]
    assert plural[-1]
    assert not plural[rows["quilt"]]
    assert not plural[rows["things"]]
    capital = channel.restrict_prior(
        Observation(4.0, capital=True, form=grammar.PLURAL), every
    )
    assert capital[rows["things"]]
    assert not capital[rows["thing"]]


def test_it_is_said() -> None:
    """The statement tells it, and a policy must allow it."""
    assert any("grammatical form" in line for line in shown(POLICY))
    assert Unprotected.GRAMMAR in unprotected(POLICY, Strategy.TOKEN)
    assert Unprotected.GRAMMAR not in unprotected(Policy(), Strategy.TOKEN)
    assert "grammar" not in Policy().settings()
    assert POLICY.settings()["grammar"] == "show"
