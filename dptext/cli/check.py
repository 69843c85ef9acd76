"""`dptext check`: checks whether exports may be shared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dptext import lexicons, progress, signatures, streams
from dptext._version import __version__
from dptext.checking import exports, recompute, verify
from dptext.checking.exports import Entry, Export, GitIndex
from dptext.checking.policy import ExportPolicy, from_section, parse
from dptext.checking.verify import MEANINGS, Rule, Verdict
from dptext.cli import configuration, faults, parser, screen
from dptext.cli.configuration import Configuration
from dptext.engine.earlier import is_manifest
from dptext.errors import UsageError
from dptext.report.layout import sidecar_path
from dptext.run.choices import Choices, is_word_file
from dptext.run.marks import GUARANTEE, OUTPUT, Option, one_of
from dptext.run.work import SIDECAR
from dptext.tokens import lists
from dptext.types import JsonObject

# An export by name with the function that reads it, or a verdict on another file.
Named = tuple[str, Callable[[], Export]] | Verdict
_SHOWN = 10  # names of a line
_MANIFEST_STAYS = "the list of finished outputs for --resume, which must not be shared"
TRUST = (
    "settings and keys in reports are trusted without a signature: to detect forged "
    "reports, sign them with --sign-key and check them with --verify-key"
)

EXAMPLES = (
    "dptext check exports --set max_risk=15%",
    "dptext check --staged --format sarif",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifiers:
    """Lexicons and keys used for checking."""

    lexicon: Annotated[
        list[str] | None,
        Option(
            "Lexicon of `dptext lexicon list`, or file, to recompute with, in "
            "addition to the installed ones; repeatable.",
            GUARANTEE,
            metavar="NAME",
        ),
    ] = None
    verify_key: Annotated[
        list[Path] | None,
        Option(
            "Accept only reports signed with this key (see sanitize --sign-key); "
            "repeatable to accept several keys.",
            metavar="FILE",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Output format of findings."""

    format: Annotated[
        str,
        Option(
            "Format of the findings: text, json or sarif.",
            parse=one_of("text", "json", "sarif"),
            metavar="text|json|sarif",
        ),
    ] = "text"
    quiet: Annotated[
        bool, Option("Print nothing; only set the exit code.", OUTPUT, short="-q")
    ] = False

    def note(self, line: str) -> None:
        """Print a line, except in machine-readable formats."""
        if not self.quiet:
            typer.echo(screen.one_line(line), err=True)

    def show(self, verdict: Verdict) -> None:
        """Print notes and, in text format, findings."""
        for line in verdict.notes:
            self.note(f"{verdict.name}: {line}")
        is_shown = self.format == "text" and not self.quiet
        for _, message in verdict.findings if is_shown else ():
            typer.echo(screen.one_line(f"{verdict.name}: {message}"))

    def write(self, results: Sequence[Verdict], trust: str) -> None:
        """Print all verdicts if the format is JSON or SARIF."""
        write = {"json": as_json, "sarif": as_sarif}.get(self.format)
        if write is not None and not self.quiet:
            screen.deliver(write(results, trust), as_json=True)


def command(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="Exports, or folders of exports. Other files in a folder are "
            "reported as not checked, and fail if they may hold text, such as "
            "links and unfinished files.",
        ),
    ] = None,
    *,
    staged: Annotated[
        bool,
        Option(
            "Check exports, reports and policy as staged in git: all exports, or "
            "those in the named folders."
        ),
    ] = False,
    policy: Annotated[
        Path | None,
        Option(
            "Policy file. Default: the nearest .dptext.yaml or pyproject.toml.",
            metavar="FILE",
        ),
    ] = None,
    choices: Annotated[Choices, parser.Take("overrides", is_typed=True)],
    means: Verifiers,
    findings: Findings,
) -> None:
    """Check that exports have valid reports that meet the policy.

    A report is valid if it belongs to this exact file and agrees with its own settings:
    guarantee, risk and gaps are recomputed. Only a signature can prove that the run had
    these settings and this key. Prints one line per finding, without any content, and
    exits with code 1 if there is any. --set overrides a key of the policy.
    """
    if not files and not staged:
        raise UsageError("nothing to check: name exports or folders, or give --staged")
    progress.enable(not findings.quiet)
    recomputer = recompute.Recomputer(
        [lexicons.find(name) for name in means.lexicon or ()]
    )
    index = GitIndex() if staged else None
    configured = _configured(context, policy, index)
    asked = choices.overrides
    terms = parse(asked, "--set")
    accepted = from_section(configured.policy, configured.label)
    accepted = replace(accepted, **{key: getattr(terms, key) for key in asked})
    folder = Path()
    if configured.path is not None and "keep_words" not in asked:
        folder = configured.path.parent
    accepted = replace(
        accepted, keep_words=_kept_words(accepted.keep_words, folder, index)
    )
    keys = verifying_keys(means.verify_key, accepted, configured, index)
    results: list[Verdict] = []
    for named in _exports(files or (), accepted, index, findings.note):
        if not isinstance(named, verify.Verdict):
            name, read = named
            named = judged(read, accepted, keys, recomputer)._replace(name=name)
        results.append(named)
        findings.show(named)
    for line in _unchecked(results):
        findings.note(line)
    # Without keys, a file beside another is trusted, and so is its author.
    looked = any(not each.unchecked for each in results)
    trust = TRUST if looked and not keys else ""
    if trust:
        findings.note(f"dptext: {trust}")
    findings.write(results, trust)
    if any(each.findings for each in results):
        raise typer.Exit(1)


