"""`dptext init`: from a look at a file to the settings for it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from dptext import progress, registry, streams
from dptext.cli import configuration, screen
from dptext.cli.parser import Take
from dptext.errors import UsageError
from dptext.overrides import make_overrides
from dptext.run import groups
from dptext.run.marks import INPUT, Option
from dptext.run.selection import FILE_LAYOUT, Selection
from dptext.run.values import one_of
from dptext.settings import share

if TYPE_CHECKING:
    from dptext.engine.job import Job
    from dptext.engine.survey import FieldSummary

Answer = TypeVar("Answer")
_note = partial(typer.echo, err=True)
_RISKS = ("10%", "20%", "35%")
_USUAL = "20%"
_RECORDS = 3  # in the preview
_HEAD = (
    "# Settings of dptext, written by dptext init. docs/configuration.md says more.\n"
)
_FORMS = (
    "# Dates, times, amounts, codes, URLs, e-mail addresses, phone numbers, tags and\n"
    "# the like become others of the same layout, which is shown (tokens.forms,\n"
    "# docs/tokens.md).\n"
)
_KEY = "pseudonyms.key"
_MAKE_KEY = f"(umask 077; openssl rand -out {_KEY} 32)"


class Use(StrEnum):
    """What becomes of a field."""

    PRIVATE = "private"
    DROP = "drop"
    PSEUDONYM = "pseudonym"
    KEEP = "keep"


class Audience(StrEnum):
    """Who will read the output."""

    PEOPLE = "people"
    PROGRAMS = "programs"
    STATISTICS = "statistics"


# The profiles for those that are no question of risk.
_PROFILES = {Audience.PEOPLE: "readable", Audience.STATISTICS: "topics"}
_WHO = """
Who will read the output?
  people      common words stay, names and places become others (profile readable);
              the common words can still show who a person is
  programs    every word is replaced, for programs that learn from words (balanced)
  statistics  nobody: a public topic takes the place of each text (topics)
"""
_BUILD_TOPICS = "dptext topics build PUBLIC_TEXT --name topics"
_OF_TOPICS = (
    f"statistics need topics: {_BUILD_TOPICS} makes them of public texts, and dptext "
    "topics estimate OUTPUT reads them"
)
# By the names of fields.
Uses = Mapping[str, Use]
_REST = "rest"
_QUESTION = """
What becomes of each field?
  private    its words are replaced
  drop       it is left out of the output
  pseudonym  each value becomes a token: equal values stay equal (needs a key file)
  keep       it is unchanged
