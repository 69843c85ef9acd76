r"""Fields by name or dotted path, and the subject that a field names.

A path is `customer.note`; a literal dot is written `\.`. A subject has one spelling in
every format: a number and the string of its digits are one subject, and so are two
encodings of the same accent.
"""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import msgspec

from dptext.errors import InputError, UnknownFieldError, UsageError
from dptext.formats import Unreadable
from dptext.types import Record, Selection

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

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the paths of the texts that are selected here and below."""
        below = (path for child in self.below.values() for path in child.texts)
        return (self.path, *below) if self.is_text else tuple(below)


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


def holds_name(node: PathNode) -> bool:
    """Tell whether a node, or one below it, names the record or whom it is about."""
    return node.is_name or any(map(holds_name, node.below.values()))


def _leaf(root: PathNode, path: str) -> PathNode:
    node, names = root, parse(path)
    for depth, name in enumerate(names, 1):
        node = node.below.setdefault(name, PathNode(joined(names[:depth])))
    return node


def _check(node: PathNode) -> None:
    named = [child for child in node.below.values() if holds_name(child)]
    if node.below and (node.is_name or (node.is_text and named)):
        other = next(iter(named or node.below.values())).path
        raise UsageError(
            f"field {node.path!r} contains the field {other!r}; select one of them"
        )
    if node.is_text and node.is_name:
        other = "id" if node.is_identity else "subject"
        raise UsageError(f"field {node.path!r} cannot be both a text and the {other}")
    for child in node.below.values():
        _check(child)


_LISTED = 12  # names in one message
# What is no plain name may be data that stands as a name: it is not shown.
_PLAIN = re.compile(r"[^\W\d][\w \\.-]{0,60}")


def printable(text: str) -> str:
    """Return a text with a sign in the place of each half of a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Pairs(list[tuple[str, object]]):
    """The keys and values of an object, those that occur twice included."""


# Numbers stay as they are spelled: they may be longer than Python likes.
_decode = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_int=str.encode, parse_float=str.encode
).decode


def leaves(line: str) -> Iterator[tuple[tuple[str, ...], object]]:
    """Give the path and the value of all in JSON that holds no others, through lists.

    A number is bytes. Raises Unreadable for values nested too deeply. Halves of
    surrogate pairs, which no report can hold, are shown as a sign.
    """
    is_escaped = "\\u" in line
    left: list[tuple[tuple[str, ...], object]] = []
    try:
        left.append(((), _decode(line)))
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    while left:
        path, value = left.pop()
        if isinstance(value, _Pairs) and value:
            left += [
                ((*path, printable(name) if is_escaped else name), inner)
                for name, inner in reversed(value)
            ]
        elif isinstance(value, list) and value:
            left += [(path, inner) for inner in reversed(value)]
        elif is_escaped and isinstance(value, str):
            yield path, printable(value)
        else:
            yield path, value


def is_plain(name: str) -> bool:
    """Tell whether a name may be shown."""
    return _PLAIN.fullmatch(name) is not None


def listed(names: Iterable[str], what: str = "fields with strings") -> str:
    """Name the fields that may be chosen, as the end of a message."""
    plain = list(filter(is_plain, dict.fromkeys(names)))
    shown = ", ".join(f"'{name}'" for name in plain[:_LISTED])
    more = f" and {len(plain) - _LISTED} more" if len(plain) > _LISTED else ""
    return f"; {what}: {shown}{more}" if plain else ""


_IDENTIFIER = re.compile(r"[^\W\d]\w{0,39}(?:[.-]\w+)*")  # surely no text


def nearest(name: str, names: Iterable[str], option: str = "--field") -> str:
    """Say which name was meant, as the end of a message; nothing where none is near.

    A near name was typed, all but some characters, so that it is no private text.
    """
    every = list(names)
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and set(parts) & set(every):
        each = " ".join(f"{option} {part}" for part in parts)
        return f"; {option} is repeated, once for each: {each}"
    by_case = {each.lower(): each for each in reversed(every)}
    found = difflib.get_close_matches(name.lower(), by_case, 1)
    return f"; did you mean {by_case[found[0]]!r}?" if found else ""


class Columns(NamedTuple):
    """Where the selected fields stand in a row, from 0; names are those of all."""

    names: tuple[str, ...]
    texts: tuple[int, ...]
    identity: int | None
    subject: int | None

    @classmethod
    def of(
        cls, names: tuple[str, ...], selection: Selection, where: str, advice: str = ""
    ) -> Columns:
        """Find the selected fields; advice is for one that is absent.

        Raises InputError for one that is there twice or absent, UsageError for one that
        is selected as two things. Names that may be data are not listed.
        """
        at = {name: index for index, name in enumerate(names)}
        for name in (each for each in selection.named if each is not None):
            if names.count(name) > 1:
                raise InputError(
                    f"{where}: column {name!r} occurs more than once; rename one"
                )
            if name not in names:
                is_header = all(map(_IDENTIFIER.fullmatch, filter(None, names)))
                shown = listed(names, "columns")
                raise UnknownFieldError(
                    f"{where}: no column {name!r}{advice}{nearest(name, names)}"
                    + (shown if is_header else "")
                )
        named = (selection.id_field, selection.subject_field)
        for both in (each for each in named if each in selection.fields):
            raise UsageError(
                f"field {both!r} cannot be both a text and the id or the subject"
            )
        texts = sorted({at[name] for name in selection.fields})
        identity, subject = (None if name is None else at[name] for name in named)
        return cls(names, tuple(texts), identity, subject)

    @property
    def copied(self) -> tuple[str, ...]:
        """Return the names of all columns that are not texts."""
        numbered = enumerate(self.names)
        return tuple(name for index, name in numbered if index not in self.texts)

    def others(self, text: Callable[[int], str]) -> Iterator[tuple[str, str]]:
        """Give the names of columns that are no texts, and what text gives of them."""
        for index, name in enumerate(self.names):
            if index not in self.texts:
                yield name, text(index)

    def record(
        self, text: Callable[[int], str], chosen: Selection, rest: object, ordinal: int
    ) -> Record:
        """Return a row as a record; text gives that of a column. Raises Unreadable."""
        identity = None if self.identity is None else text(self.identity)
        subject = None
        if self.subject is not None:
            subject = of_text(text(self.subject), chosen.subject_field or "")
        texts = tuple(map(text, self.texts))
        return Record(ordinal, texts, rest, identity, chosen.fields, subject)


_EXACT = 18  # digits up to which a whole number is written out
_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))\.0+")


def of_json(spelled: str, path: str) -> str:
    """Return the subject of a JSON string, number or boolean. Raises Unreadable."""
    if spelled.startswith('"'):
        try:
            return of_text(msgspec.json.decode(spelled, type=str), path)
        except msgspec.DecodeError:
            raise Unreadable(
                f"subject field {path!r} holds half of a surrogate pair"
            ) from None
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
