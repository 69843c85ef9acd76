"""Converts plain data (YAML, JSON) to settings, frozen dataclasses, and hashes them.

Settings may name files, folders and models. A prepared component has a digest of each
(`Prepared.content`), which replaces the setting in the nonce of every record
(dptext.pipeline): other content gives new draws, and the same content at another path
gives the same draws.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import re
import typing
from collections.abc import Iterator, Mapping
from enum import EnumType
from functools import cache
from pathlib import Path

import msgspec

from dptext import registry, streams
from dptext.errors import UsageError

if typing.TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from dptext.types import JsonObject

# Loaders, nodes and events of YAML, whose package is loaded where it is used.
Yaml = typing.Any
Settings = typing.TypeVar("Settings", bound="DataclassInstance")
# Most levels of keys in a file.
_DEEPEST = 50
# Messages of msgspec on types, with plain words for them.
_EXPECTED = re.compile(r"Expected `([^`]*)`(?: ([<>]=?) (\S+))?(?:, got `[^`]*`)?")
_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "keys and values",
}
_BOUNDS = {">=": " of at least", ">": " above", "<=": " of at most", "<": " below"}
_NO_CHOICE = re.compile(r"Invalid enum value '(.*)' - at `\$\.(\w+)")


def convert(
    data: object, kind: type[Settings], location: str, others: tuple[str, ...] = ()
) -> Settings:
    """Convert plain data to a frozen dataclass. Raises UsageError for unknown keys.

    Messages refer to data by `location`, and suggest its keys or `others`.
    """
    if not isinstance(data, Mapping):
        raise UsageError(f"{location}: give keys and values")
    inside = f"{location}." if ":" in location else f"{location}: "
    known = tuple(field.name for field in dataclasses.fields(kind))
    for key in data:
        if key not in known:
            near = (*others, *known)
            hint = registry.suggest(str(key), near) if near else "it has no parameters"
            raise UsageError(f"{inside}{key}: unknown key; {hint}")
    for key, value in data.items():
        if isinstance(value, float) and not abs(value) < float("inf"):
            raise UsageError(f"{inside}{key}: {value} is not a finite number")
    plain = {key: _number(value) for key, value in data.items()}
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$.")
        reason = _EXPECTED.sub(_describe_type, reason)
        if named := _NO_CHOICE.search(str(error)):
            hint = typing.get_type_hints(kind)[named[2]]
            reason += f"; {registry.suggest(named[1], tuple(_choices(hint)))}"
        # Errors of several keys have no path.
        where = (inside + path.rstrip("`")).rstrip(".: ")
        raise UsageError(f"{where}: {reason}") from None
    except UnicodeEncodeError:
        raise UsageError(f"{location}: not UTF-8 text") from None


def _describe_type(match: re.Match[str]) -> str:
    """Describe the expected type in plain words."""
    kinds, bound, limit = match.groups()
    named = " or ".join(_TYPES.get(kind, kind) for kind in kinds.split(" | "))
    return f"give {named}" + (f"{_BOUNDS[bound]} {float(limit):g}" if bound else "")


def _choices(hint: object) -> Iterator[str]:
    """Yield the words that a type allows."""
    if isinstance(hint, EnumType):
        yield from map(str, hint)
    for part in typing.get_args(hint):
        if isinstance(part, str):
            yield part
        else:
            yield from _choices(part)


def _number(value: object) -> object:
    """Convert "10%" to 0.1."""
    if isinstance(value, str) and value.endswith("%"):
        try:
            return float(value[:-1]) / 100.0
        except ValueError:
            return value
    return value


def share(value: object, name: str) -> float:
    """Parse a share, "20%", "0.2" or 0.2; name: the setting's name in messages.

    Raises UsageError unless it is between 0 and 1 (20 and 120% are rejected).
    """
    text = str(value).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    fraction = number / 100.0 if text.endswith("%") else number
    if 0.0 < fraction < 1.0 and not isinstance(value, bool):
        return fraction
    meant = "20% or 0.2"
    if 1.0 <= number < 100.0:
        meant = f"{number:g}% or {number / 100.0:g}"
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    raise UsageError(f"{name} {shown}: give a share between 0 and 1, as in {meant}")


def read_yaml(path: Path, kind: str) -> JsonObject:
    """Read a YAML file. Raises UsageError with kind, name and line."""
    return decode_yaml(read_content(path, kind), path.name, kind)


def read_content(path: str | Path, kind: str) -> bytes:
    """Read a small file such as settings. Raises UsageError."""
    return read_with_status(path, kind)[0]


def read_with_status(path: str | Path, kind: str) -> tuple[bytes, os.stat_result]:
    """Read a small file with its status. Raises UsageError."""
    try:
        return streams.read_with_status(path, kind)
    except OSError as error:
        raise UsageError(f"{kind} {path}: {error.strerror}") from None


# Advice, by parts of messages of a parser that name its own states.
_YAML_HINTS = {
    "mapping values are not allowed": "put a value with a colon in quotes",
    "expected ','": "close the bracket",
    "end of stream": "close the quote or bracket",
    "cannot start any token": "indent with spaces, put values with marks in quotes",
    "expected ':'": "write KEY: VALUE",
    "another document": "write one document, without a second ---",
    "did not find expected": "indent keys of a section alike, and pair the brackets",
}


def decode_yaml(text: bytes, name: str, kind: str) -> JsonObject:
    """Parse the content of a YAML file. Raises UsageError."""
    import yaml

    try:
        plain = text.decode()
        loader = _loader()
        _check_size(plain, loader)
        data = yaml.load(plain, Loader=loader)  # noqa: S506
    except UnicodeDecodeError:
        raise UsageError(f"{kind} {name}: not UTF-8 text") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: an invalid date
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not YAML"
        if "nesting depth" in problem:  # libyaml reads ahead, and has its own limit
            problem = f"nested deeper than {_DEEPEST}"
        syntax = yaml.scanner.ScannerError | yaml.parser.ParserError
        if isinstance(error, syntax | yaml.composer.ComposerError):
            hints = (hint for part, hint in _YAML_HINTS.items() if part in problem)
            problem = f"invalid YAML here or above; {next(hints, problem)}"
        raise UsageError(f"{name}{where}: {problem}") from None
    if not isinstance(data, dict):
        problem = "is empty" if data is None else "has no keys"
        raise UsageError(
            f"{name}: the {kind} {problem}; write KEY: VALUE, one on each line"
        )
    return data


def read_value(text: str) -> object:
    """Parse the value of a setting as YAML; anything invalid is text."""
    import yaml

    try:
        return yaml.load(text, Loader=_loader())  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError):
        return text


def _check_size(text: str, loader: Yaml) -> None:
    """Raise YAMLError for aliases and deep nesting, which can explode in size."""
    import yaml

    event: Yaml
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        alias = isinstance(event, yaml.AliasEvent)
        if alias or depth > _DEEPEST:
            problem = "aliases (*name) are not supported; write the value out"
            raise yaml.MarkedYAMLError(
                problem=problem if alias else f"nested deeper than {_DEEPEST}",
                problem_mark=event.start_mark,
            )


@cache
def _loader() -> Yaml:
    """Return a safe loader that rejects duplicate keys and parses 1e-3."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    def mapping(loader: Yaml, node: Yaml) -> dict[object, object]:
        keys = [loader.construct_object(key) for key, _ in node.value]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"duplicate key {key!r}", node.start_mark
                )
        return dict(loader.construct_mapping(node, deep=True))

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    # 1e-3 is a number in JSON and YAML 1.2; YAML 1.1 asks for 1.0e-3.
    number = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", number, [*"-+.0123456789"])
    return Loader


class Prepared:
    """A prepared component: its settings plus everything computed from public data."""

    __slots__ = ()

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digests of files and models outside the profile, by setting."""
        return {}


def digest_of_bytes(data: bytes) -> str:
    """Return the sha256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def digest_of_data(value: object) -> str:
    """Return the sha256 of plain data, for any order of keys."""
    return digest_of_bytes(msgspec.json.encode(value, order="deterministic"))


def digest_of_path(path: str | Path) -> str:
    """Return the sha256 of a file, or of the names and contents in a folder.

    Hidden files and compiled Python are skipped. Raises UsageError for a file that
    cannot be read.
    """
    top = Path(path)
    try:
        if top.is_file():
            return streams.digest_of_file(top)
        digest = hashlib.sha256()
        for file in sorted(top.rglob("*")):
            path_inside = file.relative_to(top)
            skipped = any(
                part.startswith(".") or part == "__pycache__"
                for part in path_inside.parts
            )
            if file.is_file() and not skipped:
                content = streams.digest_of_file(file)
                digest.update(f"{content} {path_inside.as_posix()}\n".encode())
        return digest.hexdigest()
    except OSError as error:
        raise UsageError(f"{error.filename or path}: {error.strerror}") from None
