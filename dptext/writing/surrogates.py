"""Surrogates in records: equal for equal pieces, distinct for different ones."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dptext.tokens.draws import only_digits
from dptext.tokens.policy import Form

# Draws for a surrogate that no other piece of the record has.
_TRIES = 64
Key = tuple[object, ...]
#: Stands for a number where marks are written.
NUMBER = "[number]"
#: Labels of marks that are numbered in a record, and marks that are not.
NUMBERED = {
    Form.EMAIL: "e-mail",
    Form.PHONE: "phone",
    Form.CARD: "card",
    Form.IBAN: "account",
    Form.CODE: "code",
    Form.URL: "link",
    Form.HANDLE: "user",
    Form.HASHTAG: "topic",
    Form.FILE: "file",
    Form.IP: "machine",
    Form.ADDRESS: "address",
}
PLAIN = {
    Form.DATE: "[date]",
    Form.TIME: "[time]",
    Form.VERSION: "[version]",
    Form.NUMBER_WORDS: NUMBER,
}


def _number(text: str) -> int:
    return int(only_digits(text))


class Slot(NamedTuple):
    """A surrogate to draw: key, group in which it is distinct, and writer."""

    key: Key
    group: Key
    write: Callable[[], str]


@dataclass(slots=True)
class Known:
    """The surrogates of a batch, by record, class or layout, and text."""

    surrogates: dict[Key, str] = field(default_factory=dict)
    #: Those of a record by class or layout.
    used: dict[Key, set[str]] = field(default_factory=dict)

    def draw(self, slot: Slot) -> str:
        """Return a key's surrogate, new within its group if possible.

        After many attempts the last one is accepted even if used.
        """
        known = self.surrogates.get(slot.key)
        if known is not None:
            return known
        used, text = self.used.setdefault(slot.group, set()), ""
        for _ in range(_TRIES):
            text = slot.write()
            if text not in used:
                break
        used.add(text)
        self.surrogates[slot.key] = text
        return text

    def mark(self, record: int, key: Key, label: str) -> str:
        """Return a label's mark, numbered within its record by key.

        Without a label it is a date's mark, which has no number.
        """
        if not label:
            return "[date]"
        group = record, label
        slot = Slot(key, group, lambda: f"[{label} {len(self.used[group]) + 1}]")
        return self.draw(slot)

    def draw_ascending(
        self, one: Slot, two: Slot, order: Callable[[str], object] = _number
    ) -> None:
        """Draw two texts until the first sorts before the second, if they are new."""
        new = [each for each in (one, two) if each.key not in self.surrogates]
        for _ in range(_TRIES if one.key != two.key else 1):
            texts = self.draw(one), self.draw(two)
            first, second = map(order, texts)
            if first < second or not new:  # type: ignore[operator]
                return
            for each, text in zip((one, two), texts, strict=True):
                if each in new:
                    self.used[each.group].discard(text)
                    del self.surrogates[each.key]
        texts = self.draw(one), self.draw(two)
        if len(new) == 1 and texts[0].isdecimal() and texts[1].isdecimal():
            # Beside the last year of the window, the year after it.
            known, step = (texts[0], 1) if new[0] is two else (texts[1], -1)
            text = str(int(known) + step)
            if len(text) == len(known):
                self.surrogates[new[0].key] = text


class OneRecord:
    """The class words written in a record."""

    def __init__(self, record: int = -1) -> None:
        self.record = record
        self._words: dict[tuple[object, str], str] = {}
        #: Rows of lists that are used, in order, by first word and length of a list.
        self._used: dict[tuple[str, int], list[int]] = {}

    def draw(self, key: tuple[object, str], listed: Sequence[str], integer: int) -> str:
        """Return a key's word from a list, uniform over unused words.

        Once all are used, words repeat.
        """
        word = self._words.get(key)
        if word is not None:
            return word
        used = self._used.setdefault((listed[0], len(listed)), [])
        if len(used) >= len(listed):
            used.clear()
        row = integer * (len(listed) - len(used)) >> 64
        for each in used:
            row += each <= row
        insort(used, row)
        self._words[key] = word = listed[row]
        return word
