"""Agreement: a drawn word is written in the form that its neighbours ask for.

Agreement: a drawn word is written in the form that the words beside it ask for.

"he walk" becomes "he walks", "these dog" "these dogs", "to went" "to go", "me is" "I
am", "a apple" "an apple". The tables are public (dptext.tokens.agreement), so
that what is written is a function of what was drawn and of what was kept. A stream is
a row of words as they will stand in texts: ids (n,) int32, V for a word of no
vocabulary; beside (n - 1,) whether a word has the one after right behind it; free (n,)
which words may be rewritten, None for all; "a" and "an" also right before one of these:
left as it stood, an article would show how the word that is gone began.

The rules of agreement, as tables: what a word becomes beside a word of a class.

A rule "A>B" turns the word A into B. In capitals they are forms: "BASE>THIRD/PAST"
turns a verb in its base form, unless it is one of THIRD and PAST as well, into its
THIRD if there is one, else into its PAST; of several rules for a word the first counts.
A word belongs to the first class that it fits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import inflections as form
from dptext.tokens.numbers import WITH_AN
from dptext.types import PARTS, Ids, Lexicon

_HE = """
    am>is are>is were>was be>is being>is been>is have>has having>has do>does done>did
    doing>does 're>'s 'm>'s 've>has don't>doesn't aren't>isn't weren't>wasn't
    haven't>hasn't
"""
_VERB_OF_HE = "BASE>THIRD/PAST PARTICIPLE>PAST ING>PAST"
_TO = """
    am>be is>be are>be was>be were>be has>have had>have does>do did>do done>do
    THIRD>BASE PAST>BASE PARTICIPLE>BASE
"""
_MODAL = f"{_TO} been>be being>be having>have doing>do ING>BASE"
_HAVE = """
    am>been is>been are>been was>been were>been be>been being>been does>done did>done
    doing>done THIRD>PARTICIPLE PAST>PARTICIPLE BASE>PARTICIPLE ING>PARTICIPLE
