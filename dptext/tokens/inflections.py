"""Which words of an English vocabulary are inflections of one another, by rule.

Made from nothing but the words and their parts of speech (Lexicon.parts): a regular
form counts where it is a word itself; irregular ones are listed here. A family that
the rules miss is not inflected, nothing else happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import spelling
from dptext.types import PARTS, Lexicon

# The forms of a word; a word may be several of them.
SINGULAR, PLURAL, BASE, THIRD, PAST, PARTICIPLE, ING = range(7)
POSITIVE, COMPARATIVE, SUPERLATIVE = range(7, 10)
FORMS = 10

_NOUNS = """
man men woman women child children foot feet tooth teeth goose geese mouse mice
person people wife wives life lives knife knives leaf leaves half halves wolf wolves
shelf shelves thief thieves loaf loaves calf calves self selves ox oxen
crisis crises analysis analyses basis bases thesis theses hypothesis hypotheses
phenomenon phenomena criterion criteria bacterium bacteria medium media
index indices matrix matrices axis axes genus genera stimulus stimuli
fungus fungi nucleus nuclei larva larvae alga algae vertebra vertebrae
gentleman gentlemen policeman policemen fisherman fishermen workman workmen
sportsman sportsmen businessman businessmen freshman freshmen postman postmen
chairman chairmen fireman firemen spokesman spokesmen salesman salesmen
"""
_VERBS = """
arise arose arisen|awake awoke awoken|bear bore borne|beat beat beaten
become became become|begin began begun|bend bent bent|bet bet bet|bind bound bound
bite bit bitten|bleed bled bled|blow blew blown|break broke broken|breed bred bred
bring brought brought|build built built|burst burst burst|buy bought bought
cast cast cast|catch caught caught|choose chose chosen|cling clung clung
come came come|cost cost cost|creep crept crept|cut cut cut|deal dealt dealt
dig dug dug|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found
flee fled fled|fling flung flung|fly flew flown|forbid forbade forbidden
forecast forecast forecast|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|get got got|give gave given|go went gone|grind ground ground
grow grew grown|hang hung hung|hear heard heard|hide hid hidden|hit hit hit
hold held held|hurt hurt hurt|keep kept kept|know knew known|lay laid laid
lead led led|leave left left|lend lent lent|let let let|lie lay lain
light lit lit|lose lost lost|make made made|mean meant meant|meet met met
mistake mistook mistaken|overcome overcame overcome|overthrow overthrew overthrown
pay paid paid|put put put|quit quit quit|read read read|ride rode ridden
ring rang rung|rise rose risen|run ran run|say said said|see saw seen
seek sought sought|sell sold sold|send sent sent|set set set|sew sewed sewn
shake shook shaken|shed shed shed|shine shone shone|shoot shot shot|show showed shown
shrink shrank shrunk|shut shut shut|sing sang sung|sink sank sunk|sit sat sat
sleep slept slept|slide slid slid|slit slit slit|sow sowed sown|speak spoke spoken
speed sped sped|spend spent spent|spin spun spun|split split split
spread spread spread|spring sprang sprung|stand stood stood|steal stole stolen
stick stuck stuck|sting stung stung|strike struck struck|string strung strung
swear swore sworn|sweep swept swept|swell swelled swollen|swim swam swum
swing swung swung|take took taken|teach taught taught|tear tore torn|tell told told
think thought thought|throw threw thrown|thrust thrust thrust
undergo underwent undergone|understand understood understood
undertake undertook undertaken|wake woke woken|wear wore worn|weave wove woven
weep wept wept|win won won|wind wound wound|withdraw withdrew withdrawn
withhold withheld withheld|withstand withstood withstood|write wrote written
"""
_ADJECTIVES = "good better best bad worse worst far farther farthest"
# Look like plurals of other words.
_NO_PLURALS = frozenset(
    "news politics economics electronics genetics linguistics mathematics physics "
    "statistics mechanics dynamics ethics athletics goods arms customs surroundings "
    "glasses thanks means species series".split()
)
_INFLECTED = ("noun", "verb", "adjective", "other")
_SHORT = 2  # "ad" is no verb for "added" being one


@dataclass(frozen=True, slots=True)
class Inflections:
    """forms (V,) bits, 1 << form; others (V, FORMS) int32, the word of a form, or -1.

    A word of two lemmas has the forms of both; its others are first those of the lemma
    that is of its own part of speech.
    """

    forms: NDArray[np.uint16]
    others: NDArray[np.int32]

    def are(self, form: int) -> NDArray[np.bool_]:
        """Tell which words are of a form: (V,)."""
        return np.asarray((self.forms >> form) & 1 == 1)


def find(lexicon: Lexicon) -> Inflections:
    """Find the families among the words that may be written; none but in English."""
    size = len(lexicon.words)
    forms = np.zeros(size, np.uint16)
    others = np.full((size, FORMS), -1, np.int32)
    if lexicon.parts is None or lexicon.meta.get("language") != "en":
        return Inflections(forms, others)
    outputs = int(lexicon.meta.get("outputs", size))
    rows = {word: row for row, word in enumerate(lexicon.words[:outputs])}
    parts = {word: PARTS[lexicon.parts[row]] for word, row in rows.items()}
    part_of = {word: part for word, part in parts.items() if part in _INFLECTED}
    families = [*_nouns(part_of), *_verbs(part_of), *_adjectives(part_of)]
    # Families of a word's own part of speech come last, and win.
    for of_same_part in (False, True):
        for part, family in families:
            members = [(f, w) for f, w in family.items() if w in part_of]
            for form, word in members:
                if (part_of[word] == part) is of_same_part:
                    forms[rows[word]] |= 1 << form
                    for other, target in members:
                        others[rows[word], other] = rows[target]
    return Inflections(forms, others)


_Family = tuple[str, dict[int, str]]


def _nouns(part_of: Mapping[str, str]) -> Iterator[_Family]:
    words = _NOUNS.split()
    odd = dict(zip(words[::2], words[1::2], strict=True))
    plurals = set(odd.values())
    for word in part_of:
        many = odd.get(word) or spelling.plural(word)
        if many not in part_of or word in plurals or many in _NO_PLURALS:
            continue
        # Adjectives: "Americans" has a singular, "news" has none.
        if "noun" in (part_of[word], part_of[many]):
            yield "noun", {SINGULAR: word, PLURAL: many}


def _verbs(part_of: Mapping[str, str]) -> Iterator[_Family]:
    lines = [line.split() for row in _VERBS.split("\n") for line in row.split("|")]
    odd = {line[0]: line for line in lines if line}
    for word in part_of:
        past = spelling.past(word)
        _, past, done = odd.get(word, (word, past, past))
        ing, third = spelling.participle(word), spelling.third_person(word)
        verb = {BASE: word, THIRD: third, PAST: past, PARTICIPLE: done, ING: ing}
        others = [form for form in (third, past, done, ing) if form in part_of]
        tell = (word, past, ing) if len(word) > _SHORT else (word,)
        if others and any(part_of.get(form) == "verb" for form in tell):
            yield "verb", verb


def _adjectives(part_of: Mapping[str, str]) -> Iterator[_Family]:
    words = _ADJECTIVES.split()
    odd = dict(zip(words[::3], zip(words[1::3], words[2::3], strict=True), strict=True))
    adjectives = [word for word, part in part_of.items() if part == "adjective"]
    for word in adjectives:
        regular = spelling.comparative(word), spelling.superlative(word)
        more, most = odd.get(word, regular)
        if part_of.get(more) == "adjective":
            yield "adjective", {POSITIVE: word, COMPARATIVE: more, SUPERLATIVE: most}
