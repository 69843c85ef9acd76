"""`dptext list`: lists shipped profiles, and mechanisms with their guarantees.

A mechanism's description comes from its docstring sections and its parameters.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args

import typer

from dptext import profile, registry
from dptext.cli import options, screen
from dptext.errors import UsageError
from dptext.report import blocks
from dptext.types import JsonObject

_KINDS = ("profiles", "mechanisms")


EXAMPLES = ("dptext list mechanisms", "dptext list rank")


def command(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND",
            help="profiles, mechanisms, or the name of a profile or mechanism.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="After profiles or mechanisms: the name of the one to show.",
        ),
    ] = None,
    *,
    as_json: options.AsJson = False,
) -> None:
    """List profiles and mechanisms, or show one in full.

    A profile is shown as its file, to copy and change. A mechanism is shown with its
    guarantee, known gaps, parameters and an example command; if it has no guarantee,
    with an alternative. Broken mechanisms of other packages are listed with the reason.
    """
    if kind is not None and kind not in _KINDS:
        if name is not None:
            raise UsageError(f"list {kind} {name}: write profiles or mechanisms first")
        kind, name = _find_kind(kind), kind
    if name is None:
        _show_lists((kind,) if kind else _KINDS, as_json)
    elif kind == "mechanisms":
        described = description(name)
        screen.deliver(described, as_json, *view(described))
    else:
        recipe = profile.load(name)
        if as_json:
            screen.deliver(_plain(recipe), as_json)
        else:
            typer.echo(profile.find_file(name).read_text("utf-8"), nl=False)


def _find_kind(name: str) -> str:
    """Return whether a name is a profile or a mechanism. Raises UsageError."""
    profiles, mechanisms = profile.shipped(), registry.names("mechanisms")
    if name in profiles and name in mechanisms:
        ways = " or ".join(f"dptext list {kind} {name}" for kind in _KINDS)
        raise UsageError(f"{name} is a profile and a mechanism: {ways}")
    if name not in profiles and name not in mechanisms:
        near = registry.suggest(
            name, (*_KINDS, *profiles, *mechanisms), registry.published("mechanisms")
        )
        raise UsageError(f"no profile or mechanism named {name!r}; {near}")
    return "profiles" if name in profiles else "mechanisms"


def _show_lists(kinds: Sequence[str], as_json: bool) -> None:
    """Print each list; one kind as a JSON array, both as an object by kind."""
    # Profiles only if they are asked for: a profile cannot be loaded if its mechanism
    # has the name of one of another package; the list of mechanisms has the reason.
    shipped = profile.shipped() if "profiles" in kinds else ()
    names = registry.names("mechanisms") if "mechanisms" in kinds else ()
    profiles = [_plain(profile.load(each)) for each in shipped]
    lists = {"profiles": profiles, "mechanisms": list(map(row, names))}
    shown: list[blocks.Block] = []
    if profiles:
        shown.append(blocks.Table.from_items(_PROFILES, profiles))
    shown += listed(lists["mechanisms"]) if names else ()
    screen.deliver(lists[kinds[0]] if len(kinds) == 1 else lists, as_json, *shown)


def _plain(recipe: profile.Profile) -> dict[str, Any]:
    return {
        "name": recipe.name,
        "about": recipe.about,
        "source": recipe.source,
        **recipe.settings(),
    }


# The sections of a mechanism's docstring, in the order in which they are shown.
SECTIONS = {
    each.lower().replace(" ", "_"): each
    for each in ("Guarantee", "Instead", "Known as", "Source", "Known gaps", "Example")
}
_TITLED = re.compile(rf"^({'|'.join(SECTIONS.values())}):", re.MULTILINE)
_TYPES: dict[object, str] = {int: "integer", float: "number", str: "text"}
_BOUNDS = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
_PROFILES = (
    blocks.Column("profile", path="name"),
    blocks.Column("mechanism", path="mechanism.name"),
    blocks.Column("about"),
)
_MECHANISMS = (
    blocks.Column("mechanism"),
    blocks.Column("known as", path="known_as"),
    blocks.Column("guarantee"),
    blocks.Column("source", path=lambda row: phrase(row["source"])),
)
_COLUMNS = ("mechanism", "known_as", "family", "guarantee", "parameters", "source")


def row(name: str) -> dict[str, Any]:
    """Return a mechanism's row in the list, or why it is broken."""
    try:
        described = description(name)
    except UsageError as error:
        return {"mechanism": name, "broken": str(error)}
    columns = {key: described.get(key, "") for key in _COLUMNS}
    shown = {key: phrase(columns[key]) for key in ("guarantee", "known_as")}
    return columns | shown


