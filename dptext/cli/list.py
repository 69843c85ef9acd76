"""`dptext list`: the profiles that ship, and the mechanisms with what they promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, screen
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.profile import Profile
    from dptext.types import JsonObject

_KINDS = ("profiles", "mechanisms")


def command(
    what: Annotated[
        str | None,
        typer.Argument(help="profiles, mechanisms, or the name of one of them."),
    ] = None,
    name: Annotated[
        str | None, typer.Argument(help="After profiles or mechanisms: show this one.")
    ] = None,
    as_json: options.Json = False,
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
    elif what == "profiles":
        _show_profile(name, as_json)
    else:
        _show_mechanism(name, as_json)


def _kind_of(name: str) -> str:
    """Tell what has a name. Raises UsageError for a name of nothing, and of both."""
    from dptext import profile, registry

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
    from dptext import profile, registry
    from dptext.report import components
    from dptext.report.blocks import Block, Column, Table

    # Profiles only where they are asked for: one whose mechanism is taken by another
    # package cannot be loaded, and the list of mechanisms says why.
    shipped = profile.shipped() if "profiles" in kinds else ()
    profiles = [profile.load(each) for each in shipped]
    names = registry.names("mechanisms") if "mechanisms" in kinds else ()
    mechanisms = [components.row(each) for each in names]
    if as_json:
        both = {"profiles": list(map(_plain, profiles)), "mechanisms": mechanisms}
        screen.print_json(both[kinds[0]] if len(kinds) == 1 else both)
        return
    blocks: list[Block] = []
    if "profiles" in kinds:
        columns = [Column("profile"), Column("mechanism"), Column("about")]
        rows = [(each.name, each.mechanism.name, each.about) for each in profiles]
        blocks.append(Table(columns, rows))
    if "mechanisms" in kinds:
        blocks += components.listed(mechanisms)
    screen.show(*blocks)


def _show_profile(name: str, as_json: bool) -> None:
    from dptext import profile

    recipe = profile.load(name)
    if as_json:
        screen.print_json(_plain(recipe))
    else:
        typer.echo(profile.path_of(name).read_text("utf-8"), nl=False)


def _show_mechanism(name: str, as_json: bool) -> None:
    from dptext.report import components

    described = components.description(name)
    if as_json:
        screen.print_json(described.as_json())
    else:
        screen.show(*components.view(described))


def _plain(recipe: Profile) -> JsonObject:
    return {
        "name": recipe.name,
        "about": recipe.about,
        "source": recipe.source,
        **recipe.settings(),
    }
