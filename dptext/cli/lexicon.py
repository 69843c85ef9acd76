"""`dptext lexicon`: list, describe and import lexicons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext import progress
from dptext.cli import faults, options, parser, screen
from dptext.cli.options import PublicFiles, SavedName
from dptext.errors import UsageError
from dptext.report.blocks import Column, Figures, Table
from dptext.run.marks import GUARANTEE, Number, Option, one_of
from dptext.run.selection import Selection

if TYPE_CHECKING:
    from dptext.types import JsonObject, Lexicon

# Those of dptext.lexicons.sources.
FORMATS = ("glove", "word2vec", "fasttext", "npz")
#: The lexicon that counts are made for, or that texts adapt.
BaseLexicon = Annotated[
    str,
    Option(
        "Lexicon of `dptext lexicon list`, or file.",
        GUARANTEE,
        metavar="NAME",
    ),
]


def list_(*, as_json: options.AsJson = False) -> None:
    """List the built-in and imported lexicons."""
    from dptext.lexicons import installed
    from dptext.report.figures import count

    plain: list[JsonObject] = []
    for each in installed():
        state = {"problem": each.problem} if each.problem else {"digest": each.digest}
        known = {**each.meta, "name": each.name, "folder": str(each.folder)}
        plain.append(known | state)
    columns = (
        Column("name"),
        Column("words", count),
        Column("dimensions", count),
        Column("digest", path=lambda row: row.get("digest", "")[:12]),
        Column(
            "licence",
            path=lambda row: row.get("problem") or row.get("licence", "unknown"),
        ),
    )
    screen.deliver(plain, as_json, Table.from_items(columns, plain))


def info(
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="Name of a lexicon, or a file.")
    ],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Describe a lexicon: words, digest, licence, geometry."""
    from dptext.lexicons import find

    _show(find(name, warn=faults.print_line), as_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordFile:
    """The vectors to import, and the replacements to store."""

    format: Annotated[
        str | None,
        Option(
            f"{', '.join(FORMATS)}. Default: by content.",
            parse=one_of(*FORMATS),
            metavar="NAME",
        ),
    ] = None
    max_words: Annotated[
        int | None,
        Option("Read only the first N words.", parse=Number(kind=int, low=1)),
    ] = None
    listed: Annotated[
        int,
        Option(
            "Number of replacements to store for each word.",
            parse=Number(kind=int, low=1),
        ),
    ] = 100
    english: Annotated[
        bool, Option("For English words: order replacements like the built-in lexicon.")
    ] = False
    outputs: Annotated[
        int | None,
        Option(
            "Use only the first N words as replacements; 0: all words, ordered by "
            "distance. Default: 8000, or all if there are fewer.",
            parse=Number(kind=int, low=0),
        ),
    ] = None
    language: Annotated[
        str | None,
        Option(
            "Language code, as in de. Default: en if the most frequent words are "
            "English, else unknown.",
            metavar="NAME",
        ),
    ] = None


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File of words and vectors.")
    ],
    *,
    name: SavedName,
    source: WordFile,
    as_json: options.AsJson = False,
) -> None:
    """Import a file of word vectors as a lexicon.

    GloVe text, word2vec text or binary, fastText .vec, .npz (words, vectors, counts),
    plain or gzip, zstd, zip. An existing lexicon of the same name is replaced.
    """
    from dptext.lexicons import store
    from dptext.lexicons.importing import AsBuiltIn, Settings, licences, make

    folder = store.lexicon_folder(name)
    settings = Settings(
        format=source.format,
        max_words=source.max_words,
        listed=source.listed,
        outputs=source.outputs,
        language=source.language,
    )
    with progress.shares():
        scheme = AsBuiltIn(source.outputs) if source.english else None
        lexicon = make(file, name, settings, scheme=scheme)
        store.save(lexicon, folder, licences() if source.english else ())
    _show(store.load(folder), as_json)


