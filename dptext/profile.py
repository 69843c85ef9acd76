"""Profiles: a recipe as YAML, checked key by key, turned into frozen settings.

name: balanced
about: one line
lexicon: builtin            # a name or a file
space: identity             # NAME, or {name: NAME, ...parameters}
mechanism: {name: rank, weights: fitted}
mapping: nearest            # noise mechanisms only
decoder: ngram              # or none: write the drawn words
budget: {name: uniform, epsilon: 8}     # or {name: uniform, risk: 10%}
strategy: token             # or record, data-set: draw equal words once
tokens: {unknown: perturb, number: perturb, stop_word: perturb,
         punctuation: keep, case: restore, agreement: inflect,
         keep: [], mask: [], forms: []}     # docs/files.md
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dptext import content, naming, registry, yaml_files
from dptext.errors import UsageError
from dptext.settings import convert
from dptext.tokens import lists
from dptext.tokens.policy import Policy
from dptext.types import JsonObject, Strategy

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from dptext import budgets, decoders, mappings, mechanisms, spaces

Params = TypeVar("Params", covariant=True, bound="DataclassInstance")

DEFAULT = "balanced"
STRATEGIES = tuple(map(str, Strategy))
# The keys that name a component, and the folders of these.
STAGES = {
    "space": "spaces",
    "mechanism": "mechanisms",
    "mapping": "mappings",
    "budget": "budgets",
    "decoder": "decoders",
}
# The components of stages that a profile does not name.
DEFAULTS = {"space": "identity", "mapping": "nearest", "decoder": "none"}
# Keys of older versions and what they are called now, by stage and component.
_RENAMED = {
    ("mechanism", "rank", "law"): "weights",
    ("mechanism", "diffractor", "law"): "noise",
}
_KEYS = ("name", "about", "source", "lexicon", *STAGES, "strategy", "tokens")


@dataclass(frozen=True, slots=True)
class Part(Generic[Params]):
    """A component and its parameters, an instance of the component's Params."""

    name: str
    params: Params


@dataclass(frozen=True, slots=True)
class Profile:
    """All that decides a run's output besides key, input and lexicon content."""

    name: str
    about: str
    source: str
    lexicon: str
    space: Part[spaces.Params]
    mechanism: Part[mechanisms.Params]
    mapping: Part[mappings.Params] | None
    budget: Part[budgets.Params]
    decoder: Part[decoders.Params]
    strategy: Strategy
    tokens: Policy

    def parts(self) -> dict[str, Part[DataclassInstance]]:
        """Return the components by their keys."""
        parts = (
            *(self.space, self.mechanism, self.mapping),
            *(self.budget, self.decoder),
        )
        named = zip(STAGES, parts, strict=True)
        return {key: part for key, part in named if part is not None}

    def settings(self) -> JsonObject:
        """Return everything that decides the output, as plain data."""
        settings: JsonObject = {}
        for key, part in self.parts().items():
            params = _lists(dataclasses.asdict(part.params))
            if key == "mapping":
                del params["device"]  # it decides no word
            settings[key] = {"name": part.name, **params}
        settings["strategy"] = str(self.strategy)
        settings["tokens"] = self.tokens.settings()
        return settings

    def digest(self) -> str:
        """Return the sha256 of the settings."""
        return content.of_data(self.settings())

    def with_epsilon(self, epsilon: float) -> Profile:
        """Return the profile with its risk turned into an epsilon."""
        from dptext.budgets import uniform

        assert isinstance(self.budget.params, uniform.Params)
        params = dataclasses.replace(self.budget.params, epsilon=float(epsilon))
        return dataclasses.replace(self, budget=Part(self.budget.name, params))


def _lists(value: Any) -> Any:
    """Return data with lists for tuples, as it is read from JSON."""
    if isinstance(value, dict):
        return {key: _lists(each) for key, each in value.items()}
    return [_lists(each) for each in value] if isinstance(value, tuple) else value


def folder() -> Path:
    """Return the folder of the profiles that ship with dptext."""
    inside = Path(__file__).parent / "profiles"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "profiles"


def shipped() -> tuple[str, ...]:
    """Return the names of the profiles that ship with dptext."""
    return tuple(sorted(path.stem for path in folder().glob("*.yaml")))


