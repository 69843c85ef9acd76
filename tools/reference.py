"""Write the reference of the site from the program: commands, keys, exit codes.

    python -m tools.reference

Makes docs/reference/commands.md, profile-keys.md and exit-codes.md from the options of
the command line, the settings of components and the tree of errors. A test holds the
pages to the program; the fields of reports have a separate page.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from typer.main import get_command

from dptext import errors, profile, registry
from dptext.cli.app import app
from dptext.cli.list import allowed_values
from dptext.tokens.policy import Policy

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
MADE = "<!-- made by python -m tools.reference -->\n"

# Keys of a profile that are no component's.
KEYS = {
    "name": ("text", "name of the profile, in reports"),
    "about": ("text", "one line for `dptext list profiles`"),
    "source": ("text", "the paper, if there is one"),
    "lexicon": ("name or file", "a lexicon of `dptext lexicon list`, or a file"),
    "space": ("name or mapping", "public transform of the vectors"),
    "mechanism": ("name or mapping", "how a word is drawn"),
    "mapping": ("name or mapping", "noisy vector to word; mechanisms with noise only"),
    "budget": ("name or mapping", "the epsilon of each word"),
    "decoder": ("name or mapping", "how drawn words become written ones"),
    "strategy": (
        "token, record or data-set",
        "equal words: drawn anew, once a record, or once a run",
    ),
    "tokens": ("mapping", "the treatment of each class of token"),
}
TOKENS = {
    "unknown": "words outside the vocabulary, identifiers",
    "number": "numbers; `digits` makes each digit random",
    "stop_word": "stop words",
    "punctuation": "marks and spaces",
    "case": "capitals",
    "agreement": "drawn words follow their neighbours (an apple, two apples)",
    "keep": "public lists (`words`, `files`, `patterns`) that are copied",
    "mask": "public lists that become `[masked]`",
    "forms": "pieces that become others of the same layout",
    "common": "number of commonest words that are copied; 0: none",
    "words": "file of words that many people wrote, beside common words",
    "opinion": "words of opinion of public lists, beside common words",
    "classes": "classes whose words become random ones of the class",
    "grammar": "whether the grammatical form of a replaced word is shown",
    "repeat": "equal names, forms and long numbers of a record: drawn anew, or equal",
    "languages": "languages that records may be in, beside common words",
    "years": "first and last year that dates and numbers may get",
    "marks": "whether marks such as `[name 1]` stand in place of invented words",
    "topic": "how a topic is written for a whole text",
}
CODES = {
    0: "done",
    1: "a finding (`check`, `doctor`, `audit`), or a failure such as too little memory",
    2: "wrong usage, profile or lexicon, or a missing package",
    3: "a run that a limit refuses (`sanitize --ledger`, `embed --most`)",
    4: "a record or a file that cannot be read",
    5: "an output that `--fail-on` stops (`sanitize`, `embed`); it is not written",
    70: "a bug in dptext",
    129: "the terminal hung up",
    130: "interrupted",
    141: "the reader of the output is gone",
    143: "terminated",
}
EPILOGUES = {
    "commands": "Options that stand before a command: `--version`, `--config FILE`, "
    "`--no-config`, `--install-completion`, `--show-completion`.",
}


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / f"{name}.md").write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Return the text of each page by its name."""
    made = {
        "commands": commands(),
        "profile-keys": profile_keys(),
        "exit-codes": exit_codes(),
    }
    return {
        name: "\n".join([MADE, *lines]).rstrip() + "\n" for name, lines in made.items()
    }


