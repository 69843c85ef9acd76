"""`dptext lexicon`: list, describe and import lexicons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import faults, options, parser, screen
from dptext.cli.parser import Number, one_of
from dptext.errors import UsageError
from dptext.progress import shares

if TYPE_CHECKING:
    from dptext.lexicons import Installed
    from dptext.types import JsonObject, Lexicon

# Those of dptext.lexicons.sources.
FORMATS = ("glove", "word2vec", "fasttext", "npz")

app = typer.Typer(
    name="lexicon",
    cls=parser.Group,
    help="List, import and adapt vocabularies, and count pairs of words.",
    no_args_is_help=True,
)


def list_(*, as_json: options.Json = False) -> None:
    """List the built-in lexicon and the imported ones."""
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


def info(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE")],
    *,
    as_json: options.Json = False,
) -> None:
    """Describe a lexicon: words, digest, licence, geometry."""
    from dptext.lexicons import find

    _show(find(name, warn=faults.say), as_json)


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File of words and vectors.")
    ],
    name: Annotated[str, typer.Option("--name", help="Name to save it under.")],
    *,
    format: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(FORMATS)}. Default: by content.",
            parser=one_of(*FORMATS),
        ),
    ] = None,
    max_words: Annotated[
        int | None,
        typer.Option(
            "--max-words", parser=Number(int, 1), help="Read only the first N words."
        ),
    ] = None,
    listed: Annotated[
        int,
        typer.Option(
            "--listed",
            parser=Number(int, 1),
            help="Number of replacements to store for each word.",
        ),
    ] = 100,
    english: Annotated[
        bool,
        typer.Option(
            "--english",
            help="English words: order replacements as the built-in lexicon does.",
        ),
    ] = False,
    outputs: Annotated[
        int | None,
        typer.Option(
            "--outputs",
            parser=Number(int, 0),
            help="Use only the first N words as replacements, none too often; 0: all "
            "words, by distance. Default: 8000, or all if there are fewer.",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="Language code, as in de. Default: en if the most frequent words are "
            "English, else unknown.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Import a file of word vectors as a lexicon.

    GloVe text, word2vec text or binary, fastText .vec, .npz (words, vectors, counts),
    plain or gzip, zstd, zip. An existing lexicon of the same name is replaced.
    """
    from dptext.lexicons import store
    from dptext.lexicons.importing import AsBuiltIn, Settings, licences, make
    from dptext.lexicons.store import folder_of

    folder = folder_of(name)
    settings = Settings(format, max_words, listed, outputs, language)
    with shares() as progress:
        scheme = AsBuiltIn(outputs) if english else None
        lexicon = make(file, name, settings, scheme=scheme, progress=progress)
        store.save(lexicon, folder, licences() if english else ())
    _show(store.load(folder), as_json)


def ngrams(
    files: Annotated[list[str], typer.Argument(help="Public texts: JSONL, CSV, text.")],
    name: Annotated[str, typer.Option("--name", help="Name to save it under.")],
    *,
    lexicon: Annotated[str, typer.Option(help=options.LEXICON)] = "builtin",
    field: options.Fields = None,
    format: options.Format = None,
    min_count: Annotated[
        int,
        typer.Option(
            parser=Number(int, 1),
            help="Keep words and pairs that occur at least this often.",
        ),
    ] = 1,
    licence: Annotated[
        str, typer.Option(help="Licence of the corpus, for the record.")
    ] = "not stated",
    as_json: options.Json = False,
) -> None:
    """Make a language model for decoding from a public corpus.

    It knows the words of the lexicon. Never count private texts, nor texts that will be
    made private: the pairs of words in the corpus show in decoded outputs.

    Example: dptext lexicon ngrams news.jsonl --name news
    """
    from dptext import lexicons, progress
    from dptext.evaluation.rows import texts_of
    from dptext.readers import ngrams as models
    from dptext.readers.training import PairCounts

    folder = models.folder_of(name)
    words = lexicons.find(lexicon, warn=faults.say)
    counts = PairCounts(words)
    with progress.step("counting pairs of words"):
        for batch in texts_of(files, tuple(field or ("text",)), format):
            counts.add(batch)
    meta = {
        "source": ", ".join(Path(file).name for file in files),
        "licence": licence,
        "lexicon": words.name,
        "counted": counts.words,
    }
    model = counts.model(min_count, meta)
    digest = models.save(model, folder)
    faults.say("the corpus must be public: its pairs of words show in decoded texts")
    result = {"name": name, "digest": digest, **meta, "pairs": len(model.gains)}
    screen.show_data(result, as_json)


def adapt(
    files: Annotated[list[str], typer.Argument(help="Public texts: JSONL, CSV, text.")],
    name: Annotated[str, typer.Option("--name", help="Name to save it under.")],
    *,
    lexicon: Annotated[str, typer.Option(help=options.LEXICON)] = "builtin",
    from_text: Annotated[
        bool,
        typer.Option(
            "--from-text",
            help="Learn words and vectors from these texts alone, for languages "
            "without a lexicon.",
        ),
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(help="Language code, as in de."),
    ] = None,
    min_count: Annotated[
        int,
        typer.Option(
            parser=Number(int, 1),
            help="Keep words and pairs that occur at least this often.",
        ),
    ] = 3,
    field: options.Fields = None,
    format: options.Format = None,
    as_json: options.Json = False,
) -> None:
    """Make a lexicon of one kind of text from public text of that kind.

    The lexicon gets the words of these texts, their frequencies, and their pairs for
    decoding. The texts must be public: their words show in outputs, and no guarantee
    covers them. Leave out the private texts and near copies of them. The quality of the
    lexicon is measured on one half of the texts with the pairs of the other.

    Example: dptext lexicon adapt old-tickets.jsonl --name tickets-en
    """
    import msgspec

    from dptext import lexicons
    from dptext.evaluation import adapting, views
    from dptext.evaluation.readers import PublicText

    if language is not None and not from_text:
        raise UsageError(
            "--language needs --from-text: a lexicon has a language already"
        )
    base = None if from_text else lexicons.find(lexicon, warn=faults.say)
    texts = [PublicText.of(file, field, format) for file in files]
    with shares() as progress:
        result = adapting.make(
            name,
            texts,
            progress,
            base=base,
            language=language or "unknown",
            least=min_count,
        )
    faults.say("the texts must be public: their words show in outputs")
    if as_json:
        screen.print_json(msgspec.to_builtins(result))
    else:
        screen.show(views.adapted(result))


def _entry(entry: Installed) -> JsonObject:
    described = {"name": entry.name, "folder": str(entry.folder)}
    if entry.problem:
        return {**described, "problem": entry.problem}
    return {**entry.meta, **described, "digest": entry.digest}


def _show(lexicon: Lexicon, as_json: bool) -> None:
    """Describe a lexicon; provenance as its meta has it."""
    description = {
        "name": lexicon.name,
        "digest": lexicon.digest,
        **lexicon.meta,
        "words": len(lexicon.words),
        "dimensions": int(lexicon.vectors.shape[1]),
        "listed": int(lexicon.orders.shape[1]),
    }
    screen.show_data(description, as_json)


for function in (list_, info, import_, adapt, ngrams):
    parser.add(app, function, function.__name__.rstrip("_"))
