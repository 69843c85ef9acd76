from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext.randomness import Randomness, RunKey
from dptext.tokens.policy import Form, Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import NUMBER, PARTS, Ids, Lexicon, Words
from dptext.writing.joining import Joiner
from tests import distributions, small
from tests.tokens.texts import (
    ENGLISH,
    ITEMS,
    MARKS,
    POLICIES,
    Seen,
    both,
    mixed,
    seen_in,
    seen_of_each,
    written,
)

# Words that ask for forms of others, and these: agreement has much to rewrite.
INFLECTED = {
    "noun": "dog dogs cat cats paris apple apples",
    "verb": "walk walks walked walking runs go goes went gone",
    "adjective": "naive big bigger",
    "name": "John",
    "function-word": (
        "the a an I me my he him his they to these of is are am was has have will can "
        "do n't not 's 'll 'm that this than don't"
    ),
}


def inflected() -> Lexicon:
    """Make a lexicon of English forms."""
    listed = [(word, part) for part in INFLECTED for word in INFLECTED[part].split()]
    lexicon = small.english(*(word for word, _ in listed))
    parts = [PARTS.index(part) for _, part in listed] + [PARTS.index("number")]
    meta = {**lexicon.meta, "language": "en"}
    return replace(lexicon, parts=np.array(parts, np.uint8), meta=meta)


FORMS = inflected()
PAIRS = "he walk|to went|a apple|these dog|me will|dog n't|they was|has go".split("|")


def drawn_as(*words: str) -> Ids:
    """Return the rows of words."""
    return np.array([ENGLISH.words.index(word) for word in words], np.int32)


@pytest.mark.parametrize(
    ("text", "drawn", "expected"),
    [
        ("dog", "cat", "Cat"),
        ("a dog", "the cat", "The cat"),
        ("do dog", "do n't", "Don't"),
        ("don't", "the cat", "The cat"),
        ("dog, dog", "cat Paris", "Cat, Paris"),
        ("dog,dog", "cat cat", "Cat,cat"),
        ("Dog! Dog", "cat the", "Cat! The"),
        ("dog\ndog", "cat the", "Cat\nThe"),
        ('"dog." dog', "cat runs", '"Cat." Runs'),
        ("dog  dog", "cat runs", "Cat  runs"),
        (" dog ", "cat", " Cat "),
        ("DOG Dog", "cat the", "Cat the"),
        ("dog", "'s", "'s"),
        ("(dog)", "n't", "(N't)"),
        ("日日", "cat dog", "Cat dog"),
        ("", "", ""),
        ("  ...", "", "  ..."),
    ],
)
def test_spaces_and_capitals_follow_public_rules(
    text: str, drawn: str, expected: str
) -> None:
    """Spaces go before all words but clitics; capitals where a sentence begins."""
    assert written(text, drawn_as(*drawn.split()), Policy()) == expected


@pytest.mark.parametrize(
    ("policy", "text", "drawn", "expected"),
    [
        (Policy(case="lower"), "Dog. Dog", "Paris Is", "paris. is"),
        (Policy(case="copy"), "Dog DOG dog", "the runs Paris", "The RUNS paris"),
        (Policy(punctuation="drop"), "(dog); dog!", "cat runs", "Cat runs"),
        (Policy(punctuation="drop"), "\n dog\n\ndo-dog", "cat n't the", "Catn't the"),
        (Policy(unknown="mask"), "zq dog zq", "cat", "[unknown] cat [unknown]"),
        (Policy(unknown="mask"), "dog, zq", "cat", "Cat, [unknown]"),
        (Policy(unknown="drop"), "dog zq dog", "cat the", "Cat the"),
        (Policy(unknown="keep"), "dog Zq@x.org", "cat", "Cat Zq@x.org"),
        (Policy(number="mask"), "dog 12", "cat", "Cat [number]"),
        (Policy(number="keep"), "dog 1,200.5", "cat", "Cat 1,200.5"),
        (Policy(stop_word="keep"), "the dog", "cat", "the cat"),
        (Policy(stop_word="keep"), "The dog's", "cat", "The cat's"),
        (Policy(stop_word="keep"), "don't dog", "cat", "don't cat"),
        (Policy(stop_word="drop", punctuation="drop"), "The dog!", "cat", "Cat"),
        (Policy(stop_word="drop"), "dog, the dog", "cat runs", "Cat, runs"),
    ],
)
def test_each_policy_writes_what_it_says(
    policy: Policy, text: str, drawn: str, expected: str
) -> None:
    """Lower, copy, drop, mask and keep do what their names say."""
    assert written(text, drawn_as(*drawn.split()), policy) == expected


