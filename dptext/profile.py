"""Profiles: YAML recipes, validated key by key and converted to frozen settings.

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
         keep: [], mask: [], forms: []}     # docs/tokens.md

`load` overrides keys of a profile (dptext.overrides) and lists the changes in its name;
`check_compatibility` rejects incompatible settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from dptext import registry
from dptext.budgets import AnyBudget, SequentialBudget, uniform
from dptext.errors import UsageError
from dptext.lexicons import topics
from dptext.mechanisms import Family
from dptext.overrides import DEFAULTS, merged, name_in
from dptext.run.choices import DEFAULT as DEFAULT
from dptext.run.choices import FOR_PROGRAMS as FOR_PROGRAMS
from dptext.run.choices import Choices
from dptext.run.interface import noun, option, refuse
from dptext.settings import convert, digest_of_data, read_yaml
from dptext.tokens import draws, language_data, languages, lists
from dptext.tokens.policy import Policy, WordList
from dptext.types import ENGLISH, JsonObject, Lexicon, Strategy

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from dptext import budgets, decoders, mappings, mechanisms, spaces


STRATEGIES = tuple(map(str, Strategy))
# The keys that name a component, and the folders of these.
STAGES = {
    "space": "spaces",
    "mechanism": "mechanisms",
    "mapping": "mappings",
    "budget": "budgets",
    "decoder": "decoders",
}
_KEYS = ("name", "about", "source", "lexicon", *STAGES, "strategy", "tokens")
# Years that may be written: of two digits they are read as these (dptext.tokens.dates).
_YEARS = (1950, 2049)
_NAMED = 4  # changes that a name lists
_LONGEST = 24  # characters of a value in a name

Params = TypeVar("Params", covariant=True, bound="DataclassInstance")


def changed_name(base: Profile, over: Mapping[str, object]) -> str:
    """Return the base's name with the overrides that change it.

    For example "balanced with mechanism=laplace, epsilon=4"; with many changes, or
    for a file that differs from the one that ships under its name, it is "custom, from
    balanced".
    """
    before = _flat({**base.settings(), "lexicon": base.lexicon})
    changes = [
        f"{key}={_spelled(key, value)}"
        for key, value in _flat(over).items()
        if value is not None and value != before.get(key)
    ]
    copied = base.name in shipped() and base.digest() != load(base.name).digest()
    if copied or len(changes) > _NAMED:
        return f"custom, from {base.name}"
    return f"{base.name} with {', '.join(changes)}" if changes else base.name


def _flat(settings: Mapping[str, object], prefix: str = "") -> JsonObject:
    """Return settings by dotted keys; a part's name has the part's key."""
    flat: JsonObject = {}
    for key, value in settings.items():
        path = prefix.rstrip(".") if key == "name" else f"{prefix}{key}"
        if path in ("budget.epsilon", "budget.risk", "budget.attacker_risk"):
            path = key
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{path}.")
        else:
            flat[path] = value
    return flat


def _spelled(key: str, value: object) -> str:
    """Format a value for a name: only the last part of a path, ... if long."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{100 * value:g}%" if key.endswith("risk") else f"{value:g}"
    text = PurePath(value).name if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST and not isinstance(value, list) else "..."


@dataclass(frozen=True, slots=True)
class Part(Generic[Params]):
    """A component and its parameters."""

    name: str
    params: Params


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything that determines the output other than key, input and lexicon."""

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
        """Return the components by key."""
        return {key: part for key in STAGES if (part := getattr(self, key)) is not None}

    def settings(self) -> JsonObject:
        """Return everything that determines the output as plain data."""
        settings: JsonObject = {}
        for key, part in self.parts().items():
            params: JsonObject = msgspec.json.decode(msgspec.json.encode(part.params))
            if key == "mapping":
                del params["device"]  # it decides no word
            if params.get("attacker_risk", 0) is None:
                del params["attacker_risk"]
            settings[key] = {"name": part.name, **params}
        settings["strategy"] = str(self.strategy)
        settings["tokens"] = self.tokens.settings()
        return settings

    def digest(self) -> str:
        """Return the sha256 of the settings."""
        return digest_of_data(self.settings())

    def with_epsilon(self, epsilon: float) -> Profile:
        """Return the profile with its risk replaced by an epsilon."""
        assert isinstance(self.budget.params, uniform.Params)
        params = replace(self.budget.params, epsilon=float(epsilon))
        return replace(self, budget=Part(self.budget.name, params))


def folder() -> Path:
    """Return the folder of the profiles shipped with dptext."""
    inside = Path(__file__).parent / "profiles"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "profiles"


def shipped() -> tuple[str, ...]:
    """Return the names of the profiles shipped with dptext."""
    return tuple(sorted(path.stem for path in folder().glob("*.yaml")))


def find_file(name: str) -> Path:
    """Return a profile's file by name or path. Raises UsageError."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        return path
    if name not in shipped():
        hint = registry.suggest(name, shipped())
        raise UsageError(
            f"no profile named {name!r}; {hint} (or give the path of a .yaml file)"
        )
    return folder() / f"{name}.yaml"


