"""The tables that `dptext explain` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dptext.cli import screen
from dptext.report.figures import share

if TYPE_CHECKING:
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


def legend(result: Explanation) -> Text:
    """Name the colours of the treatments that occur."""
    from rich.text import Text

    names = (Text(name, style=_STYLES.get(name, "")) for name in result.treatments)
    return Text("tokens: ") + Text(", ").join(names)


def spread(result: Explanation) -> Table:
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


def replacements(result: Explanation) -> Table:
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
