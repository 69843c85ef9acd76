"""`dptext explain`: epsilon and likeliest replacements of each word of a text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import explanation_tables, groups, options, screen

if TYPE_CHECKING:
    from rich.console import Console

    from dptext.report.explanation import Explanation


def command(
    text: Annotated[
        str, typer.Argument(help="The text; - reads it from standard input.")
    ],
    profile: options.Profile = "balanced",
    *,
    changes: groups.Changes,
    top: Annotated[
        int, typer.Option(min=0, max=1000, help="Replacements named for each word.")
    ] = 5,
    as_json: options.Json = False,
    html: options.Html = None,
) -> None:
    """Show how epsilon is spread over a text and what its words may become.

    The table shows the text: it is for its owner only. Nothing is released and no
    budget is spent. With --html the table is a page instead.

    Example: dptext explain "I love this small hotel in Paris."
    """
    from dptext import api
    from dptext.report import explanation, explanation_page

    if text == "-":
        text = sys.stdin.read()
    pipeline = api.open_pipeline(profile, changes.overrides())
    result = explanation.explain(pipeline, text, top)
    if html is not None:
        screen.write_file(html, explanation_page.render(result))
    elif as_json:
        screen.print_json(result)
    else:
        _show(result, screen.console())


def _show(result: Explanation, console: Console) -> None:
    """Print an explanation as two tables: epsilon, and what each word may become."""
    if result.tokens:
        console.print(explanation_tables.legend(result))
    console.print(explanation_tables.spread(result))
    total = f"epsilon of the words together: {result.epsilon:.6g}\n"
    console.print(total, style="bold")
    if any(token.likeliest for token in result.tokens):
        console.print(explanation_tables.replacements(result))
        console.print()
    promise = result.guarantee
    for line in (*result.notes, promise.sentence, promise.text_level):
        console.print(line)
