"""`dptext lexicon`: list, describe and import lexicons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import faults, ngrams, options, screen
from dptext.errors import UsageError
from dptext.progress import shares

if TYPE_CHECKING:
    from dptext.lexicons import Installed
    from dptext.types import JsonObject, Lexicon

# Those of dptext.lexicons.sources.
FORMATS = ("glove", "word2vec", "fasttext", "npz")
_ARRAYS = (
    *("vectors", "orders", "far", "counts"),
    *("synonym_ends", "synonyms", "information_content", "parts"),
)

app = typer.Typer(
    name="lexicon",
    help="Public vocabularies with vectors, and models of their pairs of words.",
    no_args_is_help=True,
)


@app.command("list")
def list_(*, as_json: options.Json = False) -> None:
    """List the lexicons that can be named: the built-in one and the imported ones."""
    from dptext.lexicons import installed
    from dptext.report.blocks import Column, Table
    from dptext.report.figures import count

    entries = installed()
    if as_json:
        screen.print_json([_entry(entry) for entry in entries])
        return
    columns = [Column("name"), Column("words", count), Column("dimensions", count)]
    columns += [Column("digest"), Column("licence")]
    rows = [
        (
            *(entry.name, entry.meta.get("words"), entry.meta.get("dimensions")),
            *(entry.digest[:12], entry.problem or entry.meta.get("licence", "unknown")),
        )
        for entry in entries
    ]
    screen.show(Table(columns, rows))


@app.command()
def info(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE")],
    *,
    as_json: options.Json = False,
) -> None:
    """Describe a lexicon: words, digest, prior, licence, geometry, sizes."""
    from dptext.lexicons import find

    _show(find(name, warn=faults.say), as_json)


app.command("ngrams")(ngrams.command)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Words and vectors.")],
    name: Annotated[str, typer.Option("--name", help="The name to use it by.")],
    *,
    format: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(FORMATS)}; else by the content.",
            callback=options.one_of("--format", *FORMATS),
        ),
    ] = None,
    max_words: Annotated[
        int | None, typer.Option("--max-words", min=1, help="Read only the first N.")
    ] = None,
    listed: Annotated[
        int, typer.Option("--listed", min=1, help="Replacements listed for each word.")
    ] = 100,
    wordnet: Annotated[
        Path | None,
        typer.Option(
            "--wordnet",
            help="English words: folder of the WordNet 3.0 database, to order "
            "replacements as the built-in lexicon does.",
        ),
    ] = None,
    outputs: Annotated[
        int | None,
        typer.Option(
            "--outputs",
            min=0,
            help="List only the first N words, no word too often; 0: all, by distance. "
            "Default: 8000 of more words, all of fewer.",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="Code of the language, as in de. Default: en where English words are "
            "the most frequent ones, else unknown.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Import a file of vectors once, to be used by its name.

    GloVe text, word2vec text or binary, fastText .vec, .npz (words, vectors, counts),
    plain or gzip, zstd, zip. An existing lexicon of the same name is replaced.
    """
    from dptext.lexicons import english, store
    from dptext.lexicons.importing import Settings, make
    from dptext.lexicons.store import folder_of

    folder = folder_of(name)
    settings = Settings(format, max_words, listed, outputs, language)
    with shares() as progress:
        if wordnet:
            progress("reading WordNet", 0.0)
        scheme = english.ByWordNet(wordnet, outputs) if wordnet else None
        lexicon = make(file, name, settings, scheme=scheme, progress=progress)
        store.save(lexicon, folder, [english.licence()] if wordnet else [])
    _show(store.load(folder), as_json)


@app.command(
    "build",
    hidden=True,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
def build() -> None:
    """Say where the English lexicon is built."""
    raise UsageError(
        "the English lexicon is built in a checkout of dptext: "
        "python -m tools.english --help"
    )


def _entry(entry: Installed) -> JsonObject:
    described = {"name": entry.name, "folder": str(entry.folder)}
    if entry.problem:
        return {**described, "problem": entry.problem}
    return {**entry.meta, **described, "digest": entry.digest}


def _show(lexicon: Lexicon, as_json: bool) -> None:
    """Describe a lexicon; provenance as its meta has it."""
    from dptext.report import figures
    from dptext.report.blocks import Figures

    arrays = {name: getattr(lexicon, name) for name in _ARRAYS}
    description = {
        "name": lexicon.name,
        "digest": lexicon.digest,
        **lexicon.meta,
        "words": len(lexicon.words),
        "dimensions": int(lexicon.vectors.shape[1]),
        "listed": int(lexicon.orders.shape[1]),
        "bytes": {
            name: int(array.nbytes)
            for name, array in arrays.items()
            if array is not None
        },
    }
    if as_json:
        screen.print_json(description)
    else:
        screen.show(Figures(list(figures.flat(description))))
