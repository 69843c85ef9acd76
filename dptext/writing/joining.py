"""Joins drawn words and kept pieces to texts, and builds the release for decoders.

Original words are never used here, so this is post-processing:
- between two adjacent words with one space or none, there is no space before a clitic
  ("n't", "'s") or after a drawn elision ("l'"), and one before every other word, unless
  both words are copied;
- a drawn word is written as in the lexicon, with a capital letter at the beginning of a
  text or after a kept mark that ends a sentence (policy `case: restore`);
- a drawn word is written in the form that fits the adjacent words
  (dptext.writing.agreement), drawn ones or copied stop words. Kept marks separate
  words, others do not (policy `agreement: inflect`);
- "a" and "an" follow the text that is written after them (dptext.writing.articles),
  unless both are copied as they were: a copied article would show how a replaced word,
  name or number began (`inflect`, and `articles`, which leaves drawn words unchanged;
  `none` leaves both);
- an element for numbers is written as a random number of its form
  (dptext.tokens.numbers).
Policies `case: copy` and `number: digits` use the input; the statement tells it.

`release` returns the part of a batch that a decoder may see. All of it is common to the
texts that the statement compares under the policy (dptext.guarantees.not_covered). The
rest is blanked: kind, capitals and spacing of replaced words, the bodies of masked or
dropped ones, and dropped marks. Capitals that `case: copy` keeps do not help a decoder,
so they are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import RandomBits
from dptext.tokens import kinds, organisations, people, written_classes
from dptext.tokens.multilingual import languages_of
from dptext.tokens.numbers import Numbers
from dptext.tokens.policy import (
    DIGITS,
    DROP,
    FORM,
    KEEP,
    MARKUP,
    MASK,
    PERTURB,
    Policy,
    WordClass,
)
from dptext.tokens.regex import is_clitic, is_elision, key_of
from dptext.tokens.word_reading import copied_before
from dptext.types import ENGLISH, Eps, Ids, Ints, Lexicon, Mask, Released, Words
from dptext.writing import articles
from dptext.writing.agreement import Inflector
from dptext.writing.places import Places
from dptext.writing.quantities import Frames
from dptext.writing.redrawing import Redrawer

# Masks of kinds; other kinds are unknown words.
# Stands for a drawn word where marks are written.
_WORD = "[word]"
# Copied behind a weekday: "Saturdays".
_PLURAL = "s"
_MASKS = {kinds.NUMBER: "[number]", kinds.MASKED: "[masked]"}
# Treatments of pieces that are drawn here, not by a mechanism.
_REDRAWN = kinds.mask((DIGITS, FORM, MARKUP))
# Treatments of pieces that are copied, but for their digits.
_COPIED = kinds.mask((KEEP, DIGITS))
# Kinds that a decoder must take for words outside the vocabulary.
_CLASSES = (kinds.PERSON, kinds.PLACE, kinds.ORGANISATION, kinds.CALENDAR)
_OUTSIDE = (kinds.IDENTIFIER, kinds.KEPT, kinds.MASKED, kinds.FORMED, *_CLASSES)
_IS_CLASS, _IS_OUTSIDE = kinds.mask(_CLASSES), kinds.mask(_OUTSIDE)


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts, and the words written in them for drawn ones."""

    #: (r,)
    texts: list[str]
    #: (n,) rows of the written words: in agreement, and numbers of NUMBER as the
    #: elements that they are read as.
    written: Ids
    #: (n,) str, the written words, with a space before them if there is one.
    spelled: NDArray[np.object_]