def table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a table."""
    for row in (columns, ("---",) * len(columns), *rows):
        yield f"| {' | '.join(row)} |"
    yield ""


def plain(text: str) -> str:
    """Return a text as a cell: one line, no mark of a table or of HTML."""
    text = " ".join(text.split()).replace("|", "\\|")
    return re.sub(r"<(?=[\w/!])", "&lt;", text)


def commands() -> Iterator[str]:
    """Yield the page of the commands."""
    yield "# Commands\n"
    yield (
        "Every command and option, as `dptext COMMAND --help-all` prints them. Most "
        "options may also stand in a file or a variable: "
        "[Configuration](../configuration.md).\n"
    )
    yield EPILOGUES["commands"] + "\n"
    root: Any = get_command(app)
    for name in root.list_commands(None):
        yield from command(f"dptext {name}", root.get_command(None, name))


def command(title: str, found: Any) -> Iterator[str]:
    """Yield the section of a command, or those of a group."""
    yield f"## {title}\n"
    parts = inspect.cleandoc(found.help or "").split("\n\n")
    paragraphs = [" ".join(part.split()) for part in parts]
    yield "\n\n".join(map(plain, paragraphs)) + "\n"
    if hasattr(found, "commands"):
        for name, inner in found.commands.items():
            yield from command(f"{title} {name}", inner)
        return
    if found.epilog:
        # The epilog is markup of a terminal, where a bracket opens a style.
        text = found.epilog.replace("\\[", "[").replace("Example: ", "")
        examples = "\n".join(text.split("\n\n"))
        yield f"```text\n{examples}\n```\n"
    arguments = [each for each in found.params if each.param_type_name == "argument"]
    if arguments:
        yield from table(
            ("argument", ""),
            [(f"`{each.name.upper()}`", plain(each.help or "")) for each in arguments],
        )
    options = [each for each in found.params if each.param_type_name == "option"]
    if options:
        rows = [
            (spelled(each), plain(each.help or "") + usual(each)) for each in options
        ]
        yield from table(("option", ""), rows)


def spelled(option: Any) -> str:
    """Return how an option is written, with a word for its value."""
    names = ", ".join([*option.opts, *option.secondary_opts])
    if option.is_flag or option.secondary_opts or option.default is False:
        return f"`{names}`"
    metavar = option.metavar or option.name.rpartition("_")[2].upper()
    return f"`{names} {metavar}`"


def usual(option: Any) -> str:
    """Return the default of an option, if it is more than absence."""
    value = option.default
    if value is None or value is False or callable(value) or value in ("", [], ()):
        return ""
    if value is True:
        return f" Default: `{option.opts[0]}`."
    return f" Default: {value}."


def profile_keys() -> Iterator[str]:
    """Yield the page of the keys of a profile."""
    yield "# Keys of a profile\n"
    yield (
        "A profile is a YAML file: `dptext list profiles balanced` prints one. `--set "
        "KEY=VALUE` overrides a key of it, as in `--set tokens.number=mask`. A "
        "component is written by its name (`space: unit`), or with its settings "
        "(`space: {name: clip, ...}`).\n"
    )
    rows = [(f"`{key}`", kind, about) for key, (kind, about) in KEYS.items()]
    yield from table(("key", "value", ""), rows)
    yield "## tokens\n"
    yield "Examples and details: [Words, numbers, marks](../tokens.md).\n"
    yield from settings(Policy, "tokens", TOKENS)
    for key, stage in profile.STAGES.items():
        yield f"## {key}\n"
        for name in registry.names(stage):
            yield from component(key, name, registry.find(stage, name))
    yield "## budget.scores\n"
    yield "Scores of the budget `linguistic`.\n"
    for name in registry.names("budgets.scores"):
        yield from component("scores", name, registry.find("budgets.scores", name))


def component(key: str, name: str, module: ModuleType) -> Iterator[str]:
    """Yield the part of a component: its first sentence and its settings."""
    yield f"### {key} {name}\n"
    about = inspect.cleandoc(module.__doc__ or "").partition("\n\n")[0]
    yield plain(about) + "\n"
    if dataclasses.fields(module.Params):
        yield from settings(module.Params, key)


def settings(kind: Any, key: str, about: dict[str, str] | None = None) -> Iterator[str]:
    """Yield the table of the settings of a class."""
    hints = typing.get_type_hints(kind, include_extras=True)
    rows = []
    for field in dataclasses.fields(kind):
        if field.name == "contents" or (about is not None and field.name not in about):
            continue
        row = (
            f"`{key}.{field.name}`",
            plain(values(hints[field.name])),
            default(field),
        )
        rows.append(row if about is None else (*row, about[field.name]))
    columns = ("key", "values", "default")
    yield from table(columns if about is None else (*columns, ""), rows)


def values(hint: Any) -> str:
    """Return which values a setting may have."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return "mapping"
    if getattr(hint, "__args__", None) and issubclass(enum_of(hint), str):
        return "list of " + ", ".join(map(str, typing.cast(Any, enum_of(hint))))
    return allowed_values(hint)


def enum_of(hint: Any) -> type:
    """Return the enumeration that a tuple holds; without any, object."""
    from enum import StrEnum

    first = hint.__args__[0]
    is_names = isinstance(first, type) and issubclass(first, StrEnum)
    return first if is_names else object


def default(field: dataclasses.Field[Any]) -> str:
    """Return the default of a setting as a profile has it."""
    value = field.default
    if value is dataclasses.MISSING:
        return "required" if field.default_factory is dataclasses.MISSING else "none"
    if value is None or (not value and not isinstance(value, int | float)):
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return plain(str(value))


def exit_codes() -> Iterator[str]:
    """Yield the page of the exit codes, with the errors of the Python interface."""
    yield "# Exit codes\n"
    classes: dict[int, list[str]] = {}
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and hasattr(kind, "exit_code"):
            classes.setdefault(kind.exit_code, []).append(f"`{name}`")
    assert classes.keys() <= CODES.keys()
    rows = [
        (str(code), about, ", ".join(classes.get(code, ())))
        for code, about in CODES.items()
    ]
    yield from table(("code", "meaning", "errors in Python (`dptext.errors`)"), rows)
    yield (
        "A message is one line on standard error: what is wrong, where, and the next "
        "step. It never holds text of a record. All errors except `InternalError` are "
        "`DptextError`, and each is a built-in error, too: `UsageError` is a "
        "`ValueError`."
    )


if __name__ == "__main__":
    main()