def _exports(
    files: Iterable[str],
    accepted: ExportPolicy,
    index: GitIndex | None,
    note: Callable[[str], None],
) -> Iterator[Named]:
    """Yield staged exports, or those in the named files and folders."""
    if index is not None:
        names = index.exports(list(files), accepted)
        yield from ((name, partial(index.export, name)) for name in names)
        return
    for name in files:
        if not name:
            raise UsageError("the name of an export is empty; name a file or a folder")
        path = Path(name)
        if path.is_dir():
            entries = list(exports.walk(path, accepted))
            if all(entry.unchecked for entry in entries):
                note(f"{path}: no exports in this folder")
            yield from map(_entry, entries)
        elif path.name.endswith(SIDECAR):
            if not path.with_name(path.name.removesuffix(SIDECAR)).exists():
                yield verify.unchecked(name, exports.ORPHAN, fails=True)
        else:
            yield _file(name, path, accepted)


def _file(name: str, path: Path, accepted: ExportPolicy) -> Named:
    """Return the export at a named path, or the verdict on a file that is none."""
    wanted = exports.is_export(path, accepted, sidecar_path(path).exists(), bytes)
    if is_manifest(path):
        return verify.unchecked(name, _MANIFEST_STAYS, fails=False)
    if not wanted and exports.is_document(path):
        return verify.unchecked(name, exports.NO_EXPORT, fails=False)
    if exports.excluded(path, accepted):
        return verify.unchecked(name, exports.EXCLUDED, fails=False)
    return str(path), partial(exports.on_disk, path)


def _entry(entry: Entry) -> Named:
    """Return the export for a folder entry, or the verdict on another file."""
    name = str(entry.path)
    if entry.unchecked:
        return verify.unchecked(name, entry.unchecked, fails=entry.fails)
    return name, partial(exports.on_disk, entry.path)


def _unchecked(results: Iterable[Verdict]) -> Iterator[str]:
    """Yield one line per reason why files were skipped without failing."""
    by_reason: dict[str, list[str]] = {}
    for each in results:
        if each.unchecked and not each.findings:
            by_reason.setdefault(each.unchecked, []).append(each.name)
    for reason, names in by_reason.items():
        shown = ", ".join(names[:_SHOWN])
        if len(names) > _SHOWN:
            shown += f" and {len(names) - _SHOWN} more (--format json lists them)"
        yield f"{shown}: not checked ({reason})"


def _configured(
    context: typer.Context, path: Path | None, index: GitIndex | None
) -> Configuration:
    """Return the configuration with the policy: the named file, else the nearest.

    With an index, the staged version of the file is used.
    """
    if path is not None:
        configured = configuration.read(path, "policy")
        if configured is None or configured.policy is None:
            raise UsageError(f"policy {path}: no section named check")
        return configured
    before = context.find_root().params
    if index is None or before.get("config") or before.get("no_config"):
        nearest = parser.find_configuration(context)
    else:
        nearest = _staged(index)
    # Also in a quiet run: a file above may be from other people.
    if (above := parser.label_above(context, nearest)) and nearest.policy:
        faults.print_line(f"from {above}: {', '.join(sorted(nearest.policy))}")
    return nearest


