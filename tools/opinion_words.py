"""Words of opinion, which texts for people keep: dptext/data/words/opinion_words.txt.

    python -m tools.opinion_words > dptext/data/words/opinion_words.txt

From VADER (MIT, Hutto and Gilbert 2014, as the package `vaderSentiment` 3.3.2 has it)
and the subjectivity lexicon of Pattern (PDDL, as the package `textblob` 0.20.1 has it):
words of the built-in lexicon with a valence of at least _VALENCE, or a polarity of at
least _POLARITY; and its adjectives and adverbs of a clear polarity by WordNet
(tools.english.vectors). Words of special categories of personal data, of other delicate
classes, of lists of names, and those of _APART are left out. Adjectives, adverbs and
verbs are copied; nouns are only never written in the place of another word.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import textwrap
from pathlib import Path

from dptext import lexicons
from dptext.tokens import language_data
from dptext.tokens.regex import key_of
from dptext.types import PARTS

_VALENCE, _POLARITY = 0.8, 0.2  # of 4 and of 1
_LENGTH = 0.05  # of the polarity of the lexicon, of vectors of length 1
_LEAST_LETTERS = 3
_COPIED = ("adjective", "adverb", "verb")
_LISTS = ("names", "cities", "places", "organisations", "fragments", "months")
_FORM = r'<word form="([^"]+)"[^>]* polarity="([-.\d]+)"'
# Opinions first, though some people have them as names: they are copied in lower case.
_NAMES = """\
bitter bland boring clever dull eager gentle grim gross handy harsh humble lively lovely
loving nicely petty pleasant rude savage shy slick stiff swift vital wise witty worthy
""".split()
# Words of health, faith, politics, crime, money and sexuality that no list has, and
# words without an opinion.
_APART = """\
aborted ache ached aches aching affluent afflicted amorous amortized approximate ascetic
authoritative awol axed banish benign boycotted boycotting boycotts choke choked chokes
choking claustrophobic colonial consecrated convex dazed deformed depressant devotional
disabling discriminate discriminated discriminates discriminating discriminatory
disoriented dizzy dynamical ecological enslave evacuate evacuating exonerate exonerated
exploitative extinct fatty feudal flirting forgetful freelance frigid harmonic honorary
honorific illegitimate immobilized immoral immortal impressionist impressionistic
incapacitated indoctrinated infantile infatuated inhibitory itchy lobbied masochistic
monotone naturalistic numb numbed numbing obscene obsess obsessive oppressed pardoned
pardoning persecute persecuted persecuting prejudiced prejudicial privileged punishable
raunchy rebellious repress repressed repressing repressive robed seditious sentencing
sneezed stammer stutter stuttered stuttering stereotyped stereotypical subversive
analgesic antibacterial antifungal antimicrobial antiseptic aristocratic aristotelian
bereft bestial buxom carnal chaste chippendale crustacean czarist debilitating
defamatory delirious devoutly disinfectant dispossessed ducal edwardian emaciated
emboldened epithelial eukaryotic fanatical fecal fertile feverish fevered godly hairy
hallowed healthful healthier healthiest hepatic holier holiest homely hypochondriac
incriminating indigent infirm larval malformed malignant malign morbid moribund
narcissistic native
natively nauseating neediest nonprescription pacifist palliative paternal penitent
perverse philanthropic porcine postmortem potty psychosomatic queasy repentant reverent
sacred sacrificial saintly sanctified seasick seljuk sensual sensuous shapely sicker
sickest slanderous sultry thieving ticklish titillating treacherous tsarist unbalanced
unclean undead underage uneducated ungodly unholy unincorporated unskilled utopian venal
venerable virginal voluptuous woozy
titular toothless unhealthy unsalted unsold vested virtuoso virulent vocational
""".split()


_HEADER = """\
# Words of opinion (tokens.opinion), made by tools/opinion_words.py from VADER (MIT:
# LICENSE.vader) and the subjectivity lexicon of Pattern (PDDL). en: copied where common
# words are. en nouns: not copied, but never written, either."""


def main() -> None:
    """Print the file."""
    lexicon = lexicons.find("builtin")
    assert lexicon.parts is not None
    parts = [PARTS[part] for part in lexicon.parts.tolist()]
    part_of = dict(zip(map(key_of, lexicon.words), parts, strict=True))
    lists = language_data.common_lists("en")
    excluded = frozenset(_APART) | language_data.delicate_words("en")
    excluded |= language_data.vulgar_words("en")
    excluded |= frozenset().union(*(lists[name] for name in _LISTS)) - frozenset(_NAMES)
    lengths = abs(lexicon.vectors[: len(parts), -1].astype(float))
    clear = {
        word
        for word, part, length in zip(part_of, parts, lengths.tolist(), strict=True)
        if length >= _LENGTH and part in ("adjective", "adverb")
    } & {key_of(word) for word in lexicon.words if word.islower()}
    words = {
        word
        for word in _vader() | _pattern() | clear
        if word.isalpha() and word.islower() and len(word) >= _LEAST_LETTERS
    }
    words = (words & part_of.keys()) - excluded
    print(_HEADER)
    _print("en", {word for word in words if part_of[word] in _COPIED})
    _print("en nouns", {word for word in words if part_of[word] not in _COPIED})


def _vader() -> set[str]:
    path = _folder("vaderSentiment") / "vader_lexicon.txt"
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return {row[0] for row in rows if abs(float(row[1])) >= _VALENCE}


def _pattern() -> set[str]:
    path = _folder("textblob") / "en" / "en-sentiment.xml"
    found = re.findall(_FORM, path.read_text("utf-8"))
    return {word for word, polarity in found if abs(float(polarity)) >= _POLARITY}


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        sys.exit(f"install {package}")
    return Path(spec.origin).parent


def _print(name: str, words: set[str]) -> None:
    print(f"[{name}]")
    print(textwrap.fill(" ".join(sorted(words)), 118, break_on_hyphens=False))


if __name__ == "__main__":
    main()
