"""`dptext lexicon ngrams`: a model of pairs of words from a public corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dptext.cli import faults, groups, options, screen


def command(
    files: Annotated[list[str], typer.Argument(help="Public texts: JSONL, CSV, text.")],
    name: Annotated[str, typer.Option("--name", help="The name to use it by.")],
    *,
    lexicon: Annotated[str, typer.Option(help=options.LEXICON)] = "builtin",
    field: groups.Fields = None,
    format: groups.Format = None,
    min_count: Annotated[
        int, typer.Option(min=1, help="Keep pairs that occur at least so often.")
    ] = 1,
    licence: Annotated[
        str, typer.Option(help="Licence of the corpus, for the record.")
    ] = "not stated",
    as_json: options.Json = False,
) -> None:
    """Make a language model for decoding from a corpus, which must be public.

    Its words are those of the lexicon. What private texts say would show in what is
    decoded by it: never count private texts, nor any that are to be made private.

    Example: dptext lexicon ngrams news.jsonl --name news
    """
    from dptext import lexicons, progress
    from dptext.evaluation.rows import texts_of
    from dptext.readers import ngrams
    from dptext.readers.ngrams import folder_of
    from dptext.readers.training import PairCounts

    folder = folder_of(name)
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
    digest = ngrams.save(model, folder)
    faults.say("the corpus must be public: its pairs of words show in what is decoded")
    result = {"name": name, "digest": digest, **meta, "pairs": len(model.gains)}
    if as_json:
        screen.print_json(result)
        return
    table = screen.table()
    for key, value in result.items():
        table.add_row(key, str(value))
    screen.console().print(table)