def _staged(index: GitIndex) -> Configuration:
    """Return the nearest configuration staged in git."""
    for name, content in index.in_parents(configuration.NAMES):
        file = Path(name)
        staged = None if content is None else configuration.decode(content, file)
        if staged is not None:
            return staged
        if content is None and file.is_file() and configuration.read(file) is not None:
            raise UsageError(
                f"{name}: on disk but not staged; stage it with git add, or name it "
                "with --policy"
            )
    return Configuration()


def judged(
    read: Callable[[], Export],
    accepted: ExportPolicy,
    keys: Sequence[signatures.Key],
    recomputer: recompute.Recomputer,
) -> Verdict:
    """Return the verdict on an export, including its signature."""
    try:
        export = read()
    except OSError as error:
        named = error.filename if isinstance(error.filename, str) else ""
        reason = streams.unopened(named, error).removeprefix(f"{named}: ")
        return verify.failed(Rule.UNREADABLE, f"cannot be read: {reason}")
    verdict = verify.verdict(export, accepted, recomputer, keys)
    problem = ""
    invalid = any(each.rule is Rule.INVALID for each in verdict.findings)
    # Whether a report was signed that is cut off cannot be told.
    if keys and export.report and (not invalid or signatures.is_signed(export.report)):
        problem = signatures.problem(export.report, keys)
    signature = verify.as_findings(Rule.SIGNATURE, filter(None, [problem]))
    return verdict._replace(findings=(*signature, *verdict.findings))


def _kept_words(
    entries: Sequence[str], folder: Path, index: GitIndex | None
) -> tuple[str, ...]:
    """Return the words in entries; entries that are file names are read."""
    words: list[str] = []
    for entry in entries:
        path = folder / os.path.expanduser(entry)
        if not is_word_file(entry, path):
            words.append(entry)
            continue
        staged = None if index is None else index.content(os.path.relpath(path))
        words += lists.read_entries(str(path), f"keep_words: {entry}", staged)
    return tuple(words)


def verifying_keys(
    paths: Sequence[Path] | None,
    accepted: ExportPolicy,
    configured: Configuration,
    index: GitIndex | None,
) -> tuple[signatures.Key, ...]:
    """Return the keys given as options, else those named in the policy."""
    if paths:
        return tuple(map(signatures.read, paths))
    folder = Path() if configured.path is None else configured.path.parent

    def key(name: str) -> signatures.Key:
        path = folder / os.path.expanduser(name)
        staged = None if index is None else index.content(os.path.relpath(path))
        if staged is None:
            return signatures.read(path)
        return signatures.parse(staged, f"key file {name}")

    return tuple(map(key, accepted.verify_key))


_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def as_json(judged: Sequence[Verdict], trust: str) -> JsonObject:
    """Return verdicts as JSON data; trust describes the trusted signers."""
    return {
        "success": not any(each.findings for each in judged),
        "trust": trust,
        "exports": [
            {
                "file": each.name,
                "success": not each.findings,
                "findings": [finding._asdict() for finding in each.findings],
                "notes": list(each.notes),
            }
            for each in judged
            if not each.unchecked
        ],
        "not_checked": [
            {"file": each.name, "success": not each.findings, "reason": each.unchecked}
            for each in judged
            if each.unchecked
        ],
    }


def as_sarif(judged: Sequence[Verdict], trust: str) -> JsonObject:
    """Return the findings as a SARIF 2.1.0 log (OASIS, 2020)."""
    results = [
        {
            "ruleId": finding.rule,
            "ruleIndex": [*Rule].index(finding.rule),
            **_sarif_message("error", finding.message, each.name),
        }
        for each in judged
        for finding in each.findings
    ]
    notes = [_sarif_message("note", trust)] if trust else []
    notes += [
        _sarif_message("note", note, each.name)
        for each in judged
        for note in each.notes
    ]
    rules = [
        {"id": rule, "shortDescription": {"text": MEANINGS[rule]}} for rule in Rule
    ]
    driver = {"name": "dptext check", "version": __version__, "rules": rules}
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": notes}
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}


def _sarif_message(level: str, text: str, name: str = "") -> JsonObject:
    """Build a SARIF message, located in a file if one is given."""
    from urllib.parse import quote

    message: JsonObject = {"level": level, "message": {"text": text}}
    if name:
        uri = quote(name.replace("\\", "/"), safe="/", errors="surrogateescape")
        location = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
        message["locations"] = [{"physicalLocation": location}]
    return message
