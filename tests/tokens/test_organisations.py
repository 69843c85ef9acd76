"""Names of organisations: real ones are never invented, layouts alone decide."""

from __future__ import annotations

import re
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import profile
from dptext.randomness import Randomness, RunKey
from dptext.tokens import kinds, language_data, names, organisations
from dptext.tokens.common import common_words
from dptext.tokens.draws import CONSONANTS
from dptext.tokens.regex import key_of
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon
from dptext.writing.joining import Joiner
from tests.tokens.test_common import check_swaps, shown_in
from tests.tokens.texts import both
from tools.invented_names import is_odd

READABLE = profile.load("readable").tokens
INVENTED = language_data.invented_names("en")


def written(lexicon: Lexicon, text: str, seed: int = 0) -> str:
    """Write a text with the first output for each drawn word."""
    tokenizer, joiner = both(lexicon, READABLE)
    words = tokenizer.words([text])
    positions = joiner.positions_to_redraw(words)
    streams = Randomness(RunKey.from_seed(seed), "test")
    bits = streams.bits([bytes(16)], np.zeros(len(positions), np.int64))
    joiner.redraw(words, bits, positions)
    bits = streams.bits([bytes(16)], np.zeros(len(words.ids), np.int64))
    return joiner.join(words, np.zeros(len(words.ids), np.int32), bits).texts[0]


def test_invented_names_are_no_real_ones(builtin: Lexicon) -> None:
    """At least 400, in no list that ships, and no two that differ in one letter."""
    every = [*INVENTED["organisations"], *INVENTED["products"]]
    assert len(INVENTED["organisations"]) >= 400
    assert len(INVENTED["products"]) >= 200
    listed = {names.fold(key) for key in builtin.row_of}
    for file in ("closed_classes", "common_words", "person_names", "english_names"):
        for _, words in language_data.sections(file):
            listed |= {word.lower() for word in words}
    folded = [name.lower() for name in every]
    assert not listed & {*folded}
    assert len({*folded}) == len(every)
    gone: dict[str, str] = {}
    for name in folded:
        for part in {name, *(name[:n] + name[n + 1 :] for n in range(len(name)))}:
            assert gone.setdefault(part, name) == name


def test_invented_short_forms_mean_nothing() -> None:
    """Without vowels, on no list of short forms, places, firms or illnesses."""
    known = {
        word.upper()
        for _, words in language_data.sections("short_forms")
        for word in words
    }
    known |= {word.upper() for word in language_data.special_words("en")}
    known |= {w.upper() for w in language_data.closed_classes("en")["organisations"]}
    for length in (3, 4, 5):
        codes = INVENTED[f"{length}"]
        assert len({*codes}) == len(codes) >= 150
        assert all(len(code) == length for code in codes)
        assert {*"".join(codes)} <= {*CONSONANTS}
        assert not known & {*codes}


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Superior Court of Fulton County ruled.", "[A-Z][a-z]+ Court ruled."),
        ("at the First National Bank of Ohio today", "at the [A-Z][a-z]+ Bank today"),
        ("for Johnson & Johnson Inc, too", "for [A-Z][a-z]+ Inc, too"),
        ("St Mary's Hospital is near", "[A-Z][a-z]+ Hospital is near"),
        ("the University of California", "the [A-Z][a-z]+ University"),
        ("we use CloudDesk here", "we use [A-Z][a-z]+[A-Z][a-z]+ here"),
        ("we use eBay here", "we use [A-Z][a-z]+[A-Z][a-z]+ here"),
        ("to NASA and NGOs", "to [A-Z]{4} and [A-Z]{3}s"),
        ("our ZQ team", "our [A-Z][a-z]+ team"),
        ("by Toshiba and twitter", "by [A-Z][a-z]+ and [A-Z][a-z]+"),
        ("Mr. Court and Mr. Bank Court", "Mr. [A-Z][a-z]+ and Mr. .*"),
    ],
)
def test_names_become_invented_ones_of_their_layout(
    builtin: Lexicon, text: str, pattern: str
) -> None:
    """By the word of a kind, an inner capital, the number of capitals, or without."""
    real = {
        word.lower() for word in language_data.closed_classes("en")["organisations"]
    }
    for seed in range(5):
        out = written(builtin, text, seed)
        assert re.fullmatch(pattern, out), out
        assert not real & {*re.findall("[a-z]+", out.lower())}


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        ("Patricia Ivanova of Springfield came", ["Patricia", "Ivanova"]),
        ("we told SMITH and McIntyre", ["SMITH", "McIntyre"]),
        ("MR OKORO called", ["OKORO"]),
    ],
)
def test_persons_stay_persons(builtin: Lexicon, text: str, persons: list[str]) -> None:
    """Without a word of a kind, on the list of names, or behind a title."""
    words = Tokenizer(builtin, READABLE).words([text])
    kind = dict(zip(words.pieces, (words.flags & kinds.KIND).tolist(), strict=True))
    named = [piece.strip() for piece, each in kind.items() if each == kinds.PERSON]
    assert named == persons


