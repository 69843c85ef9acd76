"""What happens to each class of token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dptext.tokens import kinds

PERTURB, KEEP, MASK, DROP, DIGITS = range(5)
_CODES = {
    "perturb": PERTURB,
    "keep": KEEP,
    "mask": MASK,
    "drop": DROP,
    "digits": DIGITS,
}


@dataclass(frozen=True, slots=True)
class Policy:
    """One setting per class of token; the defaults cover every word with epsilon.

    unknown speaks of words outside the vocabulary and of identifiers; digits replaces
    each digit of a number by a random one, so that its length and separators stay;
    agreement says which drawn words are rewritten to agree with their neighbours.
    """

    unknown: Literal["perturb", "mask", "drop", "keep"] = "perturb"
    number: Literal["perturb", "digits", "mask", "keep"] = "perturb"
    stop_word: Literal["perturb", "keep", "drop"] = "perturb"
    punctuation: Literal["keep", "drop"] = "keep"
    case: Literal["restore", "lower", "copy"] = "restore"
    agreement: Literal["inflect", "articles", "none"] = "inflect"

    def treatment(self, kind: int) -> int:
        """Return the treatment code of a kind of piece."""
        return _CODES[self._named(kind)]

    def _named(self, kind: int) -> str:
        if kind in (kinds.UNKNOWN, kinds.IDENTIFIER):
            return self.unknown
        if kind == kinds.NUMBER:
            return self.number
        if kind == kinds.STOP_WORD:
            return self.stop_word
        if kind in (kinds.PUNCTUATION, kinds.SPACE):
            return self.punctuation
        return "perturb"