def test_every_word_drawn_as_itself_gives_the_text_back() -> None:
    """A text in plain spacing comes back whole when each word is drawn as itself."""
    text = "The cat runs. Don't! Is the dog's naive Paris well-known?"
    policy = Policy(case="copy")
    words = Tokenizer(ENGLISH, policy).words([text])
    assert (words.ids >= 0).all()
    assert (
        Joiner(ENGLISH, policy).join(words, words.ids, distributions.bits(20)).texts[0]
        == text
    )


def test_the_number_element_is_written_as_any_number() -> None:
    """Numbers drawn have one to four digits, no leading zero, each length as often."""
    size = 4000
    words = Tokenizer(ENGLISH, Policy()).words(["dog " * size])
    drawn = np.full(size, ENGLISH.words.index(NUMBER), np.int32)
    parts = (
        Joiner(ENGLISH, Policy())
        .join(words, drawn, distributions.bits(size))
        .texts[0]
        .split()
    )
    assert len(parts) == size
    assert all(str(int(part)) == part for part in parts)
    lengths = np.array([len(part) - 1 for part in parts])
    distributions.assert_follows(lengths, np.full(4, 0.25), distributions.ALARM / 2)
    ones = np.array([int(part) for part in parts if len(part) == 1])
    distributions.assert_follows(ones, np.full(10, 0.1), distributions.ALARM / 2)


def test_digits_are_drawn_anew_and_the_form_stays() -> None:
    """Under `digits` every digit is uniform and separators keep their places."""
    policy = Policy(number="digits")
    texts = [written("3,141.59 dog", drawn_as("cat"), policy, seed=n) for n in range(4)]
    for text in texts:
        assert text.endswith(" cat")
        assert [c for c in text[:8] if not c.isdigit()] == [",", "."]
        assert len(text) == 12
    assert len(set(texts)) > 1
    long = written("7" * 20_000, drawn_as(), policy)
    distributions.assert_follows(np.array([int(c) for c in long]), np.full(10, 0.1))


def test_texts_of_a_batch_do_not_touch_each_other() -> None:
    """Each text of a batch is written as if it were alone, empty ones included."""
    texts = ["dog dog", "", " dog", "dog!", "", "42 zq"]
    for policy in (Policy(), Policy(punctuation="drop"), Policy(unknown="mask")):
        tokenizer, joiner = Tokenizer(ENGLISH, policy), Joiner(ENGLISH, policy)
        words = tokenizer.words(texts)
        drawn = np.arange(len(words.ids), dtype=np.int32) % 10
        together = joiner.join(words, drawn, distributions.bits(len(drawn))).texts
        alone = [
            joiner.join(
                tokenizer.words([text]),
                drawn[words.texts == row],
                distributions.bits(int((words.texts == row).sum())),
            ).texts[0]
            for row, text in enumerate(texts)
        ]
        assert together == alone


# The tests below hold the claim that joining is post-processing: the strings that two
# compared texts give differ in nothing once the same words are drawn for them.


POLICIES += [replace(policy, punctuation="drop") for policy in POLICIES]


