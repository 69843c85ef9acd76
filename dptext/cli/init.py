"""`dptext init`: from a look at a file to the settings for it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from dptext.cli import configuration, options, outputs, screen
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.engine.identifying import Kind
    from dptext.engine.job import Job
    from dptext.engine.survey import FieldSummary
    from dptext.types import JsonObject

# What to do with a column that would be left unchanged.
_ADVICE = (
    "name it with --field, replace it by a pseudonym (--pseudonym) or drop it (--drop)"
)
Answer = TypeVar("Answer")
_note = partial(typer.echo, err=True)
_RISKS = ("10%", "20%", "35%")
_USUAL = "20%"
_RECORDS = 3  # in the preview
_HEAD = (
    "# Settings of dptext, written by dptext init. docs/configuration.md says more.\n"
)


def command(
    file: Annotated[str, "File, or folder of files, with texts to make private."],
    *,
    layout: options.LayoutOptions,
) -> None:
    """Inspect a file, preview three risks, and write settings to .dptext.yaml.

    Then `dptext sanitize FILE -o OUTPUT` and `dptext check OUTPUT` need no options.
    Without a terminal, init asks nothing and prints the settings.

    Example: dptext init tickets.jsonl
    """
    from dptext import streams
    from dptext.engine import survey
    from dptext.engine.job import Job

    if streams.is_standard(file):
        raise UsageError(
            "init reads its input several times: save standard input to a file, and "
            "name that"
        )
    first, *others = outputs.files_of([file], layout.format)
    if first != file:
        _note(f"dptext: {file}: looking at {first}, {len(others)} more not looked at")
    job = Job((first,), None, layout.selection(), format=layout.format)
    columns = survey.survey(job)
    names = layout.field or [each.name for each in columns if each.is_private]
    if all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        _ask(file, job, columns, names, layout)
    else:
        job = _chosen(job, columns, names)
        typer.echo(_settings(job, columns, layout, _USUAL), nl=False)


def _ask(
    source: str,
    job: Job,
    columns: Sequence[FieldSummary],
    names: Sequence[str],
    layout: options.LayoutOptions,
) -> None:
    """Show fields and previews, ask for choices, and write the file."""
    from dptext.settings import share

    usual = ", ".join(names)

    def fields_of(answer: str) -> Job:
        parts = [each.strip() for each in answer.split(",") if each.strip()]
        return _chosen(job, columns, names if answer == usual else parts)

    def risk_of(text: str) -> str:
        share(text, "risk")
        return text.strip()

    if columns:
        _show(columns)
        chosen = _prompt("Private fields, the others are copied", usual, fields_of)
    else:
        chosen = _chosen(job, columns, names)
    _preview(chosen)
    question = "Risk, how often the best guess of a word may be right"
    risk = _prompt(question, _USUAL, risk_of)
    text = _settings(chosen, columns, layout, risk)
    path = Path(configuration.NAME)
    _note(f"\n{text}")
    there = path.exists()
    question = f"{'Replace' if there else 'Write'} {path}?"
    if not typer.confirm(question, default=not there, err=True):
        _note("nothing was written")
        return
    screen.write_file(path, text.encode())
    source = shlex.quote(source)
    _note(f"next: dptext sanitize {source} -o OUTPUT, then dptext check OUTPUT")
    if copied := _identifying(columns, chosen.selection.fields):
        from dptext.engine.identifying import warning

        _note(f"dptext: {warning(copied, _ADVICE, written=False)}")


def _prompt(question: str, usual: str, read: Callable[[str], Answer]) -> Answer:
    """Ask until there is an answer that can be read."""
    while True:
        text: str = typer.prompt(question, default=usual or None, err=True)
        try:
            return read(text)
        except UsageError as error:
            _note(f"Error: {error}")


def _identifying(
    columns: Sequence[FieldSummary], private: Sequence[str]
) -> dict[str, Kind]:
    """Return the copied fields that look identifying."""
    return {
        each.name: each.identifies
        for each in columns
        if each.identifies is not None and each.name not in private
    }


def _show(columns: Sequence[FieldSummary]) -> None:
    """Show what fields look like: names and counts, no content."""
    from dptext.report import blocks
    from dptext.report.figures import count

    heads = [blocks.Column("field"), blocks.Column("looks like")]
    heads += [blocks.Column(name, count) for name in ("texts", "different")]
    heads.append(blocks.Column("words each", "{:.1f}".format))
    rows = [astuple(each)[: len(heads)] for each in columns]
    screen.show(blocks.Table(heads, rows), on=screen.console(stderr=True))


def _chosen(job: Job, columns: Sequence[FieldSummary], names: Sequence[str]) -> Job:
    """Return the job with its private fields. Raises UsageError for none or others."""
    from dptext import registry
    from dptext.engine import survey

    known = tuple(each.name for each in columns)
    for name in names if columns else ():
        if name not in known:
            raise UsageError(f"no field {name!r}; {registry.suggest(name, known)}")
    if columns and not names:
        raise UsageError("no private field: name one, as in --field NAME")
    selection = replace(job.selection, fields=tuple(dict.fromkeys(names)))
    return survey.with_missing(replace(job, selection=selection))


def _preview(job: Job) -> None:
    """Show what becomes of some records at several risks."""
    from dptext import lexicons, pipeline, profile, progress
    from dptext.engine import source, survey
    from dptext.randomness import RunKey

    lexicon = lexicons.find(profile.load(profile.DEFAULT).lexicon)
    pipelines = {}
    for risk in _RISKS:
        recipe = profile.load(profile.DEFAULT, options.overrides(risk=risk))
        with progress.step(f"making settings ready for a risk of {risk}"):
            pipelines[f"risk {risk}"] = pipeline.build(recipe, lexicon)
    ready = pipelines[f"risk {_USUAL}"]
    batch = source.first_records(job, survey.SAMPLE)
    texts = survey.Language(ready.tokenizer, lexicon.name, _note)
    texts.look(batch)
    texts.close()
    screen.preview(batch[:_RECORDS], pipelines, RunKey.fresh())


def _settings(
    job: Job, columns: Sequence[FieldSummary], layout: options.LayoutOptions, risk: str
) -> str:
    """Return the content of the file: what is private and copied, and the policy."""
    import yaml

    selection, usual = job.selection, options.LayoutOptions()
    private = list(selection.fields)
    sanitize = {**asdict(layout), "field": private or None}
    sanitize = {
        name: value for name, value in sanitize.items() if value != getattr(usual, name)
    }
    if selection.missing != "fail":
        sanitize["missing"] = selection.missing
    sanitize["risk"] = risk
    check: JsonObject = {"max_risk": risk}
    if columns:
        copied = [each.name for each in columns if each.name not in private]
        check |= {"fields": list(private), "copy": copied}
    identifying = "".join(
        f"# copied, but looks identifying: {name!r} ({kind})\n"
        for name, kind in _identifying(columns, private).items()
    )
    sections = {"sanitize": sanitize, "check": check}
    text = yaml.safe_dump(sections, sort_keys=False, allow_unicode=True)
    return f"{_HEAD}{identifying}{text}"
