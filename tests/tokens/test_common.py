"""Common words are copied by their own spelling, by marks and by copied words alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import pipeline, profile
from dptext.engine import documents
from dptext.errors import UsageError
from dptext.guarantees.claims import Unprotected, unprotected
from dptext.guarantees.sentences import shown
from dptext.measures.bayes_risk import prior_of_replaced
from dptext.tokens import kinds, language_data
from dptext.tokens.policy import DIGITS, FORM, PERTURB, Policy, WordClass
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import NUMBER, Lexicon, Strategy
from dptext.writing.joining import Joiner
from tests import distributions, made_words, small
from tests.tokens.texts import both

POLICY = Policy(common=3000)


def shown_in(lexicon: Lexicon, text: str, policy: Policy = POLICY) -> str:
    """Return a text with brackets around each piece that is replaced or made new."""
    words = both(lexicon, policy)[0].words([text])
    treatment = policy.treatments[words.flags & kinds.KIND]
    replaced = {*np.flatnonzero(np.isin(treatment, (PERTURB, FORM, DIGITS))).tolist()}
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
        "Not NOT, The THE, GREAT, but <BLAND>, <ZYXL>, <US>, <WHO> and <Can>",
        "we met <Great> people. Great people\nGreat people",
        "Mr. <Cross> and Dr. <Long>",
        "Plan <A>. <A>. <Smith> wrote. A dog",
        'He said. "Great (<Great>) [<Sarah>]',
        "- Great\n* Great\n<1>. Great",
        "well-<zyxlo> is well-known, <Well>-known",
        "<rock_and_roll>, mid-<2020>, <O'Brien>",
        "in the <U.S.> <Great> at <5> p.m. now",
        "great.<Great> ... Great",
        "to <May> <5>",
        "he had <cancer>",
        "the <right-wing> man, <Right-wing>’s, a wing on the right",
        "to <Min-jun>, <Ji-woo>'s, <Jean>-<Luc>, a well-known user-<woo>",
        "Ms. <Long> has <MS>, and <DR>. <Cross> lives in <DR>",
    ],
)
def test_what_is_copied_is_seen_in_its_spelling(builtin: Lexicon, text: str) -> None:
    """Names, capitals, initials, numbers and rare words are replaced, others stay."""
    assert shown_in(builtin, text.replace("<", "").replace(">", "")) == text


@pytest.mark.parametrize(
    "text",
    [
        "on <May 5, 2021> we",
        "They may come on <5 May>. May we? <May> came",
        "<Cpl>. <May> and Mr. <May>: <May 5>",
        "the <U.S.> <Great>, the <U.K.>. Great",
        "at <5 p.m.> on <Monday>, e.g. the <1.2.2021>",
        "<$5> for <K-83838974>, <a@b.org>",
    ],
)
def test_forms_go_first(builtin: Lexicon, text: str) -> None:
    """Dates, times, amounts and codes are pieces that are made new."""
    bare = text.replace("<", "").replace(">", "")
    assert shown_in(builtin, bare, profile.load("readable").tokens) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a CloudDesk, clouddesk", "a CloudDesk, <clouddesk>"),
        ("CLOUDDESK CloudDesk's", "<CLOUDDESK> CloudDesk's"),
        ("qzzx. Qzzx was it. A Qzzx", "qzzx. Qzzx was it. A <Qzzx>"),
        ("sarah. Sarah was it", "sarah. <Sarah> was it"),
        ("Zyx-Wok, Zyx, a Wok", "Zyx-Wok, <Zyx>, a <Wok>"),
        ("CloudDesker, qzzx-CloudDesk", "<CloudDesker>, qzzx-CloudDesk"),
        ("l'été, l’été", "l'été, l’été"),
    ],
)
def test_words_of_a_list_are_copied_as_it_spells_them(
    builtin: Lexicon, text: str, expected: str
) -> None:
    """Whole tokens; with a capital where a sentence begins, unless it is a name."""
    words = made_words.listed("CloudDesk", "qzzx", "sarah", "Zyx-Wok", "l'été")
    policy = replace(POLICY, words=words)
    assert shown_in(builtin, text, policy) == expected
    assert shown_in(builtin, "CloudDesk qzzx", POLICY) == "<CloudDesk> <qzzx>"


def test_words_of_special_categories_are_never_copied(builtin: Lexicon) -> None:
    """In any capitals, at the beginning of a sentence, whole, before a clitic."""
    special = sorted(language_data.special_words("en"))
    assert len(special) > 3000
    policy = Policy(common=10**6)
    texts = []
    for word in special:
        spelled = {word, word.capitalize(), word.title(), word.upper()}
        if "'" not in word:
            spelled.add(f"{word}'s")
        texts += [*spelled, *(f"a {each}" for each in spelled)]
    for text, read in zip(texts, divided(builtin, texts, policy), strict=True):
        kept = {
            piece.strip()
            for piece, kind in zip(read.pieces, read.kinds, strict=True)
            if kind == kinds.COMMON
        }
        rest = kept - {"a", "A", "'s", "'S"}
        assert not rest & {*re.split("['-]", text.removeprefix("a "))}, text


# Words that are replaced wherever they stand, and where no sentence begins.
REPLACED = ("Sarah", "qzzx", "Will", "Great", "US", "reputable", "7", "Xy", "May", "A")
PIECES = (*REPLACED, "great", "The", "I", "Mr", ".", "!", "\n", ",", '"', "-", "'s")
# Of all classes, and beside words and signs that make forms.
SHOWN = (
    "Berlin",
    "Sony",
    "Monday",
    "5",
    "2021",
    "right-wing",
    "MS",
    "Cpl",
    "qzzx",
    "Min-jun",
)
BESIDE = (*SHOWN, "May", "pm", "$", "the", "Great", "of", ".", "-", "Mr", "#", "\n")
READABLE = profile.load("readable").tokens
POLICIES = {
    "common": POLICY,
    "classes": Policy(common=3000, classes=tuple(WordClass)),
    "few": Policy(common=50, classes=(WordClass.MONTH,), unknown="mask"),
    "readable": READABLE,
    "listed": replace(
        READABLE,
        words=made_words.listed("Sony", "Great", "qzzx", "May-Xy", "reputable"),
    ),
}
OF_POLICIES = pytest.mark.parametrize("policy", POLICIES.values(), ids=list(POLICIES))


class Divided(NamedTuple):
    """The pieces of a text, their kinds and capitals, layouts by position."""

    pieces: list[str]
    kinds: list[int]
    formed: dict[int, tuple[str, str]]
    capitals: list[int]
    layouts: dict[int, str]


def divided(
    lexicon: Lexicon, texts: list[str], policy: Policy = POLICY
) -> list[Divided]:
    """Divide each text, all in one batch."""
    words = both(lexicon, policy)[0].words(texts)
    kind = (words.flags & kinds.KIND).tolist()
    capitals = (words.flags & (kinds.TITLE | kinds.UPPER)).tolist()
    ends = words.ends.tolist()
    begins = [0, *ends][: len(ends)]
    formed: list[dict[int, tuple[str, str]]] = [{} for _ in texts]
    for at, layout in words.formed.items():
        text = bisect_right(ends, at)
        formed[text][at - begins[text]] = layout
    shown: list[dict[int, str]] = [{} for _ in texts]
    for at, name in words.layouts.items():
        text = bisect_right(ends, at)
        shown[text][at - begins[text]] = name
    return [
        Divided(words.pieces[b:e], kind[b:e], formed[n], capitals[b:e], shown[n])
        for n, (b, e) in enumerate(zip(begins, ends, strict=True))
    ]


def check_swaps(
    lexicon: Lexicon, texts: list[str], others: list[str], policy: Policy = POLICY
) -> int:
    """Put other words where words are replaced: all else must stay as it was read.

    Returns the number of compared texts: those with the same pieces, marks and forms,
    and with the same capitals where these are shown.
    """
    swapped, expected = [], []
    for read in divided(lexicon, texts, policy):
        for position, piece in enumerate(read.pieces):
            body = piece.lstrip(" ")
            replaced = read.kinds[position] not in (*kinds.MARKS, kinds.COMMON)
            if not replaced or position in read.formed:
                continue
            for other in others:
                new = [*read.pieces]
                new[position] = piece[: len(piece) - len(body)] + other
                swapped.append("".join(new))
                expected.append((read, new, position))
    compared = 0
    # Different texts often become the same one, which is divided once.
    several = list(dict.fromkeys(swapped))
    results = dict(zip(several, divided(lexicon, several, policy), strict=True))
    for text, (before, new, position) in zip(swapped, expected, strict=True):
        now = results[text]
        same = now.pieces == new and now.formed == before.formed
        if policy.case == "copy":
            same &= now.capitals == before.capitals
        # The other word is replaced, too.
        if same and now.kinds[position] not in (*kinds.MARKS, kinds.COMMON):
            rest = [*now.kinds]
            rest[position] = before.kinds[position]
            assert rest == before.kinds, (new, position)
            layouts = [{**each.layouts, position: ""} for each in (now, before)]
            assert layouts[0] == layouts[1], (new, position)
            compared += 1
    return compared


def small_texts(pieces: tuple[str, ...]) -> list[str]:
    """Return all texts of up to three pieces, with and without spaces."""
    return [
        space.join(text)
        for count in (1, 2, 3)
        for text in product(pieces, repeat=count)
        for space in ("", " ")
    ]


def test_no_replaced_word_decides_what_is_copied(builtin: Lexicon) -> None:
    """All texts of up to three pieces, with every other word in every place."""
    assert check_swaps(builtin, small_texts(PIECES), list(REPLACED)) > 50_000


@OF_POLICIES
def test_nor_is_any_class_decided_by_another_word(
    builtin: Lexicon, policy: Policy
) -> None:
    """Texts of up to three pieces beside forms and words of all classes."""
    # A part of these texts, with every piece in every place; finding forms takes long.
    texts = small_texts(BESIDE)[:: 7 if policy.forms else 3]
    assert check_swaps(builtin, texts, [*SHOWN], policy) > 8_000


TEXTS = st.lists(
    st.sampled_from(
        [
            *PIECES,
            " ",
            "  ",
            "?",
            "(",
            "don't",
            "well-known",
            "Dr",
            "U.S.",
            "x@y.org",
            "Min-jun",
            "O'Brien",
            "e.g.",
            "…",
            "’s",
            "_",
            "you",
            "Berlin",
            "Monday",
            "2021",
            "5",
            "pm",
            "$",
            "right-wing",
            "K-83838974",
            "|",
            "\t",
            ";",
            "°",
            "C",
            "b",
            ")",
            "Captain",
            "Company",
            "GLAD",
        ]
    ),
    min_size=1,
    max_size=30,
)


@OF_POLICIES
@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, st.text(max_size=8))
def test_no_replaced_word_decides_in_long_texts(
    builtin: Lexicon, policy: Policy, first: list[str], second: list[str], other: str
) -> None:
    """The same of long texts, several in a batch, with any other word."""
    texts = ["".join(first), " ".join(second)]
    check_swaps(builtin, texts, ["Sarah", "qzzx", "IT", other], policy)


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
    """The statement begins with the copied words, which are not protected."""
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


def test_names_and_places_are_written_in_their_order(builtin: Lexicon) -> None:
    """Given names first, families' after them and after titles, places in pairs."""
    policy = Policy(common=3000, classes=(*WordClass,), case="copy")
    joiner = Joiner(builtin, policy)
    text = "Sarah Okafor met Mr. Sarah in BERLIN Germany, Berlin; a Sarah"
    for seed in range(30):
        words = Tokenizer(builtin, policy).words([text] * 9)
        positions = joiner.positions_to_redraw(words)
        listed = [joiner.candidates(words, at) for at in positions.tolist()]
        given, family, titled, pair, _, single, alone = listed[:7]
        assert titled == family
        assert {*given} | {*family} == {*alone}
        assert not {*given} & {*family}
        joiner.redraw(words, distributions.bits(len(positions), seed), positions)
        pieces = [words.pieces[at].strip(" ") for at in positions.tolist()]
        for begin in range(0, len(pieces), 7):
            here = pieces[begin : begin + 7]
            assert here[0] in given
            assert here[1] in family
            assert here[2] in family
            assert f"{here[3]} {here[4]}" in pair
            assert here[5] in single
            assert here[6] in alone


