"""Common words are copied by their own spelling, by marks and by copied words alone."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import profile
from dptext.errors import UsageError
from dptext.guarantees.claims import Unprotected, unprotected
from dptext.guarantees.sentences import shown
from dptext.measures.bayes_risk import prior_of_replaced
from dptext.tokens import kinds
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import NUMBER, Lexicon, Strategy
from tests import small

POLICY = Policy(common=3000)


def shown_in(lexicon: Lexicon, text: str, policy: Policy = POLICY) -> str:
    """Return a text with brackets around each piece that is replaced."""
    words = Tokenizer(lexicon, policy).words([text])
    replaced = {*words.positions.tolist()}
    parts = []
    for position, piece in enumerate(words.pieces):
        body = piece.lstrip(" ") or piece
        lead = piece[: len(piece) - len(body)]
        parts.append(f"{lead}<{body}>" if position in replaced else piece)
    return "".join(parts)


@pytest.mark.parametrize(
    "text",
    [
        "the <zyxlo> was great",
        "<Sarah>'s dog, <Sarah>’s dog",
        "Great service. <Will> came? no: <Will> came",
        "I don't, can't, won't and I'm; it's o'clock",
        "Not NOT, The THE, but <GREAT>, <IT>, <US>, <WHO> and <Can>",
        "we met <Great> people. Great people\nGreat people",
        "Mr. <Cross> and Dr. <Long>",
        "Plan <A>. <A>. <Smith> wrote. A dog",
        'He said. "Great (<Great>) [<Sarah>]',
        "- Great\n* Great\n<1>. Great",
        "well-<zyxlo> is well-known, <Well>-known",
        "rock_and_<zyxlo>, mid-<2020>, <O'Brien>",
        "in the <U.S.> <Great> at <5> p.m. now",
        "great.<Great> ... Great",
        "to <May> <5>",
        "he had <cancer>",
    ],
)
def test_what_is_copied_is_seen_in_its_spelling(builtin: Lexicon, text: str) -> None:
    """Names, capitals, initials, numbers and rare words are replaced, others stay."""
    assert shown_in(builtin, text.replace("<", "").replace(">", "")) == text


# Words that are replaced wherever they stand, and where no sentence begins.
REPLACED = ("Sarah", "qzzx", "Will", "Great", "US", "reputable", "7", "Xy", "May", "A")
PIECES = (*REPLACED, "great", "The", "I", "Mr", ".", "!", "\n", ",", '"', "-", "'s")


def divided(lexicon: Lexicon, texts: list[str]) -> list[tuple[list[str], list[bool]]]:
    """Return the pieces of each text, and which are copied words."""
    words = Tokenizer(lexicon, POLICY).words(texts)
    common = (words.flags & kinds.KIND) == kinds.COMMON
    out, begin = [], 0
    for end in words.ends.tolist():
        out.append((words.pieces[begin:end], common[begin:end].tolist()))
        begin = end
    return out


def check_swaps(lexicon: Lexicon, texts: list[str], others: list[str]) -> int:
    """Put other words where words are replaced; the copied pieces must stay."""
    swapped, expected = [], []
    for pieces, common in divided(lexicon, texts):
        for position, piece in enumerate(pieces):
            body = piece.lstrip(" ")
            if common[position] or not body[:1].isalnum():
                continue
            for other in others:
                new = [*pieces]
                new[position] = piece[: len(piece) - len(body)] + other
                swapped.append("".join(new))
                expected.append((new, common, position))
    compared = 0
    results = divided(lexicon, swapped)
    for (pieces, common), (new, before, position) in zip(
        results, expected, strict=True
    ):
        # The other word is replaced, too, and all pieces are those of before.
        if pieces == new and not common[position]:
            assert common == before, (new, position)
            compared += 1
    return compared


def test_no_replaced_word_decides_what_is_copied(builtin: Lexicon) -> None:
    """All texts of up to three pieces, with every other word in every place."""
    texts = [
        space.join(pieces)
        for count in (1, 2, 3)
        for pieces in product(PIECES, repeat=count)
        for space in ("", " ")
    ]
    assert check_swaps(builtin, texts, list(REPLACED)) > 50_000


TEXTS = st.lists(
    st.sampled_from(
        [
            *(*PIECES, " ", "  ", "?", "(", "don't", "well-known", "Dr", "U.S."),
            *("x@y.org", "Min-jun", "O'Brien", "e.g.", "…", "’s", "_", "you"),
        ]
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.text(max_size=8))
def test_no_replaced_word_decides_in_long_texts(
    builtin: Lexicon, first: list[str], second: list[str], other: str
) -> None:
    """The same of long texts, several in a batch, with any other word."""
    texts = ["".join(first), " ".join(second)]
    check_swaps(builtin, texts, ["Sarah", "qzzx", "IT", other])


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS)
def test_a_text_is_judged_by_itself(
    builtin: Lexicon, first: list[str], second: list[str]
) -> None:
    """Nothing of another text of the batch decides."""
    texts = ["".join(first), " ".join(second)]
    together = divided(builtin, texts)
    assert together == [divided(builtin, [text])[0] for text in texts]


def test_it_is_said(builtin: Lexicon) -> None:
    """The statement tells what is copied first, and that it is not protected."""
    first = shown(POLICY)[0]
    assert "not protected at all" in first
    assert "3,000" in first
    assert Unprotected.COMMON_WORDS in unprotected(POLICY, Strategy.TOKEN)
    assert Unprotected.COMMON_WORDS not in unprotected(Policy(), Strategy.TOKEN)
    assert "common" not in Policy().settings()
    assert POLICY.settings()["common"] == 3000


def test_a_replaced_word_is_none_of_the_common_ones(builtin: Lexicon) -> None:
    """The prior of an attacker has rare words, names and numbers alone."""
    prior = prior_of_replaced(builtin, POLICY)
    rows = builtin.row_of
    assert prior[[rows["great"], rows["the"], rows["it's"]]].sum() == 0.0
    assert prior[[rows["reputable"], rows["sarah"], rows["<number 10-19>"]]].all()
    assert prior.sum() == pytest.approx(1.0)


def test_classes_of_identities_are_one_input_each(builtin: Lexicon) -> None:
    """Names, places, organisations, months and weekdays: not which of them it was."""
    text = (
        "to Berlin Florida, to Sony Toshiba, on Monday Friday, in May June, Qwertz Zoe"
    )
    read = Tokenizer(builtin, POLICY).words([text]).inputs.tolist()
    assert len(read) == 10
    pairs = [{*read[begin : begin + 2]} for begin in range(0, 10, 2)]
    assert all(len(pair) == 1 for pair in pairs)
    assert len({*read}) == 5


@pytest.mark.parametrize("key", ["punctuation", "stop_word"])
def test_what_it_rests_on_cannot_be_dropped(key: str) -> None:
    """Sentence starts are seen by marks, and function words are common."""
    data = {
        "mechanism": {"name": "rank"},
        "budget": {"name": "uniform", "epsilon": 5},
        "tokens": {"common": 10, key: "drop"},
    }
    with pytest.raises(UsageError, match=f"{key} cannot be drop"):
        profile.parse(data, "p.yaml")


def test_a_lexicon_without_frequencies_has_no_common_words() -> None:
    """Which words are common must be known."""
    flat = small.lexicon(np.eye(4), words=("a", "b", "c", NUMBER), counts=[1.0] * 4)
    with pytest.raises(UsageError, match="no word frequencies"):
        Tokenizer(flat, POLICY)