def test_brands_that_are_drawn_are_written_as_invented_names(builtin: Lexicon) -> None:
    """Of all rows of the class, in any capitals."""
    joiner, tokenizer = Joiner(builtin, READABLE), Tokenizer(builtin, READABLE)
    words = tokenizer.words(["a Qzy thing"])
    bits = Randomness(RunKey.from_seed(1), "test").bits(
        [bytes(16)], np.zeros(1, np.int64)
    )
    for brand in ("google", "ebay", "yahoo", "samsung", "ipod", "olympics"):
        drawn = np.array([builtin.row_of[brand]], np.int32)
        if len(words.ids) != 1:
            words = tokenizer.words(["a qzyzx thing"])
        (text,) = joiner.join(words, drawn, bits).texts
        assert brand not in text.lower()


def test_equal_layouts_have_one_law(builtin: Lexicon) -> None:
    """Texts with other names of the same layouts are written alike, bit for bit."""
    groups = [
        ("Superior Court of Fulton County", "Zork Court", "Bland Bay Court for Ohio"),
        ("NASA", "HMRC", "ZZZZ"),
        ("CloudDesk", "eBay", "iStyles"),
        ("Toshiba", "Microsoft", "twitter"),
    ]
    for group in groups:
        outs = {written(builtin, f"we met at {each} today", 3) for each in group}
        assert len(outs) == 1, group
    firsts = [written(builtin, f"we met at {each[0]} today", 3) for each in groups]
    assert all(one != two for one, two in combinations(firsts, 2))


# Hidden words with a capital of all classes, and what may stand in a name.
CAPITALS = ("Zork", "Sarah", "Berlin", "Toshiba", "Will", "Monday", "Great", "Qx")
JOINING = ("Bank", "Court", " of", " the", " and", " &", "-", ",", "'s", " mr")


def test_no_hidden_word_decides_what_is_one_name(builtin: Lexicon) -> None:
    """Another word of its class with a capital: the same pieces, kinds and layouts."""
    tokenizer = Tokenizer(builtin, READABLE)
    shapes = [
        f"x {a}{b} {c}{d}"
        for a, b, c, d in product(
            ("_", "_ _", "Bank"),
            JOINING,
            ("_", "Bank", "Court"),
            ("", " _", "'s _", " of _ and _"),
        )
        if "_" in a + c + d
    ]
    first: dict[int, str] = {}
    for other in CAPITALS:
        kind = int(tokenizer.words([f"x {other}"]).flags[1]) & kinds.KIND
        base = first.setdefault(kind, other)
        one = tokenizer.words([shape.replace("_", base) for shape in shapes])
        two = tokenizer.words([shape.replace("_", other) for shape in shapes])
        assert one.ends.tolist() == two.ends.tolist()
        assert one.layouts.keys() <= {*two.layouts} | {*range(len(two.pieces))}
        joined = {at for at, kind in one.layouts.items() if kind in ("Bank", "Court")}
        assert {at: two.layouts.get(at) for at in joined} == {
            at: one.layouts[at] for at in joined
        }
        copied = [(w.flags & kinds.KIND) == kinds.COMMON for w in (one, two)]
        assert (copied[0] == copied[1]).all()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *CAPITALS,
                *JOINING,
                "NASA",
                "NGOs",
                "eBay",
                "3B",
                "CALL",
                "ME",
                "WILL",
                "German",
                "the",
                "I",
                "a",
                "Hi",
                "The",
                "Room",
                "Street",
                "now",
                "old",
                "navy",
                "from",
                "target",
                "Council",
                "-",
                ":",
                "\n",
            ]
        ),
        max_size=25,
    )
)
def test_no_replaced_word_decides_in_capitals(
    builtin: Lexicon, text: list[str]
) -> None:
    """Any replaced word is changed to others with its capitals: all else stays."""
    others = [*CAPITALS, "NASA", "ZQXW", "SMITH", "eBay", "qzzx"]
    check_swaps(builtin, [" ".join(text)], others, READABLE)


