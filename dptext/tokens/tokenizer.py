"""Turns texts into words: splits, looks up in the vocabulary, flags pieces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import (
    common,
    grammar,
    headings,
    kinds,
    language_data,
    lists,
    markup,
    memory,
    multilingual,
    name_cues,
    names,
    organisations,
    sentence_starts,
    written_classes,
)
from dptext.tokens.forms import FormLayout
from dptext.tokens.memory import LONG, Memory
from dptext.tokens.numbers import Numbers
from dptext.tokens.policy import PERTURB, Form, Policy, WordClass
from dptext.tokens.regex import (
    MARK,
    divide,
    key_of,
    kind_of,
    replace_divided,
    segment,
    without_clitics,
)
from dptext.types import ENGLISH, Ids, Ints, Lexicon, Mask, Words

# The code of a piece that divides into several words.
_SEVERAL = -1
# A code holds the flags of a piece, then from these bits on the row of the word plus 1,
# and whether it is read as a name of a person. Above are bits of dptext.tokens.common,
# and the role of the word (dptext.tokens.name_cues).
_ROW, _NAMED = 8, 40
# Forms behind which a line may still begin: "10:32 Please".
_STAMPS = (Form.DATE, Form.TIME)
# Classes with names that may have a layout.
_WITH_LAYOUTS = kinds.mask((kinds.ORGANISATION, kinds.PLACE))


class Tokenizer:
    """Splits texts into words of a vocabulary under a policy.

    With every_word, the positions include words that the policy keeps. With every_text,
    texts in languages other than English are split too.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        policy: Policy,
        *,
        every_word: bool = False,
        every_text: bool = False,
    ) -> None:
        copied_emoji = frozenset[str]()
        self._common: common.CommonWords | None = None
        if policy.common:
            self._common = common.common_words(lexicon, *policy.copied_words)
            copied_emoji = self._common.emoji
        self._spans = lists.Spans(policy, copied_emoji, self._is_one)
        self._lexicon, self._shows_forms = lexicon, policy.grammar == "show"
        self._shown = sentence_starts.Shown(
            numbers=policy.number != "perturb", capitals=policy.case == "copy"
        )
        self._index = written_classes.index_keys(lexicon)
        self._numbers = Numbers(lexicon)
        self._stop_words = language_data.stop_words(lexicon.language)
        self._language = lexicon.language
        self._names = names.name_row(lexicon)
        self._reads = written_classes.reading(lexicon) if policy.common else None
        self._classes = written_classes.kinds_of_rows(lexicon, policy.classes).tolist()
        self._person = WordClass.PERSON in policy.classes
        self._organisation = (
            WordClass.ORGANISATION in policy.classes and lexicon.language == ENGLISH
        )
        self._nationalities: Collection[str] = ()
        if self._organisation and WordClass.PLACE in policy.classes:
            self._nationalities = organisations.nationalities()
        # Weekdays that are divided before the s of a plural.
        self._plurals = frozenset[str]()
        if policy.common and WordClass.WEEKDAY in policy.classes:
            days = written_classes.keys_of_class(lexicon, WordClass.WEEKDAY)
            self._plurals = frozenset(f"{day}s" for day in days if day[-3:] == "day")
        self._place = lexicon.row_of.get("london", -1)
        self._small: organisations.SmallLetters | None = None
        if policy.common and self._nationalities and not policy.languages:
            self._small = organisations.SmallLetters(lexicon)
        self._cues: name_cues.NameCues | None = None
        if policy.common and self._names >= 0:
            self._cues = name_cues.cues(lexicon.language)
        # What a name beside a cue is read as.
        as_place = kinds.PLACE
        if WordClass.PLACE not in policy.classes:
            as_place = (self._place + 1) << _ROW | kinds.WORD
        self._bits = name_cues.Bits(
            persons=1 << _NAMED | (kinds.PERSON if self._person else kinds.WORD),
            places=as_place,
            common=common.STARTS,
        )
        self._languages: multilingual.Languages | None = None
        if policy.languages:
            self._languages = multilingual.languages_of(policy, lexicon)
        self._is_sole = len(policy.languages) == 1
        # Kinds that count as words of a heading, where capitals are shown.
        self._counted = None
        if policy.case == "copy":
            self._counted = kinds.WORDLIKE.copy()
            self._counted[[kinds.FORMED, kinds.KEPT, kinds.MASKED]] = False
            self._counted[kinds.NUMBER] = policy.number == "perturb"
        # Whether copied words tell a text in English from one in another language.
        self._tells_english = policy.marks_others and not every_text
        self._tells_english &= lexicon.language == ENGLISH
        if self._common is None or not self._common.are_many:
            self._tells_english = False
        self._plain, self._odd = self._copied_words()
        self._codes = Memory(self._code)
        # Codes of words of records that are found to be in English.
        self._english_codes = Memory(self._read_word)
        self._parts: dict[str, list[tuple[str, int]]] = {}
        self._long: dict[str, list[tuple[str, int]]] = {}
        self._wanted = kinds.WORDLIKE if every_word else policy.treatments == PERTURB

    def _copied_words(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return words copied in lower case, and those that also affect neighbours."""
        if self._common is None:
            return frozenset(), frozenset()
        every = self._languages.copied if self._languages else frozenset()
        return self._common.words, self._common.odd | self._plurals | every

    @property
    def copies_common(self) -> bool:
        """Return whether common words are copied."""
        return self._common is not None

    def lookup(self, key: str) -> int:
        """Return the row of a key (dptext.tokens.regex.key_of), -1 if unknown."""
        return self._index.get(key, -1)

    def words(
        self,
        texts: Sequence[str],
        records: Ints | None = None,
        declared: Sequence[str | None] | None = None,
    ) -> Words:
        """Split a batch of texts and look up its words.

        The pieces join to the texts, except for zero-width characters, which no
        output has, entities for letters if tags are recognised, and texts in none of
        the policy's languages. records (r,) is the record of each text, from 0 on,
        and declared the language of each record, if a column gives it.
        """
        pieces, codes, ends, formed = self._split(texts)
        texts_in: Sequence[str] | None = None
        if self._languages is not None:
            pieces, codes, ends, formed, texts_in = self._languages.read(
                pieces=pieces,
                codes=codes,
                ends=ends,
                formed=formed,
                records=records,
                declared=declared,
            )
            unread = np.flatnonzero(codes & multilingual.UNREAD)
            each = map(self._english_codes.__getitem__, map(pieces.__getitem__, unread))
            codes[unread] = np.fromiter(each, np.int64, count=len(unread))
        if self._small is not None:
            small = self._small.settle(pieces, codes, ends, self._rows(codes))
            pieces, codes, ends, moved = small
            formed = organisations.moved_keys(formed, moved)
        pieces, codes, ends, formed, layouts = self._settle(
            pieces=pieces, codes=codes, ends=ends, formed=formed
        )
        if self._languages is not None and texts_in is not None:
            self._languages.finish(
                pieces, codes, ends, texts_in=texts_in, formed=formed
            )
        else:
            texts_in = self._tell(pieces, codes, ends, formed=formed, records=records)
            pieces, codes, ends, formed, layouts = multilingual.without_others(
                pieces, codes, ends, formed=formed, layouts=layouts, texts_in=texts_in
            )
        flags = (codes & 0xFF).astype(np.uint8)
        positions = np.flatnonzero(self._wanted[flags & kinds.KIND])
        wanted = codes[positions]
        ids = self._rows(wanted)
        piece_texts = np.repeat(np.arange(len(texts)), np.diff(ends, prepend=0))
        persons = (wanted >> _NAMED & 1).astype(bool)
        read_as = ids if self._reads is None else self._reads[ids]
        read_as = np.where(persons, np.int32(self._names), read_as)
        return Words(
            pieces=pieces,
            flags=flags,
            ends=ends,
            positions=positions,
            texts=piece_texts[positions],
            ids=ids,
            read_as=read_as,
            formed=formed,
            layouts=layouts,
            copied=self._copied_rows(codes),
            grammar=self._grammar(pieces, positions, ids),
            listed=self._count_listed(pieces, flags),
            languages=texts_in,
        )

    def _split(
        self, texts: Sequence[str]
    ) -> tuple[list[str], Ints, Ints, dict[int, FormLayout]]:
        """Return pieces, their codes, ends of texts, and forms."""
        pieces: list[str] = []
        ends = np.empty(len(texts), np.int64)
        named: dict[int, int] = {}
        formed: dict[int, FormLayout] = {}
        for number, text in enumerate(texts):
            divided, listed, shown = self._spans.divide(self._spans.readable(text))
            if listed:
                for position, kind in listed.items():
                    named[len(pieces) + position] = kind
                for position, layout in shown.items():
                    formed[len(pieces) + position] = layout
            pieces += lists.shared(divided)
            ends[number] = len(pieces)
        codes = self._look_up(pieces, named, formed)
        if (codes == _SEVERAL).any():
            pieces, codes, ends, moved = replace_divided(
                pieces, codes, ends, several=_SEVERAL, parts_of=self._parts_of
            )
            formed = {
                position + int(moved[position]): layout
                for position, layout in formed.items()
            }
        self._long.clear()
        return pieces, codes, ends, formed

    def _tell(
        self,
        pieces: Sequence[str],
        codes: Ints,
        ends: Ints,
        *,
        formed: Mapping[int, FormLayout],
        records: Ints | None,
    ) -> Sequence[str] | None:
        """Return the language of each text, None if languages are not detected."""
        if not self._tells_english or self._counted is None:
            return None
        assert self._common is not None
        is_copied = codes & kinds.KIND == kinds.COMMON
        weights = is_copied * self._common.english_weights[self._rows(codes)]
        kept = np.flatnonzero(codes & kinds.KIND == kinds.KEPT).tolist()
        kept = [at for at in kept if at not in formed]  # no fixed forms
        for at in (*kept, *self._listed(pieces, is_copied)):
            weights[at] = self._common.english_weight(pieces[at].strip(" "))
        counted = self._counted
        return multilingual.in_english(
            codes, ends, records, counted=counted, kept=kept, weights=weights
        )

    def _look_up(
        self,
        pieces: list[str],
        named: Mapping[int, int],
        formed: Mapping[int, FormLayout],
    ) -> Ints:
        """Return the codes of pieces; list and form pieces are given by position."""
        if len(self._parts) > memory.REMEMBERED:
            self._codes.clear()
            self._english_codes.clear()
            self._parts.clear()
        words = [*pieces]
        for position in named:
            words[position] = ""
        each = map(self._codes.__getitem__, words)
        codes = np.fromiter(each, np.int64, count=len(pieces))
        for position, kind in named.items():
            piece, layout = pieces[position], formed.get(position)
            codes[position] = self._code_named(piece, kind, layout)
        return codes

    @staticmethod
    def _code_named(piece: str, kind: int, layout: FormLayout | None) -> int:
        """Return the code of a piece in a list or form."""
        body = piece.removeprefix(" ")
        code = _pack(kind, -1, kinds.LEAD if len(body) < len(piece) else 0, body)
        if layout is None:
            return code
        if kind == kinds.MARKUP and markup.ends_line(layout.shown):
            return code | kinds.ENDER
        if layout.form is Form.EMOJI:
            return code | kinds.ENDER
        return code | common.OPENS if layout.form in _STAMPS else code

    def _settle(
        self,
        pieces: list[str],
        codes: Ints,
        ends: Ints,
        formed: dict[int, FormLayout],
    ) -> tuple[list[str], Ints, Ints, dict[int, FormLayout], dict[int, str]]:
        """Apply rules that depend on neighbouring pieces, and find name layouts."""
        layouts: dict[int, str] = {}
        if self._common is not None:
            self._settle_common(pieces, codes, ends)
        whole = self._organisation and self._counted is not None
        if whole:
            cues, bits = self._cues, self._bits
            firsts = cues.may_begin_places(codes, bits) if cues else []
            places = organisations.join_places(pieces, codes, ends, firsts)
            pieces, codes, ends, moved, _ = places
            formed = organisations.moved_keys(formed, moved)
            chains = organisations.join(pieces, codes, ends)
            pieces, codes, ends, moved, layouts = chains
            formed = organisations.moved_keys(formed, moved)
        if self._person and self._counted is not None:
            names.settle_parts(pieces, codes, self._bits.persons)
        heading = np.zeros(len(codes), bool)
        if self._common is not None and self._counted is not None:
            heading = headings.settle(
                pieces,
                codes,
                ends,
                counted=self._counted,
                formed=formed,
                is_verb=self._common.is_verb,
            )
        apart = heading
        if whole:
            if self._cues is not None:
                single = self._cues.are_letters(codes)
                person = self._bits.persons if self._person else 0
                organisations.settle_letters(
                    pieces, codes, ends, single, persons=person
                )
                apart = heading | self._cues.may_name(codes)
            pieces, codes, ends, moved, _ = organisations.join_others(
                pieces, codes, ends, apart=apart, heading=heading
            )
            formed, layouts = (
                organisations.moved_keys(formed, moved),
                organisations.moved_keys(layouts, moved),
            )
        if self._cues is not None:
            self._cues.settle(codes, ends, self._bits)
        if self._organisation:
            marks = common.ACRONYM | common.PRODUCT | common.NATIONALITY
            marked = np.flatnonzero(codes & marks)
            for at in marked[_WITH_LAYOUTS[codes[marked] & kinds.KIND]].tolist():
                layouts[at] = organisations.layout(pieces[at])
        return pieces, codes, ends, formed, layouts

    def _settle_common(self, pieces: list[str], codes: Ints, ends: Ints) -> None:
        sentence_starts.settle(codes, ends, pieces, self._shown)
        verbs = np.flatnonzero(codes & common.VERB)
        for at in verbs[codes[verbs] & kinds.KIND == kinds.COMMON].tolist():
            # "May I" is no month.
            row = self.lookup(key_of(pieces[at].strip(" ")))
            codes[at] = codes[at] & ~(0xFFFFFFFF << _ROW) | (row + 1) << _ROW
        if self._cues is not None and self._counted is not None:
            self._cues.settle_capitals(codes, ends, self._bits)

    def _copied_rows(self, codes: Ints) -> Ids | None:
        if self._common is None:
            return None
        is_copied = (codes & kinds.KIND) == kinds.COMMON
        return np.where(is_copied, self._rows(codes), np.int32(-1))

    @staticmethod
    def _rows(codes: Ints) -> Ids:
        """Return the rows of pieces, -1 if unknown."""
        return ((codes >> _ROW & 0xFFFFFFFF) - 1).astype(np.int32)

    def _count_listed(
        self, pieces: Sequence[str], flags: NDArray[np.uint8]
    ) -> int | None:
        """Count copied words from a word list, None without a list."""
        if self._common is None or not self._common.listed:
            return None
        return len(self._listed(pieces, flags & kinds.KIND == kinds.COMMON))

    def _listed(self, pieces: Sequence[str], is_copied: Mask) -> list[int]:
        """Return positions of copied words from a word list."""
        if self._common is None or not self._common.listed:
            return []
        is_listed, copied = self._common.is_listed, np.flatnonzero(is_copied).tolist()
        return [at for at in copied if is_listed(pieces[at].lstrip(" "))]

    def _grammar(
        self, pieces: list[str], positions: Ints, ids: Ids
    ) -> NDArray[np.uint8] | None:
        if not self._shows_forms:
            return None
        unknown = positions[ids < 0].tolist()
        bodies = [pieces[position].lstrip(" ") for position in unknown]
        return grammar.forms_of_words(ids, bodies, self._lexicon)

    def _code(self, piece: str) -> int:
        """Return a piece's flags and row as one integer, or _SEVERAL.

        With other languages, a word is read once its record's language is known.
        """
        plain = piece.removeprefix(" ")
        if plain[-1:] == "s" and plain.lower() in self._plurals:
            return self._code_plural(piece, plain)
        if self._languages is not None and plain.isalpha():
            if self._is_sole or kind_of(plain) == kinds.WORD:
                lead = kinds.LEAD if plain != piece else 0
                unread = self._languages.code_unread(piece)
                return _pack(kinds.UNKNOWN, -1, lead, plain) | unread
        known = self._codes.get(plain, _SEVERAL)  # without the space before it
        if plain != piece and known != _SEVERAL and not plain.isspace():
            return known | kinds.LEAD
        return self._read_word(piece)

    def _read_word(self, piece: str) -> int:
        """Return a piece's code from the vocabulary."""
        # A fast path for most words, with the result of the rules below.
        plain = piece.removeprefix(" ")
        is_plain = plain in self._plain and plain not in self._odd
        if is_plain and plain.isalpha() and plain in self._index:
            return self._code_plain(plain, kinds.LEAD if plain != piece else 0)
        if plain.isascii() and plain.isalpha():
            row = self._index.get(plain.lower(), -1)
            if row >= 0:
                lead = kinds.LEAD if plain != piece else 0
                return self._word(plain, row, lead)
        return self._code_other(piece)

    def _code_other(self, piece: str) -> int:
        """Return the code of a piece that is not a vocabulary word of letters."""
        kind = kind_of(piece)
        led = kind != kinds.SPACE and len(piece) > 1 and piece[0] == " "
        lead, body = (kinds.LEAD, piece[1:]) if led else (0, piece)
        if kind == kinds.IDENTIFIER and self._common is not None:
            if self._common.is_copied_emoji(body):
                return kinds.COMMON | lead | kinds.ENDER
        if kind != kinds.WORD:
            row = self._numbers.row(body) if kind == kinds.NUMBER else -1
            code = _pack(kind, row, lead, body)
            return code | self._mark_bits(body) if kind == kinds.PUNCTUATION else code
        parts = self._divide_word(body)
        if len(parts) == 1:
            return self._word(parts[0][0], parts[0][1], lead)
        self._code_parts(piece, body, lead, parts)
        return _SEVERAL

    def _parts_of(self, piece: str) -> list[tuple[str, int]]:
        return (self._parts if len(piece) < LONG else self._long)[piece]

    def _code_parts(
        self, piece: str, body: str, lead: int, parts: Sequence[tuple[str, int]]
    ) -> None:
        """Store a piece's parts with their codes."""
        known = self._parts if len(piece) < LONG else self._long
        # With common words each part is judged alone.
        named = self._names >= 0 and self._common is None
        named = named and names.begins_as_name(body, self._language)
        coded = known[piece] = []
        for number, (part, row) in enumerate(parts):
            led = 0 if number else lead
            shown, code = f" {part}" if led else part, _SEVERAL
            if part.isascii() and part.isalpha() and not named:
                code = self._codes[shown]  # as where it stands alone
            if code == _SEVERAL:
                code = self._word(part, row, led, named=named)
            coded.append((shown, code))

    def _code_plain(self, word: str, lead: int) -> int:
        """Return the code of a lower-case common word without special reading."""
        role = 0 if self._cues is None else self._cues.role(word, word)
        return (self._index[word] + 1) << _ROW | kinds.COMMON | lead | role

    def _code_plural(self, piece: str, plain: str) -> int:
        """Split "Saturdays" into a weekday and a copied s."""
        day, lead = plain[:-1], kinds.LEAD if plain != piece else 0
        first = self._word(day.capitalize(), self.lookup(day.lower()), lead)
        self._parts[piece] = [
            (piece[:-1], first & ~0xF0 | _pack(0, -1, lead, day)),
            ("s", kinds.COMMON),
        ]
        return _SEVERAL

    def _class_kind(self, kind: int, row: int, *, named: bool) -> int:
        """Return the kind of a word's class if the policy has it, else its own kind."""
        if named:
            return kinds.PERSON if self._person else kind
        return (self._classes[row] if row >= 0 else 0) or kind

    def _divide_word(self, body: str) -> list[tuple[str, int]]:
        """Split a word: by vocabulary, or by spelling alone."""
        words, several = self._common, self._languages
        if words is None:
            return segment(body, self.lookup)
        return divide(
            body,
            self.lookup,
            whole=words.whole,
            is_whole=self._is_whole,
            elisions=words.elisions if several is None else several.elisions,
        )

    def _is_one(self, word: str) -> bool:
        """Return whether a hyphenated word is replaced as a whole."""
        spelled = (word, without_clitics(word)[0])
        if self._common is None:
            return any(self.lookup(key_of(each)) >= 0 for each in spelled)
        whole = self._common.whole
        return any(key_of(each) in whole or self._is_whole(each) for each in spelled)

    def _is_whole(self, word: str) -> bool:
        """Return whether a word is a user name or similar, or a name like "Min-jun"."""
        if "_" in word:
            return True
        if self._common is not None and self._common.listed:
            if common.spelled(word) in self._common.listed:
                return True
        return self._names >= 0 and names.is_name_of_parts(word, self._language)

    def _mark_bits(self, body: str) -> int:
        """Return a mark's bits, which affect neighbouring words."""
        if self._common is None:
            return 0
        role = 0 if self._cues is None else self._cues.role(body, body)
        return common.bits_of_mark(body) | role

    def _word(self, body: str, row: int, lead: int, *, named: bool = False) -> int:
        if row == MARK:
            return _pack(kinds.PUNCTUATION, -1, lead, body) | self._mark_bits(body)
        if row < 0 and body[:1].isdecimal() and self._common is not None:
            if kind_of(body) == kinds.NUMBER:
                return _pack(kinds.NUMBER, self._numbers.row(body), lead, body)
        key = key_of(body)
        kind = kinds.UNKNOWN
        if row >= 0:
            kind = kinds.STOP_WORD if key in self._stop_words else kinds.WORD
        # Lexicons without a row for names do not need the lists of names.
        named = self._names >= 0 and (named or self._is_name(body, row))
        bits = 0
        if self._common is not None:
            kind, row, bits, named = self._read(
                body=body, key=key, kind=kind, row=row, named=named
            )
        code = _pack(kind, row, lead, body) | bits
        return code | 1 << _NAMED if named else code

    def _read(
        self, body: str, key: str, kind: int, row: int, named: bool
    ) -> tuple[int, int, int, bool]:
        """Return kind, row and bits of a word, and whether it is a name."""
        assert self._common is not None
        bits = 0
        every = self._languages is not None and body in self._languages.copied
        if every:
            bits = kinds.COMMON | (common.FUNCTION if body in common.LITTLE else 0)
            bits |= common.LETTER if len(body) == 1 else 0
        elif key in self._common.read_as and (read := self._common.reads_as(body, key)):
            kind, row, named = kinds.WORD, self._index.get(read, -1), False
        elif body in self._nationalities:
            kind, bits, named = kinds.PLACE, common.NATIONALITY, False
        else:
            bits = self._common.code(body, key)
        if bits & kinds.KIND:
            kind, bits = kinds.COMMON, bits & ~kinds.KIND
        elif not bits & (common.STARTS | common.NATIONALITY):
            kind = self._class_kind(kind, row, named=named)
            if self._organisation and kind in organisations.OTHERS:
                is_person = row >= 0 and self._classes[row] == kinds.PERSON
                if look := organisations.look(self._lexicon, body, row, is_person):
                    kind, bits, named = kinds.ORGANISATION, bits | look, False
        bits |= self._common.at_places.get(body, 0)
        if self._cues is not None:
            bits |= self._cues.role(body, key, may_be_name=not every)
        return kind, row, bits, named

    def _is_name(self, body: str, row: int) -> bool:
        """Return whether a word is read as a person's name because of its spelling."""
        # "Germán" is known only without its accent: it is not the word "German".
        if row < 0 or not (body.isascii() or self.lookup(key_of(body)) >= 0):
            is_name = names.unknown_is_name(body, self._language)
        elif body[:1].isupper():
            is_name = names.known_is_name(body, self._language)
        else:
            return False  # as most words
        return is_name or (self._common is not None and self._common.is_person(body))


def _pack(kind: int, row: int, lead: int, body: str) -> int:
    return (row + 1) << _ROW | kinds.find_flags(kind, lead, body)
