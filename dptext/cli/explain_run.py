"""What `dptext explain` does with its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dptext import lexicons, pipeline, profile
from dptext.cli import screen
from dptext.guarantees import account
from dptext.report import explanation
from dptext.report.explanation import Explanation, Token
from dptext.report.figures import share

_BAR = 16
_STYLES = {
    "replaced": "bold green",
    "copied": "yellow",
    "random digits": "blue",
    "masked": "magenta",
    "left out": "dim strike",
}


def run(
    text: str,
    name: str,
    over: dict[str, Any],
    top: int,
    *,
    as_json: bool,
    html: Path | None,
) -> None:
    """Explain a text and print it, as a table, as JSON or as a page."""
    if text == "-":
        text = sys.stdin.read()
    recipe = profile.load(name, over)
    made = pipeline.build(recipe, lexicons.find(recipe.lexicon))
    told = account.statement(
        made.profile,
        made.channel,
        made.budget.description,
        key="system",
        lexicon_given=made.profile.lexicon not in ("builtin", "english"),
        identified=False,
        fields=None,
    )
    found = explanation.explain(made, text, told, top)
    if html is not None:
        from dptext.report import explanation_page

        explanation_page.write(found, html)
    elif as_json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())  # noqa: T201
    else:
        show(found, screen.console())


def show(found: Explanation, console: Console) -> None:
    """Print an explanation as two tables: epsilon, and what each word may become."""
    if found.tokens:
        console.print(_legend(found))
    console.print(_spread(found))
    console.print(
        Text(f"epsilon of the words together: {found.epsilon:.6g}\n", style="bold")
    )
    if any(token.likeliest for token in found.tokens):
        console.print(_replacements(found))
        console.print()
    for line in (*found.notes, found.guarantee.sentence, found.guarantee.text_level):
        console.print(Text(line))


def _legend(found: Explanation) -> Text:
    """Name the colours of the treatments that occur."""
    names = (Text(name, style=_STYLES.get(name, "")) for name in found.treatments)
    return Text("tokens: ") + Text(", ").join(names)


def _spread(found: Explanation) -> Table:
    names = list(dict.fromkeys(name for t in found.tokens for name in t.scores))
    # Of a score, its share of the text is shown; the score itself is in the JSON.
    shared = [name for name in names if f"{name} share" not in names]
    table = Table(box=None, padding=(0, 1))
    table.add_column("token")
    for name in shared:
        table.add_column(name.removesuffix(" share"), justify="right")
    table.add_column("part", justify="right")
    table.add_column("epsilon", justify="right")
    table.add_column("", no_wrap=True)
    largest = max((token.epsilon or 0.0 for token in found.tokens), default=0.0)
    for token in found.tokens:
        style = _STYLES.get(token.treatment, "")
        cells = [Text(screen.escape(token.text), style=style)]
        cells += [Text(_number(token.scores.get(name))) for name in shared]
        if token.replaced:
            cells += [Text(share(token.proportion)), Text(f"{token.epsilon:.4g}")]
        else:
            cells += [Text(""), Text(token.treatment, style="dim")]
        cells.append(Text(bar(token, largest), style="cyan"))
        table.add_row(*cells)
    return table


def _replacements(found: Explanation) -> Table:
    table = Table(box=None, padding=(0, 1))
    table.add_column("token")
    table.add_column("stays", justify="right")
    table.add_column("likeliest replacements")
    for token in found.tokens:
        if token.stays is not None:
            table.add_row(
                Text(screen.escape(token.text)),
                Text(share(token.stays)),
                Text(likeliest(token)),
            )
    return table


def bar(token: Token, largest: float) -> str:
    """Return a bar as long as the token's epsilon."""
    if token.epsilon is None or not largest:
        return ""
    return "█" * max(1, round(_BAR * token.epsilon / largest))


def likeliest(token: Token) -> str:
    """Return the likeliest replacements in one line."""
    return ", ".join(
        f"{each.word} {share(each.probability)}" for each in token.likeliest
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
