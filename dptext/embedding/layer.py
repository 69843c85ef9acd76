"""A noise layer for any vectors, without texts or public words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from dptext import registry, spaces
from dptext.embedding import release, tables
from dptext.embedding.settings import Options, Pool
from dptext.errors import UsageError
from dptext.mechanisms import Aim, NoiseMechanism
from dptext.mechanisms.mahalanobis import Mahalanobis
from dptext.settings import convert
from dptext.spaces.identity import Params as Identity


def ready(
    name: str, width: int, longest: float, epsilon: float, chosen: Mapping[str, object]
) -> NoiseMechanism:
    """Make a mechanism ready for any vectors of a width, up to a length.

    chosen are parameters that count where it has them and they are not None. Raises
    UsageError.
    """
    module = registry.find("mechanisms", name)
    known = {each.name for each in fields(module.Params)}
    settings = {k: v for k, v in chosen.items() if k in known and v is not None}
    if "clip" in known:
        settings["clip"] = longest
    params = convert(settings, module.Params, "mechanism")
    options = Options(pool=Pool.SENTENCE, longest=longest)
    space = spaces.prepare(tables.axes(width, longest), "identity", Identity())
    mechanism = release.for_inputs(params, options).prepare(space, Aim())
    if isinstance(mechanism, Mahalanobis) or not isinstance(mechanism, NoiseMechanism):
        msg = f"mechanism {name} needs public vectors, or releases none"
        raise UsageError(msg)
    release.check(mechanism, epsilon)
    return mechanism