"""
_BE = "PAST>PARTICIPLE/ING THIRD>PARTICIPLE/ING BASE>PARTICIPLE/ING"
# Class of the word before: its words, and what it asks of the word after it.
_BEFORE: Mapping[str, tuple[str, str]] = {
    "auxiliary": ("do does did should would could must might", _MODAL),
    "modal": (
        """
        can will shall may cannot 'll don't doesn't didn't can't couldn't won't wouldn't
        shouldn't
        """,
        _MODAL,
    ),
    "to": ("to", _TO),
    "has": ("has have had", _HAVE),
    "have": ("having 've haven't hasn't hadn't I've you've we've they've", _HAVE),
    "is": ("is are was were", _BE),
    "be": (
        """
        be been being am 'm 're isn't aren't wasn't weren't it's that's he's she's
        there's they're we're you're I'm
        """,
        _BE,
    ),
    "not": ("need ca wo ai", ""),
    "I": (
        "I",
        """
        is>am are>am were>was be>am being>am been>was has>have having>have does>do
        done>did doing>do 's>'m 're>'m hasn't>haven't doesn't>don't weren't>wasn't
        THIRD>BASE PARTICIPLE>PAST/BASE ING>PAST
        """,
    ),
    "you": (
        "you",
        """
        am>are is>are was>were has>have does>do 's>'re 'm>'re isn't>aren't
        wasn't>weren't hasn't>haven't doesn't>don't THIRD>BASE PARTICIPLE>PAST/BASE
        """,
    ),
    "we": (
        "we they",
        """
        am>are is>are was>were be>are being>are been>are has>have having>have does>do
        done>did doing>do 's>'re 'm>'re isn't>aren't wasn't>weren't hasn't>haven't
        doesn't>don't THIRD>BASE PARTICIPLE>PAST/BASE ING>PAST
        """,
    ),
    "he": ("he she", f"{_HE} {_VERB_OF_HE}"),
    "it": ("it", _HE),
    "this": ("this", f"{_HE} PLURAL>SINGULAR"),
    "that": ("that there who what", ""),
    "preposition": (
        """
        of for in on with at by from about into through over between under without
        against during within among toward towards despite upon across behind around
        along beyond near
        """,
        "I>me he>him she>her we>us they>them",
    ),
    "these": ("these those", "SINGULAR>PLURAL"),
    "many": (
        """
        many few several two three four five six seven eight nine ten eleven twelve
        twenty thirty forty fifty hundred thousand
        """,
        "SINGULAR>PLURAL",
    ),
    "one": ("a an another each every", "PLURAL>SINGULAR"),
    "more": ("more most very so too", "COMPARATIVE>POSITIVE SUPERLATIVE>POSITIVE"),
    "plural": (
        "",
        """
        am>are is>are was>were be>are being>are been>are has>have does>do isn't>aren't
        wasn't>weren't hasn't>haven't doesn't>don't 'm>are 're>are THIRD>BASE
        """,
    ),
    "singular": (
        "",
        """
        am>is are>is were>was be>is being>is been>is have>has do>does 've>has
        don't>doesn't aren't>isn't weren't>wasn't haven't>hasn't
        """,
    ),
    "word": ("", ""),
    "start": ("", "n't>not 've>have 'll>will 're>are"),
}
# What becomes of an ending after a class where it is not at home.
_LOOSE = {
    "n't>not": ("auxiliary", "has", "is", "not"),
    "'ve>have": ("I", "you", "we", "that", "auxiliary"),
    "'ll>will": ("I", "you", "we", "he", "it", "this", "that"),
    "'re>'s": ("you", "we", "that", "these"),
    "'m>'s": ("I",),
}
_POSSESSIVES = "mine>my hers>her ours>our yours>your theirs>their"
_OF = f"{_POSSESSIVES} he>his him>his they>their we>our she>her"
# Class of the word after: its words, and what it asks of the word before it.
_AFTER: Mapping[str, tuple[str, str]] = {
    "than": ("than", "POSITIVE>COMPARATIVE"),
    "finite": (
        """
        is are was were has had will would can could may might must should does did
        don't doesn't didn't isn't wasn't aren't weren't can't couldn't won't wouldn't
        'll 've 'd 'm 're
        """,
        "me>I him>he us>we them>they her>she",
    ),
    "mass": ("", f"{_OF} these>this those>that"),
    "noun": ("", _OF),
    "adjective": ("", _POSSESSIVES),
    "word": ("", ""),
    "start": ("", ""),
}
# Name of a form in the rules -> the form, and the part of speech that has it.
_FORMS = {
    "SINGULAR": (form.SINGULAR, "noun"),
    "PLURAL": (form.PLURAL, "noun"),
    "BASE": (form.BASE, "verb"),
    "THIRD": (form.THIRD, "verb"),
    "PAST": (form.PAST, "verb"),
    "PARTICIPLE": (form.PARTICIPLE, "verb"),
    "ING": (form.ING, "verb"),
    "POSITIVE": (form.POSITIVE, "adjective"),
    "COMPARATIVE": (form.COMPARATIVE, "adjective"),
    "SUPERLATIVE": (form.SUPERLATIVE, "adjective"),
}


class Tables:
    """The tables of one lexicon, flat: (classes * (V + 1),) int32.

    before and after say what a word becomes after and before a word of a class; the
    class of a word, before_of and after_of (V + 1,) int32, is where in the table
    its row begins. The first row is that of a word with nothing right beside it.
    Row V of all stands for words of no vocabulary. empty: nothing becomes another.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        size = len(lexicon.words)
        self._size = size
        self._rows = lexicon.row_of
        self._outputs = int(lexicon.meta.get("outputs", size))
        self._inflections = form.find(lexicon)
        self.empty = not self._inflections.forms.any()
        self._of = self._parts(lexicon)
        in_s = np.array([word[-1:] in "sS" for word in lexicon.words])
        self.before, self.before_of = self._table(_BEFORE, self._before(in_s))
        self.after, self.after_of = self._table(_AFTER, self._after(in_s))

    def _parts(self, lexicon: Lexicon) -> dict[str, Mask]:
        """Tell the part of speech of words; of none but in English."""
        parts = np.full(self._size, len(PARTS)) if self.empty else lexicon.parts
        return {name: np.asarray(parts == row) for row, name in enumerate(PARTS)}

    def _before(self, in_s: Mask) -> dict[str, Mask]:
        are, noun = self._inflections.are, self._of["noun"]
        return {
            "plural": noun & are(form.PLURAL) & ~are(form.SINGULAR),
            "singular": self._of["name"] | (noun & (are(form.SINGULAR) | ~in_s)),
        }

    def _after(self, in_s: Mask) -> dict[str, Mask]:
        are, noun, verb = self._inflections.are, self._of["noun"], self._of["verb"]
        past = are(form.PAST) & ~are(form.PARTICIPLE) & ~are(form.BASE)
        return {
            "finite": verb & (are(form.THIRD) | past),
            "mass": noun & (self._inflections.forms == 0) & ~in_s,
            "noun": noun & ~are(form.BASE),
            "adjective": noun | self._of["adjective"],
        }

    def _table(
        self, rules: Mapping[str, tuple[str, str]], groups: Mapping[str, Mask]
    ) -> tuple[Ids, Ids]:
        """Return a table and the class of each word."""
        width = self._size + 1
        if self.empty:
            return np.arange(width, dtype=np.int32), np.zeros(width, np.int32)
        names = ["start", *(name for name in rules if name != "start")]
        offsets = np.full(width, names.index("word") * width, np.int32)
        for number, name in reversed(list(enumerate(names))):
            if name in groups:
                offsets[:-1][groups[name]] = number * width
        for number, name in reversed(list(enumerate(names))):
            listed = [self._rows.get(w.lower(), -1) for w in rules[name][0].split()]
            offsets[[row for row in listed if row >= 0]] = number * width
        loose = rules is _BEFORE
        rows = [self._row(name, rules[name][1], loose=loose) for name in names]
        return np.concatenate(rows), offsets

    def _row(self, name: str, asked: str, *, loose: bool) -> Ids:
        """Return what each word becomes beside a word of a class: (V + 1,)."""
        row = np.arange(self._size + 1, dtype=np.int32)
        steps = asked.split()
        if loose and name != "start":
            steps += [rule for rule, home in _LOOSE.items() if name not in home]
        done = np.zeros(self._size + 1, bool)
        for step in steps:
            old, new = step.split(">")
            here, there = self._step(old, new.split("/"))
            fresh = ~done[here]
            row[here[fresh]] = there[fresh]
            done[here] = True
        return row

    def _step(self, old: str, new: list[str]) -> tuple[Ids, Ids]:
        """Return the words that a rule turns into others, and these."""
        if old not in _FORMS:
            pair = self._rows.get(old.lower(), -1), self._rows.get(new[0].lower(), -1)
            fits = 0 <= min(pair) and pair[1] < self._outputs
            both = np.array([[row] for row in pair] if fits else [[], []], np.int32)
            return both[0], both[1]
        old_form, part = _FORMS[old]
        which = self._inflections.are(old_form) & self._of[part]
        target = np.full(self._size, -1, np.int32)
        for name in reversed(new):
            new_form, _ = _FORMS[name]
            which &= ~self._inflections.are(new_form)
            other = self._inflections.others[:, new_form]
            target = np.where(other >= 0, other, target)
        here = np.flatnonzero(which & (target >= 0)).astype(np.int32)
        return here, target[here]


