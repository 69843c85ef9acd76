"""The configuration of a folder: `.dptext.yaml`, or `[tool.dptext]` of pyproject.toml.

Its sections: `sanitize`, what the options of that name say unless they are given, and
`check`, the policy (dptext.guarantees.policy). A `.dptext.yaml` without sections is a
policy alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.types import JsonObject

NAME = ".dptext.yaml"
PROJECT = "pyproject.toml"
NAMES = (NAME, PROJECT)
VARIABLE = "DPTEXT_CONFIG"
SECTIONS = ("sanitize", "check")
_KIND = "configuration"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a file says, by section, with the keys as options spell them in Python.

    path is None where there is no file.
    """

    path: Path | None = None
    sections: Mapping[str, JsonObject] = field(default_factory=dict)

    @property
    def policy(self) -> JsonObject | None:
        """Return the section `check`."""
        return self.sections.get("check")

    @property
    def shown(self) -> str:
        """Return the path of the file, relative where that is shorter."""
        if self.path is None:
            return ""
        relative = os.path.relpath(self.path)
        return min(relative, str(self.path), key=len)


def of(file: Path | None, *, ignored: bool = False) -> Configuration:
    """Return the configuration of a run: a file that is named, else the nearest one.

    file is that of `--config`; without it DPTEXT_CONFIG names one. Raises UsageError.
    """
    named = os.environ.get(VARIABLE)
    if ignored:
        return Configuration()
    if file is not None or named:
        path = file if file is not None else Path(str(named))
        configuration = read(path)
        if configuration is None:
            raise UsageError(f"{path}: it has no table [tool.dptext]")
        return configuration
    return nearest()


def nearest() -> Configuration:
    """Return the configuration of the working folder, or of one above it."""
    for path in _candidates():
        configuration = read(path)
        if configuration is not None:
            _check_owner(path)
            return configuration
    return Configuration()


def folders() -> Iterator[Path]:
    """Yield the working folder and those above it, to the root of the repository.

    Without a repository, to the home folder, else to the root of the file system.
    """
    start = Path.cwd()
    for folder in (start, *start.parents):
        yield folder
        if (folder / ".git").exists() or folder == Path.home():
            return


def _candidates() -> Iterator[Path]:
    for folder in folders():
        yield from (path for name in NAMES if (path := folder / name).is_file())


def _check_owner(path: Path) -> None:
    """Refuse what another user may have laid there, as in /tmp, unless it is named."""
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        return
    if path.stat().st_uid not in (0, os.geteuid()):
        raise UsageError(
            f"{path}: the {_KIND} belongs to another user; name it with dptext "
            "--config FILE if you trust it, or leave it aside with dptext --no-config"
        )


def read(path: Path, kind: str = _KIND) -> Configuration | None:
    """Read a file; None for a pyproject.toml that says nothing about dptext.

    kind says in messages what it is. Raises UsageError.
    """
    from dptext import settings

    return decode(settings.yaml_content(path, kind), path, kind)


def decode(content: bytes, path: Path, kind: str = _KIND) -> Configuration | None:
    """Read the content of a file."""
    if path.suffix == ".toml":
        data = _toml(content, path.name)
    else:
        from dptext import settings

        data = settings.decode_yaml(content, path.name, kind)
    if data is None:
        return None
    return Configuration(path.absolute(), sections(data, path.name))


def _toml(content: bytes, name: str) -> JsonObject | None:
    import tomllib

    try:
        data = tomllib.loads(content.decode())
    except UnicodeDecodeError:
        raise UsageError(f"{name}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: {error}") from None
    tools = data.get("tool")
    if not isinstance(tools, dict) or "dptext" not in tools:
        return None
    return cast("JsonObject", tools["dptext"])


def sections(data: object, name: str) -> dict[str, JsonObject]:
    """Divide what a file says into sections. Raises UsageError for other keys."""
    if not isinstance(data, dict):
        raise UsageError(f"{name}: give sections: {' and '.join(SECTIONS)}")
    others = [str(key) for key in data if key not in SECTIONS]
    if others and len(others) == len(data):
        return {"check": _policy_alone(data, others, name)}
    if others:
        raise UsageError(f"{name}: {_advice(others)}")
    for section, keys in data.items():
        if not isinstance(keys, dict):
            raise UsageError(f"{name}: {section}: give keys and values")
    return {
        section: _plain(keys, f"{name}: {section}") for section, keys in data.items()
    }


def _policy_alone(data: JsonObject, keys: Iterable[str], name: str) -> JsonObject:
    unknown = [key for key in keys if key not in _policy_keys()]
    if unknown:
        raise UsageError(f"{name}: {_advice(unknown)}")
    return data


def _policy_keys() -> tuple[str, ...]:
    from dataclasses import fields

    from dptext.guarantees.policy import ExportPolicy

    return tuple(each.name for each in fields(ExportPolicy))


def _advice(keys: list[str]) -> str:
    """Say where a key belongs that stands in no section."""
    from dptext import registry

    key = keys[0]
    if key in _policy_keys():
        return f"{key}: this key now stands under check:; move it there"
    near = registry.suggest(key, (*_policy_keys(), *SECTIONS))
    return f"unknown key {key!r}; {near}; what options say stands under sanitize:"


def _plain(keys: JsonObject, where: str) -> JsonObject:
    """Write keys with underscores. Raises UsageError for one given in both ways."""
    plain: JsonObject = {}
    for key, value in keys.items():
        name = str(key).replace("-", "_")
        if name in plain:
            raise UsageError(f"{where}.{key}: given twice")
        plain[name] = value
    return plain
