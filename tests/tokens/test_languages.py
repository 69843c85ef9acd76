"""The lists of languages, as they ship and in a folder of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from dptext.tokens import language_data
from dptext.tokens.languages import LanguageLists, language_lists, languages
from dptext.tokens.names import fold
from dptext.tokens.regex import key_of

FOLDER = Path(language_data.__file__).parents[1] / "data" / "languages"
CODES = ("de", "es", "fr", "it", "nl", "pt")
MOST_BYTES = 2_500_000
LEAST_DELICATE = 150


@pytest.fixture(params=CODES)
def lists(request: pytest.FixtureRequest) -> LanguageLists:
    """Return the lists of each language."""
    return language_lists(request.param)


def test_languages_are_found_from_folders() -> None:
    """The six languages have a folder, and together they are small."""
    assert languages() == CODES
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES


def test_words_are_keys(lists: LanguageLists) -> None:
    """Every word of every list is the key of itself."""
    classes = frozenset().union(*(each.words for each in lists.classes))
    for field in lists.__dataclass_fields__:
        value = getattr(lists, field)
        if isinstance(value, frozenset):
            assert [word for word in value if key_of(word) != word] == [], field
    assert [word for word in classes if key_of(word) != word] == []


def test_names_stand_without_accents_too(lists: LanguageLists) -> None:
    """A name is found without its accents, unless it is a function word then."""
    for names in (lists.women, lists.men, lists.families):
        assert {fold(name) for name in names} <= names | lists.function_words


def test_function_words_are_no_names(lists: LanguageLists) -> None:
    """No function word is in a list of names or places, or in the strong list."""
    assert not lists.function_words & (lists.names | lists.places | lists.strong)
    assert not lists.function_words & lists.special
    assert len(lists.function_words) > 250


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("de", "deutschland deutschlands berlin münchen italien europa merkel siemens"),
        ("fr", "france paris belgique belge marseille québec genève unis"),
        ("es", "españa méxico madrid cádiz sevilla ginebra londres españoles"),
        ("nl", "nederland amsterdam haag duitsland vlaanderen nederlandse"),
        ("it", "italia roma milano firenze francia francese"),
        ("pt", "brasil portugal lisboa porto brasileiro frança"),
    ],
)
def test_countries_and_cities_are_never_copied(code: str, words: str) -> None:
    """Commonest names of countries, cities and peoples are in the strong list."""
    lists = language_lists(code)
    assert {*words.split()} <= lists.strong
    assert not lists.nouns & (lists.names | lists.places)


def test_common_names_of_countries_are_strong_or_plain(lists: LanguageLists) -> None:
    """A word of a country or city that is copied was exempted by hand."""
    shared = {
        heading: words
        for name in ("places", "shared")
        for heading, words in language_data.sections(name, FOLDER)
        if heading in ("countries", "cities")
    }
    named = frozenset().union(*map(frozenset, shared.values()))
    assert named & lists.common <= lists.strong | lists.plain | lists.function_words


def test_words_to_write_tell_nothing(lists: LanguageLists) -> None:
    """No name, delicate, vulgar or function word, and no opinion, is written."""
    written = {
        word
        for groups in (lists.writable, lists.writable_nouns)
        for words in groups.values()
        for word in words
    }
    assert not written & (lists.strong | lists.special | lists.vulgar)
    assert not written & lists.opinions
    assert not written & {"fuck", "obama", "https", "with", "trump"}
    assert not written & (lists.names | lists.function_words | lists.bodies)
    assert written <= lists.common
    assert len(written) > 1_500


def test_words_to_write_stand_by_their_ending(lists: LanguageLists) -> None:
    """A word is in the group of its ending, and each class has a word."""
    for groups in (lists.writable, lists.writable_nouns):
        assert all(lists.ending(w) == key for key, ws in groups.items() for w in ws)
        assert not groups or groups[""]


def test_every_language_has_what_replaces_names(lists: LanguageLists) -> None:
    """Names to write are many, of one gender, and known as names."""
    women, men = {*lists.women_to_write}, {*lists.men_to_write}
    assert len(women) > 50
    assert len(men) > 50
    assert not women & men
    assert {name.lower() for name in women} <= lists.women
    assert len(lists.families_to_write) > 80
    assert len(lists.places_to_write) >= 30
    assert lists.organisations_to_write
    assert lists.legal_forms


def test_every_language_has_special_categories(lists: LanguageLists) -> None:
    """The categories of article 9 have words in each language."""
    assert len(lists.special) > LEAST_DELICATE
    categories = {each.special for each in lists.classes}
    assert {"health", "religion", "origin", "sexuality", "politics"} <= categories


@pytest.mark.parametrize("code", CODES)
def test_made_lists_are_sorted(code: str) -> None:
    """Lists that the tool makes are sorted, apart from words by frequency."""
    for file in ("words", "names"):
        for heading, words in language_data.sections(file, FOLDER / code):
            if heading != "common":
                assert words == sorted(words), heading


def test_another_language_is_one_folder(tmp_path: Path) -> None:
    """A folder with a file of sections is a language, without any code."""
    (tmp_path / "xx").mkdir()
    (tmp_path / "xx" / "any.txt").write_text(
        "# A toy.\n[name]\nToyish\n[common]\nlo mo zürr karlo\n[function words]\nlo\n"
        "[men]\nkarló lo\n[writable]\nmora\n[endings]\nra a\n"
        "[pains: special health, never]\nmo\n",
        encoding="utf-8",
    )
    (tmp_path / "places.txt").write_text("[cities]\nzurr\n", encoding="utf-8")
    assert languages(tmp_path) == ("xx",)
    lists = language_lists("xx", tmp_path)
    assert lists.name == "Toyish"
    assert lists.strong == {"karló", "karlo", "zurr", "zürr"}
    assert lists.special == {"mo"}
    assert lists.writable == {"ra": ("mora",)}
    assert lists.ending("sara") == "ra"
    assert lists.nouns == frozenset()
    with pytest.raises(KeyError):
        language_lists("yy", tmp_path)
