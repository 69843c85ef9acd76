"""Views: text vectors used to find topics, one file each.

A file defines `Params`, a frozen dataclass and subclass of `views.Params`: the settings
in a topics file. Their `prepare` returns a `View`. Other packages add views with the
entry point group `dptext.views`.

A view needs no guarantee: the draw of a topic protects the whole text, with any view
(docs/guarantees.md). There are two conditions. The vector of a text is a function of
this text and public data only, not of other texts in the batch. If the same text may
get another vector, `is_repeatable` is false, and a run with a key is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext import registry
from dptext.errors import UsageError
from dptext.settings import Prepared, convert
from dptext.tokens.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a view."""

    @abstractmethod
    def prepare(self) -> View:
        """Find models and lexicons. Raises UsageError and LexiconError."""


class View(Prepared, ABC):
    """A prepared view; `content` holds the digests of its models and lexicons."""

    __slots__ = ()

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """Return the length d of the vectors."""

    @property
    def is_repeatable(self) -> bool:
        """Return whether equal texts always have bit-identical vectors."""
        return True

    @property
    def words(self) -> Tokenizer | None:
        """Return a tokenizer for the words that matter, None if the whole text does."""
        return None

    @abstractmethod
    def vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the vector of each text: (n, d)."""


def prepare(settings: Mapping[str, Any]) -> View:
    """Prepare a view from its name and settings. Raises UsageError."""
    rest = dict(settings)
    name = rest.pop("name", None)
    if not isinstance(name, str):
        raise UsageError("view: give a name, or a name and parameters")
    module = registry.find("views", name)
    params: Params = convert(rest, module.Params, f"view {name}")
    return params.prepare()
