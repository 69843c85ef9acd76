"""What a mechanism says of itself: sections of its docstring, its parameters."""

from __future__ import annotations

import dataclasses
import re
import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dptext import registry
from dptext.errors import UsageError

# The sections of a mechanism's docstring, in the order in which they are shown.
SECTIONS = ("Guarantee", "Instead", "Source", "Known gaps", "Example")
_TITLED = re.compile(rf"^({'|'.join(SECTIONS)}):", re.MULTILINE)
_BOUNDS = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}


def row(name: str) -> dict[str, Any]:
    """Return a mechanism as a row of the list, or the reason why it is broken."""
    try:
        module = registry.find("mechanisms", name)
    except UsageError as error:
        return {"mechanism": name, "broken": str(error)}
    text = module.__doc__ or ""
    return {
        "mechanism": name,
        "family": module.Params.family.value,
        "guarantee": phrase(section(text, "Guarantee")),
        "parameters": parameters(module),
        "source": section(text, "Source"),
    }


def described(name: str) -> dict[str, Any]:
    """Return all that a mechanism says of itself; absent sections are left out."""
    module = registry.find("mechanisms", name)
    text = (module.__doc__ or "").strip()
    sections = {key(title): section(text, title) for title in SECTIONS}
    return {
        "mechanism": name,
        "family": module.Params.family.value,
        "about": _TITLED.split(text, maxsplit=1)[0].strip(),
        **{key: paragraph for key, paragraph in sections.items() if paragraph},
        "parameters": parameters(module),
    }


def key(title: str) -> str:
    """Return the key of a section."""
    return title.lower().replace(" ", "_")


def parameters(module: Any) -> list[dict[str, Any]]:
    """Return name, default and allowed values of each parameter."""
    hints = get_type_hints(module.Params, include_extras=True)
    return [
        {
            "name": field.name,
            "default": field.default,
            "values": _values(hints[field.name]),
        }
        for field in dataclasses.fields(module.Params)
    ]


def _values(hint: Any) -> str:
    """Say which values a type admits: "integer, from 1 to 64", "a or b"."""
    origin = get_origin(hint)
    if origin is Literal:
        return " or ".join(str(one) for one in get_args(hint))
    if origin in (types.UnionType, Union):
        return " or ".join(
            "none" if one is type(None) else _values(one) for one in get_args(hint)
        )
    if origin is tuple:
        inner = [_values(one) for one in get_args(hint) if one is not Ellipsis]
        return (
            f"list of {inner[0]}"
            if Ellipsis in get_args(hint)
            else f"[{'; '.join(inner)}]"
        )
    if hint is bool:
        return "true or false"
    meta = getattr(hint, "__metadata__", ())
    limits = [
        f"{word} {getattr(one, bound):g}"
        for one in meta
        for bound, word in _BOUNDS.items()
        if getattr(one, bound, None) is not None
    ]
    kind = get_args(hint)[0] if meta else hint
    named = {int: "integer", float: "number", str: "text"}.get(kind, "other")
    return ", ".join(filter(None, (named, " ".join(limits))))


def phrase(text: str) -> str:
    """Return the first phrase of a statement."""
    return re.split(r"(?<!et al)[.:;](?:\s|$)", text, maxsplit=1)[0]


def section(text: str, title: str) -> str:
    """Return the paragraph of a docstring that begins with `title:`."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(f"{title}:"):
            lines = [line.partition(":")[2].strip()]
        elif lines and (not line.strip() or line.partition(":")[0] in SECTIONS):
            break
        elif lines:
            lines.append(line.strip())
    return " ".join(lines)
