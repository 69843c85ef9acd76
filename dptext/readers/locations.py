"""Where n-gram models lie: in the package, in the user's store."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from dptext.errors import LexiconError, UsageError
from dptext.lexicons import locations
from dptext.readers import ngrams
from dptext.readers.channel import Channel
from dptext.readers.ngrams import Ngrams

# The model that ships, and its folder.
ENGLISH = "english"
# A model that knows fewer of the words that are replaced is none for a lexicon.
_LEAST_KNOWN = 0.5


def packaged() -> Path:
    """Return the folder of the model that ships."""
    return locations.packaged().parent / "ngrams" / ENGLISH


def folder_of(name: str) -> Path:
    """Return the folder of a model that was made; UsageError for an unfit name."""
    if name == ENGLISH or not locations.is_name(name):
        msg = (
            f"n-gram model {name!r}: choose another name, of letters, digits, '_', '-' "
            f"and '.', and not {ENGLISH!r}"
        )
        raise UsageError(msg)
    return locations.stored().parent / "ngrams" / name


@lru_cache(maxsize=1)
def find(name_or_path: str, channel: Channel) -> Ngrams:
    """Open a model by its name or folder, over the words of a channel's lexicon.

    Raises LexiconError where there is none, or none for this lexicon.
    """
    if name_or_path == ENGLISH:
        folder = packaged()
    else:
        folder = Path(name_or_path)
        if locations.is_name(name_or_path) and folder_of(name_or_path).is_dir():
            folder = folder_of(name_or_path)
    if not folder.is_dir():
        msg = (
            f"no n-gram model named {name_or_path!r}; `dptext lexicon ngrams` makes "
            "one from a public corpus"
        )
        raise LexiconError(msg)
    model = ngrams.load(folder)
    lexicon = channel.lexicon
    if model.words == lexicon.words:
        return model
    theirs = {word.lower() for word in model.words}
    known = [word.lower() in theirs for word in lexicon.words]
    share = float(channel.prior[known].sum())
    if share < _LEAST_KNOWN:
        msg = (
            f"n-gram model {name_or_path!r}: it knows {share:.0%} of the words of "
            f"lexicon {lexicon.name!r} in running text; make one for its language with "
            "dptext lexicon ngrams"
        )
        raise LexiconError(msg)
    return model.over(lexicon)
