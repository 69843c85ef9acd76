r"""Fields by name or dotted path, and the subject given by a field.

A path is `customer.note`; a literal dot is written `\.`. A subject has one spelling in
every format: a number and the string of its digits are one subject, and so are two
encodings of the same accent.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, TypeVar

import msgspec

from dptext.errors import InputError, UnknownFieldError, UsageError
from dptext.formats import Unreadable
from dptext.run import interface
from dptext.run.selection import REPLACEMENT, Selection, check_uses
from dptext.types import Record

_PART = re.compile(r"(?:\\.|[^.\\])+", re.DOTALL)


@dataclass(slots=True)
class PathNode:
    """A step of the selected paths: a text, id or subject, or further steps."""

    path: str
    below: dict[str, PathNode] = field(default_factory=dict)
    is_text: bool = False
    is_identity: bool = False
    is_subject: bool = False
    #: Left out of the output, with all that is below.
    is_dropped: bool = False
    is_replaced: bool = False
    #: Whether a step right below is left out; known when the tree is complete.
    is_partly_dropped: bool = False
    #: Whether it is a text and nothing else, with no step below; known then, too.
    is_only_text: bool = False

    @property
    def is_name(self) -> bool:
        """Return whether the value is the record's id or subject."""
        return self.is_identity or self.is_subject

    @property
    def holds_name(self) -> bool:
        """Return whether the node or a descendant is the id or the subject."""
        return self.is_name or any(each.holds_name for each in self.below.values())

    @property
    def holds_text(self) -> bool:
        """Return whether the node or a descendant is a text."""
        return self.is_text or any(each.holds_text for each in self.below.values())

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the paths of texts selected here and below."""
        below = (path for child in self.below.values() for path in child.texts)
        return (self.path, *below) if self.is_text else tuple(below)


def parse(path: str) -> tuple[str, ...]:
    """Split a dotted path into names."""
    parts = _PART.findall(path)
    if not parts or ".".join(parts) != path:
        raise UsageError(
            f"{interface.unit()} {path!r} has an empty part; write a literal dot as \\."
        )
    return tuple(re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL) for part in parts)


def within(paths: Iterable[str]) -> Callable[[tuple[str, ...]], bool]:
    """Return a function that tests whether a path is at or inside one of these."""
    every = {parse(path) for path in paths}
    lengths = {len(names) for names in every}
    return lambda names: any(names[:length] in every for length in lengths)


def joined(names: Sequence[str]) -> str:
    """Join names to a dotted path."""
    return ".".join(name.replace("\\", r"\\").replace(".", r"\.") for name in names)


def tree(selection: Selection) -> PathNode:
    """Build the tree of all selected paths, including id and subject."""
    root = PathNode("")
    for path in selection.fields:
        _leaf(root, path).is_text = True
    if selection.id_field is not None:
        _leaf(root, selection.id_field).is_identity = True
    if selection.subject_field is not None:
        _leaf(root, selection.subject_field).is_subject = True
    for path in selection.dropped:
        _leaf(root, path).is_dropped = True
    for path in selection.replaced:
        _leaf(root, path).is_replaced = True
    _check(root)
    return root


def _leaf(root: PathNode, path: str) -> PathNode:
    node, names = root, parse(path)
    for depth, name in enumerate(names, 1):
        node = node.below.setdefault(name, PathNode(joined(names[:depth])))
    return node


def _check(node: PathNode) -> None:
    if node.below and (other := _conflict(node)) is not None:
        raise UsageError(
            f"{interface.unit()} {node.path!r} contains the {interface.unit()} "
            f"{other!r}; select one of them"
        )
    if node.is_text and node.is_name:
        other = "id" if node.is_identity else "subject"
        raise UsageError(
            f"{interface.unit()} {node.path!r} cannot be both a text and the {other}"
        )
    check_uses(node.path, node.is_text, node.is_dropped, node.is_replaced)
    node.is_partly_dropped = any(each.is_dropped for each in node.below.values())
    node.is_only_text = node.is_text and not node.below
    for child in node.below.values():
        _check(child)


def _conflict(node: PathNode) -> str | None:
    """Return the path of a field that must not be selected inside another one.

    An element of a list may be a text where another holds texts, and a dropped field
    or a replaced one where another holds these. The id and the subject are read before
    the objects that hold them are left out.
    """
    below = list(node.below.values())
    if node.is_name or node.is_replaced:
        wrong = below
    elif node.is_text:
        holds_text = any(child.holds_text for child in below)
        wrong = [child for child in below if child.holds_name or not holds_text]
    else:
        wrong = list(filter(_is_changed, below)) if node.is_dropped else []
    return next((child.path for child in wrong), None)


def _is_changed(node: PathNode) -> bool:
    """Return whether the node or one below is a text, replaced or left out."""
    is_one = node.is_text or node.is_replaced or node.is_dropped
    return is_one or any(map(_is_changed, node.below.values()))


def unknown(path: str, option: str, names: Iterable[str]) -> UnknownFieldError:
    """Return the error for a missing field to leave out or to replace.

    names: the existing fields.
    """
    known = list(filter(is_plain, dict.fromkeys(names)))
    return UnknownFieldError(
        (
            f"{option} {path!r}: the input has no such "
            f"{interface.unit()}{nearest(path, known, option)}"
        )
        + listed(known, f"{interface.unit()}s")
    )


_LISTED = 12  # names in one message
# Any other name may be data in the place of a name: it is not shown.
# Columns of workbooks may have a sheet before them.
_SHEET = r"(?:[^\W_][\w \\.-]{0,30}!)?"
_PLAIN = re.compile(rf"{_SHEET}[^\W\d][\w \\.-]{{0,60}}")


def printable(text: str) -> str:
    """Replace unpaired surrogates in a text by a visible sign."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Pairs(list[tuple[str, object]]):
    """The keys and values of an object, including duplicate keys."""


