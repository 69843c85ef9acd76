"""`dptext list`: the profiles that ship, and the mechanisms with what they promise.

A mechanism is described by the sections of its docstring and by its parameters.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typer

from dptext import registry
from dptext.cli import options, screen
from dptext.errors import UsageError
from dptext.report.blocks import (
    Block,
    Bullets,
    Column,
    Heading,
    Paragraph,
    Table,
    paragraphs,
)

if TYPE_CHECKING:
    from dptext.profile import Profile
    from dptext.types import JsonObject

_KINDS = ("profiles", "mechanisms")


def command(
    what: Annotated[
        options.Text,
        typer.Argument(help="profiles, mechanisms, or the name of one of them."),
    ] = None,
    name: Annotated[
        options.Text,
        typer.Argument(help="After profiles or mechanisms: show this one."),
    ] = None,
    as_json: bool = False,
) -> None:
    """List profiles and mechanisms, or show one in full.

    A profile is shown as its file, to copy and change. A mechanism is shown with its
    guarantee, known gaps, parameters and an example command; if it has no guarantee,
    with an alternative. Broken mechanisms of other packages are listed with the reason.

    Example: dptext list rank
    """
    if what is not None and what not in _KINDS:
        if name is not None:
            raise UsageError(f"list {what} {name}: write profiles or mechanisms first")
        what, name = _kind_of(what), what
    if name is None:
        _show_lists((what,) if what else _KINDS, as_json)
    elif what == "mechanisms":
        described = description(name)
        screen.deliver(described, as_json, *view(described))
    else:
        from dptext import profile

        recipe = profile.load(name)
        if as_json:
            screen.deliver(_plain(recipe), as_json)
        else:
            typer.echo(profile.path_of(name).read_text("utf-8"), nl=False)


def _kind_of(name: str) -> str:
    """Tell what has a name. Raises UsageError for a name of nothing, and of both."""
    from dptext import profile

    profiles, mechanisms = profile.shipped(), registry.names("mechanisms")
    if name in profiles and name in mechanisms:
        ways = " or ".join(f"dptext list {kind} {name}" for kind in _KINDS)
        raise UsageError(f"{name} is a profile and a mechanism: {ways}")
    if name not in profiles and name not in mechanisms:
        near = registry.suggest(name, (*_KINDS, *profiles, *mechanisms))
        raise UsageError(f"no profile or mechanism named {name!r}; {near}")
    return "profiles" if name in profiles else "mechanisms"


def _show_lists(kinds: Sequence[str], as_json: bool) -> None:
    """Print the list of each kind: one as an array of JSON, both by kind."""
    from dptext import profile

    # Profiles only where they are asked for: one whose mechanism is taken by another
    # package cannot be loaded, and the list of mechanisms says why.
    shipped = profile.shipped() if "profiles" in kinds else ()
    names = registry.names("mechanisms") if "mechanisms" in kinds else ()
    profiles = [_plain(profile.load(each)) for each in shipped]
    lists = {"profiles": profiles, "mechanisms": list(map(row, names))}
    blocks: list[Block] = []
    if profiles:
        columns = [Column("profile"), Column("mechanism"), Column("about")]
        rows = [(p["name"], p["mechanism"]["name"], p["about"]) for p in profiles]
        blocks.append(Table(columns, rows))
    blocks += listed(lists["mechanisms"]) if names else ()
    screen.deliver(lists[kinds[0]] if len(kinds) == 1 else lists, as_json, *blocks)


def _plain(recipe: Profile) -> dict[str, Any]:
    return {
        "name": recipe.name,
        "about": recipe.about,
        "source": recipe.source,
        **recipe.settings(),
    }


# The sections of a mechanism's docstring, in the order in which they are shown.
SECTIONS = ("Guarantee", "Instead", "Source", "Known gaps", "Example")
_TITLED = re.compile(rf"^({'|'.join(SECTIONS)}):", re.MULTILINE)
_TYPES: dict[object, str] = {int: "integer", float: "number", str: "text"}
_BOUNDS = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}


def row(name: str) -> dict[str, Any]:
    """Return a mechanism as a row of the list, or why it is broken."""
    try:
        described = description(name)
    except UsageError as error:
        return {"mechanism": name, "broken": str(error)}
    shown = ("mechanism", "family", "guarantee", "parameters", "source")
    columns = {key: described.get(key, "") for key in shown}
    return columns | {"guarantee": phrase(columns["guarantee"])}


def description(name: str) -> dict[str, Any]:
    """Return all that a mechanism says of itself: sections by title, parameters."""
    module = registry.find("mechanisms", name)
    text = (module.__doc__ or "").strip()
    sections = {title: section(text, title) for title in SECTIONS}
    hints = get_type_hints(module.Params, include_extras=True)
    return {
        "mechanism": name,
        "family": module.Params.family.value,
        "about": _TITLED.split(text, maxsplit=1)[0].strip(),
        **{_key(title): said for title, said in sections.items() if said},
        "parameters": [
            {"name": each.name, "default": each.default, "values": _values(hint)}
            for each in dataclasses.fields(module.Params)
            for hint in [hints[each.name]]
        ],
    }


def _key(title: str) -> str:
    return title.lower().replace(" ", "_")


def _values(hint: Any) -> str:
    """Say which values a type admits: "integer, from 1 to 64", "a or b"."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in (bool, NoneType):
        return "true or false" if hint is bool else "none"
    if origin is Literal:
        return " or ".join(map(str, parts))
    if origin in (UnionType, Union):
        return " or ".join(map(_values, parts))
    if origin is tuple and Ellipsis in parts:
        return f"list of {_values(parts[0])}"
    if origin is tuple:
        return f"[{'; '.join(map(_values, parts))}]"
    kind, *marks = parts or (hint,)
    limits = [
        f"{word} {getattr(each, bound):g}"
        for each in marks
        for bound, word in _BOUNDS.items()
        if getattr(each, bound, None) is not None
    ]
    return ", ".join(filter(None, (_TYPES.get(kind, "other"), " ".join(limits))))


