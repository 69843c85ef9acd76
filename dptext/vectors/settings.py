"""The settings that decide the vectors, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from dptext import profile, registry
from dptext.budgets import uniform
from dptext.errors import UsageError
from dptext.mechanisms import gaussian
from dptext.noise import epsilon_of
from dptext.profile import Profile
from dptext.settings import convert, digest_of_data
from dptext.types import Inputs, JsonObject

USUAL = "discrete-gaussian"
DEFAULT: JsonObject = {
    "name": "embed",
    "mechanism": {"name": USUAL},
    "budget": {"name": "uniform", "epsilon": 8.0},
    "tokens": {"punctuation": "drop"},
}
# The keys of a profile that have no meaning here.
_ELSEWHERE = ("mapping", "strategy")


class Pool(StrEnum):
    """What a released vector is of.

    WORD: one word; MEAN: a text, the mean of the vectors of its words; SIF: the same,
    weighted by smooth inverse frequency; SENTENCE: a text, by a sentence model.
    """

    WORD = "word"
    MEAN = "mean"
    SIF = "sif"
    SENTENCE = "sentence"

    @property
    def inputs(self) -> Inputs:
        """Return what a mechanism takes in."""
        of = {Pool.WORD: Inputs.WORDS, Pool.SENTENCE: Inputs.VECTORS}
        return of.get(self, Inputs.MEANS)


@dataclass(frozen=True, slots=True)
class Options:
    """Settings beside those of a profile.

    model and longest are for sentence vectors: a sentence model, and the length to
    which its vectors are shortened; sif is a in the weight a / (a + frequency); public,
    a file of public texts, one a line, to measure by; subject, the field that names
    whom a record is about, and most, how many vectors of one such subject share
    epsilon (1: epsilon is that of each vector).
    """

    pool: Pool = Pool.MEAN
    model: str | None = None
    longest: Annotated[float, Meta(ge=1e-6, le=1e6)] = 1.0
    sif: Annotated[float, Meta(gt=0, le=1)] = 1e-3
    public: str | None = None
    subject: str | None = None
    most: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """A profile without mapping and strategy, and what it does not know."""

    recipe: Profile
    options: Options

    def plain(self) -> JsonObject:
        """Return everything that decides the vectors, as plain data."""
        settings = self.recipe.settings()
        for key in _ELSEWHERE:
            settings.pop(key, None)
        return {**settings, "embed": asdict(self.options)}

    def digest(self) -> str:
        """Return the sha256 of the settings."""
        return digest_of_data(self.plain())


def parse(
    over: Mapping[str, object],
    options: Mapping[str, object],
    *,
    clip: float | None = None,
    mu: float | None = None,
) -> VectorSettings:
    """Check settings: keys of a profile, and those of Options.

    clip is the greatest length of sentence vectors, and of what a mechanism takes in
    that clips; mu takes the place of an epsilon. Raises UsageError for what does not go
    together.
    """
    if clip is not None:
        options = {**options, "longest": clip}
        part = over.get("mechanism") or {}
        named = {"name": part} if isinstance(part, str) else part
        assert isinstance(named, Mapping)
        params = registry.find("mechanisms", str(named.get("name", USUAL))).Params
        if "clip" in {each.name for each in fields(params)}:
            over = {**over, "mechanism": {**named, "clip": clip}}
    for key in _ELSEWHERE:
        if over.get(key) is not None:
            msg = f"{key}: a release of vectors has none; leave it out"
            raise UsageError(msg)
    data = {**profile.merged(DEFAULT, over), "mapping": None}
    recipe = replace(profile.parse(data, "settings"), mapping=None)
    if mu is not None:
        recipe = _with_mu(recipe, mu, has_budget="budget" in over)
    settings = VectorSettings(recipe, convert(options, Options, "settings"))
    _agree(settings)
    return settings


def _with_mu(recipe: Profile, mu: float, *, has_budget: bool) -> Profile:
    """Return a profile with the epsilon that mu and delta give."""
    params = recipe.mechanism.params
    if not isinstance(params, gaussian.Params):
        msg = f"--mu is for normal noise, and {recipe.mechanism.name} adds other noise"
        raise UsageError(msg)
    if has_budget:
        raise UsageError("give --mu or an epsilon or risk, not both")
    # Rounded down, so that mu is no more than was asked for.
    epsilon = epsilon_of(mu, params.delta) * (1.0 - 1e-9)
    if not epsilon:
        raise UsageError(f"--mu {mu:g}: epsilon is 0 then; give a smaller delta")
    return recipe.with_epsilon(epsilon)


def of_plain(plain: Mapping[str, object], name: str, lexicon: str) -> VectorSettings:
    """Return the settings of a report (VectorSettings.plain). Raises UsageError."""
    rest = {key: value for key, value in plain.items() if key != "embed"}
    recipe = replace(profile.resolved(rest, name, lexicon), mapping=None)
    settings = VectorSettings(recipe, convert(plain.get("embed"), Options, "settings"))
    _agree(settings)
    return settings


def check_text(name: str, value: object) -> None:
    """Refuse what a report could not hold: its JSON is UTF-8. Raises UsageError."""
    try:
        str(value).encode()
    except UnicodeEncodeError:
        shown = str(value).encode("utf-8", "backslashreplace").decode()
        raise UsageError(f"{name} {shown[:40]}: not UTF-8 text") from None


def _agree(settings: VectorSettings) -> None:
    """Refuse what does not go together."""
    recipe, options = settings.recipe, settings.options
    for name, value in asdict(options).items():
        check_text(f"--{name}", value)
    budget, tokens = recipe.budget.params, recipe.tokens
    if not isinstance(budget, uniform.Params):
        raise UsageError(
            f"budget {recipe.budget.name}: all vectors have one epsilon; use the "
            "budget uniform"
        )
    sentence = options.pool is Pool.SENTENCE
    copied = [
        f"tokens.{name}: {value}: nothing is copied into a vector; use perturb"
        for name in ("unknown", "number", "stop_word")
        if (value := getattr(tokens, name)) not in ("perturb", "drop")
    ]
    refusals = {
        f"mechanism {recipe.mechanism.name} draws words, not vectors; `dptext list "
        "mechanisms` shows those of the family noise": (
            recipe.mechanism.params.family != "noise"
        ),
        "a risk is about one word: give it with --pool word, or give an epsilon": (
            options.pool is not Pool.WORD and budget.risk is not None
        ),
        "--pool sentence and --model go together: give both": (
            sentence != (options.model is not None)
        ),
        f"space {recipe.space.name}: spaces are for vectors of a lexicon": (
            sentence and recipe.space.name != "identity"
        ),
        "--most is the number of vectors of one subject: name its --subject": (
            options.most > 1 and options.subject is None
        ),
        "tokens: nothing is copied into a vector; leave lists and forms out": (
            tokens.listed
        ),
        **dict.fromkeys(copied, True),
    }
    for message, refused in refusals.items():
        if refused:
            raise UsageError(message)