def test_places_in_capitals_and_the_pronoun_are_known(builtin: Lexicon) -> None:
    """One of "US" is a place and "us" a word; "i" is copied as "I" is."""
    policy = Policy(common=5000, classes=(*WordClass,), case="copy")
    text = "i went to the <US> with us. I. <i>. <Love>, Love it. Dear all"
    assert shown_in(builtin, text.replace("<", "").replace(">", ""), policy)
    words = Tokenizer(builtin, policy).words(["i met the US with us. Love it"])
    named = [kinds.NAMES[kind] for kind in (words.flags & kinds.KIND).tolist()]
    assert named == [*["common"] * 3, "place", "common", "common", *named[6:]]
    assert named[7] == "common"


def test_names_that_are_read_alike_are_said_to_count_as_equal(builtin: Lexicon) -> None:
    """Two places of a record get one replacement, and so do two persons."""
    recipe = profile.load(
        "readable", {"strategy": "record", "tokens": {"classes": [], "forms": []}}
    )
    ready = pipeline.build(recipe, builtin)
    words = ready.tokenizer.words(["Berlin Florida, Sarah Qwertz"])
    assert len({*words.inputs.tolist()}) == 2
    said = documents.promised(ready)
    assert (
        "all names of a kind that the vocabulary takes for one word"
        in said.wording.sentence
    )