@pytest.mark.parametrize(
    "text",
    [
        "ASAP, the PDF on my LED tv by SEPA to the IBAN, GDPR, w/ 5 mg",
        "RE: FW: my Wi-Fi on USB, HR and IT say 3D, e-mail me pls, u know",
        "n/a b/c of the Windows update, w/o Firmware",
        "the Sales Manager of our Finance team, by Customer Support, in Flat 5",
        "of the Returns Department, said the Store Manager",
        "Will buy again.It was good. Can be late. May not",
        "i dont know, im sad. We wont",
    ],
)
def test_short_forms_are_copied(builtin: Lexicon, text: str) -> None:
    """Acronyms, units and short forms of a public list, with hyphens and slashes."""
    assert shown_in(builtin, text, READABLE).replace("<5>", "5") == text


def test_no_short_form_tells_a_special_category(builtin: Lexicon) -> None:
    """No illness, faith, orientation, party, firm, agency, place or person is."""
    never = """HIV AIDS ADHD ADD PTSD OCD IBS MS MD TB STD STI COPD SOB ICU MRI CT ER
    GP LGBT LGBTQ IRA GOP SNP CDU BNP NRA KKK ISIS FBI CIA NSA NHS IRS FDA NATO UN EU UK
    UAE NYC LA DC BBC CNN IBM BMW UPS DHL SAP HP LG AMD IVF DUI AA NA SS RC LDS JW KJV
    BDSM HPV BPD EMDR DSM"""
    lists = {
        k: v for k, v in language_data.short_forms("en").items() if "institutions" != k
    }
    copied = set().union(
        *(
            lists[n]
            for n in ("capitals", "small", "exactly", "shouted", "posts", "ranks")
        )
    )
    folded = {word.lower() for word in copied}
    assert not {word.lower() for word in never.split()} & folded
    assert not language_data.special_words("en") & folded
    assert not {*language_data.closed_classes("en")["places"]} & copied
    assert "smith" not in folded
    words = common_words(builtin, 8000)
    for word in never.split():
        assert words.code(word, key_of(word)) & kinds.KIND != kinds.COMMON, word


def test_layouts_are_read_from_the_spelling() -> None:
    """The number of letters, the s of a plural, products; never the letters."""
    assert organisations.layout(" NASA") == organisations.layout("HMRC") == "4"
    assert organisations.layout("NGOs") == "3s"
    assert (
        organisations.layout("eBay") == organisations.layout("CloudDesk") == "product"
    )
    assert not organisations.is_acronym("SMITHS")
    assert not organisations.has_inner_capital("McIntyre")


def test_no_invented_name_begins_oddly() -> None:
    """Nor any of its parts."""
    invented = language_data.invented_names("en")
    assert not any(map(is_odd, invented["organisations"] + invented["products"]))
    assert is_odd("Pornaven")
    assert is_odd("MeloVomu")
    assert min(len(invented["organisations"]), len(invented["products"])) > 200


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("DO CALL ME OR YOU WILL SEE IT", "DO CALL ME OR YOU WILL SEE IT"),
        ("in flat 3B, 12a at 20 Mbit/s", r"in flat \d[A-H], \d\d[a-h] at \d\d Mbit/s"),
        ("PORTLAND ME WILL SMITH", r"[A-Z]+ [A-Z]+ [A-Z]+ [A-Z]+"),
        ("PLEASE CALL MRS SMITH OF LEEDS", r"PLEASE CALL MRS [A-Z]+ OF [A-Z]+"),
        ("we called MRS SMITH in Leeds", r"we called \S+ [A-Z][a-z]+ in [A-Z][a-z]+"),
        (
            "she lives in the UK. NASA left",
            r"she lives in the [A-Z][a-z]+\. [A-Z]{4} left",
        ),
        ("| Name | City |\n| John | Austin |", r"\| Name \| City \|\n\| \w+ \| \w+ \|"),
        ("YOUR HOUSE IS AT 12 HIGH STREET", r"YOUR HOUSE IS AT [0-9]+ [A-Z]+ STREET"),
    ],
)
def test_names_among_words_in_capitals_are_so(
    builtin: Lexicon, text: str, pattern: str
) -> None:
    """Four words in a row or more; states are words behind copied ones alone."""
    for seed in range(3):
        assert re.fullmatch(pattern, out := written(builtin, text, seed)), out
    if pattern.startswith("[A-Z]"):
        out = shown_in(builtin, text, READABLE)
        assert not {"ME", "WILL"} & {*out.split()}


