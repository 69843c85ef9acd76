"""`dptext init`: inspects a file and writes settings for it."""

from __future__ import annotations

import os
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
from dptext.cli import configuration, init_file, parser, screen
from dptext.cli.init_file import Use, Uses
from dptext.errors import UsageError
from dptext.formats._fields import listed
from dptext.overrides import make_overrides
from dptext.run.choices import DEFAULT, FOR_PROGRAMS, Choices
from dptext.run.interface import noun
from dptext.run.marks import INPUT, Option, one_of
from dptext.run.selection import FILE_LAYOUT, Selection
from dptext.settings import share
from dptext.tokens import lists
from dptext.tokens.policy import NOTHING

if TYPE_CHECKING:
    from dptext.engine.job import Job
    from dptext.engine.survey import FieldSummary

Answer = TypeVar("Answer")
_note = partial(typer.echo, err=True)
_RISKS = ("10%", "20%", "35%")
_USUAL = "20%"
_RECORDS = 3  # in the preview
_MANY = 0.9  # of the records that are looked at have a text, where there are many
_FOR_PEOPLE = "also give --audience people"
_MAKE_KEY = f"(umask 077; openssl rand -out {init_file.KEY} 32)"


class Audience(StrEnum):
    """Who will read the output."""

    PEOPLE = "people"
    PROGRAMS = "programs"
    STATISTICS = "statistics"


# The profile for each of them.
_PROFILES = {
    Audience.PEOPLE: DEFAULT,
    Audience.PROGRAMS: FOR_PROGRAMS,
    Audience.STATISTICS: "topics",
}
_USUAL_AUDIENCE = next(each for each, name in _PROFILES.items() if name == DEFAULT)
_WHO = f"""
Who will read the output?
  people      common words stay, names and places become others (profile {DEFAULT});
              the common words can still show who a person is
  programs    every word is replaced, for programs that learn from words
              (profile {FOR_PROGRAMS})
  statistics  nobody: a public topic takes the place of each text (topics)
"""
_BUILD_TOPICS = "dptext topics build PUBLIC_TEXT --name topics"
_OF_TOPICS = (
    f"statistics need topics: build them from public texts with {_BUILD_TOPICS}, and "
    "read results with dptext topics estimate OUTPUT"
)
_REST = "rest"
_QUESTION = """
What becomes of each field?
  private    its words are replaced
  drop       it is left out of the output
  pseudonym  each value becomes a token: equal values stay equal (needs a key file)
  copy       it is unchanged
Enter takes the suggestion in brackets; "rest" takes it for this field and all others.
"""


EXAMPLES = (
    "dptext init tickets.jsonl",
    "dptext init tickets.jsonl --audience programs > .dptext.yaml",
)


