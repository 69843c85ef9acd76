"""Redraws what needs no budget: words of classes, pieces of forms, digits.

What is written depends on the class or layout of a piece, adjacent copied words and
random bits and, if equal pieces stay equal (`tokens.repeat: record`), on which pieces
of the record are equal: a piece has the surrogate of the first piece of its record with
the same class or layout and the same text in lower case, and a different piece gets
another surrogate while there is one. The original is never excluded. A surrogate uses
the random bits of the first position.

All of this is equal in texts that the statement compares, so they have the
same output distribution (docs/guarantees.md, 4). Nothing else of a text is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from dptext.randomness import JOINER_LANE, RandomBits
from dptext.tokens import dates, forms, headings, kinds, number_words, people
from dptext.tokens.draws import YEARS, Integers, Stream, draw_digits, only_digits
from dptext.tokens.languages import MARK
from dptext.tokens.multilingual import Languages, is_form
from dptext.tokens.policy import Form, Policy
from dptext.tokens.regex import to_keys
from dptext.tokens.word_reading import copied_before
from dptext.types import ENGLISH, Ids, Ints, Words
from dptext.writing import date_order, quantities, ranges, surrogates
from dptext.writing.quantities import Frame, Frames
from dptext.writing.ranges import Piece
from dptext.writing.surrogates import Key, Known, OneRecord, Slot

# Integers that are enough for a number.
_FOR_NUMBER = 4
# Stands for a drawn word where marks are written.
_WORD = "[word]"
# The number in the layout of an amount.
_AMOUNT = re.compile(r"[01]+(?:[.,'][01]+)*")
# Forms with one text for all layouts, whatever their number.
_FIXED = (Form.EMOJI, Form.FIXED)
_OF_KIND = {
    kinds.PERSON: "name",
    kinds.PLACE: "place",
    kinds.ORGANISATION: "company",
}
#: The choices of a piece of a class.
Choices = Callable[[Words, int, Collection[int]], Sequence[str]]


class Redrawer:
    """Redraws pieces for a policy."""

    def __init__(
        self,
        policy: Policy,
        choices: Choices,
        is_titled: Callable[[Words, int, Collection[int]], bool],
        gendered: Ids | None,
        frames: Frames | None,
        languages: Languages | None = None,
    ) -> None:
        """Prepare for texts with English common words; without frames, for others.

        choices: returns the words for a piece of a class; is_titled: returns whether a
        copied title precedes a piece; gendered: rows of words that indicate a gender
        (dptext.tokens.people.gendered_rows); languages: of the policy.
        """
        self._languages, self._gendered = languages, gendered
        self._people = {ENGLISH: people.english()}
        if languages is not None:
            self._people |= {
                code: reader.people for code, reader in languages.readers.items()
            }
        self._choices, self._is_titled, self._frames = choices, is_titled, frames
        self._by_record, self._years = policy.repeat == "record", policy.years
        self._marks, self._capitals = policy.marks, policy.case == "copy"
        self._ratings = policy.opinion == "keep"
        self._is_class = kinds.mask(each.kind for each in policy.classes)

    def redraw(
        self, words: Words, bits: RandomBits, positions: Ints, records: Ints
    ) -> None:
        """Replace pieces at positions (m,) in records (m,), in place."""
        is_class = self._is_class[words.flags[positions] & kinds.KIND]
        classes = np.flatnonzero(is_class)
        of_class = positions[classes], records[classes]
        weekdays = date_order.find_weekdays(words, *of_class)
        self._redraw_classes(words, bits.take(classes), *of_class)
        if self._capitals and not self._marks:
            shouted = headings.shouted(words)[positions[classes]]
            for position in positions[classes[shouted]].tolist():
                words.pieces[position] = words.pieces[position].upper()
        others = np.flatnonzero(~is_class)
        if words.languages is not None:
            forms_of = map(words.formed.get, positions[others].tolist())
            of_list = [each is not None and not is_form(each[0]) for each in forms_of]
            listed = others[np.array(of_list, bool)]
            others = others[~np.array(of_list, bool)]
            self._redraw_words(
                words, bits.take(listed), positions[listed], records[listed]
            )
        pieces = self._pieces(
            words, bits.take(others), positions[others], records[others]
        )
        if not pieces:
            return
        batch = _Batch(
            by_record=self._by_record,
            marks=self._marks,
            years=self._years,
            frames=self._frames,
            ratings=self._ratings,
        )
        for position, text in batch.written(words, pieces).items():
            piece = words.pieces[position]
            words.pieces[position] = piece[: len(piece) - len(piece.lstrip(" "))] + text
        if not self._marks:
            date_order.fit_weekdays(words, weekdays, equal=self._by_record)

    def _redraw_words(
        self, words: Words, bits: RandomBits, positions: Ints, records: Ints
    ) -> None:
        """Replace words of languages without a lexicon by listed words, in place.

        Texts in other languages become marks.
        """
        if not len(positions):
            return
        integers = bits.integers(JOINER_LANE, 1)[:, 0].tolist()
        spots, one = positions.tolist(), OneRecord()
        keys = _keys(words, spots)
        for position, record, key, integer in zip(
            spots, records.tolist(), keys, integers, strict=True
        ):
            shown = words.formed[position][1]
            choices: Sequence[str] = (MARK,)
            if self._languages is not None and shown != MARK:
                choices = self._languages.choices(shown)
            if self._marks:
                word = choices[0] if len(choices) == 1 else _WORD
            elif self._by_record:
                if record != one.record:
                    one = OneRecord(record)
                word = one.draw((shown, key), choices, integer)
            else:
                word = choices[integer * len(choices) >> 64]
            lead = " " if words.pieces[position][:1] == " " else ""
            words.pieces[position] = lead + word

    def candidates(self, words: Words, position: int) -> Sequence[str]:
        """Return the words to choose from for a word of a class at its position."""
        of_class = np.flatnonzero(self._is_class[words.flags & kinds.KIND])
        texts = np.searchsorted(words.ends, of_class, side="right").tolist()
        kind_of = (words.flags[of_class] & kinds.KIND).tolist()
        spots = of_class.tolist()
        keys = _keys(words, spots)
        lists = self._lists(words, spots, keys=keys, records=texts, kind_of=kind_of)
        return lists[spots.index(position)]

    def _redraw_classes(
        self, words: Words, bits: RandomBits, positions: Ints, records: Ints
    ) -> None:
        """Replace words of classes at positions (m,) randomly, in place.

        For two adjacent place words, a place of two words may be drawn, with the bits
        of the first.
        """
        if not len(positions):
            return
        integers = bits.integers(JOINER_LANE, 1)[:, 0].tolist()
        spots, of_each = positions.tolist(), records.tolist()
        kind_of = (words.flags[positions] & kinds.KIND).tolist()
        keys = _keys(words, spots)
        lists = self._lists(words, spots, keys=keys, records=of_each, kind_of=kind_of)
        known, one, second = Known(), OneRecord(), ""
        for number, position in enumerate(spots):
            record, kind, listed = of_each[number], kind_of[number], lists[number]
            is_pair = kind == kinds.PLACE and " " in listed[0]
            if second:  # of a place of two words
                word, second = second, ""
            elif self._marks:
                key: Key = (record, kind, keys[number])
                if not self._by_record:
                    key = (*key, position)
                word = known.mark(record, key, _OF_KIND.get(kind, ""))
            elif not self._by_record:
                word = listed[integers[number] * len(listed) >> 64]
            else:
                if record != one.record:
                    one = OneRecord(record)
                text = keys[number]
                if is_pair:
                    text += f" {keys[number + 1]}"
                word = one.draw((kind, text), listed, integers[number])
            if is_pair and not self._marks:
                word, _, second = word.partition(" ")
            lead = " " if words.pieces[position][:1] == " " else ""
            words.pieces[position] = lead + word

    def _lists(
        self,
        words: Words,
        spots: Sequence[int],
        keys: Sequence[str],
        records: Sequence[int],
        kind_of: Sequence[int],
    ) -> list[Sequence[str]]:
        """Return the choices for each word of a class."""
        begins = words.begins
        named = self._by_record and kinds.PERSON in kind_of
        lists = [
            ()
            if named and kind == kinds.PERSON
            else self._choices(words, position, begins)
            for position, kind in zip(spots, kind_of, strict=True)
        ]
        if named:
            kinds_of = enumerate(kind_of)
            person = [number for number, kind in kinds_of if kind == kinds.PERSON]
            self._name_people(
                words, lists, keys=keys, records=records, spots=spots, person=person
            )
        return lists

    def _name_people(
        self,
        words: Words,
        lists: list[Sequence[str]],
        keys: Sequence[str],
        records: Sequence[int],
        spots: Sequence[int],
        person: Sequence[int],
    ) -> None:
        """Replace the choices for persons by their names.

        person: which of the spots are persons.
        """
        begins = words.begins
        names = people.find(
            words,
            [spots[number] for number in person],
            [(records[number], keys[number]) for number in person],
            lambda position: self._is_titled(words, position, begins),
            people=self._people,
            gendered=self._gendered,
            capitals=self._capitals,
        )
        for number, listed in zip(person, names, strict=True):
            at = spots[number]
            lists[number] = listed
            if self._languages is not None and words.is_of_lists(at):
                reader = self._languages.readers[words.language_at(at)]
                before = copied_before(words, at, begins)
                lists[number] = reader.fitting(listed, before)

    def _pieces(
        self, words: Words, bits: RandomBits, positions: Ints, records: Ints
    ) -> list[Piece]:
        """Return form and number pieces with their bits; write markup immediately."""
        by_lanes: dict[int, list[int]] = {}
        out: dict[int, Piece] = {}
        none, of_each = Integers(iter(())), records.tolist()
        for number, position in enumerate(positions.tolist()):
            piece = words.pieces[position]
            body = piece.lstrip(" ")
            layout = None
            integers = _FOR_NUMBER
            if position in words.formed:
                layout = forms.FormLayout(*words.formed[position])  # type: ignore[arg-type]
                if layout.form is Form.MARKUP:
                    space = piece[: len(piece) - len(body)]
                    words.pieces[position] = space + layout.shown
                    continue
                integers = forms.count_integers(layout)
            elif self._frames is None:
                # An integer of 64 bits gives a chunk of 9 digits.
                integers = 2 * ((sum(map(str.isdecimal, body)) + 17) // 18)
            by_lanes.setdefault((integers + 1) // 2, []).append(number)
            out[number] = Piece(
                position=position,
                record=of_each[number],
                body=body,
                layout=layout,
                draws=none,
            )
        for lanes, numbers in by_lanes.items():
            together = bits.take(np.array(numbers))
            rows = together.integers(JOINER_LANE, lanes).tolist()
            for number, row in zip(numbers, rows, strict=True):
                stream = Stream(bits, number, row, JOINER_LANE + lanes)
                out[number].draws = Integers(stream, self._years)
        return list(out.values())


class _Batch:
    """Writes the forms and numbers in a batch."""

    def __init__(
        self,
        *,
        by_record: bool,
        marks: bool,
        years: tuple[int, int] | None,
        frames: Frames | None,
        ratings: bool,
    ) -> None:
        self._by_record, self._marks = by_record, marks
        self._years, self._frames, self._ratings = years, frames, ratings
        self._known = Known()
        # Numbers of four digits that are no years, by record, and those of births.
        self._no_years: set[tuple[int, str]] = set()
        self._births: set[tuple[int, str]] = set()
        # Dates behind the first day of a range (22-26 May), by the position of the day.
        self._days: dict[int, int] = {}
        # Number words, by the position of the number that repeats them.
        self._worded: dict[int, int] = {}

    def written(self, words: Words, pieces: list[Piece]) -> Mapping[int, str]:
        """Return the texts of pieces by position; ratings and their scales stay."""
        if self._marks:
            return {each.position: self._mark(each) for each in pieces}
        out: dict[int, str] = {}
        links: dict[int, int] = {}
        if self._frames is not None:
            pieces = self._frame(words, pieces)
            links = self._links(words, pieces)
        by_position = {each.position: each for each in pieces}
        if self._by_record:
            out = date_order.write(
                {
                    each.position: each.record
                    for each in pieces
                    if self._is_ordered(each)
                },
                by_position,
                self._years,
            )
        for piece in pieces:
            if piece.position in out:
                continue
            if piece.position not in links:
                out[piece.position] = self._write(piece)
                continue
            out |= self._range(piece, by_position[links[piece.position]])
        stamps = [
            each
            for each in pieces
            if (each.form is Form.TIME or quantities.is_clock(each.body))
            and quantities.begins_line(words, each.position)
        ]
        linked = {*links, *links.values()}
        if self._by_record and len(stamps) > 1:
            self._put_in_order([e for e in stamps if e.position not in linked], out)
        ranges.put_days(self._days, by_position, out)
        for position, at in self._worded.items():
            number = number_words.value(out.get(at, words.pieces[at].strip(" ")))
            out[position] = str(number) if number else out[position]
        return out

    def _range(self, piece: Piece, second: Piece) -> dict[int, str]:
        """Write the two numbers or times of a range."""
        if ranges.are_times(piece, second):
            return self._times(piece, second)
        if piece.layout is None and second.layout is None:
            piece.frame = second.frame
            if piece.body.isdecimal() and len(second.body) < quantities.NAMED:
                texts = quantities.draw_range(
                    len(piece.body), len(second.body), piece.frame, piece.draws
                )
                return dict(zip((piece.position, second.position), texts, strict=True))
        one, two = self._slot(piece), self._slot(second)
        orders = [dates.month_and_day] if ranges.are_days(piece, second) else []
        self._known.draw_ascending(one, two, *orders)
        return {
            piece.position: self._known.draw(one),
            second.position: self._known.draw(two),
        }

    def _times(self, piece: Piece, second: Piece) -> dict[int, str]:
        """Write two times of day, the earlier first if their layouts allow it."""
        one, two, order = self._slot(piece), self._slot(second), quantities.minutes
        if piece.layout is None and piece.body.isdecimal():
            least, last = ((1, 9), (10, 12))[len(piece.body) - 1]
            key: Key = (piece.record, "hour", piece.position)
            one = Slot(key, key, lambda: str(piece.draws.between(least, last)))
            order = quantities.hour
        self._known.draw_ascending(one, two, order)
        return {
            piece.position: self._known.draw(one),
            second.position: self._known.draw(two),
        }

    def _put_in_order(self, stamps: Sequence[Piece], out: dict[int, str]) -> None:
        """Sort the times at line beginnings of a record, in place.

        Times of one layout ascend whatever their original order; equal ones stay equal.
        """
        groups: dict[Key, dict[Key, list[int]]] = {}
        for each in stamps:
            key = self._key(each)
            groups.setdefault(key[:2], {}).setdefault(key, []).append(each.position)
        for group in groups.values():
            texts = [out[positions[0]] for positions in group.values()]
            texts.sort(key=quantities.minutes)
            for positions, text in zip(group.values(), texts, strict=True):
                out |= dict.fromkeys(positions, text)

    def _frame(self, words: Words, pieces: list[Piece]) -> list[Piece]:
        """Read the words beside numbers; leave copied ratings and scales out."""
        assert self._frames is not None
        left = []
        for each in pieces:
            if each.layout is None:
                if self._is_copied(words, each):
                    continue
                self._frame_number(words, each)
            elif each.form is Form.AGE:
                each.frame = self._frames.of_age(words, each.position)
            elif each.form is Form.DATE and self._frames.is_born(words, each.position):
                self._births.add((each.record, each.body.casefold()))
            left.append(each)
        for each in left:
            if (each.record, each.body.casefold()) in self._births:
                each.draws.years = quantities.births(self._years)
        return left

    def _is_copied(self, words: Words, piece: Piece) -> bool:
        """Return whether a number is the scale of a rating, or a rating that stays."""
        assert self._frames is not None
        ratings, at = self._frames.ratings, piece.position
        is_rating = self._ratings and ratings.is_rating(words, at)
        return is_rating or ratings.is_scale(words, at)

    def _frame_number(self, words: Words, piece: Piece) -> None:
        """Read the words beside a number."""
        assert self._frames is not None
        piece.frame = self._frames.find(words, piece.position)
        runs = [(piece.record, run) for run in quantities.runs(piece.body)]
        if not piece.frame.is_year:
            self._no_years.update(runs)
        if piece.frame.is_born:
            self._births.update(runs)
        at = self._frames.number_words(words, piece.position)
        if at >= 0 and piece.body.isdecimal():
            self._worded[piece.position] = at

    def _links(self, words: Words, pieces: list[Piece]) -> dict[int, int]:
        """Map the first number of each two-piece range to its second."""
        assert self._frames is not None
        by_position = {each.position: each for each in pieces}
        links: dict[int, int] = {}
        seconds = set[int]()
        for each in pieces:
            if not ranges.may_begin(each) or each.position in seconds:
                continue
            second = by_position.get(self._frames.next_of_range(words, each.position))
            if second is not None and ranges.is_of_days(each, second):
                self._days[each.position] = second.position
            elif second is not None and (
                ranges.are_times(each, second)
                or ranges.are_days(each, second)
                or ranges.is_range(each, second)
            ):
                links[each.position] = second.position
                seconds.add(second.position)
        return links

    def _is_ordered(self, piece: Piece) -> bool:
        """Return whether a piece's order within its record is preserved."""
        layout = piece.layout
        if layout is None or layout.form is not Form.DATE:
            return False
        is_birth = (piece.record, piece.body.casefold()) in self._births
        return dates.has_year(layout.shown) and not is_birth

    def _mark(self, piece: Piece) -> str:
        """Return the mark that replaces a piece."""
        if piece.layout is None:
            return surrogates.NUMBER
        form, shown = piece.layout
        if form is Form.AGE:
            return number_words.spell_age(shown, [surrogates.NUMBER, surrogates.NUMBER])
        if form is Form.AMOUNT:
            return _AMOUNT.sub(surrogates.NUMBER, shown)
        if form not in surrogates.NUMBERED:
            return surrogates.PLAIN.get(form) or forms.write(piece.layout, iter(()))
        return self._known.mark(
            piece.record, self._key(piece), surrogates.NUMBERED[form]
        )

    def _write(self, piece: Piece) -> str:
        """Return the text of a piece."""
        if piece.layout is not None:
            if piece.form is Form.AGE and piece.layout.shown.count("{N}") == 1:
                age = self._known.draw(self._slot(piece))
                return number_words.spell_age(piece.layout.shown, [age])
            if piece.form in _FIXED:
                return forms.write(piece.layout, iter(()))
            return self._known.draw(self._slot(piece))
        if quantities.parts_of_range(piece.body) and self._frames is not None:
            numbers = quantities.runs(piece.body)
            one, two = (self._named(piece, number) for number in numbers)
            self._known.draw_ascending(one, two)
            return f"{self._known.draw(one)}-{self._known.draw(two)}"
        return self._known.draw(self._slot(piece))

    def _key(self, piece: Piece) -> Key:
        """Return a piece's key as a whole."""
        layout: object = piece.layout
        if layout is None:
            layout = quantities.layout(piece.body)
        key: Key = (piece.record, layout, piece.body.casefold())
        return key if self._by_record else (*key, piece.position)

    def _slot(self, piece: Piece) -> Slot:
        """Return how a piece is drawn."""
        layout, draws = piece.layout, piece.draws
        if layout is None:
            return self._slot_of_number(piece)
        key = self._key(piece)
        group = key[:2] if self._by_record else key
        if layout.form is Form.AGE and layout.shown.count("{N}") == 1:
            if self._by_record:
                key = piece.record, Form.AGE, only_digits(piece.body)
                group = piece.record, Form.AGE
            young = piece.frame.most == quantities.CHILD
            return Slot(
                key, group, lambda: str(number_words.draw_age(draws, young=young))
            )
        if layout.form in (Form.FILE, Form.HASHTAG):
            return Slot(key, group, lambda: self._numbered(layout, group))
        return Slot(key, group, lambda: forms.draw(layout, draws))

    def _numbered(self, layout: forms.FormLayout, group: Key) -> str:
        """Return a form's fixed text, numbered from its second piece on."""
        text = forms.write(layout, iter(()))
        number = len(self._known.used[group]) + 1
        if number == 1:
            return text
        if layout.form is Form.HASHTAG:
            return f"{text}{number}"
        return text.replace("file.", f"file-{number}.", 1)

    def _slot_of_number(self, piece: Piece) -> Slot:
        """Return how a number is drawn: short ones anew at each position."""
        body, draws = piece.body, piece.draws
        if self._frames is None:
            key = self._key(piece)
            if not self._by_record or quantities.digits(body) < quantities.NAMED:
                key = (*key, piece.position)
                return Slot(key, key, lambda: draw_digits(body, draws))
            return Slot(key, key[:2], lambda: draw_digits(body, draws))
        is_named = body.isdecimal() and len(body) >= quantities.NAMED
        if is_named and not piece.frame.most:
            return self._named(piece, body)

        def write() -> str:
            return quantities.write(
                body,
                piece.frame,
                draws,
                lambda digits: self._known.draw(self._named(piece, digits)),
            )

        key = self._key(piece)
        if self._by_record and quantities.is_named(body):
            return Slot(key, key[:2], write)
        key = (*key, piece.position)
        return Slot(key, key, write)

    def _named(self, piece: Piece, digits: str) -> Slot:
        """Return how a plain number of three or more digits is drawn."""
        key: Key = (piece.record, "plain", digits)
        group: Key = (piece.record, "plain", len(digits))
        if not self._by_record:
            key = group = (*key, piece.position)
        draws, first = piece.draws, (piece.record, digits)
        is_year = piece.frame.is_year and first not in self._no_years

        def write() -> str:
            if len(digits) != quantities.YEAR or not is_year:
                return quantities.draw_plain(len(digits), Frame(is_year=False), draws)
            first, last = draws.years or YEARS
            every = list(map(str, range(first, last + 1)))
            used = self._known.used.get(group, set())
            free = [year for year in every if year not in used] or every
            return free[draws.below(len(free))]

        return Slot(key, group, write)


def _keys(words: Words, spots: Sequence[int]) -> list[str]:
    """Return the keys of pieces (dptext.tokens.regex.key_of)."""
    return to_keys([words.pieces[position].strip(" ") for position in spots])
