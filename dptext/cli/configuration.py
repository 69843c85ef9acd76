"""Option defaults from the environment and the configuration file.

The file is the nearest `.dptext.yaml`, or `[tool.dptext]` of pyproject.toml. Its
sections are `sanitize`, defaults of options, and `check`, the policy
(dptext.checking.policy).

The command line overrides the environment, which overrides the file. An option also
overrides conflicting ones: `--epsilon` a `risk`, and `--profile` all changes
of a profile, so that a named profile is used unchanged.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dptext import registry, settings, streams
from dptext.errors import UsageError
from dptext.run import choices, groups
from dptext.run.marks import ByFile, ByVariable, find_mark

if TYPE_CHECKING:
    from dptext.types import JsonObject

NAME = ".dptext.yaml"
NAMES = (NAME, "pyproject.toml")
SECTIONS = ("sanitize", "check")
_KIND = "configuration"

_VOCABULARY = frozenset({"lexicon", "topics"})
_SPENT = frozenset({"epsilon", "risk"})
# Options that an option overrides in the layers below.
OVERRIDDEN = {
    "profile": frozenset({*choices.DECIDED, "set"}),
    **{name: _SPENT for name in _SPENT},
    **{name: _VOCABULARY for name in _VOCABULARY},
    "seed": frozenset({"key_file"}),
    "quarantine": frozenset({"on_error"}),
}
_AMOUNTS = ("budget.epsilon", "budget.risk", "budget.attacker_risk")
# Keys of a profile that an option decides, where `set` of the layers below has them.
_DECIDED = {
    **{
        name: _AMOUNTS if part == "budget" else (part,)
        for name, (part, _) in choices.DECIDED.items()
    },
    "words": ("tokens.words",),  # and no other key of tokens
}
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
Parsed = Any  # The parser has no public types.
#: Marks by option.
Marks = Mapping[str, Sequence[object]]


class Setting(NamedTuple):
    """The value of an option from an environment variable or a file."""

    value: object
    #: The variable or the file.
    source: str
    #: Its file and key, or variable, in messages.
    location: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """The sections of a configuration file, keyed by parameter name."""

    #: None without a file.
    path: Path | None = None
    sections: Mapping[str, JsonObject] = field(default_factory=dict)

    @property
    def policy(self) -> JsonObject | None:
        """Return the `check` section, or None."""
        return self.sections.get("check")

    @property
    def is_above(self) -> bool:
        """Return whether the file is in a folder above the working folder."""
        return self.path is not None and self.path.parent != Path.cwd()

    @property
    def label(self) -> str:
        """Return the path of the file, relative if that is shorter."""
        if self.path is None:
            return ""
        return min(os.path.relpath(self.path), str(self.path), key=len)


def read_named(path: Path) -> Configuration:
    """Read a configuration file named by the user. Raises UsageError."""
    configuration = read(path)
    if configuration is None:
        raise UsageError(
            f"{path}: it has no table [tool.dptext]; add one, or name another file"
        )
    return configuration


def find_nearest() -> Configuration:
    """Return the configuration of the working folder or its nearest parent.

    Raises UsageError for a file that another user owns or can write.
    """
    for path in (folder / name for folder in _searched_folders() for name in NAMES):
        # Unlike a method of Path, false for a folder that this user may not enter.
        if os.path.isfile(path):
            content, status = settings.read_with_status(path, _KIND)
            configuration = decode(content, path)
            if configuration is not None:
                _check_owner(path, status)
                return configuration
    return Configuration()


def _searched_folders() -> list[Path]:
    """Return the folders to search for a configuration, nearest first.

    The search ends at the root of the repository or the home folder, whichever is
    nearer. Outside both, only the working folder is searched. Raises UsageError if it
    is gone.
    """
    try:
        current = Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "the working folder was deleted: change to another one (cd)"
        ) from None
    folders = [current, *current.parents]
    home = streams.home_folder().resolve()
    for count, folder in enumerate(folders, 1):
        if folder == home or os.path.exists(folder / ".git"):
            return folders[:count]
    return folders[:1]


def _check_owner(path: Path, status: os.stat_result) -> None:
    """Raise UsageError for a file that another user owns or can write.

    status: of the file that was read. A link is checked too, since another user may
    have linked to a file of this user.
    """
    advice = (
        "name it with dptext --config FILE if you trust it, or ignore it with dptext "
        "--no-config"
    )
    if not (streams.is_own(status) and streams.is_own(path.lstat())):
        raise UsageError(f"{path}: the {_KIND} belongs to another user; {advice}")
    if status.st_mode & stat.S_IWOTH:
        raise UsageError(
            f"{path}: all users can write the {_KIND}; run: chmod o-w {path}, or "
            f"{advice}"
        )


def read(path: Path, kind: str = _KIND) -> Configuration | None:
    """Read a configuration; None for a pyproject.toml without [tool.dptext].

    kind names the file in messages. Raises UsageError.
    """
    return decode(settings.read_content(path, kind), path, kind)


def decode(content: bytes, path: Path, kind: str = _KIND) -> Configuration | None:
    """Parse the content of a configuration file. Raises UsageError."""
    name, toml = path.name, path.suffix == ".toml"
    data = _toml(content, name) if toml else settings.decode_yaml(content, name, kind)
    if data is None:
        return None
    if not isinstance(data, dict):
        raise UsageError(f"{name}: expected the sections {' and '.join(SECTIONS)}")
    sections: dict[str, JsonObject] = {}
    for section, keys in data.items():
        if section not in SECTIONS:
            hint = registry.suggest(str(section), SECTIONS)
            raise UsageError(
                f"{name}: unknown key {section!r}; {hint} (options belong under "
                "sanitize: and keys of the policy under check:)"
            )
        if not isinstance(keys, dict):
            raise UsageError(f"{name}: {section}: give keys and values")
        sections[section] = {str(key).replace("-", "_"): keys[key] for key in keys}
        if len(sections[section]) < len(keys):
            raise UsageError(
                f"{name}: {section}: a key is given twice, once with - and once with _"
            )
    return Configuration(path.absolute(), sections)


def _toml(content: bytes, name: str) -> object:
    """Return the table [tool.dptext], or None."""
    import tomllib

    try:
        tools = tomllib.loads(content.decode()).get("tool")
    except UnicodeDecodeError:
        raise UsageError(f"{name}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: {error}") from None
    return tools.get("dptext") if isinstance(tools, dict) else None


def overridden(names: Iterable[str]) -> set[str]:
    """Return the options of lower layers that these options override."""
    return {other for name in names for other in OVERRIDDEN.get(name, ())}


def layered_settings(
    options: Sequence[Parsed], marks: Marks, file: Configuration
) -> dict[str, Setting]:
    """Return option defaults for a command, from the environment and a file.

    Raises UsageError for a value of the wrong type, and for a key of the section
    `sanitize` that files must not set.
    """
    _check_keys(file)
    variables, keys = dict[str, Setting](), dict[str, Setting]()
    for option in options:
        name, variable = option.name, variable_name(option.name)
        by_file = find_mark(marks[name], ByFile)
        text = os.environ.get(variable)
        if text and (by_file or find_mark(marks[name], ByVariable)):
            split = _split(text, variable) if option.multiple else text
            variables[name] = Setting(
                _convert_flag(option, split, variable), variable, variable
            )
        value = file.sections.get("sanitize", {}).get(name)
        if value is not None and by_file is not None:
            where = f"{file.label}: sanitize.{name}"
            written = _spell(option, _resolve_path(by_file, value, file), where)
            keys[name] = Setting(written, file.label, where)
    hidden = variables.keys() | overridden(variables)
    below = {name: keys[name] for name in keys if name not in hidden}
    if "set" in below:
        value = undecided(below["set"].value, variables)
        below["set"] = below["set"]._replace(value=value)
    return variables | below


def undecided(texts: Any, names: Iterable[str]) -> list[str]:
    """Return the `set` entries whose keys no higher-priority option decides."""
    decided = [key for name in names for key in _DECIDED.get(name, ())]
    return [
        text
        for text in texts
        if not any(
            f"{text.partition('=')[0]}.".startswith(f"{key}.") for key in decided
        )
    ]


def _flat(keys: Mapping[Any, object], before: str = "") -> Iterator[tuple[str, object]]:
    """Yield nested keys joined with dots, and their values."""
    for key, value in keys.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _check_keys(file: Configuration) -> None:
    """Raise UsageError for `sanitize` keys that files must not set."""
    keys, secrets = groups.named(ByFile), groups.named(ByVariable)
    for key in file.sections.get("sanitize", {}):
        if key not in keys:
            hint = registry.suggest(key, keys)
            if "did you mean" not in hint:
                hint = "dptext --no-config doctor --settings lists the options that can"
            if key in secrets:
                hint = f"a shared file must not name a secret; use {variable_name(key)}"
            raise UsageError(
                f"{file.label}: sanitize.{key}: this option cannot be set in a file; "
                f"{hint}"
            )


def variable_name(name: str) -> str:
    """Return the name of a parameter's environment variable."""
    return f"DPTEXT_{name.upper()}"