def command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="File, or folder of files, whose texts to make private.",
        ),
    ],
    *,
    selection: Annotated[
        Selection,
        parser.Take(f"fields {FILE_LAYOUT} dropped replaced", is_typed=True),
    ],
    copy: Annotated[
        list[str] | None,
        Option(
            "Field to copy unchanged even if it looks identifying; repeatable.",
            INPUT,
            metavar="NAME",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        Option("Old name of --copy.", INPUT, metavar="NAME", hidden=True),
    ] = None,
    choices: Annotated[Choices, parser.Take("keep_words words", is_typed=True)],
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

    It asks who will read the output and how to treat each field, and suggests to
    drop fields that look identifying. Without a terminal, init asks
    nothing and prints the suggested settings: for human readers unless
    --audience says otherwise, and such a field is copied only if --copy names it.
    """
    from dptext.engine import survey

    job = _first_file(file, selection)
    columns = survey.survey(job)
    fields_by_use = {
        Use.PRIVATE: selection.fields,
        Use.DROP: selection.dropped,
        Use.PSEUDONYM: selection.replaced,
        Use.COPY: (*(copy or ()), *(keep or ())),
    }
    lists.add(NOTHING, choices.keep_words, noun("keep-words"))  # raises UsageError
    uses = _suggested(columns, _by_name(columns, fields_by_use))
    if all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        _ask(
            source=file,
            job=job,
            columns=columns,
            uses=uses,
            audience=audience,
            choices=choices,
        )
        return
    text = _settings(
        source=file,
        job=_chosen(job, columns, uses),
        columns=columns,
        uses=uses,
        reader=Audience(audience or _USUAL_AUDIENCE),
        risk=_USUAL,
        choices=choices,
    )
    typer.echo(text, nl=False)


def _first_file(file: str, selection: Selection) -> Job:
    """Return the job that reads a file, or a folder's first file."""
    from dptext.engine.files import find_files
    from dptext.engine.job import Job

    if streams.is_stream(file):
        raise UsageError(
            "init reads its input several times: save it to a file and name the file"
        )
    first, *others = find_files([file], selection.format)
    if first != file:
        _note(f"dptext: {file}: looking at {first}, {len(others)} more not looked at")
    return Job((first,), None, selection.without_changes())


def _by_name(
    columns: Sequence[FieldSummary], fields_by_use: Mapping[Use, Sequence[str] | None]
) -> dict[str, Use]:
    """Map the fields named in options to their uses. Raises UsageError if unknown."""
    uses: dict[str, Use] = {}
    known = tuple(each.name for each in columns)
    for use, names in fields_by_use.items():
        for name in names or ():
            if known and name not in known:
                raise UsageError(f"no field {name!r}; {registry.suggest(name, known)}")
            if uses.setdefault(name, use) is not use:
                raise UsageError(f"field {name!r} is both {uses[name]} and {use}")
    return uses


def _suggested(columns: Sequence[FieldSummary], chosen: Uses) -> dict[str, Use]:
    """Suggest a use for each field, unless an option sets it.

    All text fields become private, and no field that looks identifying is kept.
    """
    uses: dict[str, Use] = {}
    for each in columns:
        use = Use.COPY
        if each.is_text:
            use = Use.PRIVATE
        elif each.identifies is not None or each.is_page:
            use = Use.DROP
        uses[each.name] = chosen.get(each.name, use)
    return uses or dict(chosen)


def _ask(
    source: str,
    job: Job,
    columns: Sequence[FieldSummary],
    uses: Uses,
    audience: str | None,
    choices: Choices,
) -> None:
    """Show fields and previews, ask for choices, and write the file."""

    def read_risk(text: str) -> str:
        share(text, "risk")
        return text.strip()

    if audience is None:
        _note(_WHO)
        reader = _prompt("Who will read it", str(_USUAL_AUDIENCE), _read_audience)
    else:
        reader = Audience(audience)
    if columns:
        _show(columns)
        _note(_QUESTION)
    uses = _asked(columns, uses)
    if columns and not init_file.named(uses, Use.PRIVATE):
        uses = {**uses, _ask_private(columns): Use.PRIVATE}
    chosen = _chosen(job, columns, uses)
    risk = _USUAL
    if reader is Audience.STATISTICS:
        _note(f"\n{_OF_TOPICS}")
    else:
        words = _with_values(columns, uses, choices.keep_words)
        choices = replace(choices, keep_words=words)
        _preview(chosen, reader, choices)
    if reader is Audience.PROGRAMS:
        question = "Risk, how often the best guess of a word may be right"
        risk = _prompt(question, _USUAL, read_risk)
    text = _settings(
        source=source,
        job=chosen,
        columns=columns,
        uses=uses,
        reader=reader,
        risk=risk,
        choices=choices,
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
    _say_next(source, chosen.selection.replaced)


def _settings(
    source: str,
    job: Job,
    columns: Sequence[FieldSummary],
    uses: Uses,
    reader: Audience,
    risk: str,
    choices: Choices,
) -> str:
    """Return the content of the configuration file for a source."""
    recipe = _recipe(reader, risk, choices, job)
    return init_file.settings_text(
        job=job,
        columns=columns,
        uses=uses,
        recipe=recipe,
        proposal=_proposal(source, reader, recipe, job),
    )


def _say_next(source: str, pseudonyms: Sequence[str]) -> None:
    """Print the next commands to run; pseudonyms need a key."""
    path = Path(source)
    if path.is_dir():
        option, output = "--out-dir", f"{path.resolve().name}.private"
    else:
        first, dot, rest = path.name.partition(".")
        option, output = "-o", f"{first}.private{dot}{rest}"
    commands = [
        ["dptext", "sanitize", source, option, output],
        ["dptext", "check", output],
    ]
    if pseudonyms:
        _note(f"next, once, and keep the key secret: {_MAKE_KEY}")
        commands[0] += ["--key-file", init_file.KEY]
    for command_line in commands:
        _note(f"next: {shlex.join(command_line)}")


def _asked(columns: Sequence[FieldSummary], uses: Uses) -> dict[str, Use]:
    """Ask for the use of each field, with suggested answers."""
    answers = dict(uses)
    for each in columns:
        question = f"{each.name} ({each.looks})"
        read = partial(_read_use, field=each)
        use = _prompt(question, str(uses[each.name]), read)
        if use is None:  # the suggestions for the rest
            break
        answers[each.name] = use
    return answers


def _ask_private(columns: Sequence[FieldSummary]) -> str:
    """Ask which field to make private, after none was chosen.

    Raises UsageError where no field holds text.
    """
    known = {each.name: each for each in columns if each.texts}
    if not known:
        raise UsageError("no field contains text, so none can be private")
    longest = max(known.values(), key=lambda each: each.words)
    _note("No field is private, so there is nothing to replace words in.")

    def read(answer: str) -> str:
        name = answer.strip()
        if name not in known:
            raise UsageError(f"{name}: {registry.suggest(name, tuple(known))}")
        return name

    return _prompt("Which field is private", longest.name, read)


def _read_audience(answer: str) -> Audience:
    """Parse an audience; the first letters of a word are enough."""
    text = answer.strip().lower()
    matches = [each for each in Audience if text and each.startswith(text)]
    if len(matches) != 1:
        raise UsageError(f"{text}: give people, programs or statistics")
    return matches[0]


def _read_use(answer: str, field: FieldSummary) -> Use | None:
    """Parse a use; None accepts the suggestions for all other fields.

    The first letters of a word are enough. Raises UsageError for other answers.
    """
    text = answer.strip().lower()
    if text and "keep".startswith(text):  # the earlier word
        return Use.COPY
    matches = [each for each in (*Use, _REST) if text and each.startswith(text)]
    if len(matches) > 1:
        raise UsageError(f"{text}: {' or '.join(matches)}?")
    if not matches:
        raise UsageError(f"{text}: give private, drop, pseudonym, copy or rest")
    if matches[0] == _REST:
        return None
    use = Use(matches[0])
    if use is Use.PRIVATE and not field.texts:
        raise UsageError(f"{field.name} contains no text: give drop, pseudonym or copy")
    return use


def _prompt(question: str, usual: str, read: Callable[[str], Answer]) -> Answer:
    """Repeat a question until the answer is valid."""
    while True:
        text: str = typer.prompt(question, default=usual or None, err=True)
        try:
            return read(text)
        except UsageError as error:
            _note(f"Error: {error}")


def _show(columns: Sequence[FieldSummary]) -> None:
    """Show names, apparent kinds and counts of fields, but no content."""
    from dptext.engine.survey import RECORDS
    from dptext.report import blocks
    from dptext.report.figures import count

    heads = [blocks.Column("field"), blocks.Column("looks like")]
    heads += [blocks.Column(name, count) for name in ("texts", "different")]
    heads.append(blocks.Column("words each", "{:.1f}".format))
    rows = [astuple(each)[: len(heads)] for each in columns]
    _note(f"Fields of the first {RECORDS:,} records, or of all if there are fewer:")
    screen.show(blocks.Table(heads, rows), on=screen.console(stderr=True))


def _chosen(job: Job, columns: Sequence[FieldSummary], uses: Uses) -> Job:
    """Return the job with the chosen fields. Raises UsageError if none is private."""
    from dptext.engine import survey

    private = init_file.named(uses, Use.PRIVATE)
    if columns and not private:
        names = listed((each.name for each in columns if each.texts), "fields")
        raise UsageError(f"no private field: name one with --field NAME{names}")
    selection = replace(
        job.selection,
        fields=private,
        dropped=init_file.named(uses, Use.DROP),
        replaced=init_file.named(uses, Use.PSEUDONYM),
    )
    return survey.with_missing(replace(job, selection=selection))


def _with_values(
    columns: Sequence[FieldSummary], uses: Uses, words: tuple[str, ...]
) -> tuple[str, ...]:
    """Ask whether to keep words of copied fields in texts; return all such words."""
    _note(f"\n{init_file.OWN_WORDS}")
    for each in init_file.offered(columns, uses):
        values = [value for value in each.values if value not in words]
        question = (
            f"{each.name} is copied. Copy its {len(values)} words in texts, too, not "
            f"protected: {', '.join(values)}?"
        )
        if values and typer.confirm(question, default=False, err=True):
            words = (*words, *values)
    return words


def _preview(job: Job, audience: Audience, choices: Choices) -> None:
    """Preview sanitized records at several risks, or with one profile."""
    from dptext import calibration, lexicons, profile
    from dptext.engine import source
    from dptext.engine.fields import SAMPLE
    from dptext.engine.language import Language
    from dptext.randomness import RunKey

    name = _PROFILES[audience]
    more = make_overrides(keep_words=choices.keep_words or None, words=choices.words)
    recipes = {name: profile.load(name, more)}
    lexicon = lexicons.find(recipes[name].lexicon)
    if audience is Audience.PROGRAMS:
        recipes = {
            f"risk {risk}": profile.load(name, make_overrides(more, risk=risk))
            for risk in _RISKS
        }
    pipelines = {}
    for name, recipe in recipes.items():
        with progress.step(f"preparing settings: {name}"):
            pipelines[name] = calibration.build(recipe, lexicon)
    ready = pipelines.get(f"risk {_USUAL}") or next(iter(pipelines.values()))
    batch = source.first_records(job, SAMPLE)
    texts = Language(ready.tokenizer, lexicon.name, _note)
    texts.look(batch)
    texts.close()
    screen.preview(batch[:_RECORDS], pipelines, RunKey.fresh())


def _recipe(
    audience: Audience, risk: str, choices: Choices, job: Job
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the profile settings for an audience, and the matching policy.

    For human readers, the languages of a job's first records are included.

    Raises UsageError for kept words if no words are written or all are replaced.
    """
    from dptext import profile, word_file
    from dptext.guarantees import claims
    from dptext.guarantees.claims import Unprotected, format_up

    if choices.keep_words and audience is Audience.STATISTICS:
        raise UsageError(
            f"{noun('keep-words')}: statistics copy no words of texts; leave it out"
        )
    if choices.words is not None and audience is not Audience.PEOPLE:
        raise UsageError(f"{noun('words')} adds to common words: {_FOR_PEOPLE}")
    kept, named = dict[str, Any](), dict[str, Any]()
    if choices.keep_words:
        kept["keep_words"], named["keep_words"] = (
            [*choices.keep_words] for _ in range(2)
        )
    recipe = profile.load(_PROFILES[audience])
    shown = claims.unprotected(recipe.tokens, recipe.strategy)
    check: dict[str, Any] = {"allow": [*map(str, shown)]}
    if audience is Audience.PROGRAMS:
        chosen = {"profile": recipe.name, "risk": risk, **kept}
        return chosen, {"max_risk": risk, **check, **named}
    plain: dict[str, Any] = recipe.settings()
    check = {"max_epsilon": plain["budget"]["epsilon"], **check}
    if choices.words is not None:
        path = os.fspath(choices.words)
        listed = word_file.read(path)
        kept["words"] = path
        check["allow"].append(str(Unprotected.CORPUS_WORDS))
        named["max_words_epsilon"] = float(format_up(listed.stated))
        named["max_words_delta"] = listed.delta
    if audience is Audience.STATISTICS:
        return {"topics": "topics"}, check
    if languages := _languages(job):
        kept["language"] = languages
    return {"profile": recipe.name, **kept}, check | named


def _proposal(
    file: str,
    audience: Audience,
    recipe: tuple[dict[str, Any], dict[str, Any]],
    job: Job,
) -> list[str]:
    """Propose a list of words that many people wrote if replaced words repeat.

    The proposal includes the command that builds the list, and its cost.
    """
    settings, _ = recipe
    if audience is not Audience.PEOPLE or "words" in settings:
        return []
    from dptext import profile
    from dptext.engine import corpus_words, source
    from dptext.engine.survey import RECORDS

    records = source.first_records(job, RECORDS)
    if sum(any(record.texts) for record in records) < _MANY * RECORDS:
        return []
    over = make_overrides(
        keep_words=settings.get("keep_words"), languages=settings.get("language")
    )
    used = profile.load(_PROFILES[audience], over)
    if not corpus_words.repeat_words(records, used):
        return []
    command = ["dptext", "words", "build", file]
    for name in job.selection.fields or ():
        command += ["--field", name]
    if job.selection.fields:
        command += ["--subject", "FIELD_OF_THE_PERSON"]
    return [
        "Words that are replaced repeat in many texts. To leave those unchanged that",
        "many people wrote, build a list, at epsilon "
        f"{corpus_words.EPSILON:g} and delta {corpus_words.DELTA:g} for each",
        "person, once (docs/own-words.md), and give it to dptext init --words:",
        f"  {shlex.join([*command, '-o', 'own.words'])}",
    ]


def _languages(job: Job) -> list[str]:
    """Return the languages of the first records, [] for English only."""
    from dptext import lexicons, profile
    from dptext.engine import source
    from dptext.engine.fields import SAMPLE
    from dptext.engine.language import languages_in

    recipe = profile.load(_PROFILES[Audience.PEOPLE])
    records = source.first_records(job, SAMPLE)
    texts = [text for record in records for text in record.texts]
    return languages_in(texts, recipe.tokens, lexicons.find(recipe.lexicon))
