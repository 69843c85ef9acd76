"""What a worker process keeps from one task to the next: the pipeline, made once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from dptext import failures, lexicons
from dptext.engines.pool import Recipe
from dptext.errors import DptextError, InternalError
from dptext.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dptext.types import Lexicon

Spark = Any  # a SparkSession or SparkContext: pyspark need not be there
T = TypeVar("T")
# What a task returns in the place of its result: trying again would not help.
Failure = DptextError | InternalError | OSError
_FAILURES = (DptextError, InternalError, OSError)

_READY: dict[tuple[str, str], Pipeline] = {}


class Shipped(NamedTuple):
    """What workers make a pipeline from.

    archive names the files of the lexicon that were sent to them; "" where every
    machine has it, as the built-in one.
    """

    recipe: Recipe
    archive: str = ""

    def pipeline(self) -> Pipeline:
        """Return the pipeline; the lexicon's arrays are mapped, not read.

        Raises LexiconError and UsageError where a file is not that of the driver.
        """
        name = self.recipe.digest, self.recipe.identity
        if name not in _READY:
            source = self.recipe.profile.lexicon
            if self.archive:
                from pyspark import SparkFiles

                source = SparkFiles.get(self.archive)
            _READY.clear()
            _READY[name] = self.recipe.pipeline(lexicons.find(source))
        return _READY[name]


def attempt(action: Callable[[], T]) -> T | Failure:
    """Return a result, or what went wrong, described without any text."""
    try:
        with failures.described():
            return action()
    except _FAILURES as error:
        return error


@contextmanager
def sent(context: Spark, lexicon: Lexicon) -> Iterator[str]:
    """Have Spark copy a lexicon to every machine once; yield the archive's name.

    Nothing is sent where all machines have it: the built-in one, and one machine.
    """
    is_builtin = lexicon.digest == lexicons.builtin_digest()
    if is_builtin or context.master.startswith("local["):
        yield ""
        return
    from dptext.lexicons import store

    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, f"{lexicon.digest[:16]}.tar")
        store.save(lexicon, Path(folder, "lexicon"))
        _pack(Path(folder, "lexicon"), archive)
        context.addArchive(archive)
        yield os.path.basename(archive)


def _pack(folder: Path, archive: str) -> None:
    import tarfile

    with tarfile.open(archive, "w") as packed:
        for path in sorted(folder.iterdir()):
            packed.add(path, path.name)
