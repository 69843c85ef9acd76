"""What `dptext mechanisms` prints: docstrings cut into sections, parameters."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dptext import registry
from dptext.errors import UsageError

# The sections of a mechanism's docstring, in the order in which they are shown.
_SECTIONS = ("Guarantee", "Instead", "Source", "Known gaps", "Example")
_BOUNDS = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}


def rows() -> list[dict[str, Any]]:
    """Return the list of the mechanisms; of those that are broken, the reason."""
    listed = []
    for name in registry.names("mechanisms"):
        try:
            listed.append(row(name, registry.find("mechanisms", name)))
        except UsageError as error:
            listed.append({"mechanism": name, "broken": str(error)})
    return listed


def row(name: str, module: Any) -> dict[str, Any]:
    """Return a mechanism as a row of the list; the guarantee is its first phrase."""
    text = module.__doc__ or ""
    return {
        "mechanism": name,
        "family": module.Params.family.value,
        "guarantee": phrase(section(text, "Guarantee")),
        "parameters": parameters(module),
        "source": section(text, "Source"),
    }


def whole(name: str, module: Any) -> dict[str, Any]:
    """Return all that a mechanism says of itself; absent sections are left out."""
    text = (module.__doc__ or "").strip()
    titled = re.compile(rf"^({'|'.join(_SECTIONS)}):", re.MULTILINE)
    found = titled.search(text)
    about = text[: found.start() if found else None].strip()
    sections = {title: section(text, title) for title in _SECTIONS}
    return {
        "mechanism": name,
        "family": module.Params.family.value,
        "about": about,
        **{
            title.lower().replace(" ", "_"): said
            for title, said in sections.items()
            if said
        },
        "parameters": parameters(module),
    }


def text(found: dict[str, Any]) -> str:
    """Write what `whole` returned for people."""
    import textwrap

    lines = [f"Mechanism: {found['mechanism']}", f"Family: {found['family']}"]
    lines += ["", found["about"]]
    for title in _SECTIONS:
        said = found.get(title.lower().replace(" ", "_"))
        if said:
            # A command must stay on one line to be copied.
            own = title == "Example"
            whole = f"{title}: {said}"
            lines += ["", whole if own else textwrap.fill(whole, 88)]
    lines += ["", "Parameters (--set mechanism.NAME=VALUE):"]
    lines += [f"  {_said(each)}" for each in found["parameters"]] or ["  none"]
    return "\n".join(lines)


def table(rows: list[dict[str, Any]]) -> None:
    """Print the list of the mechanisms."""
    from rich.table import Table

    from dptext.cli import screen

    shown = Table(box=None, padding=(0, 2, 0, 0))
    good = [each for each in rows if "broken" not in each]
    for column in good[0]:
        shown.add_column(column, no_wrap=column in ("mechanism", "family"))
    for each in good:
        named = [_said(one) for one in each["parameters"]]
        listed = {**each, "parameters": "\n".join(named) or "none"}
        listed["source"] = phrase(each["source"])
        shown.add_row(*listed.values())
    console = screen.console()
    console.print(shown)
    for each in rows:
        if "broken" in each:
            console.print(f"broken: {each['broken']}")


def parameters(module: Any) -> list[dict[str, Any]]:
    """Return name, default and allowed values of each parameter."""
    hints = get_type_hints(module.Params, include_extras=True)
    return [
        {
            "name": field.name,
            "default": field.default,
            "values": values(hints[field.name]),
        }
        for field in dataclasses.fields(module.Params)
    ]


def values(hint: Any) -> str:
    """Say which values a type admits: "integer, from 1 to 64", "a or b"."""
    import types

    origin = get_origin(hint)
    if origin is Literal:
        return " or ".join(str(one) for one in get_args(hint))
    if origin in (types.UnionType, Union):
        return " or ".join(
            "none" if one is type(None) else values(one) for one in get_args(hint)
        )
    if origin is tuple:
        inner = [values(one) for one in get_args(hint) if one is not Ellipsis]
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


def _said(parameter: dict[str, Any]) -> str:
    default = parameter["default"]
    shown = {None: "none", True: "true", False: "false"}.get(default, str(default))
    if isinstance(default, int | float) and not isinstance(default, bool):
        shown = f"{default:g}"
    return f"{parameter['name']}={shown} ({parameter['values']})"


def phrase(said: str) -> str:
    """Return the first phrase of a statement."""
    return re.split(r"(?<!et al)[.:;](?:\s|$)", said, maxsplit=1)[0]


def section(text: str, title: str) -> str:
    """Return the paragraph of a docstring that begins with `title:`."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(f"{title}:"):
            lines = [line.partition(":")[2].strip()]
        elif lines and (not line.strip() or line.partition(":")[0] in _SECTIONS):
            break
        elif lines:
            lines.append(line.strip())
    return " ".join(lines)