# Numbers keep their spelling: they may be longer than Python likes.
_decode = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_int=str.encode, parse_float=str.encode
).decode


def leaves(line: str) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the path and value of each leaf in JSON, looking through lists.

    Numbers are bytes. Raises Unreadable for values nested too deeply. Halves of
    surrogate pairs, which no report can hold, are shown as a sign.
    """
    is_escaped = "\\u" in line
    pending: list[tuple[tuple[str, ...], object]] = []
    try:
        pending.append(((), _decode(line)))
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    while pending:
        path, value = pending.pop()
        if isinstance(value, _Pairs) and value:
            pending += [
                ((*path, printable(name) if is_escaped else name), inner)
                for name, inner in reversed(value)
            ]
        elif isinstance(value, list) and value:
            pending += [(path, inner) for inner in reversed(value)]
        elif is_escaped and isinstance(value, str):
            yield path, printable(value)
        else:
            yield path, value


def is_plain(name: str) -> bool:
    """Return whether a name is safe to show."""
    return _PLAIN.fullmatch(name) is not None


def listed(names: Iterable[str], kind: str = "") -> str:
    """List the fields to choose from, as the end of a message."""
    kind = kind or f"{interface.unit()}s with strings"
    plain = list(filter(is_plain, dict.fromkeys(names)))
    shown = ", ".join(f"'{name}'" for name in plain[:_LISTED])
    more = f" and {len(plain) - _LISTED} more" if len(plain) > _LISTED else ""
    return f"; {kind}: {shown}{more}" if plain else ""


IDENTIFIER = re.compile(r"[^\W\d]\w{0,39}(?:[.-]\w+)*")  # surely no text


def is_header(names: Iterable[str]) -> bool:
    """Return whether all names are clearly identifiers, which are safe to list."""
    return all(map(IDENTIFIER.fullmatch, filter(None, names)))


def nearest(name: str, names: Iterable[str], option: str = "field") -> str:
    """Suggest the name that was probably meant, as the end of a message, or "".

    The user has typed nearly this name, so it is not private text.
    """
    every = list(names)
    parts = [part.strip() for part in name.split(",")]
    are_names = all(IDENTIFIER.fullmatch(part) for part in parts)
    if len(parts) > 1 and (are_names or set(parts) & set(every)):
        return f"; {interface.current().repeated(option, parts)}"
    by_case = {each.lower(): each for each in reversed(every)}
    matches = difflib.get_close_matches(name.lower(), by_case, 1)
    return f"; did you mean {by_case[matches[0]]!r}?" if matches else ""


Cell = TypeVar("Cell")


class Columns(NamedTuple):
    """Positions of the selected fields in a row, from 0."""

    #: The names of all columns.
    names: tuple[str, ...]
    texts: tuple[int, ...]
    identity: int | None
    subject: int | None
    dropped: frozenset[int] = frozenset()
    replaced: tuple[int, ...] = ()

    @classmethod
    def find(
        cls,
        names: tuple[str, ...],
        selection: Selection,
        where: str,
        advice: Callable[[str], str] = lambda option: "",
    ) -> Columns:
        """Find the selected fields of a row.

        `advice` returns a remedy for a missing field, given its option.

        Raises UnknownFieldError for a missing field, InputError for one that
        occurs twice, UsageError for one with two uses. Names that may
        be data are not listed.
        """
        at = {name: index for index, name in enumerate(names)}
        selection.check_uses()
        for name in (each for each in selection.named if each is not None):
            if names.count(name) > 1:
                raise InputError(
                    f"{where}: column {name!r} occurs more than once; rename one"
                )
            if name not in names:
                shown = listed(names, "columns") if is_header(names) else ""
                option = selection.option_name(name)
                raise UnknownFieldError(
                    f"{where}: no column {name!r}{advice(option)}"
                    f"{nearest(name, names, option)}{shown}"
                )
        named = (selection.id_field, selection.subject_field)
        for both in (each for each in named if each in selection.fields):
            raise UsageError(
                f"{interface.unit()} {both!r} cannot be both a text and the id or "
                "the subject"
            )
        texts = sorted({at[name] for name in selection.fields})
        identity, subject = (None if name is None else at[name] for name in named)
        return cls(
            names=names,
            texts=tuple(texts),
            identity=identity,
            subject=subject,
            dropped=frozenset(at[name] for name in selection.dropped),
            replaced=tuple(sorted({at[name] for name in selection.replaced})),
        )

    @property
    def copied(self) -> tuple[str, ...]:
        """Return the names of all copied columns."""
        return tuple(self.names[index] for index in self._copied())

    def others(self, text: Callable[[int], str]) -> Iterator[tuple[str, str]]:
        """Yield each copied column's name with text(column)."""
        for index in self._copied():
            yield self.names[index], text(index)

    def _copied(self) -> Iterator[int]:
        changed = {*self.texts, *self.dropped, *self.replaced}
        return (index for index in range(len(self.names)) if index not in changed)

    def kept(self, row: Sequence[Cell]) -> list[Cell]:
        """Return a row's cells except those in dropped columns."""
        if not self.dropped:
            return list(row)
        return [cell for index, cell in enumerate(row) if index not in self.dropped]

    def record(
        self,
        text: Callable[[int], str],
        chosen: Selection,
        rest: object,
        ordinal: int,
        size: int,
    ) -> Record:
        """Return a row as a record; text(column) gives its texts. Raises Unreadable."""
        identity = None if self.identity is None else text(self.identity)
        subject = None
        if self.subject is not None:
            subject = normalize_subject(text(self.subject), chosen.subject_field or "")
        return Record(
            ordinal=ordinal,
            texts=tuple(map(text, self.texts)),
            rest=rest,
            identity=identity,
            present=(*chosen.fields, *chosen.changed),
            subject=subject,
            size=size,
        )


