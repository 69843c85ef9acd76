"""Words of trade, support and offices, and other spellings of common words.

    python -m tools.office_words WORD... > words.txt    # adds words; then move the file

The first list of dptext/data/words/office_words.txt is by hand: words of invoices,
parcels, devices, accounts and meetings. Those that are common anyway, words of special
categories of personal data, of other delicate classes and of _APART are left out. The
second has British spellings of the common words of `readable` and of that list, and
American ones of British words, by the endings of _ENDINGS and the pairs of _PAIRS:
those that the built-in lexicon has.
"""

from __future__ import annotations

import re
import sys
import textwrap

from dptext import lexicons
from dptext.tokens import common, language_data
from dptext.tokens.regex import key_of

# Words that are copied with a capital, too, and all that are copied.
_COMMON, _RARER = 8000, 12_000
_LEAST_LETTERS = 3
# British and American endings.
_ENDINGS = (
    (r"our(?=s?$|ed$|ing$|able$|ite|hood|ly|ful)", "or"),
    (r"is(?=e$|ed$|es$|ing$|ation|er$|ers$)", "iz"),
    (r"ys(?=e$|ed$|es$|ing$|er$|ers$)", "yz"),
    (r"re(?=s?$)", "er"),
    (r"ogue(?=s?$)", "og"),
    (r"enc(?=e$|es$)", "ens"),
    (r"ll(?=ed$|ing$|er$|ers$|or$|ors$|ery$)", "l"),
    (r"l(?=s?$|ment)", "ll"),
    (r"ould(?=s?$|ed$|ing$|y$)", "old"),
)
# Common words with this ending always have a British spelling.
_REGULAR = r"(?<=\w{3})iz(?=e$|ed$|es$|ing$|ations?$|ers?$)"
_PAIRS = """\
aeroplane airplane aeroplanes airplanes ageing aging aluminium aluminum amongst among
burnt burned cheque check cheques checks cosy cozy doughnut donut doughnuts donuts
dreamt dreamed grey gray jewellery jewelry judgement judgment kerb curb learnt learned
leapt leaped maths math mum mom mums moms plough plow pyjamas pajamas programme program
programmes programs sceptical skeptical skilful skillful smelt smelled spelt spelled
spilt spilled spoilt spoiled storey story storeys stories towards toward tyre tire tyres
tires whilst while yoghurt yogurt moustache mustache favourite favorite favourites
favorites colourful colorful
""".split()
# Names, and words that the endings find by chance.
_APART = """\
bere cel ers fil fils hors lettres pored poring pul scoured scouring sel tiers timbre
weer wold
tors outsise outsised undersised downsise downsised downsising oversise oversised resise
resised resising capsise
""".split()

_HEADER = """\
# Words that are copied beside the commonest ones (dptext.tokens.common), by
# tools/office_words.py. en: of trade, support, offices and films, and frequent
# misspellings, by hand; none is the name of a person, a place or a firm, none delicate.
# en spellings: British spellings of common American words, and American ones of British
# words."""


def main() -> None:
    """Print the file."""
    lexicon = lexicons.find("builtin")
    listed = dict(language_data.sections("office_words"))
    given = {key_of(word) for word in (*listed.get("en", ()), *sys.argv[1:])}
    lists = language_data.common_lists("en")
    apart = frozenset(_APART) | language_data.delicate_words("en")
    apart |= language_data.vulgar_words("en") | language_data.person_names("en")
    apart |= lists["fragments"] | lists["months"]
    words = {word for word in given - apart if len(word) >= _LEAST_LETTERS}
    known = common.common_words(lexicon, _COMMON, opinions=True)
    before = language_data.office_words("en")  # of this file, if there is one
    already = {key_of(w) for w in [*lexicon.words, *words]}
    already = {w for w in already if known.code(w, w) and w not in before}
    rare = words - already
    others = lists["names"] | lists["cities"] | lists["places"]
    others |= language_data.person_names("en", capital=True)
    lower = {key_of(word) for word in lexicon.words if word.islower()}
    rarer = common.common_words(lexicon, _RARER, opinions=True)
    common_ones = words | already | {w for w in lower - before if rarer.code(w, w)}
    common_ones &= lower
    found = {other for word in common_ones for other in _others(word)}
    regular = {re.sub(_REGULAR, "is", word) for word in common_ones}
    found = ((found & lower) | regular) - already - common_ones
    print(_HEADER)
    _print("en", rare)
    _print("en spellings", found - words - apart - others)


def _others(word: str) -> set[str]:
    """Return the other spellings of a word, right or not."""
    british = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
    american = dict(zip(_PAIRS[1::2], _PAIRS[::2], strict=True))
    found = {british.get(word, ""), american.get(word, "")}
    for one, other in _ENDINGS:
        plain, _, rest = one.partition("(")
        found.add(re.sub(one, other, word))
        found.add(re.sub(f"{other}({rest}", plain, word))
    return found - {word, ""}


def _print(name: str, words: set[str]) -> None:
    print(f"[{name}]")
    print(textwrap.fill(" ".join(sorted(words)), 118, break_on_hyphens=False))


if __name__ == "__main__":
    main()
