"""Fields by name: which there are, and which one was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from dptext.formats._paths import below

_LISTED = 12  # names in one message
_VISITED = 1000  # values of one record that are looked at
# What is no plain name may be data that stands as a name: it is not shown.
_PLAIN = re.compile(r"[^\W\d][\w \\.-]{0,60}")


def strings(record: object) -> Iterator[tuple[str, str]]:
    """Give the dotted path and the text of each string in a record of dicts and lists.

    At most a thousand values are looked at.
    """
    waiting: list[tuple[str, object]] = [("", record)]
    for _ in range(_VISITED):
        if not waiting:
            return
        path, value = waiting.pop()
        if isinstance(value, dict):
            parts = [(below(path, str(name)), each) for name, each in value.items()]
            waiting += parts[:_VISITED][::-1]
        elif isinstance(value, list):
            waiting += [(path, each) for each in value[:_VISITED][::-1]]
        elif isinstance(value, str):
            yield path, value


def advice(absent: str, names: Sequence[str]) -> str:
    """Say which field may have been meant, and which hold text."""
    names = [name for name in dict.fromkeys(names) if _PLAIN.fullmatch(name)]
    near = nearest(absent, names)
    meant = f"did you mean {near!r}? " if near else ""
    if not names:
        return meant + "choose a field with --field"
    shown = ", ".join(map(repr, names[:_LISTED]))
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{meant}with --field choose one that holds text: {shown}{more}"


def nearest(wanted: str, names: Sequence[str]) -> str | None:
    """Return the name that is most like the one wanted, or its last part; or None."""
    for name in names:
        if name.lower() == wanted.lower() or name.rpartition(".")[2] == wanted:
            return name
    lower = {name.lower(): name for name in reversed(names)}
    near = get_close_matches(wanted.lower(), lower, n=1)
    return lower[near[0]] if near else None
