"""The texts that a statement compares; the visible parts of lists and forms.

Which texts a statement compares, and what of a text stays to be seen.

Each setting that keeps, masks or drops a class of token restricts the comparison to
texts that agree in it (docs/guarantees.md, 4).

What lists and declared forms leave to be seen, in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from dptext.guarantees.terms import Terms
from dptext.tokens.forms import RULES
from dptext.tokens.policy import Listed, Policy
from dptext.types import Strategy

# A condition of a statement under these.
PUBLIC = (
    "Lists and forms of the settings are public and were chosen without looking at the "
    "private text; dptext cannot check this."
)
BUT_LISTED = ", but for what a list names or has a declared form"
_KEPT = "the same parts that the keep list names, letter by letter, in the same places"
_MASKED = "parts that the mask list names in the same places"
_KEEP_LIST = (
    "What the keep list names{size} is copied unchanged and not protected at all; what "
    "is replaced is so shown to be nothing that it names."
)
_MASK_LIST = (
    "What the mask list names{size} becomes the fixed symbol [masked]: which of it "
    "stood there is hidden, that some of it stood there is shown."
)
_FORMED = (
    "{Which} become random ones{made}: which one stood there is hidden, that one stood "
    "there{shown} is shown. One that is repeated is drawn anew each time."
)


def listed_adjacency(policy: Policy) -> Iterator[str]:
    """Yield what two texts have in common by lists and forms, to be compared."""
    if policy.keep:
        yield _KEPT
    if policy.mask:
        yield _MASKED
    for form in policy.forms:
        rule = RULES[form]
        layout = " of the same layout" if rule.said else ""
        yield f"{rule.named}{layout} in the same places"


def listed_not_covered(policy: Policy) -> Iterator[str]:
    """Yield one sentence for each thing that they show of a text."""
    if policy.keep:
        yield _KEEP_LIST.format(size=_size(policy.keep))
    if policy.mask:
        yield _MASK_LIST.format(size=_size(policy.mask))
    for form in policy.forms:
        rule = RULES[form]
        yield _FORMED.format(
            Which=rule.named[:1].upper() + rule.named[1:],
            made=" of the same layout" if rule.said else "",
            shown=f", and {rule.said}," if rule.said else "",
        )


def _size(listed: Listed) -> str:
    """Say how long a list is; what it holds is in the settings and its files."""
    lines = [line for text in listed.contents for line in text.split("\n")]
    count = len(listed.words) + sum(1 for line in lines if line.strip())
    words = f"{count} word{'s' * (count != 1)} or phrase{'s' * (count != 1)}"
    patterns = f"{len(listed.patterns)} pattern{'s' * (len(listed.patterns) != 1)}"
    parts = [words] * bool(count) + [patterns] * bool(listed.patterns)
    return f" ({' and '.join(parts)})" if parts else ""


class Unprotected(StrEnum):
    """What settings may leave unprotected; EQUAL_WORDS: which words are equal."""

    PUNCTUATION = "punctuation"
    STOP_WORD = "stop_word"
    NUMBER = "number"
    UNKNOWN = "unknown"
    CASE = "case"
    EQUAL_WORDS = "equal-words"
    KEEP_LIST = "keep-list"
    MASK_LIST = "mask-list"
    FORMS = "forms"


_IDENTIFIERS = "URLs, e-mail addresses, handles, emoji and other symbols"
_SAME_UNKNOWN = "words outside the vocabulary and identifiers in the same places"
# What two texts have in common by a setting of tokens and its value, to be compared.
_IN_COMMON: Mapping[str, Mapping[str, str]] = {
    "punctuation": {"keep": "the same punctuation and spacing"},
    "unknown": {
        "mask": _SAME_UNKNOWN,
        "drop": _SAME_UNKNOWN,
        "keep": (
            "the same words outside the vocabulary and identifiers, letter by letter, "
            "in the same places"
        ),
    },
    "number": {
        "mask": "numbers in the same places",
        "digits": "numbers of the same length and form in the same places",
        "keep": "the same numbers in the same places",
    },
    "stop_word": {
        "keep": "the same stop words, letter by letter, in the same places",
        "drop": "stop words in the same places",
    },
    "case": {
        "copy": (
            "capital first letters and words of several letters all in capitals in the "
            "same places"
        ),
    },
}
# What the output shows of a text by these, in a sentence.
_SHOWN: Mapping[str, Mapping[str, str]] = {
    "punctuation": {
        "keep": (
            "Punctuation marks, line breaks and spacing are copied as they stand; only "
            "between two neighbouring words may a single space be added or left out."
        ),
    },
    "unknown": {
        "keep": (
            "Words outside the vocabulary (names, typing errors, rare terms) and "
            f"identifiers ({_IDENTIFIERS}) are copied unchanged."
        ),
        "mask": (
            f"Words outside the vocabulary and identifiers ({_IDENTIFIERS}) become the "
            "fixed symbol [unknown]: which one stood there is hidden, that one stood "
            "there is shown."
        ),
        "drop": (
            f"Words outside the vocabulary and identifiers ({_IDENTIFIERS}) are left "
            "out; that one is missing may show in the spacing and in the number of "
            "words."
        ),
    },
    "number": {
        "keep": "Numbers are copied unchanged.",
        "mask": (
            "Numbers become the fixed symbol [number]: their value is hidden, that a "
            "number stood there is shown."
        ),
        "digits": (
            "Each digit of a number becomes a random digit: the value is hidden, its "
            "length, separators, ending (as in 3rd) and place are shown."
        ),
    },
    "stop_word": {
        "keep": (
            "Stop words are copied unchanged{articles}, so that a word of the output "
            "that is no stop word stands for one that was none."
        ),
        "drop": (
            "Stop words are left out, so that every word of the output stands for one "
            "that was none; that one is missing may show in the spacing and in the "
            "number of words."
        ),
    },
    "case": {
        "copy": (
            "A capital first letter, and capitals throughout a word of several "
            "letters, are copied onto the new word."
        ),
    },
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
        Unprotected.KEEP_LIST: bool(policy.keep),
        Unprotected.MASK_LIST: bool(policy.mask),
        Unprotected.FORMS: bool(policy.forms),
    }
    return tuple(name for name, is_shown in shown.items() if is_shown)


def adjacency(policy: Policy, strategy: Strategy) -> tuple[str, ...]:
    """Return what two texts must have in common to be compared."""
    pattern = [_PATTERN[strategy]] if strategy in _PATTERN else []
    first = "the same number of words (as dptext divides texts)"
    settings = _by_setting(_IN_COMMON, policy)
    return (first, *pattern, *settings, *listed_adjacency(policy))


def of_terms(terms: Terms) -> tuple[str, ...]:
    """Return what two texts must have in common, spans that were chosen included."""
    common = adjacency(terms.policy, terms.strategy)
    if not terms.finder:
        return common
    return (*common, f"the same choice of spans by {terms.finder}")


def _by_setting(
    table: Mapping[str, Mapping[str, str]], policy: Policy
) -> Iterator[str]:
    for setting, by_value in table.items():
        value = getattr(policy, setting)
        if value in by_value:
            yield by_value[value]


def covered(policy: Policy) -> tuple[str, ...]:
    """Return the classes of token that the mechanism replaces."""
    parts = ["words of the vocabulary"]
    if policy.stop_word != "perturb":
        parts = ["words of the vocabulary other than stop words"]
    if policy.unknown == "perturb":
        parts += ["words outside it", "identifiers"]
    if policy.number == "perturb":
        parts.append("numbers")
    if policy.listed:
        parts[-1] += BUT_LISTED
    return tuple(parts)


def not_covered(policy: Policy) -> tuple[str, ...]:
    """Return one sentence for each thing that the output shows of the text."""
    articles = _ARTICLES * (policy.agreement != "none")
    return (
        "Texts with a different number of tokens are not protected against being told "
        "apart.",
        *(each.format(articles=articles) for each in _by_setting(_SHOWN, policy)),
        *listed_not_covered(policy),
    )