Enter takes the suggestion in brackets; "rest" takes it for this field and all others.
"""


EXAMPLES = (
    "dptext init tickets.jsonl",
    "dptext init tickets.jsonl --audience people > .dptext.yaml",
)


def command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="File, or folder of files, with texts to make private.",
        ),
    ],
    *,
    selection: Annotated[
        Selection,
        Take(f"fields {FILE_LAYOUT} dropped pseudonyms", is_typed=True),
    ],
    keep: Annotated[
        list[str] | None,
        Option(
            "Field to copy unchanged even if it looks identifying; repeatable.",
            INPUT,
            metavar="NAME",
        ),
    ] = None,
    audience: Annotated[
        str | None,
        Option(
            "Who will read the output: people, programs or statistics.",
            INPUT,
            parse=one_of(*Audience),
            metavar="NAME",
        ),
    ] = None,
) -> None:
    """Inspect a file, preview settings, and write .dptext.yaml.

    It asks who will read the output and what becomes of each field, and suggests to
    leave out what looks as if it identified people. Without a terminal, init asks
    nothing and prints the settings with its suggestions: for programs unless
    --audience says otherwise, and such a field is copied only if --keep names it.
    """
    from dptext.engine import survey
    from dptext.engine.job import Job

    if streams.is_stream(file):
        raise UsageError(
            "init reads its input several times: save it to a file, and name that"
        )
    from dptext.engine.files import find_files

    first, *others = find_files([file], selection.format)
    if first != file:
        _note(f"dptext: {file}: looking at {first}, {len(others)} more not looked at")
    job = Job((first,), None, replace(selection, dropped=(), pseudonyms=()))
    columns = survey.survey(job)
    fields_by_use = {
        Use.PRIVATE: selection.fields,
        Use.DROP: selection.dropped,
        Use.PSEUDONYM: selection.pseudonyms,
        Use.KEEP: keep,
    }
    uses = _suggested(columns, _by_name(columns, fields_by_use))
    if all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        _ask(
            source=file,
            job=job,
            columns=columns,
            uses=uses,
            audience=audience,
        )
    else:
        job = _chosen(job, columns, uses)
        recipe = _recipe(Audience(audience or Audience.PROGRAMS), _USUAL, job)
        typer.echo(
            _settings(job=job, columns=columns, uses=uses, recipe=recipe),
            nl=False,
        )


def _by_name(
    columns: Sequence[FieldSummary], fields_by_use: Mapping[Use, Sequence[str] | None]
) -> dict[str, Use]:
    """Return the uses that options name. Raises UsageError for unknown fields."""
    uses: dict[str, Use] = {}
    for use, names in fields_by_use.items():
        for name in names or ():
            _check_known(columns, name)
            if uses.setdefault(name, use) is not use:
                raise UsageError(f"field {name!r} is both {uses[name]} and {use}")
    return uses


def _check_known(columns: Sequence[FieldSummary], name: str) -> None:

    known = tuple(each.name for each in columns)
    if known and name not in known:
        raise UsageError(f"no field {name!r}; {registry.suggest(name, known)}")


def _suggested(columns: Sequence[FieldSummary], chosen: Uses) -> dict[str, Use]:
    """Return the use suggested for each field, unless an option names its use.

    All texts become private, and nothing that looks as if it identified people is kept.
    """
    uses: dict[str, Use] = {}
    for each in columns:
        use = Use.KEEP
        if each.is_text:
            use = Use.PRIVATE
        elif each.identifies is not None:
            use = Use.DROP
        uses[each.name] = chosen.get(each.name, use)
    return uses or dict(chosen)


def _ask(
    source: str,
    job: Job,
    columns: Sequence[FieldSummary],
    uses: Uses,
    audience: str | None,
) -> None:
    """Show fields and previews, ask for choices, and write the file."""

    def read_risk(text: str) -> str:
        share(text, "risk")
        return text.strip()

    if audience is None:
        _note(_WHO)
        reader = _prompt("Who will read it", str(Audience.PROGRAMS), _read_audience)
    else:
        reader = Audience(audience)
    if columns:
        _show(columns)
        _note(_QUESTION)
    while True:
        uses = _asked(columns, uses)
        try:
            chosen = _chosen(job, columns, uses)
            break
        except UsageError as error:
            _note(f"Error: {error}")
    risk = _USUAL
    if reader is Audience.STATISTICS:
        _note(f"\n{_OF_TOPICS}")
    else:
        _preview(chosen, reader)
    if reader is Audience.PROGRAMS:
        question = "Risk, how often the best guess of a word may be right"
        risk = _prompt(question, _USUAL, read_risk)
    text = _settings(
        job=chosen,
        columns=columns,
        uses=uses,
        recipe=_recipe(reader, risk, chosen),
    )
    path = Path(configuration.NAME)
    _note(f"\n{text}")
    there = path.exists()
    question = f"{'Replace' if there else 'Write'} {path}?"
    if not typer.confirm(question, default=not there, err=True):
        _note("nothing was written")
        return
    screen.write_file(path, text.encode())
    if reader is Audience.STATISTICS:
        _note(f"next, once: {_BUILD_TOPICS}")
    _say_next(shlex.quote(source), chosen.selection.pseudonyms)


def _say_next(source: str, pseudonyms: Sequence[str]) -> None:
    """Say which commands come next; pseudonyms need a key file."""
    keyed = ""
    if pseudonyms:
        _note(f"next: make a key once, and keep it secret: {_MAKE_KEY}")
        keyed = f" --key-file {_KEY}"
    _note(f"next: dptext sanitize {source} -o OUTPUT{keyed}, then dptext check OUTPUT")


def _asked(columns: Sequence[FieldSummary], uses: Uses) -> dict[str, Use]:
    """Ask for the use of each field; uses are suggestions."""
    answers, rest = dict(uses), False
    for each in columns:
        if rest:
            break

        def read_use(answer: str, field: FieldSummary = each) -> Use | None:
            return _read_use(answer, field)

        question = f"{each.name} ({each.looks})"
        use = _prompt(question, str(uses[each.name]), read_use)
        rest = use is None
        answers[each.name] = use or uses[each.name]
    return answers


def _read_audience(answer: str) -> Audience:
    """Return the audience of an answer; the first letters of a word are enough."""
    text = answer.strip().lower()
    matches = [each for each in Audience if text and each.startswith(text)]
    if len(matches) != 1:
        raise UsageError(f"{text}: give people, programs or statistics")
    return matches[0]


def _read_use(answer: str, field: FieldSummary) -> Use | None:
    """Return the use in an answer, None for the suggestions of all other fields.

    The first letters of a word are enough. Raises UsageError for other answers.
    """
    text = answer.strip().lower()
    matches = [each for each in (*Use, _REST) if text and each.startswith(text)]
    if len(matches) > 1:
        raise UsageError(f"{text}: {' or '.join(matches)}?")
    if not matches:
        raise UsageError(f"{text}: give private, drop, pseudonym, keep or rest")
    if matches[0] == _REST:
        return None
    use = Use(matches[0])
    if use is Use.PRIVATE and not field.texts:
        raise UsageError(f"{field.name} holds no text: give drop, pseudonym or keep")
    return use


def _prompt(question: str, usual: str, read: Callable[[str], Answer]) -> Answer:
    """Ask until there is an answer that can be read."""
    while True:
        text: str = typer.prompt(question, default=usual or None, err=True)
        try:
            return read(text)
        except UsageError as error:
            _note(f"Error: {error}")


def _show(columns: Sequence[FieldSummary]) -> None:
    """Show names, looks and counts of fields, no content."""
    from dptext.engine.survey import RECORDS
    from dptext.report import blocks
    from dptext.report.figures import count

    heads = [blocks.Column("field"), blocks.Column("looks like")]
    heads += [blocks.Column(name, count) for name in ("texts", "different")]
    heads.append(blocks.Column("words each", "{:.1f}".format))
    rows = [astuple(each)[: len(heads)] for each in columns]
    _note(f"Fields of the first {RECORDS:,} records, or of all if there are fewer:")
    screen.show(blocks.Table(heads, rows), on=screen.console(stderr=True))


def _named(uses: Uses, use: Use) -> tuple[str, ...]:
    return tuple(name for name, each in uses.items() if each is use)


def _chosen(job: Job, columns: Sequence[FieldSummary], uses: Uses) -> Job:
    """Return the job with these fields. Raises UsageError without a private one."""
    from dptext.engine import survey

    private = _named(uses, Use.PRIVATE)
    if columns and not private:
        raise UsageError("no private field: name one, as in --field NAME")
    selection = replace(
        job.selection,
        fields=private,
        dropped=_named(uses, Use.DROP),
        pseudonyms=_named(uses, Use.PSEUDONYM),
    )
    return survey.with_missing(replace(job, selection=selection))


def _preview(job: Job, audience: Audience) -> None:
    """Show some records made private at several risks, or with one profile."""
    from dptext import calibration, lexicons, profile
    from dptext.engine import source
    from dptext.engine.fields import SAMPLE
    from dptext.engine.language import Language
    from dptext.randomness import RunKey

    lexicon = lexicons.find(profile.load(profile.DEFAULT).lexicon)
    if audience is Audience.PROGRAMS:
        recipes = {
            f"risk {risk}": profile.load(profile.DEFAULT, make_overrides(risk=risk))
            for risk in _RISKS
        }
    else:
        recipes = {_PROFILES[audience]: profile.load(_PROFILES[audience])}
    pipelines = {}
    for name, recipe in recipes.items():
        with progress.step(f"making settings ready: {name}"):
            pipelines[name] = calibration.build(recipe, lexicon)
    ready = pipelines.get(f"risk {_USUAL}") or next(iter(pipelines.values()))
    batch = source.first_records(job, SAMPLE)
    texts = Language(ready.tokenizer, lexicon.name, _note)
    texts.look(batch)
    texts.close()
    screen.preview(batch[:_RECORDS], pipelines, RunKey.fresh())


def _recipe(
    audience: Audience, risk: str, job: Job
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of the profile, and the policy for them.

    For people, with the languages of the first records of a job.
    """
    from dptext import profile
    from dptext.guarantees import claims

    if audience is Audience.PROGRAMS:
        return {"risk": risk}, {"max_risk": risk, "allow": ["punctuation", "forms"]}
    recipe = profile.load(_PROFILES[audience])
    shown = claims.unprotected(recipe.tokens, recipe.strategy)
    plain: dict[str, Any] = recipe.settings()
    epsilon = plain["budget"]["epsilon"]
    check: dict[str, Any] = {"max_epsilon": epsilon, "allow": [*map(str, shown)]}
    if audience is Audience.STATISTICS:
        return {"topics": "topics"}, check
    chosen: dict[str, Any] = {"profile": recipe.name}
    if languages := _languages(job):
        chosen["language"] = languages
    return chosen, check