def load(name: str, overrides: Mapping[str, object] | None = None) -> Profile:
    """Read a profile by name, or from a path that ends in .yaml or .yml.

    overrides: keys as in the file, merged part by part. A part with another name starts
    from its defaults, and a changed mechanism has no decoder unless one is given too.
    The resulting name lists the changes. Raises UsageError with the key's path.
    """
    path, over = find_file(name), overrides or {}
    data = read_yaml(path, "profile")
    base = dict(data)
    if name_in(over.get("mechanism")) not in (None, name_in(base.get("mechanism"))):
        base.pop("decoder", None)
    location = f"{path.stem}, changed" if over else path.name
    recipe = _with_topics(parse(merged(base, over), location))
    if not over and path == folder() / f"{recipe.name}.yaml":
        return recipe
    try:
        shown = changed_name(_parse(data, path.name), over)
    except UsageError:  # the file needs the overrides to be a profile
        shown = f"custom, from {recipe.name}"
    return replace(recipe, name=shown)


def chosen(choices: Choices) -> Profile:
    """Return a run's profile. Raises UsageError for an unknown name or key."""
    return load(choices.name, choices.keys)


def _with_topics(recipe: Profile) -> Profile:
    """Choose the number of topics for the epsilon, if texts are replaced by topics."""
    params = recipe.budget.params
    # A lexicon "topics:" without a name is refused when topics are opened.
    if not recipe.lexicon.startswith(topics.PREFIX) or recipe.lexicon == topics.PREFIX:
        return recipe
    if not isinstance(params, uniform.Params) or params.epsilon is None:
        raise UsageError("topics: give the epsilon of a whole text, not a risk")
    return replace(recipe, lexicon=topics.sized(recipe.lexicon, params.epsilon))


def parse(data: Mapping[str, object], location: str) -> Profile:
    """Build a profile from plain data; location names it in messages."""
    recipe = _parse(data, location)
    params = recipe.budget.params
    if isinstance(params, uniform.Params):
        names = ("epsilon", "risk", "attacker_risk")
        limits = [name for name in names if getattr(params, name) is not None]
        if len(limits) != 1:
            several = f", not {' and '.join(limits)}" if limits else ""
            raise UsageError(
                f"{location}: budget: give one of epsilon, risk and attacker_risk"
                f"{several}"
            )
    return recipe


def resolved(settings: Mapping[str, object], name: str, lexicon: str) -> Profile:
    """Return the profile for the settings in a report (Profile.settings).

    They may contain both an epsilon and the risk it was chosen for. Raises UsageError.
    """
    recipe = _parse({**settings, "name": name, "lexicon": lexicon}, "settings")
    params = recipe.budget.params
    if isinstance(params, uniform.Params) and params.epsilon is None:
        raise UsageError("settings: budget: epsilon is missing; add it")
    return recipe


def _parse(data: Mapping[str, object], location: str) -> Profile:
    for key in data:
        if key not in _KEYS:
            hint = registry.suggest(str(key), _KEYS)
            part, dot, rest = str(key).partition(".")
            if dot and part in _KEYS:
                hint = f"nest it, as in {{'{part}': {{'{rest}': ...}}}}"
            raise UsageError(f"{location}: unknown key {key!r}; {hint}")
    present = {key: value for key, value in data.items() if value is not None}
    for key in ("mechanism", "budget"):
        if key not in present:
            raise UsageError(f"{location}: {key} is missing")
    strategy = str(present.get("strategy", Strategy.TOKEN))
    if strategy not in STRATEGIES:
        hint = registry.suggest(strategy, STRATEGIES)
        raise UsageError(f"{location}: strategy: unknown value {strategy!r}; {hint}")
    named = {**DEFAULTS, **present}
    parts: dict[str, Any] = {key: _part(key, named[key], location) for key in STAGES}
    if parts["mechanism"].params.family != "noise":
        if "mapping" in present:
            raise UsageError(
                f"{location}: mapping: {parts['mechanism'].name} draws words without a "
                "mapping; remove it"
            )
        parts["mapping"] = None
    tokens = _tokens(data.get("tokens") or {}, f"{location}: tokens")
    if tokens.marks:  # no word is written
        parts["decoder"] = _part("decoder", DEFAULTS["decoder"], location)
    return Profile(
        name=str(data.get("name", Path(location).stem)),
        about=str(data.get("about", "")),
        source=str(data.get("source", "")),
        lexicon=str(data.get("lexicon", "builtin")),
        strategy=Strategy(strategy),
        tokens=tokens,
        **parts,
    )