def test_nationalities_become_others(builtin: Lexicon) -> None:
    """With an article that fits, in any capitals, but not the verb "to polish"."""
    text = "the german crew met an American, two Russians and french wine"
    lists = language_data.nationalities("en")
    one, two, three = (
        "|".join(lists[f"{name} to write"])
        for name in ("nationality", "other nationality", "nationalities")
    )
    wanted = f"the (?:{one}) crew met an? (?:{one}), two (?:{three}) and (?:{two}) wine"
    outs = {written(builtin, text, seed) for seed in range(20)}
    assert len(outs) > 15
    assert all(re.fullmatch(wanted, each) for each in outs)
    assert not any(re.search(r"\ban [^AEIO]|\ba [AEIO]", each) for each in outs)
    kept = [
        word for word in shown_in(builtin, "to polish it", READABLE).split() if word
    ]
    assert kept == ["to", "<polish>", "it"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "we saw The Room, to The Shop Floor",
            "we saw The <Room>, to The <Shop Floor>",
        ),
        ("In The Common Room it was", "In The <Common Room> it was"),
        ("of Dunes, now Suite) by it", "of <Dunes>, now <Suite>) by it"),
        (
            "And Best Single Now Again - The Kill.",
            "And Best Single Now Again - The <Kill>.",
        ),
        (
            "one for the Council, of the Commission",
            "one for the <Council>, of the <Commission>",
        ),
    ],
)
def test_titles_and_public_bodies_are_no_copied_words(
    builtin: Lexicon, text: str, shown: str
) -> None:
    """Rooms behind "The" inside a sentence or alone, verbs behind "The" in headings."""
    assert shown_in(builtin, text, READABLE) == shown


@pytest.mark.parametrize(
    "text",
    [
        "in the Meeting Room on the Second Floor, Main Street",
        "in our Room, Suite at the Square. The Room was cold, Flat and Suite",
        "Head of Department at the Company; our Council",
    ],
)
def test_other_rooms_and_departments_stay(builtin: Lexicon, text: str) -> None:
    """Beside a capital or a little word, and where a sentence begins."""
    assert shown_in(builtin, text, READABLE) == text


FIRMS = (
    "we went to {} today",
    "sent it from {}, i think",
    "by {}'s shop",
    "at {}",
    "hi, at {} will you see? from {}",
)


def test_firms_in_small_letters_are_replaced(builtin: Lexicon) -> None:
    """Of several words everywhere; common words only alone behind a preposition."""
    for name in ("old navy", "target", "you tube", "adobe"):
        for text in FIRMS:
            assert f"<{name}>" in shown_in(builtin, text.format(*(name,) * 2), READABLE)
    plain = "to target it, an apple from apple pie, in the sky, old navy-blue"
    assert shown_in(builtin, plain, READABLE) == plain
    places = shown_in(builtin, "The us visa, to us in the middle east", READABLE)
    assert places == "The <us> <visa>, to us in the <middle east>"
    # Bit for bit as other firms are written.
    for text in FIRMS:
        firms = ("old navy", "target", "twitter", "you tube", "adobe")
        outs = {written(builtin, text.format(*(name,) * 2), 3) for name in firms}
        assert len(outs) == 1, outs


def test_no_replaced_word_decides_beside_rooms_and_firms(builtin: Lexicon) -> None:
    """Texts of rooms, public bodies and firms, with every other word beside them."""
    others = [*CAPITALS, "qzzx", "lizard", "adobe"]
    led = (
        "saw The",
        "saw the",
        "now",
        "from",
        "back to",
        "The",
        "the",
        "_",
        "saw The _",
    )
    middle = (
        "Room",
        "Shop Floor",
        "_ Street",
        "Council",
        "target",
        "old navy",
        "you tube",
        "us",
        "middle east",
    )
    after = ("", " _", ", _", " for _", " The _", " Room", "-_", ": _")
    texts = [
        f"{a} {b}{c}".replace("_", other)
        for a, b, c in product(led, middle, after)
        for other in ("Zork", "qzzx")
    ]
    assert check_swaps(builtin, [*dict.fromkeys(texts)], others, READABLE) > 1_000
