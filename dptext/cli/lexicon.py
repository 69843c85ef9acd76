"""`dptext lexicon`: list, describe, import and build lexicons."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import faults, ngrams, options, screen

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

    entries = installed()
    if as_json:
        screen.print_json([_entry(entry) for entry in entries])
        return
    rows = [
        (
            entry.name,
            _count(entry.meta.get("words")),
            _count(entry.meta.get("dimensions")),
            entry.digest[:12],
            entry.problem or str(entry.meta.get("licence", "unknown")),
        )
        for entry in entries
    ]
    _print_table(rows, "name", "words", "dimensions", "digest", "licence")


@app.command()
def info(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE")],
    *,
    as_json: options.Json = False,
) -> None:
    """Describe a lexicon: words, digest, prior, licence, geometry, sizes."""
    from dptext.lexicons import find

    with _progress() as progress:
        lexicon = find(name, progress=progress, warn=faults.say)
    _show(lexicon, as_json)


app.command("ngrams")(ngrams.command)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File or folder.")],
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
            min=2,
            help="List only the first N words, no word too often. Default: all by "
            "distance; 8000 with --wordnet.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Import a file of vectors once, to be used by its name.

    GloVe text, word2vec text or binary, fastText .vec, .npz (words, vectors, counts),
    plain or gzip or zstd; or a folder with vocab.txt and vectors.npy. An existing
    lexicon of the same name is replaced.
    """
    from dptext.lexicons import english, locations, store
    from dptext.lexicons.importing import Settings, make

    folder = locations.folder_of(name)
    settings = Settings(format, max_words, listed, outputs)
    with _progress() as progress:
        lexicon = make(file, name, settings, wordnet=wordnet, progress=progress)
        store.save(lexicon, folder, [english.licence()] if wordnet else [])
    _show(store.load(folder), as_json)


@app.command()
def build(
    wordnet: Annotated[
        Path, typer.Option("--wordnet", help="Folder of the WordNet 3.0 database.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    size: Annotated[
        int | None, typer.Option("--size", min=1, help="Words; default: the built-in's")
    ] = None,
    *,
    as_json: options.Json = False,
) -> None:
    """Build the English lexicon from the WordNet database."""
    from dptext.lexicons import store
    from dptext.lexicons.build import build_english

    sizes = {} if size is None else {"size": size}
    with _progress() as progress:
        lexicon = build_english(
            wordnet, progress=lambda what: progress(what, 0.0), **sizes
        )
        store.save(lexicon, out)
    _show(store.load(out), as_json)


def _entry(entry: Installed) -> JsonObject:
    described = {"name": entry.name, "folder": str(entry.folder)}
    if entry.problem:
        return {**described, "problem": entry.problem}
    return {**entry.meta, **described, "digest": entry.digest}


def _show(lexicon: Lexicon, as_json: bool) -> None:
    """Describe a lexicon; provenance as its meta has it."""
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
        _print_table(list(_rows(description)))


def _rows(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        label = f"{prefix}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _rows(value, f"{label}: ")
        elif value is not None:
            yield label, _text(value)


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return _count(value) if isinstance(value, int) else str(value)


def _count(value: object) -> str:
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else ""


def _print_table(rows: Sequence[Sequence[str]], *columns: str) -> None:
    from rich.table import Table

    headings = columns or ("", "")
    table = Table(*headings, box=None, show_header=bool(columns), pad_edge=False)
    for column in table.columns:
        column.overflow = "fold"  # a digest that is cut short is of no use
    for row in rows:
        table.add_row(*row)
    screen.console().print(table)


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None]]:
    """Show what is being done, on a terminal's stderr only."""
    if not sys.stderr.isatty():
        yield lambda what, share: None
        return
    from rich.progress import Progress

    with Progress(console=screen.console(stderr=True), transient=True) as bars:
        task = bars.add_task("starting", total=1.0)
        yield lambda what, share: bars.update(task, description=what, completed=share)