class Joiner:
    """Writes batches of drawn words for a lexicon and policy."""

    def __init__(self, lexicon: Lexicon, policy: Policy) -> None:
        self._policy = policy
        lower = policy.case == "lower" or (policy.case == "copy" and not policy.common)
        self._shown, self._clitic, self._elision = _spellings(lexicon, lower)
        if WordClass.ORGANISATION in policy.classes:
            self._shown = self._shown.copy()
            for row, name in organisations.spellings(lexicon).items():
                self._shown[[row, row + len(lexicon.words)]] = name, f" {name}"
        self._numbers = Numbers(lexicon)
        rows = lexicon.row_of

        def row_of(piece: str) -> int:
            body = piece.strip(" ")
            key = body.lower() if body.isascii() else key_of(body)
            return rows.get(key, len(rows))

        # The row of a copied word by its piece; there are few different ones.
        self._row_of = cache(row_of)
        self._inflector = _inflector(lexicon) if policy.agreement == "inflect" else None
        self._treatment = policy.treatments
        self._keeps = (self._treatment == KEEP).tolist()
        self._is_class = kinds.mask(each.kind for each in policy.classes)
        # The classes of each kind of piece, with their words.
        self._words_of_class: dict[int, list[tuple[WordClass, Sequence[str]]]] = {}
        for each in policy.classes:
            listed = each, written_classes.class_words(lexicon, each)
            self._words_of_class.setdefault(each.kind, []).append(listed)
        # Words for the first, and for the later ones, of adjacent words of a class.
        self._run_words: dict[WordClass, tuple[Sequence[str], Sequence[str]]] = {}
        if families := written_classes.family_names(lexicon):
            names = written_classes.class_words(lexicon, WordClass.PERSON)
            given_names = tuple(name for name in names if name not in families)
            self._run_words[WordClass.PERSON] = given_names, families
        if pairs := written_classes.places_of_two(lexicon):
            places = tuple(" ".join(pair) for pair in pairs)
            others = written_classes.class_words(lexicon, WordClass.PLACE)
            self._run_words[WordClass.PLACE] = places, others
        self._is_title = cache(partial(written_classes.is_title, lexicon))
        self._weekdays = written_classes.keys_of_class(lexicon, WordClass.WEEKDAY)
        self._drawn = self._treatment == PERTURB
        # Texts for people have numbers as people write them.
        frames = None
        if policy.common and lexicon.language == ENGLISH:
            frames = Frames(lexicon)
        self._frames = frames
        self._languages = None
        if policy.languages:
            self._languages = languages_of(policy, lexicon)
        self._redrawer = Redrawer(
            policy=policy,
            choices=self._choices,
            is_titled=self._after_title,
            gendered=people.gendered_rows(rows),
            frames=frames,
            languages=self._languages,
        )
        # Rows of "a" and "an", and the kinds of copied words that these may be.
        self._articles: tuple[int, ...] = ()
        self._copied_words = np.zeros(kinds.COUNT, bool)
        self._copied_words[kinds.STOP_WORD] = policy.stop_word == "keep"
        self._copied_words[kinds.COMMON] = policy.common > 0
        if policy.agreement != "none" and articles.ARTICLES <= rows.keys():
            self._articles = tuple(map(rows.__getitem__, articles.ARTICLES))
        counting = None if frames is None else frames.counting
        self._places = Places(lexicon, self._copied_words, counting)
        # Kinds of copied words that agreement uses.
        self._neighbours = self._copied_words | self._is_class
        # Kinds of piece that look like words in the output.
        self._written = kinds.WORDLIKE & (self._treatment != DROP)

    def join(self, words: Words, drawn: Ids, bits: RandomBits) -> Joined:
        """Return the texts with the drawn words (n,)."""
        pieces = np.empty(len(words.pieces), dtype=object)
        pieces[:] = words.pieces
        if self._policy.punctuation == "drop":
            self._drop_marks(words, pieces)
        else:
            self._space_copied(words, pieces)
        written = self._agree(words, drawn)
        spaced = self._spaces(words, written)
        out = self._shown[written + spaced * np.int64(len(self._clitic))]
        positions = self._numbers.positions(written)
        if self._policy.marks:
            out = np.array([_WORD, f" {_WORD}"], object)[spaced.astype(np.int64)]
        elif len(positions):
            elements = written[positions]
            numbers = self._numbers.write(elements, bits.take(positions))
            for position, text in zip(positions.tolist(), numbers, strict=True):
                out[position] = f" {text}" if spaced[position] else text
            written = written.copy()
            written[positions] = self._numbers.read(elements, numbers)
        if self._policy.case != "lower" and not self._policy.marks:
            self._capitalize(words, out)
        pieces[words.positions] = out
        treatment = self._treatment[words.flags & kinds.KIND]
        for position in np.flatnonzero(treatment == MASK).tolist():
            space = " " if pieces[position][:1] == " " else ""
            kind = words.flag[position] & kinds.KIND
            pieces[position] = space + _MASKS.get(kind, "[unknown]")
        pieces[(treatment == DROP) & kinds.WORDLIKE[words.flags & kinds.KIND]] = ""
        if len(changed := self._fit_articles(words, pieces, written)):
            out[changed] = pieces[words.positions[changed]]
            rows = map(self._row_of, out[changed])
            written = written.copy()
            written[changed] = np.fromiter(rows, np.int32)
        if self._policy.marks:
            written = np.full(len(written), -1, np.int32)
        joined, bounds = pieces.tolist(), pairwise(words.bounds)
        texts = ["".join(joined[begin:end]) for begin, end in bounds]
        return Joined(texts, written, out)

    def redraw(
        self,
        words: Words,
        bits: RandomBits,
        positions: Ints,
        records: Ints | None = None,
    ) -> None:
        """Redraw pieces in place: digits, words of a class, pieces of a form.

        Markup becomes its layout. records (m,): the record of
        each position; by default each text is one.
        """
        if records is None:
            records = np.searchsorted(words.ends, positions, side="right")
        self._redrawer.redraw(words, bits, positions, records)

    def _follows(self, words: Words, position: int, begins: Collection[int]) -> bool:
        """Return whether the word before a piece is adjacent and in the same class."""
        if (words.flag[position] ^ words.flag[position - 1]) & kinds.KIND:
            return False  # as most
        if position < 1 or position in begins or words.pieces[position][:1] != " ":
            return False
        return words.layouts.keys().isdisjoint((position - 1, position))

    def _choices(
        self, words: Words, position: int, begins: Collection[int]
    ) -> Sequence[str]:
        """Return the words to choose from for a piece.

        Persons get given or family names depending on adjacent titles and names.
        """
        kind = words.flag[position] & kinds.KIND
        if self._languages is not None and position not in words.layouts:
            if words.is_of_lists(position):
                return self._choices_of_lists(words, position, kind, begins)
        for group, listed in self._words_of_class.get(kind, ()):
            if kind == kinds.CALENDAR:
                is_weekday = key_of(words.pieces[position].strip(" ")) in self._weekdays
                if is_weekday is (group is WordClass.WEEKDAY):
                    return listed
                continue
            if position in words.layouts:
                return organisations.choices(words.layouts[position])
            if group not in self._run_words:
                return listed
            return self._choices_of_run(words, position, begins, group) or listed
        return ()

    def _choices_of_run(
        self, words: Words, position: int, begins: Collection[int], group: WordClass
    ) -> Sequence[str]:
        """Return the choices for a piece next to others of its class, () for any."""
        first, second = self._run_words[group]
        is_place, after = group is WordClass.PLACE, position + 1
        leads = after < len(words.pieces) and self._follows(words, after, begins)
        if self._follows(words, position, begins):
            return second if is_place or not leads else ()
        if not is_place and self._after_title(words, position, begins):
            return second
        if leads:
            return first
        return self._places.find(words, position, begins) if is_place else ()

    def _choices_of_lists(
        self, words: Words, position: int, kind: int, begins: Collection[int]
    ) -> Sequence[str]:
        """Return the choices for a class in a text of a language without a lexicon."""
        assert self._languages is not None
        reader = self._languages.readers[words.language_at(position)]
        titled = self._after_title(words, position, begins)
        leads = position + 1 < len(words.pieces)
        leads = leads and self._follows(words, position + 1, begins)
        is_family = self._follows(words, position, begins)
        return reader.names(
            kind,
            words.pieces[position].strip(" "),
            family=is_family or (titled and not leads),
            title=bool(words.flag[position] & kinds.TITLE),
            before=copied_before(words, position, begins),
        )

    def _after_title(
        self, words: Words, position: int, begins: Collection[int]
    ) -> bool:
        """Return whether a copied title precedes a piece, with or without period."""
        at = position - 1
        if at >= 0 and position not in begins and words.pieces[at].strip(" ") == ".":
            at, position = at - 1, position - 1
        if at < 0 or position in begins:
            return False
        if words.flag[at] & kinds.KIND != kinds.COMMON:
            return False
        is_title: Callable[[str], bool] = self._is_title
        if self._languages is not None and words.is_of_lists(at):
            is_title = self._languages.is_title
        return is_title(words.pieces[at])

    def candidates(self, words: Words, position: int) -> Sequence[str]:
        """Return the choices for a word of a class, () for others."""
        kind = words.flag[position] & kinds.KIND
        if not self._is_class[kind]:
            return ()
        return self._redrawer.candidates(words, position)

    def positions_to_redraw(self, words: Words) -> Ints:
        """Return the positions of pieces that `redraw` replaces: (m,) int64."""
        treatment = self._treatment[words.flags & kinds.KIND]
        return np.flatnonzero(_REDRAWN[treatment])

    def _spaces(self, words: Words, drawn: Ids) -> Mask:
        """Return which drawn words get a space before them: (n,) bool."""
        spaced: Mask = ~self._clitic[drawn]
        if self._policy.punctuation == "drop":
            return spaced & ~_sentence_starts(self._policy, words)[words.positions]
        wordlike = kinds.WORDLIKE[words.flags & kinds.KIND]
        follows = _follow_words(words, wordlike)[words.positions]
        lead = (words.flags[words.positions] & kinds.LEAD) != 0
        after = follows[1:] & (np.diff(words.positions) == 1)
        spaced[1:] &= ~(after & self._elision[drawn[:-1]])
        return np.where(follows, spaced, lead)

    def _agree(self, words: Words, drawn: Ids) -> Ids:
        """Return the words to write, with agreement applied: (n,)."""
        if self._inflector is None:
            return drawn
        positions, texts, own = words.positions, words.texts, None
        kind = words.flags & kinds.KIND
        ids = drawn.astype(np.int32)
        if self._neighbours.any():
            drawn_here = self._drawn[kind]
            positions = np.flatnonzero(self._neighbours[kind] | drawn_here)
            texts = _texts(words)[positions]
            own = drawn_here[positions]
            ids = np.full(len(positions), len(self._clitic), np.int32)
            ids[own] = drawn
            # Copied words count beside drawn ones alone.
            beside = np.zeros(len(own), bool)
            beside[:-1] |= own[1:]
            beside[1:] |= own[:-1]
            beside &= ~own
            kept = map(words.pieces.__getitem__, positions[beside].tolist())
            ids[beside] = np.fromiter(map(self._row_of, kept), np.int32)
        if self._policy.punctuation == "drop":
            # Words are adjacent in the output, whatever was between them.
            positions = np.cumsum(self._written[kind])[positions]
        adjacent = (positions[1:] == positions[:-1] + 1) & (texts[1:] == texts[:-1])
        self._inflector.write(ids, adjacent, own)
        return ids if own is None else np.asarray(ids[own])

    def _fit_articles(
        self, words: Words, pieces: NDArray[np.object_], written: Ids
    ) -> Ints:
        """Adjust "a" or "an" to the text after it, unless both are copied; in place.

        Returns which of the drawn words (n,) have changed: (m,) int64.
        """
        if not self._articles:
            return np.empty(0, np.int64)
        kind = words.flags & kinds.KIND
        # Not np.isin, which would load numpy.ma, for one line, too.
        drawn_as_article = np.equal.outer(written, self._articles).any(axis=1)
        drawn = words.positions[drawn_as_article]
        is_copied = self._copied_words[kind]
        if words.languages is not None:
            is_copied &= _read_by_lexicon(words)
        if words.copied is not None:  # common words have their rows
            is_article = np.equal.outer(self._articles, words.copied).any(axis=0)
            is_copied &= is_article | (kind != kinds.COMMON)
        spots = np.flatnonzero(is_copied).tolist()
        copied = [at for at in spots if words.pieces[at] in articles.PIECES]
        positions = np.concatenate((drawn, np.array(copied, np.int64)))
        ends = words.ends[np.searchsorted(words.ends, positions, side="right")]
        changed = []
        places = zip(positions.tolist(), ends.tolist(), strict=True)
        for number, (position, end) in enumerate(places):
            after = self._word_after(words, pieces, position, end)
            is_drawn = number < len(drawn)
            if after is None or not (is_drawn or after[1]):
                continue
            piece = pieces[position]
            body = piece.lstrip(" ")
            article = articles.fit(body, after[0])
            if article != body:
                pieces[position] = piece[: len(piece) - len(body)] + article
                if is_drawn:
                    changed.append(position)
        return np.searchsorted(words.positions, np.array(changed, np.int64))

    def _word_after(
        self, words: Words, pieces: NDArray[np.object_], position: int, end: int
    ) -> tuple[str, bool] | None:
        """Return the word after an article, and whether its original is hidden.

        None if a mark or no space is between them.
        """
        is_spaced = is_hidden = False
        for at in range(position + 1, end):
            piece, kind = pieces[at], words.flag[at] & kinds.KIND
            wordlike = kind not in kinds.MARKS
            is_hidden |= wordlike and not self._keeps[kind]
            if not piece:
                continue
            is_spaced |= piece[0].isspace()
            if not is_spaced:
                return None
            if wordlike:
                return piece, is_hidden
            if kind != kinds.MARKUP and not articles.may_stand_between(piece):
                return None
        return None

    def _space_copied(self, words: Words, pieces: NDArray[np.object_]) -> None:
        """Rewrite the space before each copied or masked word that follows a word.

        The original space could reveal the word before it. Only between two copied
        words is it kept.
        """
        kind = words.flags & kinds.KIND
        treatment = self._treatment[kind]
        after = _follow_words(words, kinds.WORDLIKE[kind]) & kinds.WORDLIKE[kind]
        copied = _COPIED[treatment]
        both = copied & np.concatenate(([False], copied[:-1]))
        here = after & (treatment != PERTURB) & ~both
        if words.languages is not None:  # spaces of other languages are shown
            here &= _read_by_lexicon(words)
        few = (kind == kinds.STOP_WORD) | (kind == kinds.COMMON)
        if words.copied is not None:
            # Most have their space already, and are known to be no clitics.
            led = (words.flags & kinds.LEAD != 0) & (words.copied >= 0)
            here &= ~(few & led & ~self._clitic[words.copied])
        stop = np.flatnonzero(here & few)
        pieces[stop] = [_after_stop(piece) for piece in pieces[stop]]
        for position in np.flatnonzero(here & ~few).tolist():
            copy = treatment[position] == KEEP
            body = pieces[position]
            pieces[position] = _after_word(body) if copy else " " + body.lstrip(" ")

    def _drop_marks(self, words: Words, pieces: NDArray[np.object_]) -> None:
        """Blank marks and spaces, and put a space before every word after the first."""
        written = self._written[words.flags & kinds.KIND]
        pieces[~written] = ""
        starts = _sentence_starts(self._policy, words)
        for position in np.flatnonzero(written).tolist():
            space = "" if starts[position] else " "
            pieces[position] = space + pieces[position].lstrip(" ")

    def _capitalize(self, words: Words, out: NDArray[np.object_]) -> None:
        """Capitalise drawn words like the input, or as sentences require."""
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
    """Return which words begin a text or follow a kept sentence end: (p,)."""
    kept = policy.punctuation == "keep"
    kind = words.flags & kinds.KIND
    # Kinds of piece that look like words in the output.
    written = kinds.WORDLIKE & (policy.treatments != DROP)
    wordlike = np.flatnonzero(written[kind])
    ends = (words.flags & kinds.ENDER) != 0
    # Emoji end a sentence and are words themselves.
    enders = np.cumsum(ends) - ends if kept else kind * 0
    text = _texts(words)[wordlike]
    begins = np.diff(text, prepend=-1) + np.diff(enders[wordlike], prepend=0) > 0
    starts = np.zeros(len(kind), bool)
    starts[wordlike] = begins
    return starts


