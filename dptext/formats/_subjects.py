"""Whom a record is about: one spelling for each value, whatever the format.

A number and the string of its digits are one subject, so that the same person in JSON
and in CSV is not taken for two.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import msgspec

from dptext.formats._lines import Unreadable

_EXACT = 18  # digits up to which a whole number is written out


def of_json(spelled: str, path: str) -> str:
    """Return the subject of a JSON string, number or boolean. Raises Unreadable."""
    if spelled.startswith('"'):
        return of_text(msgspec.json.decode(spelled, type=str), path)
    return of_text(_number(spelled), path)


def of_value(value: object, path: str) -> str:
    """Return the subject of a value of a column. Raises Unreadable."""
    if value is None:
        raise Unreadable(f"field {path!r} is null")
    if isinstance(value, dict | list | bytes):
        raise Unreadable(f"subject field {path!r} is no text or number")
    if isinstance(value, bool):
        return str(value).lower()
    return of_text(value if isinstance(value, str) else _number(str(value)), path)


def of_text(text: str, path: str) -> str:
    """Return a subject. Raises Unreadable where the text names nobody."""
    if not text.strip():
        raise Unreadable(f"subject field {path!r} is empty")
    return text


def _number(spelled: str) -> str:
    """Write a number in one way: 7, 7.0 and 7e0 are one subject."""
    try:
        value = Decimal(spelled)
    except InvalidOperation:
        return spelled
    if value.is_finite() and value.adjusted() < _EXACT and value == int(value):
        return str(int(value))
    return str(value.normalize())