def _languages(job: Job) -> list[str]:
    """Return the languages of the first records, [] for English alone."""
    from dptext import lexicons, profile
    from dptext.engine import source
    from dptext.engine.fields import SAMPLE
    from dptext.tokens.tokenizer import languages_in

    recipe = profile.load(_PROFILES[Audience.PEOPLE])
    records = source.first_records(job, SAMPLE)
    texts = [text for record in records for text in record.texts]
    return languages_in(texts, recipe.tokens, lexicons.find(recipe.lexicon))


def _settings(
    job: Job,
    columns: Sequence[FieldSummary],
    uses: Uses,
    recipe: tuple[dict[str, Any], dict[str, Any]],
) -> str:
    """Return the content of the file: the use of each field, and the policy."""
    import yaml

    selection, usual = job.selection, Selection(fields=())
    sanitize: dict[str, Any] = {}
    for name, option, _ in groups.options(Selection):
        value = getattr(selection, name)
        if value != getattr(usual, name):
            shown = list(value) if isinstance(value, tuple) else value
            sanitize[option.spelled or name] = shown
    settings, check = recipe
    sanitize |= settings
    if columns:
        check["fields"] = list(selection.fields)
        check["copy"] = list(_named(uses, Use.KEEP))
        check["pseudonyms"] = list(selection.pseudonyms)
        kept = [
            each.name
            for each in columns
            if each.identifies is not None and uses[each.name] is Use.KEEP
        ]
        if kept:  # asked about by name
            check["allow"] = [*check["allow"], {"identifying": kept}]
    text = yaml.safe_dump(
        {"sanitize": sanitize, "check": check}, sort_keys=False, allow_unicode=True
    )
    formed = _FORMS if "forms" in check["allow"] else ""
    return f"{_HEAD}{formed}{_notes(columns, uses)}{text}"


def _notes(columns: Sequence[FieldSummary], uses: Uses) -> str:
    """Say which fields look as if they identified people, as lines of comments."""
    remarks = {
        Use.DROP: "left out, since it looks identifying",
        Use.KEEP: "unchanged, though it looks identifying",
        Use.PSEUDONYM: "a pseudonym, which can be linked",
    }
    needs_key = ""
    if Use.PSEUDONYM in uses.values():
        needs_key = f"# pseudonyms need a key: --key-file {_KEY}, or DPTEXT_KEY_FILE\n"
    return needs_key + "".join(
        f"# {remarks[uses[each.name]]}: {each.name!r} ({each.identifies})\n"
        for each in columns
        if each.identifies is not None and uses[each.name] in remarks
    )