def _after_word(piece: str) -> str:
    """Return a copied word with the space it has after another word."""
    if piece == _PLURAL:
        return piece
    body = piece.lstrip(" ")
    return body if is_clitic(body) else " " + body


# Stop words and common words are few.
_after_stop = cache(_after_word)


@lru_cache(maxsize=2)
def _spellings(lexicon: Lexicon, lower: bool) -> tuple[NDArray[np.object_], Mask, Mask]:
    """Return spellings of words, and masks of clitics and elisions: (V,) each.

    The spellings are (2 V,) str: all words, then all with a space before them.
    """
    words = list(lexicon.row_of) if lower else list(lexicon.words)
    spaced = (" " + "\n ".join(words)).split("\n")
    shown = np.array(words + spaced, dtype=object)
    clitic, elision = np.zeros((2, len(words)), bool)
    few = [word for word in lexicon.row_of if "'" in word or "’" in word]
    for row in map(lexicon.row_of.__getitem__, few):
        clitic[row], elision[row] = is_clitic(words[row]), is_elision(words[row])
    return shown, clitic, elision


_inflector = lru_cache(maxsize=2)(Inflector)


def _texts(words: Words) -> Ints:
    """Return the text number of each piece: (p,)."""
    sizes = np.diff(words.ends, prepend=0)
    return np.repeat(np.arange(len(sizes)), sizes)


