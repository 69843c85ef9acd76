"""Options that do not go together, and options that need others.

Each function checks the options of one subject. A rule on an option that a command
lacks never applies to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from dptext.errors import UsageError

# Pairs of options of which only one may be given.
_EXCLUSIVE = (
    ("key_file", "seed"),
    ("quiet", "verbose"),
    ("quiet", "json"),
    ("verbose", "json"),
    ("out_dir", "output"),
    ("out_dir", "public_report"),
    ("in_place", "output"),
    ("in_place", "out_dir"),
    ("in_place", "resume"),
    ("in_place", "public_report"),
    ("plan", "preview"),
    ("plan", "seed"),
)
_LOCAL = "use --engine local"


class Given:
    """The options of a command whose values differ from their defaults."""

    def __init__(
        self, defaults: Mapping[str, object], values: Mapping[str, object]
    ) -> None:
        self._known = defaults.keys()
        self._used = {
            name
            for name, value in values.items()
            if value not in (None, (), []) and value != defaults.get(name)
        }

    def has(self, *names: str) -> bool:
        """Tell whether all of these options are given."""
        return self._used.issuperset(names)

    def lacks(self, name: str, *needed: str) -> bool:
        """Tell whether an option is given and none of those that it needs.

        False for a command that does not have them all.
        """
        is_applicable = name in self._used and self._known >= set(needed)
        return is_applicable and not self._used.intersection(needed)


def check(defaults: Mapping[str, object], values: Mapping[str, object]) -> None:
    """Raise UsageError for options that do not go together, by parameter names."""
    given = Given(defaults, values)
    _check_exclusive(given)
    _check_shuffle(given)
    _check_line_buffered(given)
    _check_engine(given)
    if given.has("in_place", "sidecar"):  # it differs from its default: --no-sidecar
        raise UsageError(
            "--in-place needs the report beside a file, which marks the file as private"
        )
    _check_ledger(given)
    _check_needed(given)
    _check_resume(given)


def _check_exclusive(given: Given) -> None:
    for pair in _EXCLUSIVE:
        if given.has(*pair):
            first, second = (name.replace("_", "-") for name in pair)
            raise UsageError(f"give --{first} or --{second}, not both")


def _check_shuffle(given: Given) -> None:
    """Refuse options that fix the place or the time of a record in the output."""
    if given.has("shuffle", "line_buffered"):
        raise UsageError(
            "--shuffle: no record leaves before all are read; leave --line-buffered out"
        )
    if given.has("shuffle", "resume"):
        raise UsageError(
            "--shuffle: what is written is not noted by the manifest of --resume; "
            "leave one of them out"
        )
    if given.has("shuffle", "in_place"):
        raise UsageError(
            "--shuffle: --in-place keeps the place of each record; write to another "
            "file with -o"
        )
    if given.has("engine", "shuffle"):
        raise UsageError(f"--shuffle: one process orders the records; {_LOCAL}")


def _check_line_buffered(given: Given) -> None:
    """Refuse options that hold records back."""
    if given.has("line_buffered", "jobs"):
        raise UsageError(
            "--line-buffered writes every record at once: leave --jobs out"
        )
    if given.has("ledger", "line_buffered"):
        raise UsageError(
            "--ledger: nothing leaves before all of it is charged; leave "
            "--line-buffered out"
        )
    if given.has("fail_on", "line_buffered"):
        raise UsageError(
            "--fail-on: nothing leaves before all of it was looked at; leave "
            "--line-buffered out"
        )
    if given.has("batch_size", "line_buffered"):
        raise UsageError(
            "--line-buffered writes every record at once: leave --batch-size out"
        )


def _check_engine(given: Given) -> None:
    """Refuse options that need one process on one machine."""
    if given.has("engine", "jobs"):
        raise UsageError(
            "--jobs: the master says how many tasks Spark runs, as in --master "
            "'local[4]'"
        )
    if given.has("engine", "quarantine"):
        raise UsageError(
            "--quarantine: tasks of several machines cannot add to one file; use "
            f"--on-error skip, or {_LOCAL}"
        )
    if given.has("engine", "resume"):
        raise UsageError(f"--resume: the manifest is kept by one process; {_LOCAL}")
    if given.has("engine", "ledger"):
        raise UsageError(f"--ledger: a ledger is charged by one process; {_LOCAL}")
    if given.has("engine", "sign_key"):
        raise UsageError(f"--sign-key: the key stays on this machine; {_LOCAL}")


def _check_ledger(given: Given) -> None:
    if given.has("ledger", "seed"):
        raise UsageError(
            "--seed: anyone who knows it can repeat every draw, so a ledger has "
            "nothing to count; use --key-file"
        )
    is_incomplete = (
        given.lacks("ledger", "subject")
        or given.lacks("ledger", "limit")
        or given.lacks("subject", "ledger")
        or given.lacks("limit", "ledger")
        or given.lacks("limit_delta", "ledger")
    )
    if is_incomplete:
        raise UsageError("--ledger, --subject and --limit go together: give all")


def _check_needed(given: Given) -> None:
    """Refuse options without the one that they belong to."""
    if given.lacks("trust_key_file", "key_file"):
        raise UsageError("--trust-key-file is about --key-file: give both")
    if given.lacks("public_text", "plan"):
        raise UsageError("--public-text is about --plan: give both")
    if given.lacks("master", "engine"):
        raise UsageError("--master needs --engine spark: give both")
    if given.lacks("engine", "files") or given.lacks("engine", "out_dir"):
        raise UsageError("--engine spark: name files or folders, and --out-dir")


def _check_resume(given: Given) -> None:
    if given.lacks("resume", "out_dir"):
        raise UsageError(
            "--resume is for folders of outputs (--out-dir); run a single file again "
            "instead: with --key-file that writes the same bytes"
        )
    if given.lacks("resume", "key_file", "seed"):
        raise UsageError(
            "--resume: without a key every run draws other words, so there is nothing "
            "to continue; give --key-file"
        )
