"""Files of keys and values in YAML: profiles, policies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dptext import streams
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.types import JsonObject

_DEEPEST = 50


def read(path: Path, kind: str) -> JsonObject:
    """Read a file of keys and values; kind says in messages what it is.

    Raises UsageError that names file and line.
    """
    return decode(content(path, kind), path.name, kind)


def content(path: Path, kind: str) -> bytes:
    """Return the content of a file that is named. Raises UsageError."""
    try:
        return streams.read_small(path, kind)
    except OSError as error:
        raise UsageError(f"{kind} {path}: {error.strerror}") from None


def decode(text: bytes, name: str, kind: str) -> JsonObject:
    """Read the content of such a file."""
    import yaml

    try:
        plain = text.decode()
        _check_size(plain, yaml)
        data = yaml.load(plain, Loader=_loader(yaml))  # noqa: S506
    except UnicodeDecodeError:
        raise UsageError(f"{kind} {name}: not UTF-8 text") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that is none
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not YAML"
        raise UsageError(f"{name}{where}: {problem}") from None
    if data is None:
        raise UsageError(
            f"{name}: the {kind} is empty; write keys and values, one a line"
        )
    if not isinstance(data, dict):
        raise UsageError(f"{name}: a {kind} is a list of keys and values")
    return data


def _check_size(text: str, yaml: Any) -> None:
    """Refuse what is small in the file and large, or endless, when it is read."""
    depth = 0
    for event in yaml.parse(text, Loader=_base(yaml)):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        alias = isinstance(event, yaml.AliasEvent)
        if alias or depth > _DEEPEST:
            problem = "aliases (*name) are not read; write the value out"
            raise yaml.MarkedYAMLError(
                problem=problem if alias else f"nested deeper than {_DEEPEST}",
                problem_mark=event.start_mark,
            )


def _base(yaml: Any) -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _loader(yaml: Any) -> Any:
    """Return a safe loader that refuses a key given twice."""

    class Loader(_base(yaml)):  # type: ignore[misc]
        pass

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        keys = [loader.construct_object(key) for key, _ in node.value]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} is given twice", node.start_mark
                )
        return dict(loader.construct_mapping(node, deep=True))

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    return Loader