def _read_by_lexicon(words: Words) -> Mask:
    """Return which pieces are in texts read with the lexicon: (p,)."""
    assert words.languages is not None
    each = np.array([code in ("", ENGLISH) for code in words.languages], bool)
    return np.asarray(each[_texts(words)])


def _follow_words(words: Words, wordlike: Mask) -> Mask:
    """Return which pieces directly follow a word in their text: (p,)."""
    follows = np.zeros(len(wordlike), bool)
    follows[1:] = wordlike[:-1]
    begins = np.concatenate(([0], words.ends[:-1]))
    follows[begins[begins < len(follows)]] = False
    return follows


def _capital(word: str) -> str:
    if word[:1] == " ":
        return " " + word[1:2].upper() + word[2:]
    return word[:1].upper() + word[1:]


def release(policy: Policy, words: Words, drawn: Ids, eps: Eps) -> Released:
    """Return what decoders see: drawn words (n,) with public epsilons (n,)."""
    kind = words.flags & kinds.KIND
    treatment = policy.treatments[kind]
    mark = ~kinds.WORDLIKE[kind]
    shown = np.where(_IS_OUTSIDE[kind], kinds.UNKNOWN, kind)
    shown[(treatment == PERTURB) & ~mark] = kinds.WORD
    shown[kind == kinds.MARKUP] = kinds.PUNCTUATION
    enders = np.where(mark, words.flags & kinds.ENDER, 0)
    titles = np.zeros(len(kind), np.uint8)
    if policy.common and policy.case == "copy":
        inside = (treatment == PERTURB) & ~mark & ~_sentence_starts(policy, words)
        titles[inside] = words.flags[inside] & kinds.TITLE
    flags = (shown | enders | titles).astype(np.uint8)
    copied = (_COPIED[treatment] & ~mark) | _IS_CLASS[kind]
    shown_pieces = np.array(words.pieces, object)
    shown_pieces[copied] = [piece.strip(" ") for piece in shown_pieces[copied]]
    shown_pieces[~copied & ~mark] = ""
    pieces = shown_pieces.tolist()
    ends, positions, rows = words.ends, words.positions, words.copied
    if policy.punctuation == "drop":
        before = np.concatenate(([0], np.cumsum(~mark)))
        ends, positions = before[ends], before[positions]
        flags = flags[~mark]
        pieces = [pieces[at] for at in np.flatnonzero(~mark).tolist()]
    return Released(
        pieces=pieces,
        flags=flags,
        ends=ends,
        positions=positions,
        texts=words.texts,
        drawn=drawn,
        eps=eps,
        copied=rows,
        grammar=words.grammar,
    )
