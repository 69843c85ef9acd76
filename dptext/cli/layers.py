"""What options say that are not given: the environment, then the configuration file.

The command line goes before the environment, and that before the file. An option also
sets aside what it does not go with: `--epsilon` a `risk`, and `--profile` all that
changes a profile, so that a profile that is named is the one of that name.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from dptext.cli import faults, output_checks
from dptext.cli.arguments import Parsed, numbers_of
from dptext.cli.configuration import VARIABLE, Configuration, of
from dptext.errors import UsageError

_CHANGES = frozenset(
    {"epsilon", "epsilon_per_text", "risk", "mechanism", "decode", "lexicon", "set_"}
)
_SPENT = frozenset({"epsilon", "epsilon_per_text", "risk"})
_LAYOUT = frozenset({"field", "format", "delimiter", "quoting", "header"})
_RECORDS = _LAYOUT | {"id", "missing", "max_record_bytes", "on_error"}
_RECIPE = _CHANGES | {"profile"}
# Options that tables alone have, and what each is where it is not given.
_TABLE = {"delimiter": None, "quoting": True, "header": True}
# Options that a file and the environment may set, by command.
_READ: Mapping[str, frozenset[str]] = {
    "sanitize": _RECIPE
    | _RECORDS
    | {"ledger", "subject", "limit", "limit_delta", "bayes_risk", "sidecar"}
    | {"batch_size", "jobs", "progress"},
    "plan": _RECIPE | {"jobs", "bayes_risk"},
    "explain": _RECIPE,
    "calibrate": frozenset({"profile", "mechanism", "lexicon", "set_", "field"}),
    "compare": _LAYOUT | {"profile"},
    "evaluate": _LAYOUT | {"id"},
    "embed": _RECORDS,
    "check": frozenset(),
}
# What only the environment sets: secrets, since a file that others share names none,
# and options that take the place of a policy's keys.
_SECRET = frozenset({"key_file", "sign_key"})
_VARIABLES: Mapping[str, frozenset[str]] = {
    "sanitize": _SECRET,
    "embed": _SECRET,
    "check": frozenset(
        {"notion", "max_epsilon", "max_loss", "max_risk", "allow", "unverified"}
        | {"verify_key"}
    ),
}
# Files, which a configuration file names from where it lies.
_PATHS = ("ledger",)
# What an option sets aside in the layers below its own.
_ASIDE = {
    "profile": _CHANGES,
    **{name: _SPENT for name in _SPENT},
    "seed": frozenset({"key_file"}),
    "quarantine": frozenset({"on_error"}),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What an option is set to, and by what: a variable, or the path of a file."""

    value: object
    source: str


# Settings of one source or more by the names of parameters, the strongest layer first.
Layer = Mapping[str, Setting]


class ConfiguredCommand(TyperCommand):
    """A command whose options may be set by the environment and by a file."""

    def parse_args(self, ctx: Parsed, args: list[str]) -> list[str]:
        """Read the options, and set those that are not given."""
        if self.name not in _READ or ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        below = layers(ctx, of_run(ctx))
        ctx.default_map = {name: each.value for name, each in _kept((), below).items()}
        rest = super().parse_args(ctx, args)
        named = {
            option.name
            for option in self.params
            if ctx.get_parameter_source(option.name).name == "COMMANDLINE"
        }
        kept = _kept(named, below)
        for option in self.params:
            if option.name in kept:
                ctx.params[option.name] = kept[option.name].value
            elif option.name in ctx.default_map and option.name not in named:
                ctx.params[option.name] = option.default
        _check_layout(ctx.params, named)
        if kept and not ctx.params.get("quiet"):
            faults.say("; ".join(_by_source(kept)))
        return rest

    def invoke(self, ctx: Parsed) -> Parsed:
        """Run the command, none of whose outputs may be a file that it reads."""
        file = of_run(ctx).path if self.name in _READ else None
        output_checks.check_named(ctx.params, file)
        return super().invoke(ctx)


def _check_layout(values: Mapping[str, Any], named: Container[str]) -> None:
    """Refuse options of tables for inputs that are none. Raises UsageError.

    What the environment and a file set is for the inputs that it goes with.
    """
    from dptext import formats, streams

    given = [name for name, usual in _TABLE.items() if values.get(name, usual) != usual]
    given = [name for name in given if name in named]
    one = (values.get(name) for name in ("original", "private", "file"))
    names: list[str] = [*filter(None, one), *(values.get("files") or ())] or ["-"]
    if not given or any(map(os.path.isdir, names)):
        return
    if values.get("format") is not None:
        found = [formats.find(None, values["format"])]
    else:
        output: str = values.get("output") or ""
        paths = [output if streams.is_standard(name) else name for name in names]
        found = [each for path in paths if (each := formats.by_suffix(path))]
        if len(found) < len(paths) and not all(map(streams.is_standard, names)):
            return  # refused where the formats of files are looked at
    if not any(hasattr(each, "DELIMITER") for each in found):
        option = f"--{'' if given[0] == 'delimiter' else 'no-'}{given[0]}"
        kind = f"the input is {found[0].name}" if found else "give --format csv, too"
        raise UsageError(f"{option}: this option is for CSV and TSV; {kind}")


def of_run(ctx: Parsed) -> Configuration:
    """Return the configuration that the options before a command choose."""
    named = ctx.parent.params if ctx.parent is not None else {}
    return of(named.get("config"), ignored=bool(named.get("no_config")))


def of_command(name: str, ctx: Parsed) -> Parsed:
    """Return the context of another command beside that of a context."""
    command = ctx.parent.command.commands[name]
    return command.make_context(name, [], ctx.parent, resilient_parsing=True)


