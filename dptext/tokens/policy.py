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
        settings = {
            kinds.UNKNOWN: self.unknown,
            kinds.IDENTIFIER: self.unknown,
            kinds.NUMBER: self.number,
            kinds.STOP_WORD: self.stop_word,
            kinds.PUNCTUATION: self.punctuation,
            kinds.SPACE: self.punctuation,
        }
        return _CODES[settings.get(kind, "perturb")]
