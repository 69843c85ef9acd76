"""Word-level differential privacy for text. Imports nothing heavy.

>>> import dptext
>>> private = dptext.privatize("Call me at noon.")
>>> vectors = dptext.embed(["Call me at noon."], epsilon=8)
>>> private, report = dptext.privatize(["Call me at noon."], risk="10%", report=True)
>>> dptext.sanitize_files("tickets.csv", "private.csv", fields="body")  # doctest: +SKIP
"""

from __future__ import annotations

from dptext._version import __version__

# typing has it, too, but is not loaded for it. Editors pass over the names below if
# they can tell that it is false (jedi): the annotation leaves it open.
TYPE_CHECKING: bool = False
if TYPE_CHECKING:
    from typing import Any

    from dptext.api import Sanitizer as Sanitizer
    from dptext.api import embed as embed
    from dptext.api import load_profile as load_profile
    from dptext.api import open_pipeline as open_pipeline
    from dptext.api import privatize as privatize
    from dptext.api import sanitize_files as sanitize_files
    from dptext.pipeline import Pipeline as Pipeline
    from dptext.profile import Profile as Profile

_API = (
    "Pipeline",
    "Sanitizer",
    "embed",
    "load_profile",
    "open_pipeline",
    "privatize",
    "sanitize_files",
)
__all__ = ["__version__", *_API]


def __getattr__(name: str) -> Any:
    """Import a public name on first access."""
    if name in _API:
        from dptext import errors

        errors.check_platform()  # before what another system may lack is imported
        from dptext import api

        return getattr(api, name)
    raise AttributeError(f"module 'dptext' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