def phrase(text: str) -> str:
    """Return the first phrase of a statement."""
    return re.split(r"(?<!et al)[.:;](?:\s|$)", text, maxsplit=1)[0]


def section(text: str, title: str) -> str:
    """Return the paragraph of a docstring that begins with `title:`."""
    others = "|".join(SECTIONS)
    paragraph = rf"^{title}:(.*?)(?=^\s*$|^(?:{others}):|\Z)"
    match = re.search(paragraph, text, re.MULTILINE | re.DOTALL)
    return " ".join(match[1].split()) if match else ""


def listed(rows: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Return mechanisms as a table, and those that are broken."""
    names = ("mechanism", "family", "guarantee", "parameters", "source")
    cells = [
        (
            *(row["mechanism"], row["family"], row["guarantee"]),
            "\n".join(map(_setting, row["parameters"])) or "none",
            phrase(row["source"]),
        )
        for row in rows
        if "broken" not in row
    ]
    broken = (f"broken: {row['broken']}" for row in rows if "broken" in row)
    return [Table([*map(Column, names)], cells), *paragraphs(*broken)]


def view(described: Mapping[str, Any]) -> list[Block]:
    """Return a mechanism in full."""
    sections = [
        # A command stays on one line to be copied.
        Paragraph(f"{title}: {described[key]}", "code" if key == "example" else "")
        for title in SECTIONS
        if (key := _key(title)) in described
    ]
    return [
        Paragraph(f"Mechanism: {described['mechanism']}"),
        Paragraph(f"Family: {described['family']}"),
        Paragraph(described["about"]),
        *sections,
        Heading("Parameters (--set mechanism.NAME=VALUE)"),
        Bullets([_setting(each) for each in described["parameters"]] or ["none"]),
    ]


def _setting(parameter: JsonObject) -> str:
    default = parameter["default"]
    shown = f"{default:g}" if type(default) in (int, float) else str(default).lower()
    return f"{parameter['name']}={shown} ({parameter['values']})"