def all_written(
    read: Words, policy: Policy, turn: int, lexicon: Lexicon = ENGLISH
) -> list[str]:
    """Write many texts, the n-th word of each with the same draw and the same bits."""
    _, joiner = both(lexicon, policy)
    words = replace(read, pieces=[*read.pieces])  # which are redrawn in place
    same = [bytes(16)] * len(words.ends)
    randomness = Randomness(RunKey.from_seed(turn), "tests")
    positions = joiner.positions_to_redraw(words)
    of_text = np.searchsorted(words.ends, positions, side="right")
    joiner.redraw(words, randomness.bits(same, of_text), positions)
    starts = np.searchsorted(words.texts, words.texts, side="left")
    nth = np.arange(len(starts)) - starts
    rng = np.random.default_rng(turn)
    draws = rng.integers(0, len(lexicon.words), 64)
    if lexicon is FORMS and turn % 3:
        # Pairs of which one word asks for another form of the other.
        pairs = " ".join(rng.choice(PAIRS, 33).tolist()).split()
        draws = np.array([lexicon.words.index(word) for word in pairs[turn % 3 - 1 :]])
    drawn = draws[nth].astype(np.int32)
    return joiner.join(words, drawn, randomness.bits(same, words.texts)).texts


def hold(
    texts: list[str], policy: Policy, lexicon: Lexicon = ENGLISH, turns: int = 3
) -> int:
    """Hold all texts against those that are seen as alike; return how many are."""
    words = both(lexicon, policy)[0].words(texts)
    of_each = seen_in(words, policy)
    for turn in range(turns):
        first: dict[Seen, tuple[str, str]] = {}
        for text, view, out in zip(
            texts, of_each, all_written(words, policy, turn, lexicon), strict=True
        ):
            other, other_out = first.setdefault(view, (text, out))
            assert out == other_out, f"{other!r} and {text!r} can be told apart"
    return len(texts) - len(first)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_the_output_is_a_function_of_drawn_words_and_kept_things(
    policy: Policy,
) -> None:
    """Texts that a statement compares give the same text from the same draws."""
    assert hold(mixed(ITEMS), policy) > 500


# Identifiers of every form, two or more of each layout, and other pieces.
FORMED = (
    "4111 1111 1111 1111|5500 0000 0000 0004|4111 1111 1111 1112|378282246310005|"
    "371449635398431|4111-1111-1111-1111|DE89 3704 0044 0532 0130 00|"
    "DE75 5121 0800 1245 1261 99|GB29 NWBK 6016 1331 9268 19|"
    "IE29 AIBK 9311 5212 3456 78|NL91ABNA0417164300|FI2112345600000785|x@y.org|"
    "ann.lee@example.com|5 May 2024|7 June 1999|12 Mar 2001|30 Nov 1970|2024-05-17|"
    "1999-12-31|17.05.2024|31.12.1999|05/17/2024|12/31/99|01/01/00|May 3rd, 2024|"
    "July 1st, 2020|MAY 12, 2024|+49 171 1234567|+44 207 1234567|(555) 123-4567|"
    "(800) 555-0199|0171 1234567|0151 7654321|0000000000000|0000000000018|cat|dog|zq|"
    "the|42|2024|10:30|23:59|9 am|5 pm|12:15 P.M.|$12.50|$99.99|£1,200|£3,450|5€|7€|"
    "10 EUR|25 EUR|$3 million|$7 million|K-1234567|Z-7654321|AB12CD|XY98ZZ|v1.2.3|"
    "v4.5.6|10.0.0.1|8.8.8.8|https://acme.com/a|https://bob.de/b/c?d|www.acme.com|"
    "www.bob.org|@ann|@bob.lee|#love|#hate|\U0001f600|\U0001f621|bob.pdf|ann.pdf|"
    "<p>|<p class='Bob'>|</p>|<acme x='1'>|<acme>|&amp;|`bob`|`ann lee`|24/7|e.g."
).split("|")