def _tokens(settings: object, location: str) -> Policy:
    """Read a policy and the files of its lists."""
    if not isinstance(settings, Mapping):
        raise UsageError(f"{location}: give keys and values")
    rest = dict(settings)
    keep, mask = _lists(rest, location)
    words = lists.read_words(rest.pop("words", None), f"{location}.words")
    for key in ("forms", "classes", "languages"):
        if isinstance(rest.get(key), str):
            rest[key] = [rest[key]]
    policy = convert(rest, Policy, location)
    _check_common(policy, words is not None, location)
    policy = replace(policy, languages=_languages(policy, location))
    first, last = policy.years or draws.YEARS
    if not _YEARS[0] <= first < last <= _YEARS[1]:
        raise UsageError(
            f"{location}.years: give the first and last year, from {_YEARS[0]} to "
            f"{_YEARS[1]}, such as [2014, 2026]"
        )
    for key in ("punctuation", "stop_word"):
        if policy.common and getattr(policy, key) == "drop":
            raise UsageError(
                f"{location}: common needs the ends of sentences and function words: "
                f"{key} cannot be drop"
            )
    if policy.marks:  # which show neither capitals nor forms of the words behind them
        policy = replace(policy, case="restore", grammar="hide", agreement="articles")
    return replace(policy, keep=keep, mask=mask, words=words)


def _check_common(policy: Policy, has_words: bool, location: str) -> None:
    """Raise UsageError for settings that need common words if there are none."""
    needs = {
        f"{location}: classes need common; set common, or leave classes out": (
            policy.classes
        ),
        f"{location}: words extends the common words: also set common, or use the "
        "profile readable": has_words,
        f"{location}: opinion extends the common words: also set common": (
            policy.opinion == "keep"
        ),
    }
    refuse({} if policy.common else needs)


def _lists(rest: JsonObject, location: str) -> tuple[WordList, WordList]:
    """Return keep list and mask list, removing their keys from the settings."""
    keep, mask = (
        lists.read(rest.pop(key, None) or (), f"{location}.{key}")
        for key in ("keep", "mask")
    )
    if typed := rest.pop("keep_words", None):
        keep = lists.add(keep, typed, noun("keep-words"))
    return keep, mask


def _languages(policy: Policy, location: str) -> tuple[str, ...]:
    """Return a policy's distinct languages, () for English only."""
    named = tuple(dict.fromkeys(policy.languages))
    if named in ((), (ENGLISH,)):
        return ()
    known = (ENGLISH, *languages.languages())
    for code in named:
        if code not in known:
            raise UsageError(
                f"{location}.languages: no lists for language {code!r}; "
                f"{registry.suggest(code, known)}"
            )
    if not policy.common:
        others = ", ".join(code for code in named if code != ENGLISH)
        raise UsageError(
            f"{location}.languages: without common words there are no words of "
            f"{others}; use the profile readable, topics, or a lexicon of the language"
        )
    return named


def _part(key: str, settings: object, location: str) -> Part[Any]:
    if isinstance(settings, str):
        settings = {"name": settings}
    if not isinstance(settings, Mapping) or not isinstance(settings.get("name"), str):
        raise UsageError(f"{location}: {key}: give a name, or a name and parameters")
    name: str = settings["name"]
    module = registry.find(STAGES[key], name)
    rest = {item: value for item, value in settings.items() if item != "name"}
    return Part(name, convert(rest, module.Params, f"{location}: {key}"))


def in_language(recipe: Profile, lexicon: Lexicon) -> Profile:
    """Disable agreement outside English, and reject unknown stop words."""
    language, policy = lexicon.language, recipe.tokens
    if language == ENGLISH:
        return recipe
    if policy.stop_word != "perturb" and not language_data.stop_words(language):
        raise UsageError(
            "tokens.stop_word: there is no list of function words for language "
            f"{language!r} (lexicon {lexicon.name}); set it to perturb, or import the "
            f"lexicon with {option('language')}"
        )
    return replace(recipe, tokens=replace(policy, agreement="none"))


def check_compatibility(recipe: Profile, budget: AnyBudget | None) -> None:
    """Raise UsageError if strategy, budget and mechanism are incompatible."""
    name, spent = recipe.mechanism.name, recipe.budget.params
    of_texts = recipe.mechanism.params.family is Family.TEXTS
    is_shared = recipe.strategy is not Strategy.TOKEN
    epsilon = spent.epsilon if isinstance(spent, uniform.Params) else None
    by_risk = isinstance(spent, uniform.Params) and epsilon is None
    reasons = {
        f"strategy {recipe.strategy} draws a word once for several positions, which "
        "must have the same epsilon: use the budget uniform": (
            is_shared and recipe.budget.name != "uniform"
        ),
        f"{name} with these parameters needs a slow computation for each epsilon: "
        "use the budget uniform with an epsilon, not a risk": (
            recipe.mechanism.params.needs_one_epsilon and not epsilon
        ),
        f"{name} reads the whole text, so the risk of a single word is undefined; "
        f"give {option('epsilon')}": of_texts and by_risk,
        f"{name} draws every word in its context; use the strategy token": (
            of_texts and is_shared
        ),
        f"{name} reads the whole text, so it cannot draw word by word as the budget "
        f"{recipe.budget.name} requires; use another budget": (
            of_texts and isinstance(budget, SequentialBudget)
        ),
    }
    refuse(reasons)