Mask = NDArray[np.bool_]
# Words that "an" stands before, by their spelling; what is heard otherwise is listed.
_VOWEL = re.compile(
    r"(?!uni(?!n|m)|u[bkrst][aeiou]|u\.|u[ks]$|u$|eu|one|once)[aeiou]|hour|honest|hono"
    r"|heir",
    re.IGNORECASE,
)


class Articles:
    """Write "a" or "an" as the word right after it wants."""

    def __init__(self, lexicon: Lexicon) -> None:
        rows = lexicon.row_of
        self._pair = (rows.get("a", -1), rows.get("an", -1))
        self._article = np.zeros(len(lexicon.words) + 1, bool)
        if min(self._pair) >= 0:
            self._article[list(self._pair)] = True
        vowel = [
            _VOWEL.match(word) is not None or word in WITH_AN for word in lexicon.words
        ]
        self._vowel = np.array([*vowel, False])
        self._unknown = len(lexicon.words)

    def write(self, ids: Ids, beside: Mask, free: Mask | None) -> None:
        """Rewrite the articles that are free or stand before a free word in place."""
        here = self._article[ids[:-1]] & beside & (ids[1:] != self._unknown)
        if free is not None:
            here &= free[:-1] | free[1:]
        position = np.flatnonzero(here)
        vowel = self._vowel[ids[position + 1]]
        ids[position] = np.where(vowel, self._pair[1], self._pair[0])


class Inflector:
    """Write words in the forms that their neighbours ask for, then the articles."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._tables = Tables(lexicon)
        self._articles = Articles(lexicon)

    def write(self, ids: Ids, beside: Mask, free: Mask | None) -> None:
        """Rewrite the free words of a stream and the articles before them in place.

        First by the word after, then by the word before, as it then stands.
        """
        if self._tables.empty:
            self._articles.write(ids, beside, free)
            return
        tables, before = self._tables, ids[:-1]
        asked = tables.after_of.take(ids[1:])
        asked *= beside
        asked += before
        where = True if free is None else free[:-1]
        np.copyto(before, tables.after.take(asked), where=where)
        asked = np.zeros(len(ids), np.int32)
        np.multiply(tables.before_of.take(before), beside, out=asked[1:])
        asked += ids
        where = True if free is None else free
        np.copyto(ids, tables.before.take(asked), where=where)
        self._articles.write(ids, beside, free)
