"""`dptext topics`: make and show the topics that take the place of whole texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import faults, options, parser, screen
from dptext.cli.options import PublicFiles, Text, Texts
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.lexicons.topics import TopicFile
    from dptext.report.blocks import Block
    from dptext.types import JsonObject

_SIZES = "4,16,64,256"

app = typer.Typer(
    name="topics",
    cls=parser.Group,
    help="Make topics of public text, for releases that protect whole texts.",
    no_args_is_help=True,
)


def build(
    files: PublicFiles,
    *,
    name: Annotated[str, "Name to save the topics under."],
    field: Texts = None,
    format: options.Format = None,
    label: Annotated[
        Text, "Field with public labels for the topics to follow, as in product."
    ] = None,
    sizes: Annotated[str, "Numbers of topics, as in 4,16,64."] = _SIZES,
    lexicon: Annotated[Text, "Lexicon for the vectors of texts."] = None,
    model: Annotated[Text, "Sentence model for the vectors of texts."] = None,
    as_json: bool = False,
) -> None:
    """Make topics of public text.

    Never use private texts, nor texts that will be made private: the words of topics
    show parts of them.

    Example: dptext topics build old-tickets.jsonl --name tickets
    """
    from dptext.evaluation import topics
    from dptext.evaluation.rows import records
    from dptext.lexicons import store
    from dptext.lexicons.topics import PublicSource, encode, path_of
    from dptext.settings import digest_of_path
    from dptext.types import Selection

    if not store.is_name(name):
        raise UsageError(f"--name {name}: use letters, digits, - and _")
    if lexicon is not None and model is not None:
        raise UsageError("give --lexicon or --model, not both")
    numbers = _numbers(sizes)
    texts: list[str] = []
    labels: list[str] = []
    sources = []
    selection = Selection(fields=tuple(field or ("text",)), missing="pass")
    named = () if label is None else (label,)
    for file in files:
        before = len(texts)
        for row in records(file, selection, named, format):
            values = [each for each in row.values if each is not None]
            if len(values) < len(named):
                continue  # a text without a label follows none
            texts.append("\n".join(row.texts))
            labels += values
        sources.append(
            PublicSource(_base_name(file), digest_of_path(file), len(texts) - before)
        )
    view: JsonObject = {"name": "sif", "lexicon": lexicon or "builtin"}
    if model is not None:
        view = {"name": "sentence", "model": model}
    public = topics.PublicTexts(texts, labels if named else None, tuple(sources))
    document = topics.build(name, public, numbers, view)
    path = path_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    screen.write_file(path, encode(document))
    faults.say("the texts must be public: words of them show in outputs")
    screen.deliver(_plain(document), as_json, *_blocks(document))


def show(name: Annotated[str, "NAME|FILE"], *, as_json: bool = False) -> None:
    """Show topics: their words, how common they are, what is kept at each epsilon."""
    from dptext.lexicons.topics import read

    document = read(name)
    screen.deliver(_plain(document), as_json, *_blocks(document))


def _numbers(sizes: str) -> list[int]:
    parts = [part.strip() for part in sizes.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise UsageError(f"--sizes {sizes}: give whole numbers, as in {_SIZES}")
    return sorted({int(part) for part in parts})


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _plain(document: TopicFile) -> JsonObject:
    """Return a file of topics for machines, without vectors and digests of rows."""
    import msgspec

    plain: JsonObject = msgspec.to_builtins(document)
    del plain["rows"], plain["classes"]
    for size in plain["sizes"].values():
        del size["centres"]
    return {"digest": document.digest, **plain}


def _blocks(document: TopicFile) -> list[Block]:
    """Return a table of the sizes, and one of the topics of each size."""
    from dptext.lexicons.topics import EPSILON_OF_NOTE, size_for
    from dptext.report.blocks import Column, Table
    from dptext.report.figures import count, whole

    blocks: list[Block] = []
    rows = []
    for number in document.numbers:
        topics = document.sizes[str(number)]
        kept = {each.epsilon: each.private for each in topics.kept}
        from_epsilon = next(
            (e for e in EPSILON_OF_NOTE if size_for(document.numbers, e) == number),
            None,
        )
        shares = [kept.get(epsilon) for epsilon in (2.0, 4.0, 6.0, 8.0)]
        rows.append((number, from_epsilon, topics.halves, *shares))
    heads = [Column("topics", count), Column("used from epsilon")]
    heads += [Column("halves agree", whole)]
    heads += [Column(f"labels kept at {e}", whole) for e in (2, 4, 6, 8)]
    if not any(document.sizes[str(n)].kept for n in document.numbers):
        heads, rows = heads[:3], [row[:3] for row in rows]
    blocks.append(Table(heads, rows))
    for number in document.numbers:
        topics = document.sizes[str(number)]
        total = sum(topics.counts)
        order = sorted(range(number), key=lambda row: -topics.counts[row])
        listed = [
            (rank + 1, topics.phrases[row], topics.counts[row] / total)
            for rank, row in enumerate(order)
        ]
        columns = [Column("topic", count), Column("words"), Column("share", whole)]
        blocks.append(Table(columns, listed, title=f"{number} topics"))
    return blocks


for function in (build, show):
    parser.add(app, function, function.__name__)