def is_named(ctx: Parsed) -> bool:
    """Tell whether a configuration was named, or none is wanted."""
    named = ctx.parent.params if ctx.parent is not None else {}
    return bool(named.get("config") or named.get("no_config") or VARIABLE in os.environ)


def layers(ctx: Parsed, file: Configuration) -> tuple[Layer, Layer]:
    """Return what the environment and a file set for the command of a context.

    Raises UsageError for a value that an option does not take, and for a key of the
    section `sanitize` that no file may set.
    """
    _check_keys(file)
    command = ctx.command
    options = {option.name: option for option in command.params}
    read = _READ[command.name] & options.keys()
    by_variable = {}
    for name in sorted(read | _VARIABLES.get(command.name, frozenset())):
        variable = variable_of(name)
        text = os.environ.get(variable)
        if text:
            split = _split(text, variable) if options[name].multiple else text
            value = _value(ctx, options[name], split, variable)
            by_variable[name] = Setting(value, variable)
    by_file = {}
    for key, value in file.sections.get("sanitize", {}).items():
        name = _name_of(key)
        if name in read:
            where = f"{file.shown}: sanitize.{key}"
            written = _located(name, _written(name, value), file)
            checked = _value(ctx, options[name], written, where)
            by_file[name] = Setting(checked, file.shown)
    return by_variable, by_file


def settings(ctx: Parsed, file: Configuration) -> dict[str, Setting]:
    """Return what holds by environment and file, by the keys of the file."""
    kept = _kept((), layers(ctx, file))
    return {_key_of(name): each for name, each in kept.items()}


def _kept(named: Iterable[str], below: Iterable[Layer]) -> dict[str, Setting]:
    """Return what the options that are given, and upper layers, leave of each layer."""
    above, kept = set(named), dict[str, Setting]()
    for layer in below:
        aside = above.union(*(_ASIDE.get(name, ()) for name in above))
        rest = {name: each for name, each in layer.items() if name not in aside}
        kept |= rest
        above |= rest.keys()
    return kept


def keys() -> tuple[str, ...]:
    """Return the keys of the section `sanitize`."""
    return tuple(sorted(_key_of(name) for name in _READ["sanitize"]))


def variable_of(name: str) -> str:
    """Return the environment variable of a parameter."""
    return f"DPTEXT_{_key_of(name).upper()}"


def _split(text: str, variable: str) -> list[str]:
    """Return the values of a variable, separated and quoted as in a shell."""
    try:
        return shlex.split(text)
    except ValueError:
        raise UsageError(
            f"{variable}: a quote is not closed; write values as in a shell, one with "
            'an apostrophe in it as "it\'s"'
        ) from None


def _key_of(name: str) -> str:
    return name.rstrip("_")


def _name_of(key: str) -> str:
    return "set_" if key == "set" else key


def _check_keys(file: Configuration) -> None:
    from dptext import registry

    for key in file.sections.get("sanitize", {}):
        if key in keys():
            continue
        where = f"{file.shown}: sanitize.{key}"
        if key in _SECRET:
            raise UsageError(
                f"{where}: a file that others share names no secret; give "
                f"--{key.replace('_', '-')} or {variable_of(key)}"
            )
        near = registry.suggest(key, keys())
        raise UsageError(f"{where}: no setting of a file; {near}")


def _written(name: str, value: object) -> object:
    """Return a value of a file as it is written for the option."""
    if name == "set_" and isinstance(value, dict):
        return [f"{key}={json.dumps(each)}" for key, each in value.items()]
    return value


def _located(name: str, value: object, file: Configuration) -> object:
    """Return the path that a file names, from where the file lies."""
    if not isinstance(value, str) or file.path is None:
        return value
    path = file.path.parent / Path(value).expanduser()
    is_path = name in _PATHS or (name == "profile" and path.suffix in (".yaml", ".yml"))
    is_path = is_path or (name == "lexicon" and path.suffix != "" and path.exists())
    return str(path) if is_path else value


def _value(ctx: Parsed, option: Parsed, value: object, where: str) -> object:
    """Return a value as its option takes it. Raises UsageError that says where."""
    parts = value if option.multiple and isinstance(value, list) else [value]
    for each in parts:
        _check_kind(option, each, where)
    texts = [str(each) for each in parts]
    number = numbers_of(ctx.command.callback).get(option.name)
    try:
        taken = option.process_value(ctx, texts if option.multiple else texts[0])
        if number is not None and isinstance(taken, int | float):
            number.check(where, taken)
    except typer.BadParameter as error:
        reason = error.format_message()
        if number is not None:
            reason = number.problem_of(where, texts).removeprefix(f"{where} ")
        raise UsageError(f"{where}: {reason}") from None
    except UsageError as error:
        raise UsageError(f"{where}: {str(error).removeprefix(f'{where} ')}") from None
    return taken


def _check_kind(option: Parsed, value: object, where: str) -> None:
    if getattr(option, "is_flag", False):
        if not isinstance(value, bool | str):
            raise UsageError(f"{where}: give true or false")
    elif isinstance(value, bool) or not isinstance(value, str | int | float):
        kind = "a word, or a list of words" if option.multiple else "a word or a number"
        raise UsageError(f"{where}: give {kind}")


def _by_source(kept: Layer) -> Iterator[str]:
    """Say what each source sets."""
    for source in dict.fromkeys(each.source for each in kept.values()):
        names = [_key_of(n) for n, each in kept.items() if each.source == source]
        yield f"from {source}: {', '.join(sorted(names))}"
