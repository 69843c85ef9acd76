"""Words back to texts, and the view of a decoder: functions of draws and kept pieces.

Nothing here looks at a word that was replaced, so this is post-processing:
- between two words that stand side by side with one space or none, the space is left
  out before a clitic ("n't", "'s") and after a drawn elision ("l'"), and put before
  every other word, unless both words are copied as they stand;
- a drawn word is written as the lexicon writes it, with a capital letter where a text
  begins or a kept mark has ended the sentence (policy `case: restore`);
- a drawn word is written in the form that the words right before and after it ask for
  (dptext.tokens.agreement), be they drawn or copied stop words, and so are copied "a"
  and "an" before a drawn word; marks that are kept stand between words, others do not
  (policy `agreement: inflect`; `articles` chooses between "a" and "an" only, `none`
  writes each word as it was drawn);
- an element for numbers is written as a random number of its form
  (dptext.tokens.numbers).
Policy `case: copy` and `number: digits` do look at the input; the statement says so.

`released` gives what a decoder may see of a batch. Everything in it is among what a
statement's texts have in common under the policy (dptext.guarantees.not_covered). What
is not is blanked: kind, capitals and spacing of a word that is replaced, the body of
one that is masked or left out, and marks that are dropped. Capital letters that `case:
copy` keeps are no help to a decoder and stay out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import JOINER_LANE, RandomBits
from dptext.tokens import common, forms, kinds
from dptext.tokens.agreement import Articles, Inflector
from dptext.tokens.numbers import Numbers, as_people_write
from dptext.tokens.policy import (
    DIGITS,
    DROP,
    FORM,
    KEEP,
    MARKUP,
    MASK,
    PERTURB,
    Form,
    Policy,
    WordClass,
)
from dptext.tokens.regex import is_clitic, is_elision, key_of
from dptext.types import ENGLISH, Eps, Ids, Ints, Lexicon, Mask, Released, Words

# Other kinds are unknown words.
_MASKS = {kinds.NUMBER: "[number]", kinds.MASKED: "[masked]"}
_DIGIT = re.compile(r"\d")
# Treatments by which pieces are written anew before a word is drawn.
_ANEW = np.isin(np.arange(kinds.COUNT), (DIGITS, FORM, MARKUP))


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts (r,), and the words that were written in them for the drawn ones.

    written (n,) rows of the vocabulary as they stand in the texts: in agreement, and a
    number of NUMBER as the element that it is read as; spelled (n,) str, each as it is
    written, perhaps with a space in front.
    """

    texts: list[str]
    written: Ids
    spelled: NDArray[np.object_]


