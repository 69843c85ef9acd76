"""Names, acronyms, brands, opinions, illnesses: benchmarks/sense/lists.txt."""

from __future__ import annotations

from pathlib import Path

from dptext.tokens.language_data import sections

_ALL = dict(sections("lists", Path(__file__).parent))
_PEOPLE = "people "
# Given names of four men, of four women, four family names, by origin.
PEOPLE = {
    heading.removeprefix(_PEOPLE): words
    for heading, words in _ALL.items()
    if heading.startswith(_PEOPLE)
}
ACRONYMS = _ALL["acronyms"]
BRANDS = frozenset(map(str.casefold, _ALL["brands"]))
GOOD = frozenset(_ALL["good"])
BAD = frozenset(_ALL["bad"])
NEGATIONS = frozenset(_ALL["negations"])
ILLNESSES = frozenset(_ALL["illnesses"])
UNISEX = frozenset(map(str.casefold, _ALL["unisex"]))
ORGANISATION_WORDS = frozenset(_ALL["organisation words"])
CITIES = (
    "Springfield|Leipzig|Galway|Porto|Kraków|Osaka|Lagos|Izmir|Pune|Bergen|Lyon|Haifa"
).split("|")
ORGANISATIONS = (
    "Farrowgate Ltd|Norvik Systems|Tolland & Sons|Meridale Insurance|Quillstone Bank"
).split("|")
PRODUCTS = "CloudDesk HomeHub PixelPen SoundBar FitBand AquaJet".split()
HANDLES = (
    "@sweet_tree_co|@ blue_river_baker|future_creative|@happy_dog_walks|old_town_books"
).split("|")
MONTHS = "March April June August October".split()