def description(name: str) -> dict[str, Any]:
    """Return a mechanism's docstring sections by title, and its parameters."""
    module = registry.find("mechanisms", name)
    defaults = {each.name: each.default for each in dataclasses.fields(module.Params)}
    hints = typing.get_type_hints(module.Params, include_extras=True)
    plain = [
        {"name": each, "default": defaults[each], "values": allowed_values(hints[each])}
        for each in defaults
    ]
    return {
        "mechanism": name,
        "family": module.Params.family.value,
        **sections(module.__doc__ or ""),
        "parameters": plain,
    }


def sections(text: str) -> dict[str, str]:
    """Split a docstring into its titled paragraphs, and the text before them."""
    about, *rest = _TITLED.split(text)
    texts = dict(zip(rest[::2], rest[1::2], strict=True))
    one_line = {
        key: " ".join(texts[title].partition("\n\n")[0].split())
        for key, title in SECTIONS.items()
        if title in texts
    }
    # Lines of a paragraph are filled anew; items of a list keep theirs.
    return {"about": re.sub(r"(?<!\n)\n(?!\n|- ) *", " ", about.strip()), **one_line}


def allowed_values(hint: Any) -> str:
    """Describe the values a type allows: "integer, from 1 to 64", "a or b"."""
    origin, parts = typing.get_origin(hint), get_args(hint)
    if hint in (bool, NoneType):
        return "true or false" if hint is bool else "none"
    if origin is Literal:
        return " or ".join(map(str, parts))
    if origin in (UnionType, Union):
        return " or ".join(map(allowed_values, parts))
    if origin is tuple and Ellipsis in parts:
        return f"list of {allowed_values(parts[0])}"
    if origin is tuple:
        return f"[{'; '.join(map(allowed_values, parts))}]"
    kind, *marks = parts or (hint,)
    limits = [
        f"{word} {getattr(each, bound):g}"
        for each in marks
        for bound, word in _BOUNDS.items()
        if getattr(each, bound, None) is not None
    ]
    return ", ".join(filter(None, (_TYPES.get(kind, "other"), " ".join(limits))))


def phrase(text: str) -> str:
    """Return the first phrase of a sentence."""
    return re.split(r"(?<!et al)[.:;](?:\s|$)", text, maxsplit=1)[0]


def listed(rows: Sequence[Mapping[str, Any]]) -> list[blocks.Block]:
    """Return a table of mechanisms, and those that are broken."""
    intact = (row for row in rows if "broken" not in row)
    broken = (f"broken: {row['broken']}" for row in rows if "broken" in row)
    table = blocks.Table.from_items(_MECHANISMS, intact)
    more = "Parameters, gaps and an example: dptext list mechanisms NAME"
    return [table, *blocks.paragraphs(*broken, more)]


def view(described: Mapping[str, Any]) -> list[blocks.Block | blocks.Section]:
    """Return the full view of a mechanism; its example is one line for copying."""
    head = [f"{each.title()}: {described[each]}" for each in ("mechanism", "family")]
    paragraphs = [
        blocks.Section(
            title,
            [blocks.Paragraph(described[key], "code" if key == "example" else "")],
        )
        for key, title in SECTIONS.items()
        if key in described
    ]
    settings = [_setting(each) for each in described["parameters"]]
    title = "Parameters (--set mechanism.NAME=VALUE)"
    return [
        *blocks.paragraphs(*head, described["about"]),
        *paragraphs,
        blocks.Section(title, [blocks.Bullets(settings or ["none"])]),
    ]


def _setting(parameter: JsonObject) -> str:
    default = parameter["default"]
    shown = f"{default:g}" if type(default) in (int, float) else str(default).lower()
    return f"{parameter['name']}={shown} ({parameter['values']})"
