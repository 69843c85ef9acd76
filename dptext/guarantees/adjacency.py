"""Which texts a statement compares, and what of a text stays to be seen.

Each setting that keeps, masks or drops a class of token restricts the comparison to
texts that agree in it (docs/guarantees.md, 4).
"""

from __future__ import annotations

from enum import StrEnum

from dptext.tokens.policy import Policy
from dptext.types import Strategy


class Unprotected(StrEnum):
    """What settings may leave unprotected; EQUAL_WORDS: which words are equal."""

    PUNCTUATION = "punctuation"
    STOP_WORD = "stop_word"
    NUMBER = "number"
    UNKNOWN = "unknown"
    CASE = "case"
    EQUAL_WORDS = "equal-words"


_IDENTIFIERS = "URLs, e-mail addresses, handles, emoji and other symbols"
_UNKNOWN = {
    "mask": "words outside the vocabulary and identifiers in the same places",
    "drop": "words outside the vocabulary and identifiers in the same places",
    "keep": (
        "the same words outside the vocabulary and identifiers, letter by letter, in "
        "the same places"
    ),
}
_NUMBER = {
    "mask": "numbers in the same places",
    "digits": "numbers of the same length and form in the same places",
    "keep": "the same numbers in the same places",
}


# What the joiner may do to copied words (dptext.tokens.joining).
_ARTICLES = ' (but "a" and "an" may change to suit a new word behind them)'
_EQUAL = (
    "are equal, all words outside the vocabulary and identifiers counting as one, and "
    'so do numbers that have one element of the vocabulary, such as "40-49")'
)
_PATTERN = {
    Strategy.RECORD: (
        f"the same pattern of equal words (which words of the record {_EQUAL}"
    ),
    Strategy.DATA_SET: (
        f"the same pattern of equal words (which words of all records {_EQUAL}"
    ),
}


def unprotected(policy: Policy, strategy: Strategy) -> tuple[Unprotected, ...]:
    """Return what the output shows of the text."""
    shown = {
        Unprotected.PUNCTUATION: policy.punctuation != "drop",
        Unprotected.STOP_WORD: policy.stop_word != "perturb",
        Unprotected.NUMBER: policy.number != "perturb",
        Unprotected.UNKNOWN: policy.unknown != "perturb",
        Unprotected.CASE: policy.case == "copy",
        Unprotected.EQUAL_WORDS: strategy is not Strategy.TOKEN,
    }
    return tuple(name for name, is_shown in shown.items() if is_shown)


def adjacency(policy: Policy, strategy: Strategy) -> tuple[str, ...]:
    """Return what two texts must have in common to be compared."""
    parts = ["the same number of words (as dptext divides texts)"]
    if strategy in _PATTERN:
        parts.append(_PATTERN[strategy])
    if policy.punctuation == "keep":
        parts.append("the same punctuation and spacing")
    if policy.unknown != "perturb":
        parts.append(_UNKNOWN[policy.unknown])
    if policy.number != "perturb":
        parts.append(_NUMBER[policy.number])
    if policy.stop_word == "keep":
        parts.append("the same stop words, letter by letter, in the same places")
    if policy.stop_word == "drop":
        parts.append("stop words in the same places")
    if policy.case == "copy":
        parts.append(
            "capital first letters and words of several letters all in capitals in the "
            "same places"
        )
    return tuple(parts)


def covered(policy: Policy) -> tuple[str, ...]:
    """Return the classes of token that the mechanism replaces."""
    parts = ["words of the vocabulary"]
    if policy.stop_word != "perturb":
        parts = ["words of the vocabulary other than stop words"]
    if policy.unknown == "perturb":
        parts += ["words outside it", "identifiers"]
    if policy.number == "perturb":
        parts.append("numbers")
    return tuple(parts)


def not_covered(policy: Policy) -> tuple[str, ...]:
    """Return one sentence for each thing that the output shows of the text."""
    sentences = [
        "Texts with a different number of tokens are not protected against being told "
        "apart."
    ]
    if policy.punctuation == "keep":
        sentences.append(
            "Punctuation marks, line breaks and spacing are copied as they stand; only "
            "between two neighbouring words may a single space be added or left out."
        )
    sentences += _of_unknown(policy) + _of_number(policy)
    if policy.stop_word == "keep":
        sentences.append(
            "Stop words are copied unchanged"
            + _ARTICLES * (policy.agreement != "none")
            + ", so that a word of the output that is no stop word stands for one that "
            "was none."
        )
    if policy.stop_word == "drop":
        sentences.append(
            "Stop words are left out, so that every word of the output stands for one "
            "that was none; that one is missing may show in the spacing and in the "
            "number of words."
        )
    if policy.case == "copy":
        sentences.append(
            "A capital first letter, and capitals throughout a word of several "
            "letters, are copied onto the new word."
        )
    return tuple(sentences)


def _of_unknown(policy: Policy) -> list[str]:
    if policy.unknown == "keep":
        return [
            "Words outside the vocabulary (names, typing errors, rare terms) and "
            f"identifiers ({_IDENTIFIERS}) are copied unchanged."
        ]
    if policy.unknown == "mask":
        return [
            f"Words outside the vocabulary and identifiers ({_IDENTIFIERS}) become the "
            "fixed symbol [unknown]: which one stood there is hidden, that one stood "
            "there is shown."
        ]
    if policy.unknown == "drop":
        return [
            f"Words outside the vocabulary and identifiers ({_IDENTIFIERS}) are left "
            "out; that one is missing may show in the spacing and in the number of "
            "words."
        ]
    return []


def _of_number(policy: Policy) -> list[str]:
    if policy.number == "keep":
        return ["Numbers are copied unchanged."]
    if policy.number == "mask":
        return [
            "Numbers become the fixed symbol [number]: their value is hidden, that a "
            "number stood there is shown."
        ]
    if policy.number == "digits":
        return [
            "Each digit of a number becomes a random digit: the value is hidden, its "
            "length, separators, ending (as in 3rd) and place are shown."
        ]
    return []
