"""Files of vectors used directly: imported once, found again by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dptext.errors import LexiconError, OutputError
from dptext.lexicons import places, sources, store
from dptext.lexicons.importing import Settings, make
from dptext.lexicons.sources import Progress
from dptext.types import Lexicon

Warn = Callable[[str], None]


def open_source(
    path: Path, settings: Settings, progress: Progress, warn: Warn
) -> Lexicon:
    """Return the lexicon of a file or folder of vectors, from the cache if it is there.

    A cache that cannot be written costs a warning and the time to import again.
    """
    digest = sources.sha256(path)
    key = hashlib.sha256(f"{digest} {settings.key()}".encode()).hexdigest()
    folder = places.cached() / key[:32]
    try:
        # The name is that of the file asked for: the cached content may have another.
        return replace(store.load(folder), name=path.name)
    except LexiconError:
        pass
    lexicon = make(path, path.name, settings, digest=digest, progress=progress)
    try:
        store.save(lexicon, folder)
    except OutputError as error:
        warn(f"{error}; the lexicon is not kept and will be imported again next time")
        return replace(lexicon, digest=store.digest_in_memory(lexicon))
    return store.load(folder, verify=False)
