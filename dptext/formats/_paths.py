r"""Dotted paths to fields: `customer.note`; a literal dot is written `\.`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dptext.errors import UsageError
from dptext.types import Selection

_PART = re.compile(r"(?:\\.|[^.\\])+", re.DOTALL)


@dataclass(slots=True)
class Node:
    """One step of the selected paths: what is below it, or what it is itself."""

    path: str
    below: dict[str, Node] = field(default_factory=dict)
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


def tree(selection: Selection) -> Node:
    """Return the tree of all selected paths, those of id and subject among them."""
    root = Node("")
    for path in selection.fields:
        _leaf(root, path).is_text = True
    if selection.id_field is not None:
        _leaf(root, selection.id_field).is_identity = True
    if selection.subject_field is not None:
        _leaf(root, selection.subject_field).is_subject = True
    _check(root)
    return root


def _leaf(root: Node, path: str) -> Node:
    node, names = root, parse(path)
    for depth, name in enumerate(names, 1):
        node = node.below.setdefault(name, Node(joined(names[:depth])))
    return node


def _check(node: Node) -> None:
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
