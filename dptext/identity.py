"""What decides a run's output besides key and input, as one digest for its nonces.

Two runs share their random bits only where all of it is equal: the settings, with the
content of the files that they name in place of the paths; the lexicon's content; the
code, as dptext's version and ALGORITHM say it, and that of components of other
packages. What a component computes from these (orders, chains, shipped tables) follows.
"""

from __future__ import annotations

from collections.abc import Mapping

from dptext import __version__, content, registry
from dptext.profile import STAGES, Profile
from dptext.randomness import ALGORITHM
from dptext.tokens import lists
from dptext.types import JsonObject


def of(
    recipe: Profile,
    lexicon: str,
    contents: Mapping[str, Mapping[str, str]],
    used: tuple[str, ...],
) -> str:
    """Return the sha256 of all that decides the output.

    lexicon is the digest of its content; contents holds, by the key of a part, the
    digests of what its settings name; used is what the budget says it rests on, which
    counts where it is another package's and may keep its own files.
    """
    settings = recipe.settings()
    named: dict[str, JsonObject] = {}
    for key, part in recipe.parts().items():
        code = registry.code(STAGES[key], part.name)
        digests = dict(contents.get(key, {}))
        for path in digests:
            _remove(settings[key], path.split("."))
        named[key] = {"content": digests, "code": code, "used": used if code else ()}
    # Files of lists count by their content, wherever they lie.
    settings["tokens"] = lists.without_paths(recipe.tokens).settings()
    return content.of_data(
        {
            "algorithm": ALGORITHM.decode(),
            "version": __version__,
            "lexicon": lexicon,
            "settings": settings,
            "named": named,
        }
    )


def _remove(settings: object, path: list[str]) -> None:
    """Take a nested key out of settings where it is there."""
    for key in path[:-1]:
        settings = settings.get(key) if isinstance(settings, dict) else None
    if isinstance(settings, dict):
        settings.pop(path[-1], None)
