"""Which fields of an export are copied, against its report and a policy."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dptext import formats, streams
from dptext.errors import InputError, MissingExtra, UsageError
from dptext.guarantees.policy import ExportPolicy
from dptext.report.document import Document, Layout
from dptext.report.exports import Export, has_suffix
from dptext.types import Selection

# Names of fields that are shown; others could hold text.
_NAME = re.compile(r"[\w.\\ -]{1,40}")
_SHOWN = 5


def named(document: Document, export: Export) -> Iterator[str]:
    """Yield that the report names other copied fields than the file has."""
    named = document.output.copied if document.output else None
    if named is None:
        return
    try:
        if tuple(_copied(document.run.layout, export)) == named:
            return
    except MissingExtra:
        return  # what is not installed here cannot tell; `against_policy` says so
    except (InputError, UsageError):
        pass
    yield "its report was changed: it names other copied fields than the file has"


def against_policy(
    document: Document, export: Export, policy: ExportPolicy
) -> Iterator[str]:
    """Yield which fields of the file are copied against the policy."""
    if not policy.fields and policy.copy is None:
        return
    try:
        copied = list(_copied(document.run.layout, export))
    except MissingExtra as error:
        yield f"its fields cannot be read: {error}"
        return
    except (InputError, UsageError):
        yield "its fields cannot be read, or are not those that its report names"
        return
    must = [name for name in copied if _within(name, policy.fields)]
    if must:
        yield f"the policy wants {_series(must)} private; copied"
    others = [name for name in copied if name not in must]
    if policy.copy is not None:
        others = [name for name in others if not _within(name, policy.copy)]
        if others:
            yield f"the policy does not list {_series(others)} under copy; copied"


def _copied(layout: Layout, export: Export) -> Iterator[str]:
    """Give the names of the fields of an export that are not private."""
    if layout.format is None:
        raise UsageError("no single format")
    selection = Selection(
        fields=layout.fields or (),
        id_field=layout.id_field,
        missing=layout.missing,
        delimiter=layout.delimiter,
        quoting=layout.quoting,
        header=layout.header,
    )
    module = formats.find(None, layout.format)
    if has_suffix(export.name) and formats.find(export.name) != module:
        raise UsageError("the file's name says another format")
    with export.open() as plain, streams.unpacked(plain, export.name) as stream:
        yield from module.copied(stream, selection)


def _within(name: str, fields: tuple[str, ...]) -> bool:
    """Tell whether a field is one of some fields, or inside one."""
    return any(name == each or name.startswith(f"{each}.") for each in fields)


def _series(names: list[str]) -> str:
    """Name fields; what may be more than a name is not shown."""
    shown = [repr(name) if _NAME.fullmatch(name) else "a field" for name in names]
    more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    return ", ".join(shown[:_SHOWN] + more)