def ngrams(
    files: PublicFiles,
    *,
    name: SavedName,
    lexicon: BaseLexicon = "builtin",
    public: Annotated[Selection, parser.Take("fields format", is_typed=True)],
    min_count: Annotated[
        int,
        Option(
            "Keep pairs that occur at least this often.", parse=Number(kind=int, low=1)
        ),
    ] = 1,
    licence: Annotated[
        str, Option("Licence of the corpus, for the record.", metavar="TEXT")
    ] = "not stated",
    as_json: options.AsJson = False,
) -> None:
    """Make a language model for decoding from a public corpus.

    It knows the words of the lexicon. Never count private texts, nor texts that will be
    made private: the pairs of words in the corpus show in decoded outputs.
    """
    from dptext import lexicons
    from dptext.attackers import ngrams as models
    from dptext.attackers.training import PairCounts
    from dptext.evaluation.rows import read_texts

    folder = models.model_folder(name)
    selection = replace(public, fields=public.fields or ("text",), missing="pass")
    words = lexicons.find(lexicon, warn=faults.print_line)
    counts = PairCounts(words)
    with progress.step("counting pairs of words"):
        for batch in read_texts(files, selection):
            counts.add(batch)
    meta = {
        "source": ", ".join(Path(file).name for file in files),
        "licence": licence,
        "lexicon": words.name,
        "counted": counts.words,
    }
    model = counts.model(min_count, meta)
    digest = models.save(model, folder)
    faults.print_line(
        "the corpus must be public: its word pairs become visible in decoded texts"
    )
    model_data = {"name": name, "digest": digest, **meta, "pairs": len(model.gains)}
    _deliver(model_data, as_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Settings for learning from public texts."""

    from_text: Annotated[
        bool,
        Option(
            "Learn words and vectors only from these texts, for languages without a "
            "lexicon."
        ),
    ] = False
    language: Annotated[
        str | None, Option("Language code, as in de.", metavar="NAME")
    ] = None
    min_count: Annotated[
        int,
        Option(
            "Keep words and pairs that occur at least this often.",
            parse=Number(kind=int, low=1),
        ),
    ] = 3

    def __post_init__(self) -> None:
        """Raise UsageError if a language is set for an existing lexicon."""
        if self.language is not None and not self.from_text:
            raise UsageError(
                "--language needs --from-text: an existing lexicon already has a "
                "language"
            )


def adapt(
    files: PublicFiles,
    *,
    name: SavedName,
    lexicon: BaseLexicon = "builtin",
    learned: Learned,
    public: Annotated[Selection, parser.Take("fields format", is_typed=True)],
    as_json: options.AsJson = False,
) -> None:
    """Make a lexicon of one kind of text from public text of that kind.

    The lexicon gets the words of these texts, their frequencies, and their pairs for
    decoding. The texts must be public: their words show in outputs, and no guarantee
    covers them. Leave out the private texts and near copies of them. The quality of the
    lexicon is measured on one half of the texts with the pairs of the other.
    """
    from dptext import lexicons
    from dptext.evaluation import adapting, views
    from dptext.evaluation.attackers import PublicText

    base = None if learned.from_text else lexicons.find(lexicon, warn=faults.print_line)
    texts = [PublicText.from_file(file, public.fields, public.format) for file in files]
    with progress.shares():
        result = adapting.make(
            name,
            texts,
            base=base,
            language=learned.language or "unknown",
            least=learned.min_count,
        )
    faults.print_line("the texts must be public: their words become visible in outputs")
    screen.deliver(result, as_json, views.adapted(result))


def _show(lexicon: Lexicon, as_json: bool) -> None:
    """Describe a lexicon, with the provenance from its metadata."""
    description = {
        "name": lexicon.name,
        "digest": lexicon.digest,
        **lexicon.meta,
        "words": len(lexicon.words),
        "dimensions": int(lexicon.vectors.shape[1]),
        "listed": int(lexicon.orders.shape[1]),
    }
    _deliver(description, as_json)


def _deliver(plain: JsonObject, as_json: bool) -> None:
    """Print plain data as JSON, or with dotted names."""
    from dptext.report import figures

    screen.deliver(plain, as_json, Figures(list(figures.flat(plain))))


app = parser.group(
    "lexicon",
    "List, import and adapt vocabularies, and count pairs of words.",
    {
        list_: "dptext lexicon list",
        info: "dptext lexicon info builtin",
        import_: "dptext lexicon import glove.6B.50d.txt --name glove",
        adapt: "dptext lexicon adapt old-tickets.jsonl --name tickets-en",
        ngrams: "dptext lexicon ngrams news.jsonl --name news",
    },
)