@pytest.mark.parametrize("punctuation", ["keep", "drop"])
@pytest.mark.parametrize("declared", [tuple(Form), (Form.CARD, Form.PHONE)])
def test_of_an_identifier_the_layout_is_seen_and_nothing_else(
    declared: tuple[Form, ...], punctuation: str
) -> None:
    """Identifiers of one form and layout give the same text from the same bits."""
    policy = Policy(forms=declared, punctuation=punctuation)  # type: ignore[arg-type]
    texts = [*FORMED, *(f"{one}, {two}" for one in FORMED for two in FORMED)]
    assert hold(texts, policy, turns=2) > 300


# Stop words that ask, words that are asked, words of no vocabulary.
ASKING = (
    "to To a an the he THEY these I of is Has will don't do n't walk walks apple dog "
    "Dogs zq 42 #tag 日 went cat's he'll IT me John can't"
).split()


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    [
        *POLICIES,
        *(
            replace(POLICIES[0], punctuation=marks, agreement=agreement)
            for marks in ("keep", "drop")
            for agreement in ("articles", "none")
        ),
    ],
)
def test_agreement_looks_at_drawn_words_and_kept_things_only(policy: Policy) -> None:
    """So it is with every policy of agreement, where words have forms."""
    assert hold(mixed(ASKING), policy, FORMS, turns=6) > 200


@pytest.mark.parametrize("punctuation", ["keep", "drop"])
def test_agreement_has_much_to_rewrite(punctuation: str) -> None:
    """The tests above would see a rule that looks at what it must not."""
    texts = mixed(ASKING)[:1500]
    policy = Policy(punctuation=punctuation)  # type: ignore[arg-type]
    each = [replace(policy, agreement=name) for name in ("inflect", "none")]
    read = [both(FORMS, policy)[0].words(texts) for policy in each]
    apart = 0
    for turn in range(6):
        one, two = (
            all_written(words, policy, turn, FORMS)
            for words, policy in zip(read, each, strict=True)
        )
        apart += sum(a != b for a, b in zip(one, two, strict=True))
    assert apart > 1500


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(ASKING), min_size=1, max_size=8), st.integers(0, 99))
@pytest.mark.parametrize("policy", POLICIES)
def test_agreement_writes_as_many_words(
    policy: Policy, items: list[str], turn: int
) -> None:
    """Drawn words and copied articles change, one for one; all else stays."""
    words = Tokenizer(FORMS, policy).words([" ".join(items)])
    drawn = np.random.default_rng(turn).integers(0, len(FORMS.words), len(words.ids))
    ids = drawn.astype(np.int32)
    pieces = np.array([*words.pieces, ""], dtype=object)[:-1]
    joiner = Joiner(FORMS, policy)
    put = joiner._agree(words, ids)
    assert put.shape == ids.shape
    others = np.delete(np.arange(len(pieces)), words.positions)
    joiner._fit_articles(words, pieces, put)
    changed = [
        piece.strip(" ").lower()
        for piece, before in zip(
            pieces[others].tolist(),
            np.array([*words.pieces, ""], dtype=object)[others].tolist(),
            strict=True,
        )
        if piece != before
    ]
    assert set(changed) <= ({"a", "an"} if policy.stop_word == "keep" else set())
    assert ((put >= 0) & (put < len(FORMS.words))).all()
    assert (ids == drawn).all()


