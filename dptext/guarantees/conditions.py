"""What must hold for a statement to be true."""

from __future__ import annotations

from dptext.guarantees.listed import PUBLIC
from dptext.guarantees.rounding import above
from dptext.guarantees.subjects import CONDITION
from dptext.guarantees.terms import Terms
from dptext.types import Guarantee, Strategy

SETTINGS = (
    "The settings were chosen without looking at the private text; dptext cannot "
    "check this."
)
LEXICON = (
    "The lexicon is public and was made without the private text; dptext cannot "
    "check this."
)
_MODEL = (
    "The model by which words are decoded is public and was made without the private "
    "text; dptext cannot check this."
)
IDENTIFIED = (
    "No two records have the same id; two that have the same id and the same text get "
    "the same output, which shows that they are equal."
)
FRESH_KEY = (
    "Random bits come from AES-256 and BLAKE2b under a key that the operating system "
    "drew for this run and nobody keeps: the statement holds against readers who "
    "cannot break these."
)
KEY_FILE = (
    "The key file is random and stays secret: whoever has it can repeat every draw. "
    "The same input, settings and key give the same output again, which costs nothing "
    "more. Of two different inputs, records {named} that have the same text get the "
    "same output, which shows that they are equal; what differs is drawn anew, and its "
    "losses add up."
)
_KEY_FILE_OF_DATA_SET = (
    "The key file is random and stays secret: whoever has it can repeat every draw. "
    "All inputs made private with the same settings and key count as one data set: "
    "equal words get one replacement in all of their outputs, which shows that they "
    "are equal."
)
_FLOATING_POINT = (
    "Noise is drawn in 64-bit floating point, so that factors beyond e^30 are not "
    "claimed of the program: outputs rarer than about 1e-15 are not drawn with their "
    "exact probability. Noisy vectors are not released."
)


def conditions(promise: Guarantee, terms: Terms) -> tuple[str, ...]:
    """Return the conditions of a claim."""
    lines = [_key(terms), SETTINGS]
    if terms.lexicon_is_custom:
        lines.append(LEXICON)
    if terms.policy.listed:
        lines.append(PUBLIC)
    if terms.brings_model:
        lines.append(_MODEL)
    if terms.identified:
        lines.append(IDENTIFIED)
    if terms.subjects is not None:
        lines.append(CONDITION)
    return (*lines, _exact(terms.numerical_slack), *promise.gaps)


def _key(terms: Terms) -> str:
    if terms.key != "key-file":
        return FRESH_KEY
    if terms.strategy is Strategy.DATA_SET:
        return _KEY_FILE_OF_DATA_SET
    named = "with the same id" if terms.identified else "in the same place"
    return KEY_FILE.format(named=named)


def _exact(numerical_slack: float | None) -> str:
    if numerical_slack is None:
        return _FLOATING_POINT
    return (
        "Draws are made from finitely many random bits: the loss of each word may "
        f"exceed its bound by at most {above(max(numerical_slack, 1e-12), 2)} nats."
    )