def path_of(name: str) -> Path:
    """Return the file of a profile by its name or path. Raises UsageError."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        return path
    if name not in shipped():
        hint = registry.suggest(name, shipped())
        raise UsageError(
            f"no profile named {name!r}; {hint}, or the path of a .yaml file"
        )
    return folder() / f"{name}.yaml"


def load(name: str, overrides: Mapping[str, object] | None = None) -> Profile:
    """Read a profile by name, or from a path that ends in .yaml or .yml.

    overrides are laid over it: keys as in the file, parts merged key by key; a part
    whose name changes starts from its defaults. A profile of which something changes is
    no longer the one of that name, and is named by what differs; so is a file that has
    the name of a profile that ships and differs from it. Raises UsageError with the
    key's path.
    """
    path = path_of(name)
    data = yaml_files.read(path, "profile")
    recipe = parse(merged(data, overrides or {}), path.name)
    return dataclasses.replace(recipe, name=_name(recipe, data, path))


def _name(recipe: Profile, data: Mapping[str, object], path: Path) -> str:
    """Name a profile by how it differs from the one that ships, or is in its file."""
    if recipe.name in shipped():
        path = folder() / f"{recipe.name}.yaml"
        data = yaml_files.read(path, "profile")
    try:
        base = _parse(data, path.name)
    except UsageError:  # the file needs the overrides to be a profile
        base = None
    return naming.named(base, recipe)


def parse(data: Mapping[str, object], location: str) -> Profile:
    """Turn plain data into a profile; location names it in messages."""
    from dptext.budgets import uniform

    recipe = _parse(data, location)
    params = recipe.budget.params
    if isinstance(params, uniform.Params) and (
        (params.epsilon is None) == (params.risk is None)
    ):
        raise UsageError(f"{location}: budget: give either epsilon or risk")
    return recipe


def resolved(settings: Mapping[str, object], name: str, lexicon: str) -> Profile:
    """Return the profile of a report's settings (Profile.settings).

    Its epsilon may stand beside the risk that it was chosen for. Raises UsageError.
    """
    from dptext.budgets import uniform

    recipe = _parse({**settings, "name": name, "lexicon": lexicon}, "settings")
    params = recipe.budget.params
    if isinstance(params, uniform.Params) and params.epsilon is None:
        raise UsageError("settings: budget: the epsilon is missing")
    return recipe


def _parse(data: Mapping[str, object], location: str) -> Profile:
    unknown = [key for key in data if key not in _KEYS]
    if unknown:
        hint = registry.suggest(str(unknown[0]), _KEYS)
        raise UsageError(f"{location}: unknown key {unknown[0]!r}; {hint}")
    parts = {key: _part(key, data.get(key), location) for key in STAGES}
    mechanism, budget = parts["mechanism"], parts["budget"]
    if mechanism is None or budget is None:
        missing = "mechanism" if mechanism is None else "budget"
        raise UsageError(f"{location}: {missing} is missing")
    noise = mechanism.params.family == "noise"
    if parts["mapping"] is not None and not noise:
        raise UsageError(
            f"{location}: mapping: {mechanism.name} draws words itself; remove the "
            "mapping"
        )
    mapping = parts["mapping"] or (
        _part("mapping", DEFAULTS["mapping"], location) if noise else None
    )
    space = parts["space"] or _part("space", DEFAULTS["space"], location)
    decoder = parts["decoder"] or _part("decoder", DEFAULTS["decoder"], location)
    assert space is not None
    assert decoder is not None
    return Profile(
        name=str(data.get("name", Path(location).stem)),
        about=str(data.get("about", "")),
        source=str(data.get("source", "")),
        lexicon=str(data.get("lexicon", "builtin")),
        space=space,
        mechanism=mechanism,
        mapping=mapping,
        budget=budget,
        decoder=decoder,
        strategy=_strategy(data.get("strategy", Strategy.TOKEN), location),
        tokens=_tokens(data.get("tokens") or {}, f"{location}: tokens"),
    )


def _tokens(settings: object, location: str) -> Policy:
    """Read a policy; its lists are read here, once for all that use them."""
    if not isinstance(settings, Mapping):
        raise UsageError(f"{location}: give keys and values")
    rest = dict(settings)
    keep, mask = (
        lists.read(rest.pop(key, None) or (), f"{location}.{key}")
        for key in ("keep", "mask")
    )
    if isinstance(rest.get("forms"), str):
        rest["forms"] = [rest["forms"]]
    policy = convert(rest, Policy, location)
    return dataclasses.replace(policy, keep=keep, mask=mask)


def _strategy(value: object, location: str) -> Strategy:
    if value not in STRATEGIES:
        hint = registry.suggest(str(value), STRATEGIES)
        raise UsageError(f"{location}: strategy: unknown value {value!r}; {hint}")
    return Strategy(str(value))


def _part(key: str, settings: object, location: str) -> Part[Any] | None:
    if settings is None:
        return None
    if isinstance(settings, str):
        settings = {"name": settings}
    if not isinstance(settings, Mapping) or not isinstance(settings.get("name"), str):
        raise UsageError(f"{location}: {key}: give a name, or a name and parameters")
    module = registry.find(STAGES[key], settings["name"])
    rest = {item: value for item, value in settings.items() if item != "name"}
    for item in rest:
        now = _RENAMED.get((key, settings["name"], item))
        if now is not None:
            raise UsageError(
                f"{location}: {key}.{item}: this key is now {key}.{now}; rename it"
            )
    return Part(settings["name"], convert(rest, module.Params, f"{location}: {key}"))


def merged(base: Mapping[str, object], over: Mapping[str, object]) -> JsonObject:
    """Lay keys over those of a profile, parts key by key; a new name starts afresh.

    Another mechanism writes its draws, unless a decoder is given with it.
    """
    merged = dict(base)
    if _name_in(over.get("mechanism")) not in (None, _name_in(base.get("mechanism"))):
        merged.pop("decoder", None)
    for key, value in over.items():
        old = merged.get(key)
        if isinstance(value, Mapping):
            named = dict(old) if isinstance(old, Mapping) else {}
            named = {"name": old} if isinstance(old, str) else named
            if "name" in value and value["name"] != named.get("name"):
                named = {}
            merged[key] = {**named, **value}
        else:
            merged[key] = value
    return merged


def _name_in(part: object) -> object:
    return part.get("name") if isinstance(part, Mapping) else part