@pytest.mark.parametrize(
    ("policy", "text", "drawn", "expected"),
    [
        (Policy(), "x y", "he walk", "He walks"),
        (Policy(), "x, y", "he walk", "He, walk"),
        (Policy(), "x\ny", "to went", "To\nWent"),
        (Policy(punctuation="drop"), "x, y", "he walk", "He walks"),
        (Policy(agreement="none"), "x y z", "a apple walk", "A apple walk"),
        (Policy(agreement="articles"), "x y z", "a apple walk", "An apple walk"),
        (Policy(), "x y z", "me can went", "I can go"),
        (Policy(), "x y", "dog n't", "Dog not"),
        (Policy(), "x y", "do n't", "Don't"),
        (Policy(), "x y", "dog 'll", "Dog will"),
        (Policy(stop_word="keep"), "to x", "went", "to go"),
        (Policy(stop_word="keep"), "to, x", "went", "to, went"),
        (Policy(stop_word="keep"), "TO x", "went", "TO go"),
        (Policy(stop_word="keep"), "An x is a x", "dog apple", "A dog is an apple"),
        (Policy(stop_word="keep", agreement="none"), "an x", "dog", "an dog"),
        (Policy(stop_word="keep"), "x the", "walk", "Walk the"),
        (Policy(stop_word="keep", punctuation="drop"), "to (x", "went", "to go"),
        (Policy(stop_word="drop", punctuation="drop"), "x to y", "he go", "He goes"),
        (Policy(stop_word="drop"), "x to y", "he go", "He go"),
        (Policy(unknown="mask"), "to zq dog", "he go", "He [unknown] go"),
        (
            Policy(unknown="mask", punctuation="drop"),
            "to zq dog",
            "he go",
            "He [unknown] go",
        ),
        (Policy(case="lower"), "x y", "he walk", "he walks"),
        (Policy(case="copy"), "dog DOG", "he walk", "he WALKS"),
    ],
)
def test_agreement_is_between_words_that_stand_side_by_side(
    policy: Policy, text: str, drawn: str, expected: str
) -> None:
    """Kept marks, masked and dropped words stand between; dropped marks do not."""
    rows = [FORMS.words.index(word) for word in drawn.split()]
    assert written(text, np.array(rows, np.int32), policy, FORMS) == expected


@pytest.mark.parametrize("policy", [Policy(), Policy(unknown="mask")])
def test_every_mark_is_kept_and_nothing_else_of_its_neighbours(policy: Policy) -> None:
    """Around every kind of mark, texts with other words give the same text."""
    texts = [
        f"{one}{mark}{two}"
        for mark in MARKS
        for one in ITEMS[::3]
        for two in ITEMS[::2]
    ]
    assert hold(texts, policy) > 500


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=12), min_size=20, max_size=20))
@pytest.mark.parametrize("punctuation", ["keep", "drop"])
def test_any_characters_at_all_are_covered(punctuation: str, texts: list[str]) -> None:
    """With any characters, alike texts give the same text."""
    hold(texts, Policy(punctuation=punctuation))  # type: ignore[arg-type]


def test_dropped_marks_leave_only_the_number_of_words() -> None:
    """With marks dropped and all words replaced, as many words give the same text."""
    policy = Policy(punctuation="drop")
    for view in seen_of_each(["cat, (dog)\n😀!", "  日本 zq", "don't 42"], policy):
        assert view == Seen((("perturb", None),) * 3)


def test_articles_are_rewritten_before_drawn_words_only() -> None:
    """Not before a mark, nor at the end of a text; and never another word."""
    lexicon = small.lexicon(
        np.random.default_rng(0).normal(size=(6, 2)),
        words=["a", "an", "apple", "dog", "the", "<number>"],
    )
    policy = Policy()
    tokenizer, joiner = Tokenizer(lexicon, policy), Joiner(lexicon, policy)
    words = tokenizer.words(["x y, z a", "b c"])
    for drawn, texts in (
        ([1, 3, 0, 2, 1, 2], ["A dog, an apple", "An apple"]),
        ([2, 1, 3, 0, 4, 1], ["Apple an, dog a", "The an"]),
    ):
        ids = np.array(drawn, np.int32)
        randomness = Randomness(RunKey.from_seed(0), "tests")
        bits = randomness.bits([bytes(16)] * 2, words.texts)
        assert joiner.join(words, ids, bits).texts == texts
