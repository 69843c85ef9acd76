"""Make a lexicon of a file of vectors.

Its entries are read (sources), folded (folding), put in order (arranging) and each
listed with its best replacements (schemes). All of it is public: no private text.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from dptext import cache
from dptext.errors import LexiconError, OutputError, UsageError
from dptext.lexicons import arranging, locations, sources, store
from dptext.lexicons.orders import check_coordinates, measure
from dptext.lexicons.schemes import ByCosine, ByDistance, Scheme
from dptext.progress import Shares
from dptext.types import ENGLISH, Lexicon

# Raised when the same file would give another lexicon: cached ones are not used then.
VERSION = 5
LISTED = 100
# How many words orders list of a larger file that is not asked for others.
OUTPUTS = 8_000

# So many of these among so many of the first words make a list an English one.
# Of these other languages have two at most among their frequent words.
_SIGNS = frozenset("the of and to that with it for".split())
_ENOUGH, _FIRST = 4, 200
_CODE = re.compile("[a-z]{2,3}")

ZIPF = "Zipf's law by file order (no counts in the source)"


@dataclass(frozen=True, slots=True)
class Settings:
    """How a file becomes a lexicon.

    format is one of sources.FORMATS, or None to detect it; max_words reads only the
    first so many entries; listed is k, the length of the orders; outputs is how many
    words orders list, 0: all, by distance (None: 8,000 of more words, all of fewer;
    with WordNet as many as the built-in lexicon); language is the code of the language,
    None: English if its function words are among the first entries, else "unknown".
    """

    format: str | None = None
    max_words: int | None = None
    listed: int = LISTED
    outputs: int | None = None
    language: str | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, int) and value < 1 and name != "outputs":
                msg = f"{name.replace('_', '-')} must be 1 or more"
                raise UsageError(msg)
        if self.language is not None and not _CODE.fullmatch(self.language):
            msg = "language must be a code of two or three small letters, as in de"
            raise UsageError(msg)
        few = self.outputs is not None and min(self.outputs, self.listed) == 1
        if few or (self.outputs or 0) < 0:
            msg = "outputs and listed must be 2 or more: a word and another"
            raise UsageError(msg)

    def key(self) -> str:
        """Write the settings and VERSION in one line, the same for the same lexicon."""
        values = {"version": VERSION, **asdict(self)}
        return " ".join(f"{name}={value}" for name, value in values.items())


def open_source(
    path: Path, settings: Settings, progress: Shares, warn: Callable[[str], None]
) -> Lexicon:
    """Return the lexicon of a file or folder of vectors, from the cache if it is there.

    What lies in the cache is used if its content is what was kept there and nobody but
    this user could have written it. A cache that cannot be written costs a warning and
    the time to import again.
    """
    source = sources.sha256(path)
    key = cache.key_of("lexicon", source, settings.key())
    folder = locations.cached() / key
    kept: list[Lexicon] = []

    def compute() -> dict[str, str]:
        lexicon = make(path, path.name, settings, digest=source, progress=progress)
        # What lies there is no good, or it would have been used.
        shutil.rmtree(folder, ignore_errors=True)
        try:
            store.save(lexicon, folder)
            cache.close(folder)
            kept.append(store.load(folder, verify=False))
        except (OSError, OutputError) as error:
            again = "the lexicon is not kept and will be imported again next time"
            warn(f"{error}; {again}")
            kept.append(replace(lexicon, digest=store.digest_in_memory(lexicon)))
        return {"digest": kept[-1].digest}

    def holds(entry: dict[str, str]) -> bool:
        if not cache.only_mine(folder):
            return False
        try:
            lexicon = store.load(folder)
        except LexiconError:
            return False
        kept.append(lexicon)
        return bool(lexicon.digest == entry["digest"])

    cache.numbers(key, compute, holds)
    # The name is that of the file asked for: the cached content may have another.
    return replace(kept[-1], name=path.name)


def make(
    path: Path,
    name: str,
    settings: Settings,
    *,
    wordnet: Path | None = None,
    digest: str | None = None,
    progress: Shares = sources.quiet,
) -> Lexicon:
    """Read a file or folder of vectors into a lexicon that is not stored yet.

    wordnet, the folder of its database, makes English orders. digest is the sha256 of
    the source if it is known. The digest of the result is empty: dptext.lexicons.store.
    save computes it.
    """
    english = wordnet and _english(wordnet, settings, progress)
    raw, format = sources.read(path, settings.format, settings.max_words, progress)
    check_coordinates(raw.vectors, str(path))
    scheme = english or _scheme(settings, len(raw.words))
    progress("folding words", 0.0)
    language = ENGLISH if english else settings.language or language_of(raw.words)
    entries, dropped = arranging.arranged(raw, str(path), scheme, language)
    words, vectors, counts, _ = entries
    prior = ZIPF if raw.counts is None else "counts of the source"
    meta = {
        "file": path.name,
        "sha256": digest or sources.sha256(path),
        "format": format,
        "words": len(words),
        "dimensions": int(vectors.shape[1]),
        "dropped": dropped,
        "prior": prior + scheme.PRIOR_NOTE,
        "language": language,
        "licence": "unknown (that of the source)",
        "max_words": settings.max_words,
    }
    del raw
    progress("ordering words", 0.0)
    ordered = scheme.ordered(
        entries, settings.listed, lambda share: progress("ordering words", share)
    )
    listed = int(ordered.orders.shape[1])
    far = ordered.far
    geometry = measure(vectors, lambda share: progress("measuring", share))
    return Lexicon(
        name=name,
        words=words,
        vectors=vectors,
        counts=counts,
        orders=ordered.orders,
        # A bound that every distance keeps.
        far=np.zeros(len(vectors), np.float32) if far is None else far,
        digest="",
        meta={**meta, **ordered.meta, "listed": listed, "geometry": geometry},
        **ordered.arrays,
    )


def language_of(words: Sequence[str]) -> str:
    """Tell English by its function words among the most frequent ones, else unknown."""
    first = {word.lower() for word in words[:_FIRST]}
    return ENGLISH if len(first & _SIGNS) >= _ENOUGH else "unknown"


def _english(wordnet: Path, settings: Settings, progress: Shares) -> Scheme:
    from dptext.lexicons.english import English

    if settings.outputs == 0:
        msg = "orders by WordNet are not by distance; give other outputs than 0"
        raise UsageError(msg)
    progress("reading WordNet", 0.0)
    return English(wordnet, settings.outputs)


def _scheme(settings: Settings, words: int) -> Scheme:
    outputs = settings.outputs
    if outputs is None and words > OUTPUTS:
        outputs = OUTPUTS
    return ByCosine(outputs) if outputs else ByDistance()
