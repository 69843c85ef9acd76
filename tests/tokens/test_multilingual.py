"""Tests for dptext.tokens.multilingual and dptext.tokens.word_reading."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest

from dptext import lexicons, profile
from dptext.errors import UsageError
from dptext.randomness import Randomness, RunKey
from dptext.tokens import kinds, word_reading
from dptext.tokens.languages import MARK, language_lists
from dptext.tokens.policy import WordList
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon, Words
from tests import made_words
from tests.tokens.texts import both

pytestmark = pytest.mark.quick

ALL = ("en", "de", "es", "fr", "it", "nl", "pt")
TEXTS = {
    "en": "The parcel from Patricia Ivanova was late again, so please call me back.",
    "de": "Hallo Frau Koslowski, der Karton war leider offen und das Gerät ist defekt.",
    "fr": "Bonjour Madame Dupont, le colis que j'attendais est arrivé à Lyon hier.",
    "es": "Hola, el paquete que pedí hace una semana todavía no ha llegado a Sevilla.",
    "it": "Buongiorno, il pacco che ho ordinato non è ancora arrivato a casa di Marta.",
    "nl": "Hallo, het pakket dat ik vorige week heb besteld is nog niet in Utrecht.",
    "pt": "Olá, o pacote que eu pedi na semana passada ainda não chegou em Coimbra.",
}
TITLES = "Frau Herr Mme M Sra don sig.ra sig mevrouw dhr senhor".split()


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    """Return the built-in lexicon."""
    return lexicons.find("builtin")


def tokenizer(lexicon: Lexicon, *codes: str, **settings: object) -> Tokenizer:
    """Return a tokenizer of the profile readable for languages."""
    tokens = {"languages": [*codes], **settings}
    return Tokenizer(lexicon, profile.load("readable", {"tokens": tokens}).tokens)


def copied(words: Words) -> list[str]:
    """Return the copied words of a batch."""
    kind = words.flags & kinds.KIND
    return [words.pieces[at] for at in np.flatnonzero(kind == kinds.COMMON).tolist()]


@pytest.mark.parametrize("code", ALL)
def test_each_text_is_read_in_its_language(lexicon: Lexicon, code: str) -> None:
    """Sentences of customers are found to be in their language."""
    words = tokenizer(lexicon, *ALL).words([TEXTS[code]])
    assert words.languages == [code]


def test_a_text_in_no_language_of_the_run_becomes_a_mark(lexicon: Lexicon) -> None:
    """No text is written as gibberish, in a language with lists or without."""
    polish = "Paczka, którą zamówiłem dwa tygodnie temu, jeszcze nie dotarła do mnie."
    words = tokenizer(lexicon, "en", "de").words([TEXTS["fr"], polish, TEXTS["de"]])
    assert words.languages == ["", "", "de"]
    assert words.pieces[:2] == [MARK, MARK]


def test_texts_of_a_record_are_read_in_one_language(lexicon: Lexicon) -> None:
    """A short text is read in the language of its record."""
    words = tokenizer(lexicon, "en", "de").words(
        [TEXTS["de"], "Super!"], np.array([0, 0])
    )
    assert words.languages == ["de", "de"]


def test_a_column_decides_the_language(lexicon: Lexicon) -> None:
    """The language of a column has priority, and an unknown one is none."""
    words = tokenizer(lexicon, "en", "de").words(
        [TEXTS["en"], TEXTS["en"]], np.array([0, 1]), ["de", "xx"]
    )
    assert words.languages == ["de", ""]


def test_particles_of_names_tell_no_language(lexicon: Lexicon) -> None:
    """A name such as Leonardo da Vinci leaves an English text English."""
    text = "Leonardo da Vinci, Vincent van Gogh, Otto von Bismarck"
    assert tokenizer(lexicon, *ALL).words([text]).languages == ["en"]


@pytest.mark.parametrize("code", [code for code in ALL if code != "en"])
def test_replaced_words_change_no_language_and_no_copied_word(
    lexicon: Lexicon, code: str
) -> None:
    """Other words in place of replaced ones leave all copied words as they are."""
    divide = tokenizer(lexicon, *ALL)
    lists, draws = language_lists(code), random.Random(7)
    before = divide.words([TEXTS[code]])
    reader = divide._languages.readers[code]  # type: ignore[union-attr]
    # Names are replaced words in lower case as well.
    small: dict[str, list[str]] = {}
    for each in sorted(lists.strong)[::20]:
        if reader.code(each) == kinds.WORD:
            small.setdefault(reader.layout(each), []).append(each)
    capital = [each.capitalize() for each in sorted(lists.families)[::20]]
    capital = [each for each in capital if reader.code(each) == kinds.PERSON]
    for _ in range(50):
        pieces = list(before.pieces)
        for at, (form, layout) in before.formed.items():
            if form == word_reading.WORD and " lower " in layout:
                same = small.get(layout, [pieces[at].strip(" ")])
                pieces[at] = f" {draws.choice(same)}"
        for at in np.flatnonzero(before.flags & kinds.KIND == kinds.PERSON).tolist():
            lead = " " if pieces[at][:1] == " " else ""
            pieces[at] = lead + draws.choice(capital)
        after = divide.words(["".join(pieces)])
        assert after.languages == before.languages
        assert copied(after) == copied(before)
        assert after.formed == before.formed
        assert (after.flags == before.flags).all()


def written(lexicon: Lexicon, text: str, *codes: str, seed: int = 3) -> str:
    """Return what is written for a text with the random bits of a seed."""
    policy = profile.load("readable", {"tokens": {"languages": [*codes]}}).tokens
    tokenizer, joiner = both(lexicon, policy)
    words = tokenizer.words([text])
    positions = joiner.positions_to_redraw(words)
    randomness = Randomness(RunKey.from_seed(seed), "")
    bits = randomness.bits([bytes(16)], positions * 0)
    joiner.redraw(words, bits, positions)
    assert not len(words.ids), "no word of these texts is drawn with an epsilon"
    none = randomness.bits([bytes(16)], words.texts)
    return joiner.join(words, words.ids, none).texts[0]


def test_what_is_written_is_independent_of_the_replaced_word(
    lexicon: Lexicon,
) -> None:
    """Two German texts that differ in replaced words of a class are written alike."""
    one = "Hallo Frau Koslowski, der Ponton aus Hamburg ist seit Dienstag defekt."
    two = "Hallo Frau Schneider, der Waggon aus München ist seit Freitag defekt."
    assert written(lexicon, one, "de") == written(lexicon, two, "de")
    streets = [f"Ich wohne in der {name} 12." for name in ("Goethestraße", "Ulmstraße")]
    one, two = (written(lexicon, text, "de") for text in streets)
    assert one == two
    assert one.split()[4].endswith("straße")
    one = "Hallo Frau Koslowski, der Ponton aus Hamburg ist seit Dienstag defekt."
    assert "Hamburg" not in written(lexicon, one, "de")


@pytest.mark.parametrize("name", ["hamburg", "deutschland", "müller", "sabine"])
def test_names_are_never_copied_in_lower_case(lexicon: Lexicon, name: str) -> None:
    """Countries, cities and names of persons are replaced in any capitals."""
    divide = tokenizer(lexicon, *ALL)
    for spelled in (name, name.capitalize(), name.upper()):
        words = divide.words(
            [f"wir haben gestern mit {spelled} über das Paket geredet"]
        )
        assert f" {spelled}" not in copied(words)


@pytest.mark.parametrize("codes", [("nl",), ALL])
def test_function_words_that_may_be_names_are_replaced_in_capitals(
    lexicon: Lexicon, codes: tuple[str, ...]
) -> None:
    """Particles in capitals may be acronyms, rare function words with one surnames."""
    text = "De firma BIN heeft Durant en (Fra) gisteren in het pakket gezien."
    assert not {" BIN", " Durant", "Fra"} & {
        *copied(tokenizer(lexicon, *codes).words([text]))
    }
    german = "Er kam VON Hamburg, ABER nicht MIT dem Auto und nicht mit dem Rad."
    kept = copied(tokenizer(lexicon, "de").words([german]))
    assert {" VON", " ABER", " MIT"} <= {*kept}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "Leider kam die Ware nicht, der Kundendienst ist mies und großspurig"),
        ("es", "El repartidor fue irresponsable y el embalaje pésimo, qué palurdos"),
        ("fr", "Un service irresponsable, le livreur est désinvolte et goguenard"),
        ("it", "Spedizione rapidissima, corriere scortese e irresponsabile, bifolchi"),
        ("nl", "Snel en zorgvuldig ingepakt, de klantenservice is onbeschoft en kwast"),
        ("pt", "O atendimento é péssimo e a resposta irresponsável, uns pacóvios"),
    ],
)
def test_opinions_and_words_of_offices_are_copied(
    lexicon: Lexicon, code: str, text: str
) -> None:
    """No opinion of a review is turned; a rare word, here the last, is replaced."""
    words = text.replace(",", "").split()
    kept = [each.strip() for each in copied(tokenizer(lexicon, code).words([text]))]
    assert kept == words[:-1]
    plain = copied(tokenizer(lexicon, code, opinion="perturb").words([text]))
    assert len(plain) < len(kept)


def test_elisions_stand_before_their_words(lexicon: Lexicon) -> None:
    """French elisions are copied, and no space comes behind them."""
    text = written(lexicon, "Je suis sûr que l'emballage n'était pas fermé.", "fr")
    assert "l' " not in text
    assert " l'" in text


def test_articles_fit_the_words_behind_them(lexicon: Lexicon) -> None:
    """Consonants behind "la" and "de", also of names, and a vowel behind an elision."""
    text = "La grobnique de Lyon était là avec la kwimbelle et l'zwimblette de Marie."
    for seed in range(40):
        words = written(lexicon, text, "fr", seed=seed).replace(".", "").split()
        fitted = [words[at] for at in (1, 3, 7, -1)]
        assert not {each[0].lower() for each in fitted} & {*"aeiouhéèê"}, fitted
        assert words[-3].startswith(tuple(f"l'{vowel}" for vowel in "aeiouhéèê"))


def test_days_roman_numbers_and_greetings_read_well(lexicon: Lexicon) -> None:
    """A day before a month is one, centuries stay numbers, and greetings stay."""
    text = written(lexicon, "Cordiali saluti. Il 31 marzo del XIX secolo, Marta.", "it")
    assert text.startswith("Cordiali saluti. Il ")
    assert 10 <= int(text.split()[3]) <= 28
    assert set(text.split()[6]) <= set("IVX")


@pytest.mark.parametrize(
    ("code", "text", "kept"),
    [
        ("de", "Bitte anrufen, Tel. 0221 4567890, bzw. Nr. 4 bis Ende des Monats", ""),
        ("es", "La lavadora no dura ni diez minutos, calle Mayor, reembolsarme", ""),
        ("fr", "Le lave-linge fuit, la facture annulée, tél. 06 12 34 56 78", ""),
        ("it", "La lavatrice perde acqua, Via Zwingli, otto scontrini", "Via otto"),
        ("nl", "De broek en de wasmachine van de buurvrouw zijn kapot", ""),
        ("pt", "Paguei duas vezes na Rua das Kwimbel, o aspirador avariado", "Rua das"),
    ],
)
def test_words_of_customers_and_streets_are_copied(
    lexicon: Lexicon, code: str, text: str, kept: str
) -> None:
    """Things, damages, number words and short forms stay, in small letters or as is."""
    words = [each.strip() for each in copied(tokenizer(lexicon, code).words([text]))]
    small = {word for word in re.findall(r"[^\W\d_]+", text) if word.islower()}
    wanted = {*kept.split()} if kept else small
    assert wanted <= {part for word in words for part in word.split("-")}


def test_a_street_in_one_word_stays_one(lexicon: Lexicon) -> None:
    """Also in a language in which another unknown word with a capital is a name."""
    text = "Ik woon in de Kwimbelstraat 14 te Utrecht, en in de Zwiblekade."
    street, quay = (written(lexicon, text, "nl").split()[at] for at in (4, -1))
    assert street.endswith("straat")
    assert quay.endswith("kade.")


@pytest.mark.parametrize(("code", "text"), [("de", "montag"), ("pt", "terça-feira")])
def test_weekdays_are_written_in_one_form(
    lexicon: Lexicon, code: str, text: str
) -> None:
    """No "in der Nacht auf sonntags", and no "domingo-feira"."""
    for seed in range(30):
        new = written(lexicon, f"und e {text}", code, seed=seed).split()[-1]
        assert not new.endswith("gs")
        assert not new.startswith(("sábado", "domingo"))


def test_names_of_several_words_tell_no_language(lexicon: Lexicon) -> None:
    """Small words inside a name of an organisation are hidden and do not count."""
    divide = tokenizer(lexicon, "en", "de")
    texts = [
        f"Ich war gestern beim {name} und habe dort lange gewartet."
        for name in ("Court of Kwimbel", "Court of the Kwimbel and Grobnik")
    ]
    assert divide.words(texts).languages == ["de", "de"]
    assert divide._languages is not None
    assert not {" of", " and", "of", "and"} & set(divide._languages._scores)


def test_english_alone_is_no_language_to_choose(lexicon: Lexicon) -> None:
    """The language English alone is the default, with the same settings."""
    usual = profile.load("readable")
    english = profile.load("readable", {"tokens": {"languages": ["en"]}})
    assert replace(english, name=usual.name) == usual


@pytest.mark.parametrize("code", ["xx", "Deutsch"])
def test_an_unknown_language_is_refused(code: str) -> None:
    """A language without lists is refused with the known ones."""
    with pytest.raises(UsageError, match=r"no lists for language.*de"):
        profile.load("readable", {"tokens": {"languages": [code]}})


def test_a_profile_without_common_words_refuses_languages() -> None:
    """Mechanisms draw English words alone: another profile is named."""
    with pytest.raises(UsageError, match="use the profile readable"):
        profile.load("balanced", {"tokens": {"languages": ["de"]}})


@pytest.mark.parametrize("code", [code for code in ALL if code != "en"])
def test_the_english_lexicon_alone_marks_texts_in_other_languages(
    lexicon: Lexicon, code: str
) -> None:
    """No text becomes English words and names one by one, and no English one a mark."""
    words = tokenizer(lexicon).words([TEXTS["en"], TEXTS[code], "Super!"])
    assert words.languages == ["en", "", "en"]
    assert words.pieces.count(MARK) == 1
    assert not (words.texts == 1).any(), "a mark spends no epsilon"


def test_texts_of_a_record_become_marks_together(lexicon: Lexicon) -> None:
    """A short text of a German record is German, too; layouts of names move along."""
    texts = [TEXTS["de"], "Super!", "The TV of ACME Ltd. and NWX is broken again."]
    words = tokenizer(lexicon).words(texts, np.array([0, 0, 1]))
    assert words.languages == ["", "", "en"]
    alone = tokenizer(lexicon).words(texts[2:])
    assert words.pieces == [MARK, MARK, *alone.pieces]
    assert words.layouts == {at + 2: each for at, each in alone.layouts.items()}


def test_few_common_words_tell_no_language(lexicon: Lexicon) -> None:
    """With few copied words, or hidden capitals, nothing tells an English text."""
    for settings in ({"common": 1000}, {"case": "restore", "classes": []}):
        words = tokenizer(lexicon, **settings).words([TEXTS["de"]])
        assert words.languages is None


@pytest.mark.parametrize(
    "text",
    [
        "It was a walrus, an walrus! Sarah said so",
        "So Dr. Sarah met Bob Yilmaz, and Sarah Bob Qwertz.",
        "I am on the grobnik to Kwimbel with Patricia Ivanova.",
        "He was in Zyxing with an old kwimble or so.",
    ],
)
def test_short_english_texts_are_no_marks(lexicon: Lexicon, text: str) -> None:
    """Function words that other languages have, too, count half."""
    words = tokenizer(lexicon).words([text])
    assert words.languages is None


@pytest.mark.parametrize(
    ("known", "is_mark"),
    [
        ("the call", False),
        ("the was in", False),
        ("so was in an", False),
        ("the", True),
        ("was in an", True),
        ("the die de der was", True),
    ],
)
def test_a_fifth_of_the_words_tells_an_english_text(
    lexicon: Lexicon, known: str, is_mark: bool
) -> None:
    """Of ten words two must count: words of several languages half or not at all."""
    listed = known.split()
    text = " ".join((*listed, *["grobnik"] * (10 - len(listed))))
    assert tokenizer(lexicon).words([text]).languages == ([""] if is_mark else None)


GERMAN_WORDS = "der karton war offen und das gerät ist leider defekt bitte rufen sie an"


@pytest.mark.parametrize("number", [1, 7, 14])
@pytest.mark.parametrize("name", ["words", "keep"])
def test_words_of_the_owner_tell_no_english_text(
    lexicon: Lexicon, name: str, number: int
) -> None:
    """A German text becomes a mark, however many of its words a list keeps."""
    words = GERMAN_WORDS.split()[:number]
    policy = profile.load("readable").tokens
    if name == "words":
        policy = replace(policy, words=made_words.listed(*words))
    else:
        policy = replace(policy, keep=WordList(words=tuple(words)))
    divide = Tokenizer(lexicon, policy)
    assert divide.words([GERMAN_WORDS]).languages == [""]
    assert divide.words([TEXTS["en"]]).languages is None


def test_common_words_on_a_list_are_english(lexicon: Lexicon) -> None:
    """Keeping common words, or words of an English text, makes it no mark."""
    words = TEXTS["en"].lower().replace(",", "").rstrip(".").split()
    policy = replace(profile.load("readable").tokens, keep=WordList(words=(*words,)))
    assert Tokenizer(lexicon, policy).words([TEXTS["en"]]).languages is None


@pytest.mark.parametrize("own", ["", "offen kaputt call"])
def test_replaced_words_make_no_text_a_mark(lexicon: Lexicon, own: str) -> None:
    """Whether a text becomes a mark follows from copied pieces and numbers of words.

    own: words of a list of the owner, which are copied pieces, too.
    """
    policy = profile.load("readable").tokens
    if own:
        policy = replace(policy, words=made_words.listed(*own.split()))
    divide, draws = Tokenizer(lexicon, policy), random.Random(3)
    whole = Tokenizer(lexicon, policy, every_text=True)
    small = ["zurück", "koslowski", "zq7", "#abholung", "paket", "grobnik", "vegan"]
    small += [word for word in lexicon.words[::40] if word.islower()]
    small = [word for word in small if whole.words([f"so {word}"]).positions.tolist()]
    known = f"the parcel was here in so call an is die de {own}".split()
    found = set[str]()
    for _ in range(150):
        number = draws.randrange(6, 14)
        kept = [draws.random() < 0.3 for _ in range(number)]
        texts = [
            " ".join(
                known[at % len(known)] if copy else draws.choice(small)
                for at, copy in enumerate(kept)
            )
            for _ in range(2)
        ]
        one, other = map(whole.words, ([texts[0]], [texts[1]]))
        if copied(one) != copied(other) or len(one.flags) != len(other.flags):
            continue
        languages = [divide.words([text]).languages for text in texts]
        assert languages[0] == languages[1], texts
        found.add(str(languages[0]))
    assert found == {"None", "['']"}, "both cases occur"


@pytest.mark.parametrize(
    ("code", "text", "heading"),
    [
        ("de", "Guten Tag, Frau Maria Koslowski hat angerufen.", "women_to_write"),
        ("de", "Guten Tag, Herr Stefan Koslowski hat angerufen.", "men_to_write"),
        ("fr", "Bonjour, Mme Marie Dupont a appelé hier.", "women_to_write"),
        ("es", "Hola, la Sra. María García ha llamado ayer.", "women_to_write"),
        ("es", "Hola, don Pedro García ha llamado ayer.", "men_to_write"),
        ("fr", "Bonjour, M. Pierre Dupont a appelé hier.", "men_to_write"),
        ("it", "Buongiorno, la sig.ra Maria Rossi ha chiamato ieri.", "women_to_write"),
        ("it", "Buongiorno, il sig. Marco Rossi ha chiamato ieri.", "men_to_write"),
        ("nl", "Hallo, mevrouw Femke Jansen heeft gebeld.", "women_to_write"),
        ("nl", "Hallo, dhr. Willem Jansen heeft gebeld.", "men_to_write"),
        ("pt", "Olá, a Sra. Helena Silva ligou ontem.", "women_to_write"),
        ("pt", "Olá, o senhor Rui Silva e a irmã dele ligaram ontem.", "men_to_write"),
    ],
)
def test_a_given_name_behind_a_title_is_of_its_gender(
    lexicon: Lexicon, code: str, text: str, heading: str
) -> None:
    """And a family name follows it; alone behind a title a family name stands."""
    lists = language_lists(code)
    before = text.split()
    at = next(n for n, word in enumerate(before) if word.strip(".,") in TITLES)
    new = written(lexicon, text, code).split()
    assert new[at] == before[at]
    assert new[at + 1] in getattr(lists, heading)
    assert new[at + 2] in lists.families_to_write
    alone = " ".join((*before[: at + 1], *before[at + 2 :]))
    assert written(lexicon, alone, code).split()[at + 1] in lists.families_to_write


@pytest.mark.parametrize(
    ("code", "text", "heading"),
    [
        ("de", "Liebe Sabine, danke für deine Hilfe.", "women_to_write"),
        ("de", "Meine Mutter heißt Sabine und wartet seit Montag.", "women_to_write"),
        ("es", "Querido Pedro, gracias por tu ayuda.", "men_to_write"),
        ("es", "Mi hermana Lucía no ha recibido nada.", "women_to_write"),
        ("fr", "Chère Marie, merci pour votre aide.", "women_to_write"),
        ("it", "Mio fratello Marco non ha ricevuto nulla.", "men_to_write"),
        ("nl", "Mijn zoon Bram wacht al een week.", "men_to_write"),
        ("pt", "Minha filha Beatriz não recebeu nada.", "women_to_write"),
    ],
)
def test_copied_words_near_a_name_tell_its_gender(
    lexicon: Lexicon, code: str, text: str, heading: str
) -> None:
    """A greeting, or a word such as mother, makes the given name one of the gender."""
    names = getattr(language_lists(code), heading)
    new = written(lexicon, text, code).replace(",", "").split()
    assert len({*new} & {*names}) == 1
    other = {*language_lists(code).women_to_write, *language_lists(code).men_to_write}
    assert not {*new} & (other - {*names})