_WRITTEN_OUT = 40  # places up to which a number is written without an exponent
_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))\.0+")


def subject_from_json(spelled: str, path: str) -> str:
    """Return the subject from a JSON string, number or boolean. Raises Unreadable."""
    if spelled.startswith('"'):
        try:
            return normalize_subject(msgspec.json.decode(spelled, type=str), path)
        except msgspec.DecodeError:
            raise Unreadable(
                f"subject {interface.unit()} {path!r} contains half of a surrogate pair"
            ) from None
    return normalize_subject(_number(spelled), path)


def value_of_json(spelled: str) -> object:
    """Parse a JSON string, number, boolean or null; an object gives {}."""
    first = spelled[0]
    if first == '"':
        return msgspec.json.decode(spelled, type=str)
    known: dict[str, object] = {"t": True, "f": False, "n": None, "{": {}, "[": []}
    if first in known:
        return known[first]
    try:
        return Decimal(spelled)
    except InvalidOperation:  # an exponent that is too large
        return spelled


def subject_from_value(value: object, path: str) -> str:
    """Return the subject from a column's value. Raises Unreadable."""
    if value is None:
        raise Unreadable(f"{interface.unit()} {path!r} is null")
    if isinstance(value, dict | list | bytes):
        raise Unreadable(f"subject {interface.unit()} {path!r} is not text or a number")
    return normalize_subject(_spelled(value), path)


def replacement_input(value: object, path: str) -> str | None:
    """Return how a value is spelled to be replaced; None where it is missing.

    A text without visible characters counts as missing, as does NaN.
    Raises Unreadable unless it is a text, number, date or truth value.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, dict | list | bytes):
        raise Unreadable(
            f"{interface.unit()} {path!r} is not text or a number, so it has no "
            f"{REPLACEMENT}"
        )
    text = _spelled(value)
    return normalize(text) if text.strip() else None


def _spelled(value: object) -> str:
    """Format a text, number, date or boolean as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else _number(str(value))


def normalize_subject(text: str, path: str) -> str:
    """Return the subject in a text. Raises Unreadable if it is empty."""
    if not text.strip():
        raise Unreadable(f"subject {interface.unit()} {path!r} is empty")
    return normalize(text)


def normalize(text: str) -> str:
    """Normalise a subject: 7.0 becomes 7, and text is in Unicode form NFC."""
    match = _WHOLE.fullmatch(text)
    return match[1] if match else unicodedata.normalize("NFC", text)


def _number(spelled: str) -> str:
    """Normalise a number with all its digits: 7, 7.0 and 7e0 are equal."""
    try:
        value = Decimal(spelled)
    except InvalidOperation:
        return spelled
    if not value.is_finite():
        return spelled
    sign, digits, exponent = value.as_tuple()
    plain = "".join(map(str, digits)).rstrip("0")
    if not plain:
        return "0"
    assert isinstance(exponent, int)
    exponent += len(digits) - len(plain)
    shortest = Decimal((sign, tuple(map(int, plain)), exponent))
    return f"{shortest:f}" if abs(shortest.adjusted()) < _WRITTEN_OUT else str(shortest)
