"""`dptext explain`: epsilon and likeliest replacements of each word of a text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, screen
from dptext.cli.values import Number
from dptext.report.figures import share

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from dptext.report.explanation import Explanation, Token

_BAR = 16
_STYLES = {
    "replaced": "bold green",
    "copied": "yellow",
    "random digits": "blue",
    "random of its form": "blue",
    "masked": "magenta",
    "left out": "dim strike",
}


def command(
    text: Annotated[
        str, typer.Argument(help="The text; - reads it from standard input.")
    ],
    profile: options.Profile = "balanced",
    *,
    changes: options.Changes,
    top: Annotated[
        int,
        typer.Option(
            parser=Number(int, 0, 1000), help="Replacements named for each word."
        ),
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
        console.print(_legend(result))
    console.print(_spread(result))
    total = f"epsilon of the words together: {result.epsilon:.6g}\n"
    console.print(total, style="bold")
    if any(token.likeliest for token in result.tokens):
        console.print(_replacements(result))
        console.print()
    promise = result.guarantee
    for line in (*result.notes, promise.sentence, promise.text_level):
        console.print(line)


def _legend(result: Explanation) -> Text:
    """Name the colours of the treatments that occur."""
    from rich.text import Text

    names = (Text(name, style=_STYLES.get(name, "")) for name in result.treatments)
    return Text("tokens: ") + Text(", ").join(names)


def _spread(result: Explanation) -> Table:
    """Show how epsilon is spread over the tokens."""
    from rich.text import Text

    names = dict.fromkeys(name for token in result.tokens for name in token.scores)
    # Of a score, its share of the text is shown; the score itself is in the JSON.
    scores = [name for name in names if f"{name} share" not in names]
    headings = [name.removesuffix(" share") for name in scores]
    numbers = [*headings, "part", "epsilon"]
    table = screen.table("token", *numbers, right=numbers, gap=1)
    table.add_column("", no_wrap=True)
    largest = max((token.epsilon or 0.0 for token in result.tokens), default=0.0)
    for token in result.tokens:
        style = _STYLES.get(token.treatment, "")
        cells = [Text(screen.escape(token.text), style=style)]
        cells += [Text(_number(token.scores.get(name))) for name in scores]
        if token.replaced:
            cells += [Text(share(token.proportion)), Text(f"{token.epsilon:.4g}")]
        else:
            cells += [Text(""), Text(token.treatment, style="dim")]
        table.add_row(*cells, Text(_bar(token, largest), style="cyan"))
    return table


def _replacements(result: Explanation) -> Table:
    """Show what each word may become."""
    headings = ("token", "stays", "likeliest replacements")
    table = screen.table(*headings, right=("stays",), gap=1)
    for token in result.tokens:
        if token.stays is not None:
            words = (
                f"{each.word} {share(each.probability)}" for each in token.likeliest
            )
            table.add_row(
                screen.escape(token.text), share(token.stays), ", ".join(words)
            )
    return table


def _bar(token: Token, largest: float) -> str:
    """Return a bar as long as the token's epsilon."""
    if token.epsilon is None or not largest:
        return ""
    return "█" * max(1, round(_BAR * token.epsilon / largest))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