class Joiner:
    """Write batches of drawn words for one lexicon and policy."""

    def __init__(self, lexicon: Lexicon, policy: Policy) -> None:
        self._policy = policy
        lower = policy.case == "lower" or (policy.case == "copy" and not policy.common)
        self._shown, self._clitic, self._elision = _spellings(lexicon, lower)
        self._numbers = Numbers(lexicon)
        rows, key = lexicon.row_of, key_of
        # Of copied words as they are spelt: few strings.
        self._row_of = cache(lambda piece: rows.get(key(piece.strip(" ")), len(rows)))
        self._agreement = _agreement(lexicon, policy.agreement)
        self._treatment = policy.treatments
        self._of_class = np.isin(
            np.arange(kinds.COUNT), [each.kind for each in policy.classes]
        )
        self._words_of_class = {
            each: common.written(lexicon, each) for each in policy.classes
        }
        # What is written first and last where several words of a class stand together.
        self._of_run: dict[WordClass, tuple[Sequence[str], Sequence[str]]] = {}
        if families := common.family_names(lexicon):
            names = common.written(lexicon, WordClass.PERSON)
            given = tuple(name for name in names if name not in families)
            self._of_run[WordClass.PERSON] = given, families
        if pairs := common.places_of_two(lexicon):
            places = tuple(" ".join(pair) for pair in pairs)
            others = common.written(lexicon, WordClass.PLACE)
            self._of_run[WordClass.PLACE] = places, others
        self._is_title = cache(partial(common.is_title, lexicon))
        self._weekdays = common.keys_of_class(lexicon, WordClass.WEEKDAY)
        self._drawn = self._treatment == PERTURB
        # Texts for people have numbers as people write them.
        self._plain = policy.common > 0 and lexicon.language == ENGLISH
        # Copied words that agreement looks at, and articles among them.
        self._neighbours = np.zeros(kinds.COUNT, bool)
        self._neighbours[kinds.STOP_WORD] = policy.stop_word == "keep"
        self._neighbours[kinds.COMMON] = policy.common > 0
        self._neighbours |= self._of_class
        # Kinds of piece that a reader of the output takes for words.
        self._written = kinds.WORDLIKE & (self._treatment != DROP)

    def join(self, words: Words, drawn: Ids, bits: RandomBits) -> Joined:
        """Return the texts with the drawn words (n,) in their positions."""
        pieces = np.empty(len(words.pieces), dtype=object)
        pieces[:] = words.pieces
        if self._policy.punctuation == "drop":
            self._drop_marks(words, pieces)
        else:
            self._space_copied(words, pieces)
        written = self._agree(words, drawn, pieces)
        spaced = self._spaces(words, written)
        out = self._shown[written + spaced * np.int64(len(self._clitic))]
        positions = self._numbers.drawn(written)
        if len(positions):
            elements = written[positions]
            numbers = self._numbers.written(elements, bits.take(positions))
            for position, text in zip(positions.tolist(), numbers, strict=True):
                out[position] = f" {text}" if spaced[position] else text
            written = written.copy()
            written[positions] = self._numbers.read(elements, numbers)
        if self._policy.case != "lower":
            self._capitalize(words, out)
        pieces[words.positions] = out
        treatment = self._treatment[words.flags & kinds.KIND]
        for position in np.flatnonzero(treatment == MASK).tolist():
            space = " " if pieces[position][:1] == " " else ""
            kind = int(words.flags[position]) & kinds.KIND
            pieces[position] = space + _MASKS.get(kind, "[unknown]")
        pieces[(treatment == DROP) & kinds.WORDLIKE[words.flags & kinds.KIND]] = ""
        joined, bounds = pieces.tolist(), pairwise([0, *words.ends.tolist()])
        texts = ["".join(joined[begin:end]) for begin, end in bounds]
        return Joined(texts, written, out)

    def redraw(self, words: Words, bits: RandomBits, positions: Ints) -> None:
        """Write pieces anew by random digits, or others of their form, in place.

        Markup becomes its layout.
        """
        kind = words.flags[positions] & kinds.KIND
        classed = np.flatnonzero(self._of_class[kind])
        self._redraw_classes(words, bits, positions, classed)
        formed: list[tuple[int, int, forms.FormLayout]] = []
        others = np.flatnonzero(~self._of_class[kind]).tolist()
        for number, position in zip(others, positions[others].tolist(), strict=True):
            piece = words.pieces[position]
            if position in words.formed:
                layout = forms.FormLayout(*words.formed[position])  # type: ignore[arg-type]
                if layout.form is Form.MARKUP:
                    space = piece[: len(piece) - len(piece.lstrip(" "))]
                    words.pieces[position] = space + layout.shown
                else:
                    formed.append((number, position, layout))
                continue
            alone = bits.take(np.array([number]))
            count = len(_DIGIT.findall(piece))
            integers = alone.integers(JOINER_LANE, (count + 17) // 18).ravel()
            chunks = alone.below(integers, 10**9).tolist()
            digits = iter("".join(f"{chunk:09d}" for chunk in chunks))
            drawn = _DIGIT.sub(lambda _, d=digits: next(d), piece)  # type: ignore[misc]
            words.pieces[position] = as_people_write(drawn) if self._plain else drawn
        # Layouts that need as many integers are drawn together.
        by_size: dict[int, list[tuple[int, int, forms.FormLayout]]] = {}
        for one in formed:
            by_size.setdefault(forms.needed(one[2]), []).append(one)
        for size, some in by_size.items():
            together = bits.take(np.array([number for number, _, _ in some]))
            rows = together.integers(JOINER_LANE, (size + 1) // 2).tolist()
            for (_, position, layout), row in zip(some, rows, strict=True):
                piece = words.pieces[position]
                space = piece[: len(piece) - len(piece.lstrip(" "))]
                words.pieces[position] = space + forms.written(layout, iter(row))

    def _redraw_classes(
        self, words: Words, bits: RandomBits, positions: Ints, which: Ints
    ) -> None:
        """Write any word of its class for each of some positions, in place.

        Where two words of places stand together a place of two words is written, by the
        bits of the first.
        """
        if not len(which):
            return
        integers = bits.take(which).integers(JOINER_LANE, 1)[:, 0]
        begins, places = {*words.ends.tolist()}, positions[which].tolist()
        lists = [self._choices(words, position, begins) for position in places]
        sizes = np.array([len(listed) for listed in lists])
        chosen = np.empty(len(places), np.int64)
        for size in np.unique(sizes).tolist():
            chosen[sizes == size] = bits.below(integers[sizes == size], size)
        second = ""  # of a place of two words
        for number, (listed, at) in enumerate(zip(lists, chosen.tolist(), strict=True)):
            position = places[number]
            word, _, after = str(listed[at]).partition(" ")
            if second:
                word, after = second, ""
            second = after
            lead = " " if words.pieces[position][:1] == " " else ""
            words.pieces[position] = lead + word

    def _follows(self, words: Words, position: int, begins: Collection[int]) -> bool:
        """Tell whether a word of the same class stands right before a piece."""
        if position < 1 or position in begins or words.pieces[position][:1] != " ":
            return False
        here, before = words.flags[position], words.flags[position - 1]
        return int(here) & kinds.KIND == int(before) & kinds.KIND

    def _choices(
        self, words: Words, position: int, begins: Collection[int]
    ) -> Sequence[str]:
        """Return the words any of which is written: by classes and titles around it."""
        kind = int(words.flags[position]) & kinds.KIND
        for group, listed in self._words_of_class.items():
            if group.kind != kind:
                continue
            if kind == kinds.CALENDAR:
                of_week = key_of(words.pieces[position].strip(" ")) in self._weekdays
                if of_week is (group is WordClass.WEEKDAY):
                    return listed
                continue
            first, second = self._of_run.get(group, (listed, listed))
            after = position + 1
            leads = after < len(words.pieces) and self._follows(words, after, begins)
            if self._follows(words, position, begins):
                return second if not leads or group is WordClass.PLACE else listed
            if group is WordClass.PERSON and self._after_title(words, position, begins):
                return second
            return first if leads else listed
        return ()

    def _after_title(
        self, words: Words, position: int, begins: Collection[int]
    ) -> bool:
        """Tell whether a copied title stands before a piece, perhaps with a period."""
        at = position - 1
        if at >= 0 and position not in begins and words.pieces[at].strip(" ") == ".":
            at, position = at - 1, position - 1
        if at < 0 or position in begins:
            return False
        copied = int(words.flags[at]) & kinds.KIND == kinds.COMMON
        return copied and self._is_title(words.pieces[at])

    def candidates(self, words: Words, position: int) -> Sequence[str]:
        """Return the words any of which a word of a class becomes, () for others."""
        kind = int(words.flags[position]) & kinds.KIND
        if not self._of_class[kind]:
            return ()
        return self._choices(words, position, {*words.ends.tolist()})

    def positions_to_redraw(self, words: Words) -> Ints:
        """Return the pieces that are written anew by random digits: (m,) int64."""
        treatment = self._treatment[words.flags & kinds.KIND]
        return np.flatnonzero(_ANEW[treatment])

    def _spaces(self, words: Words, drawn: Ids) -> Mask:
        """Tell which drawn words get a space in front: (n,) bool."""
        spaced: Mask = ~self._clitic[drawn]
        if self._policy.punctuation == "drop":
            return spaced & ~_sentence_starts(self._policy, words)[words.positions]
        wordlike = kinds.WORDLIKE[words.flags & kinds.KIND]
        beside = _beside(words, wordlike)[words.positions]
        lead = (words.flags[words.positions] & kinds.LEAD) != 0
        after = beside[1:] & (np.diff(words.positions) == 1)
        spaced[1:] &= ~(after & self._elision[drawn[:-1]])
        return np.where(beside, spaced, lead)

    def _agree(self, words: Words, drawn: Ids, pieces: NDArray[np.object_]) -> Ids:
        """Return the words to be written: the drawn ones in agreement, (n,).

        Copied articles are rewritten in pieces.
        """
        if self._agreement is None or not len(drawn):
            return drawn
        positions, texts, free = words.positions, words.texts, None
        kind = words.flags & kinds.KIND
        ids = drawn.astype(np.int32)
        if self._neighbours.any():
            drawn_here = self._drawn[kind]
            positions = np.flatnonzero(self._neighbours[kind] | drawn_here)
            texts = _texts(words)[positions]
            own = drawn_here[positions]
            # An article suits a word of a class, too.
            free = own | self._of_class[kind[positions]]
            ids = np.empty(len(positions), np.int32)
            ids[own] = drawn
            kept = positions[~own]
            rows = map(self._row_of, map(words.pieces.__getitem__, kept.tolist()))
            before = np.fromiter(rows, np.int32, count=len(kept))
            ids[~own] = before
        if self._policy.punctuation == "drop":
            # What stood between the words is not to be seen, nor is that it did.
            positions = np.cumsum(self._written[kind])[positions]
        beside = (positions[1:] == positions[:-1] + 1) & (texts[1:] == texts[:-1])
        self._agreement.write(ids, beside, free)
        if free is None:
            return ids
        changed = (ids[~own] != before) & ~free[~own]
        for position, row in zip(kept[changed], ids[~own][changed], strict=True):
            piece, word = pieces[position], self._shown[row]
            body = piece.lstrip(" ")
            if body[:1].isupper():
                word = _capital(word)
            pieces[position] = piece[: len(piece) - len(body)] + word
        return np.asarray(ids[own])

    def _space_copied(self, words: Words, pieces: NDArray[np.object_]) -> None:
        """Rewrite the gap of each copied or masked word that stands after a word.

        What stood there before the draw must not show in it; only between two copied
        words does the gap stay.
        """
        kind = words.flags & kinds.KIND
        treatment = self._treatment[kind]
        after = _beside(words, kinds.WORDLIKE[kind]) & kinds.WORDLIKE[kind]
        copied = np.isin(treatment, (KEEP, DIGITS))
        both = copied & np.concatenate(([False], copied[:-1]))
        here = after & (treatment != PERTURB) & ~both
        few = np.isin(kind, (kinds.STOP_WORD, kinds.COMMON))
        stop = np.flatnonzero(here & few)
        pieces[stop] = [_after_stop(piece) for piece in pieces[stop]]
        for position in np.flatnonzero(here & ~few).tolist():
            copy = treatment[position] == KEEP
            body = pieces[position]
            pieces[position] = _after_word(body) if copy else " " + body.lstrip(" ")

    def _drop_marks(self, words: Words, pieces: NDArray[np.object_]) -> None:
        """Blank marks and spaces; one space goes before every word but the first."""
        written = self._written[words.flags & kinds.KIND]
        pieces[~written] = ""
        starts = _sentence_starts(self._policy, words)
        for position in np.flatnonzero(written).tolist():
            space = "" if starts[position] else " "
            pieces[position] = space + pieces[position].lstrip(" ")

    def _capitalize(self, words: Words, out: NDArray[np.object_]) -> None:
        """Write the capitals of the input, or those of sentences, in drawn words."""
        flags = words.flags[words.positions]
        if self._policy.case == "copy":
            title = (flags & kinds.TITLE) != 0
            for position in np.flatnonzero((flags & kinds.UPPER) != 0).tolist():
                out[position] = out[position].upper()
        else:
            title = _sentence_starts(self._policy, words)[words.positions]
        for position in np.flatnonzero(title).tolist():
            out[position] = _capital(out[position])


def _sentence_starts(policy: Policy, words: Words) -> Mask:
    """Tell which words begin a text or follow a kept sentence end: (p,)."""
    kept = policy.punctuation == "keep"
    kind = words.flags & kinds.KIND
    # Kinds of piece that a reader of the output takes for words.
    written = kinds.WORDLIKE & (policy.treatments != DROP)
    wordlike = np.flatnonzero(written[kind])
    enders = np.cumsum((words.flags & kinds.ENDER) != 0) if kept else kind * 0
    text = _texts(words)[wordlike]
    begins = np.diff(text, prepend=-1) + np.diff(enders[wordlike], prepend=0) > 0
    starts = np.zeros(len(kind), bool)
    starts[wordlike] = begins
    return starts


def _after_word(piece: str) -> str:
    """Return a copied word as it stands after another word."""
    body = piece.lstrip(" ")
    return body if is_clitic(body) else " " + body


# Few strings, in this use.
_after_stop = cache(_after_word)


@lru_cache(maxsize=2)
def _spellings(lexicon: Lexicon, lower: bool) -> tuple[NDArray[np.object_], Mask, Mask]:
    """Return how words are written, and which are clitics and elisions: (V,) both.

    (2 V,) str, each as it is, then each with a space in front.
    """
    words = list(lexicon.row_of) if lower else list(lexicon.words)
    spaced = (" " + "\n ".join(words)).split("\n")
    shown = np.array(words + spaced, dtype=object)
    clitic, elision = np.zeros((2, len(words)), bool)
    few = [word for word in lexicon.row_of if "'" in word or "’" in word]
    for row in map(lexicon.row_of.__getitem__, few):
        clitic[row], elision[row] = is_clitic(words[row]), is_elision(words[row])
    return shown, clitic, elision


@lru_cache(maxsize=2)
def _agreement(lexicon: Lexicon, name: str) -> Articles | Inflector | None:
    if name == "inflect":
        return Inflector(lexicon)
    return Articles(lexicon) if name == "articles" else None


def _texts(words: Words) -> Ints:
    """Return the text of each piece: (p,)."""
    sizes = np.diff(words.ends, prepend=0)
    return np.repeat(np.arange(len(sizes)), sizes)


def _beside(words: Words, wordlike: Mask) -> Mask:
    """Tell which pieces of a text stand right after a word of it: (p,)."""
    beside = np.zeros(len(wordlike), bool)
    beside[1:] = wordlike[:-1]
    begins = np.concatenate(([0], words.ends[:-1]))
    beside[begins[begins < len(beside)]] = False
    return beside


def _capital(word: str) -> str:
    if word[:1] == " ":
        return " " + word[1:2].upper() + word[2:]
    return word[:1].upper() + word[1:]


# What no reader knows as a word of the vocabulary.
_CLASSES = (*(kinds.PERSON, kinds.PLACE, kinds.ORGANISATION, kinds.CALENDAR),)
_OUTSIDE = (kinds.IDENTIFIER, kinds.KEPT, kinds.MASKED, kinds.FORMED, *_CLASSES)


def released(policy: Policy, words: Words, drawn: Ids, eps: Eps) -> Released:
    """Return what a decoder sees: drawn (n,) words with public epsilons (n,)."""
    kind = words.flags & kinds.KIND
    treatment = policy.treatments[kind]
    mark = ~kinds.WORDLIKE[kind]
    shown = np.where(np.isin(kind, _OUTSIDE), kinds.UNKNOWN, kind)
    shown[(treatment == PERTURB) & ~mark] = kinds.WORD
    shown[kind == kinds.MARKUP] = kinds.PUNCTUATION
    enders = np.where(mark, words.flags & kinds.ENDER, 0)
    titles = np.zeros(len(kind), np.uint8)
    if policy.common and policy.case == "copy":
        inside = (treatment == PERTURB) & ~mark & ~_sentence_starts(policy, words)
        titles[inside] = words.flags[inside] & kinds.TITLE
    flags = (shown | enders | titles).astype(np.uint8)
    pieces = [""] * len(kind)
    copied = np.isin(treatment, (KEEP, DIGITS)) & ~mark
    copied |= np.isin(kind, _CLASSES)
    for position in np.flatnonzero(copied).tolist():
        pieces[position] = words.pieces[position].strip(" ")
    ends, positions, rows = words.ends, words.positions, words.copied
    if policy.punctuation == "drop":
        before = np.concatenate(([0], np.cumsum(~mark)))
        ends, positions = before[ends], before[positions]
        flags = flags[~mark]
        pieces = [pieces[at] for at in np.flatnonzero(~mark).tolist()]
    else:
        for position in np.flatnonzero(mark).tolist():
            pieces[position] = words.pieces[position]
    return Released(
        pieces, flags, ends, positions, words.texts, drawn, eps, rows, words.grammar
    )
