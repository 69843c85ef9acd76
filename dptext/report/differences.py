"""Where two reports differ, as machines that round differently may not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeGuard

# Machines round differently. Draws are the same everywhere, but where rounding decides
# who wins one: of 20,000 draws 40 may differ, of 25 words 100 times 10.
_ROUNDING = 1e-6
SAMPLED = {"risk": 0.002, "n_w": 0.004, "s_w": 0.4}


def differences(
    wanted: object, actual: object, path: str
) -> Iterator[tuple[str, object]]:
    """Give path and wanted value of each difference; a list counts as one value."""
    if isinstance(wanted, dict) and isinstance(actual, dict):
        # A sampled risk has limits; deniability says whether it is sampled.
        sampled = wanted.get("sampled") or wanted.get("low") is not None
        for key in dict.fromkeys((*wanted, *actual)):
            below = (wanted.get(key), actual.get(key), f"{path}.{key}")
            if not (sampled and _near(*below)):
                yield from differences(*below)
    elif isinstance(wanted, list) and isinstance(actual, list):
        pairs = zip(wanted, actual, strict=False)
        inside = [next(differences(*pair, path), None) for pair in pairs]
        if len(wanted) != len(actual) or any(inside):
            yield path, wanted
    elif not _same(wanted, actual):
        yield path, wanted


def _same(wanted: object, actual: object) -> bool:
    if _is_number(wanted) and _is_number(actual):
        return math.isclose(wanted, actual, rel_tol=_ROUNDING, abs_tol=1e-12)
    return type(wanted) is type(actual) and bool(wanted == actual)


def _near(wanted: object, actual: object, path: str) -> bool:
    """Tell whether sampled figures differ by no more than machines do."""
    if isinstance(wanted, list) and isinstance(actual, list):
        return len(wanted) == len(actual) and all(
            isinstance(each, dict)
            and each.keys() == other.keys()
            and all(_near(each[key], other[key], path) for key in each)
            for each, other in zip(wanted, actual, strict=True)
        )
    if not (_is_number(wanted) and _is_number(actual)):
        return type(wanted) is type(actual) and bool(wanted == actual)
    first, _, last = path.partition(".")
    room = SAMPLED.get(last, SAMPLED.get(first, 0.0))
    return bool(abs(wanted - actual) <= room)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