def _split(text: str, variable: str) -> list[str]:
    """Split a variable into values with shell quoting."""
    try:
        return shlex.split(text)
    except ValueError:
        raise UsageError(
            f"{variable}: a quote is not closed; write values as in a shell, one with "
            'an apostrophe in it as "it\'s"'
        ) from None


def _resolve_path(mark: ByFile, value: object, file: Configuration) -> object:
    """Resolve a path in a file relative to that file's folder."""
    if isinstance(value, list):
        return [_resolve_path(mark, each, file) for each in value]
    if not isinstance(value, str) or file.path is None or mark.is_path is None:
        return value
    path = file.path.parent / os.path.expanduser(value)
    return str(path) if mark.is_path(value, path) else value


def _spell(option: Parsed, value: object, where: str) -> object:
    """Convert a file's value to what its option accepts. Raises UsageError."""
    if option.name == "set" and isinstance(value, dict):
        value = [f"{key}={json.dumps(each)}" for key, each in _flat(value)]
    parts = value if option.multiple and isinstance(value, list) else [value]
    for each in parts:
        is_plain = isinstance(each, str | int | float)
        if not is_plain or (isinstance(each, bool) and not _is_flag(option)):
            kind = "word, or a list of words" if option.multiple else "word or a number"
            raise UsageError(f"{where}: give a {kind}")
    texts = [str(each) for each in parts]
    return _convert_flag(option, texts if option.multiple else texts[0], where)


def _is_flag(option: Parsed) -> bool:
    return getattr(option, "is_flag", False)  # arguments have no such attribute


def _convert_flag(option: Parsed, value: object, where: str) -> object:
    """Return a value, with a flag converted to a bool. Raises UsageError."""
    if not _is_flag(option):
        return value
    word = str(value).lower()
    if word not in (*_YES, *_NO):
        raise UsageError(f"{where}: {value}: give true or false")
    return word in _YES
