"""Lexicons: the built-in one, imported ones, and files of vectors."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dptext.errors import LexiconError
from dptext.lexicons import store, topics
from dptext.lexicons.store import BUILTIN, is_name, packaged_folder, user_folder
from dptext.progress import shares

if TYPE_CHECKING:
    from dptext.lexicons.importing import Settings
    from dptext.types import JsonObject, Lexicon


@dataclass(frozen=True, slots=True)
class Installed:
    """A lexicon that `find` knows by name; problem: why it cannot be read."""

    name: str
    folder: Path
    digest: str = ""
    meta: JsonObject = field(default_factory=dict)
    problem: str = ""


def find(
    name_or_path: str,
    *,
    settings: Settings | None = None,
    warn: Callable[[str], None] | None = None,
) -> Lexicon:
    """Open a lexicon by name, from a folder, or from a file of vectors.

    Names of topics (dptext.lexicons.topics) begin with topics:. Any other known name
    takes precedence over a file of the same name (write ./NAME for the
    file). A file is imported on first use and cached; warn is called if the
    cache cannot be written.
    """
    if (named := topics.split(name_or_path)) is not None:
        return topics.open_lexicon(*named)
    path = Path(name_or_path)
    folders = [path]
    if is_name(name_or_path):
        folders.insert(0, user_folder() / name_or_path)
    if name_or_path in (BUILTIN, store.ENGLISH):
        folders = [packaged_folder()]
    for folder in folders:
        if os.path.isfile(folder / store.META):  # false, too, if it is unreadable
            return store.load(folder)
    if not path.exists():
        names = ", ".join(entry.name for entry in installed() if not entry.problem)
        raise LexiconError(
            f"no lexicon and no file named {name_or_path!r}; "
            f"known: {names or 'none'} (`dptext lexicon import` adds one)"
        )
    from dptext.lexicons import importing

    settings, warn = settings or importing.Settings(), warn or (lambda message: None)
    with shares():
        return importing.open_source(path, settings, warn)


def adapted_from(lexicon: Lexicon) -> str:
    """Name the public text that a lexicon was built from, "" if none."""
    source = lexicon.meta.get("adapted")
    if not source:
        return ""
    digests = [str(each)[:12] for each in lexicon.meta.get("adapted_sha256", ())]
    if not digests:
        return f"the text {source}"
    return f"the text {source} (sha256 {', '.join(digests)})"


def builtin_digest() -> str:
    """Return the digest of the built-in lexicon."""
    return store.read_meta(packaged_folder()).digest


def by_digest(digest: str) -> Lexicon | None:
    """Open a lexicon by digest: built-in, imported or cached.

    Its content is compared with the digest. None if there is no intact one.
    """
    folders = [packaged_folder()]
    for parent in (user_folder(), store.cached_folder()):
        folders += store.stored_in(parent)
    for folder in folders:
        try:
            if store.read_meta(folder).digest == digest:
                return store.load(folder)
        except LexiconError:
            continue
    return topics.by_digest(digest)


def installed() -> list[Installed]:
    """List the built-in lexicon and the imported ones, by name."""
    folders = [(BUILTIN, packaged_folder())]
    stored = store.stored_in(user_folder())
    folders += [(path.name, path) for path in stored if is_name(path.name)]
    entries = []
    for name, folder in folders:
        try:
            entries.append(Installed(name, folder, *store.read_meta(folder)[1:]))
        except LexiconError as error:
            entries.append(Installed(name, folder, problem=str(error)))
    return entries
