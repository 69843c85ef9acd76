"""What lists and declared forms leave to be seen, in words."""

from __future__ import annotations

from collections.abc import Iterator

from dptext.tokens.policy import Form, Listed, Policy

# A condition of a statement under these.
PUBLIC = (
    "Lists and forms of the settings are public and were chosen without looking at the "
    "private text; dptext cannot check this."
)
BUT_LISTED = ", but for what a list names or has a declared form"
_KEPT = "the same parts that the keep list names, letter by letter, in the same places"
_MASKED = "parts that the mask list names in the same places"
# Of each form: what it is, and what of it is shown.
_FORMS = {
    Form.CARD: (
        "payment card numbers (13 to 19 digits, the last one right by Luhn's rule)",
        "how many digits it has, in which groups",
    ),
    Form.IBAN: (
        "IBANs (with the length of their country and right check digits)",
        "how many letters and digits it has, which are letters, and in which groups",
    ),
    Form.EMAIL: ("e-mail addresses", ""),
    Form.DATE: (
        "dates (of day, month and year)",
        "the order of its parts, the marks between them, how many digits each has, and "
        "how the month is written",
    ),
    Form.PHONE: (
        "telephone numbers (8 to 15 digits in the layout of such)",
        "how many digits it has, in which groups, with which marks, and whether it "
        "begins with 0",
    ),
}
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


def adjacency(policy: Policy) -> Iterator[str]:
    """Yield what two texts have in common by lists and forms, to be compared."""
    if policy.keep:
        yield _KEPT
    if policy.mask:
        yield _MASKED
    for form in policy.forms:
        which, shown = _FORMS[form]
        yield f"{which}{' of the same layout' * bool(shown)} in the same places"


def not_covered(policy: Policy) -> Iterator[str]:
    """Yield one sentence for each thing that they show of a text."""
    if policy.keep:
        yield _KEEP_LIST.format(size=_size(policy.keep))
    if policy.mask:
        yield _MASK_LIST.format(size=_size(policy.mask))
    for form in policy.forms:
        which, shown = _FORMS[form]
        yield _FORMED.format(
            Which=which[:1].upper() + which[1:],
            made=" of the same layout" if shown else "",
            shown=f", and {shown}," if shown else "",
        )


def _size(listed: Listed) -> str:
    """Say how long a list is; what it holds is in the settings and its files."""
    lines = [line for text in listed.contents for line in text.split("\n")]
    count = len(listed.words) + sum(1 for line in lines if line.strip())
    words = f"{count} word{'s' * (count != 1)} or phrase{'s' * (count != 1)}"
    patterns = f"{len(listed.patterns)} pattern{'s' * (len(listed.patterns) != 1)}"
    parts = [words] * bool(count) + [patterns] * bool(listed.patterns)
    return f" ({' and '.join(parts)})" if parts else ""
