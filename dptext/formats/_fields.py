r"""Fields by name or dotted path, and the subject that a field names.

A path is `customer.note`; a literal dot is written `\.`. A subject has one spelling in
every format: a number and the string of its digits are one subject, and so are two
encodings of the same accent.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches

import msgspec

from dptext.errors import UsageError
from dptext.formats._lines import Unreadable
from dptext.types import Selection

_PART = re.compile(r"(?:\\.|[^.\\])+", re.DOTALL)


@dataclass(slots=True)
class PathNode:
    """One step of the selected paths: what is below it, or what it is itself."""

    path: str
    below: dict[str, PathNode] = field(default_factory=dict)
    is_text: bool = False
    is_identity: bool = False
    is_subject: bool = False

    @property
    def is_name(self) -> bool:
        """Tell whether the value names the record, or whom it is about."""
        return self.is_identity or self.is_subject


def parse(path: str) -> tuple[str, ...]:
    """Split a dotted path into its names."""
    parts = _PART.findall(path)
    if not parts or ".".join(parts) != path:
        raise UsageError(
            f"field {path!r} has an empty part; write a literal dot as \\."
        )
    return tuple(re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL) for part in parts)


def joined(names: Sequence[str]) -> str:
    """Return the dotted path of names."""
    return ".".join(name.replace("\\", r"\\").replace(".", r"\.") for name in names)


def below(path: str, name: str) -> str:
    """Return the path of what has a name below a path."""
    return f"{path}.{joined([name])}" if path else joined([name])


def tree(selection: Selection) -> PathNode:
    """Return the tree of all selected paths, those of id and subject among them."""
    root = PathNode("")
    for path in selection.fields:
        _leaf(root, path).is_text = True
    if selection.id_field is not None:
        _leaf(root, selection.id_field).is_identity = True
    if selection.subject_field is not None:
        _leaf(root, selection.subject_field).is_subject = True
    _check(root)
    return root


def _leaf(root: PathNode, path: str) -> PathNode:
    node, names = root, parse(path)
    for depth, name in enumerate(names, 1):
        node = node.below.setdefault(name, PathNode(joined(names[:depth])))
    return node


def _check(node: PathNode) -> None:
    if node.below and (node.is_text or node.is_name):
        other = next(iter(node.below.values())).path
        raise UsageError(
            f"field {node.path!r} contains the field {other!r}; select one of them"
        )
    if node.is_text and node.is_name:
        other = "id" if node.is_identity else "subject"
        raise UsageError(f"field {node.path!r} cannot be both a text and the {other}")
    for child in node.below.values():
        _check(child)


_LISTED = 12  # names in one message
_VISITED = 1000  # values of one record that are looked at
# What is no plain name may be data that stands as a name: it is not shown.
_PLAIN = re.compile(r"[^\W\d][\w \\.-]{0,60}")
# A header may be missing: what stands for it is surely names if all of it is these.
_IDENTIFIER = re.compile(r"[^\W\d]\w{0,39}(?:[.-]\w+)*")


def strings(record: object) -> Iterator[tuple[str, str]]:
    """Give the dotted path and the text of each string in a record of dicts and lists.

    At most a thousand values are looked at.
    """
    for path, value in values(record):
        if isinstance(value, str):
            yield path, value


def values(record: object) -> Iterator[tuple[str, object]]:
    """Give the same of each value that holds no others, null among them."""
    waiting: list[tuple[str, object]] = [("", record)]
    for _ in range(_VISITED):
        if not waiting:
            return
        path, value = waiting.pop()
        if isinstance(value, dict) and value:
            parts = [(below(path, str(name)), each) for name, each in value.items()]
            waiting += parts[:_VISITED][::-1]
        elif isinstance(value, list) and value:
            waiting += [(path, each) for each in value[:_VISITED][::-1]]
        else:
            yield path, value


def is_identifier(name: str) -> bool:
    """Tell whether a name is surely one, and no text."""
    return len(name) <= 40 and _IDENTIFIER.fullmatch(name) is not None


def advice(absent: str, names: Sequence[str]) -> str:
    """Say which field may have been meant, and which hold text."""
    names = _plain(names)
    near = nearest(absent, names)
    meant = f"did you mean {near!r}? " if near else ""
    if not names:
        return meant + "choose a field with --field"
    return f"{meant}with --field choose one that holds text: {_listed(names)}"


def unnamed(names: Sequence[str]) -> str:
    """Say that no field is named, and which may be."""
    names = _plain(names)
    listed = f"; fields with strings: {_listed(names)}" if names else ""
    return f"name each private field with --field NAME{listed}"


def _plain(names: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if _PLAIN.fullmatch(name)]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_LISTED]))
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return shown + more


def nearest(wanted: str, names: Sequence[str]) -> str | None:
    """Return the name that is most like the one wanted, or its last part; or None."""
    for name in names:
        if name.lower() == wanted.lower() or name.rpartition(".")[2] == wanted:
            return name
    lower = {name.lower(): name for name in reversed(names)}
    near = get_close_matches(wanted.lower(), lower, n=1)
    return lower[near[0]] if near else None


_EXACT = 18  # digits up to which a whole number is written out
_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))\.0+")


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
        raise Unreadable(f"subject field {path!r} is not text or a number")
    if isinstance(value, bool):
        return str(value).lower()
    return of_text(value if isinstance(value, str) else _number(str(value)), path)


def of_text(text: str, path: str) -> str:
    """Return a subject. Raises Unreadable where the text names nobody."""
    if not text.strip():
        raise Unreadable(f"subject field {path!r} is empty")
    return spelled(text)


def spelled(text: str) -> str:
    """Write a subject in one way: 7.0 is 7, and text is in Unicode's form NFC."""
    match = _WHOLE.fullmatch(text)
    return match[1] if match else unicodedata.normalize("NFC", text)


def _number(spelled: str) -> str:
    """Write a number in one way: 7, 7.0 and 7e0 are one subject."""
    try:
        value = Decimal(spelled)
    except InvalidOperation:
        return spelled
    if value.is_finite() and value.adjusted() < _EXACT and value == int(value):
        return str(int(value))
    return str(value.normalize())
