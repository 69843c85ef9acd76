"""What Python programs call: `dptext.privatize` and what it is made of."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack, overload

from dptext import choices
from dptext import profile as profiles
from dptext.measures.public import PublicMeasures
from dptext.profile import Profile
from dptext.randomness import RunKey
from dptext.types import Record, Selection

if TYPE_CHECKING:
    from dptext.embedding.vectors import Vectors
    from dptext.engines.tally import Tally
    from dptext.pipeline import Pipeline
    from dptext.report.document import Document

_Path = str | os.PathLike[str]


class _Choices(TypedDict, total=False):
    """What `privatize` takes by name."""

    risk: str | float | None
    epsilon: float | None
    mechanism: str | None
    lexicon: _Path | None
    decode: str | None
    key: bytes | _Path | None


def load_profile(name: _Path, overrides: Mapping[str, object] | None = None) -> Profile:
    """Read a profile by name or path; overrides are laid over its keys.

    Raises UsageError for an unknown name, key or value.
    """
    return profiles.load(os.fspath(name), overrides)


def open_pipeline(
    profile: _Path = profiles.DEFAULT, overrides: Mapping[str, object] | None = None
) -> Pipeline:
    """Make a profile ready, its lexicon opened: the public work, done once.

    Raises UsageError and LexiconError.
    """
    from dptext import lexicons, pipeline

    recipe = load_profile(profile, overrides)
    return pipeline.build(recipe, lexicons.find(recipe.lexicon))


# A text gives a text, an iterable of texts a list; a string is both for type checkers.
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: _Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[False] = ...,
    **choices: Unpack[_Choices],
) -> str: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: _Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[False] = ...,
    **choices: Unpack[_Choices],
) -> list[str]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: _Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[True],
    **choices: Unpack[_Choices],
) -> tuple[str, Document]: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: _Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[True],
    **choices: Unpack[_Choices],
) -> tuple[list[str], Document]: ...
def privatize(
    texts: str | Iterable[str],
    profile: _Path = profiles.DEFAULT,
    overrides: Mapping[str, object] | None = None,
    *,
    risk: str | float | None = None,
    epsilon: float | None = None,
    mechanism: str | None = None,
    lexicon: _Path | None = None,
    decode: str | None = None,
    key: bytes | _Path | None = None,
    report: bool = False,
) -> str | list[str] | tuple[str | list[str], Document]:
    """Replace the words of texts.

    One text gives one text; any other iterable of texts, a generator for one, a list of
    as many, in order. profile is a name or the path of a .yaml file; overrides are laid
    over its keys, as in {"tokens": {"number": "mask"}}. risk ("20%" or 0.2), epsilon
    (nats per word), mechanism, lexicon (a name or a file) and decode (a decoder's name)
    are what the options of `dptext sanitize` are.

    Randomness is fresh and secure each time. With a key, at least 32 secret random
    bytes or the path of a file that holds them, equal texts at equal positions of a
    call with the same settings give the same texts.

    With report=True the privacy report comes as a second result: report.guarantee and
    report.risk are public, report.private holds functions of the texts. The functions
    `encode` and `public` of dptext.report.document turn it into JSON and into what may
    be released.

    Raises TypeError for what is no text, UsageError and LexiconError for settings.
    """
    checked = _checked(texts)
    run_key = open_key(key)
    chosen = choices.overrides(
        risk=risk,
        epsilon=epsilon,
        mechanism=mechanism,
        lexicon=None if lexicon is None else os.fspath(lexicon),
        decode=decode,
    )
    pipeline = open_pipeline(profile, profiles.merged(overrides or {}, chosen))
    from dptext.engines.tally import Tally

    tally = Tally.of(pipeline.lexicon) if report else None
    observe = None if tally is None else tally.observe
    records = (Record(number, (text,), None) for number, text in enumerate(checked))
    written, began = [], time.monotonic()
    for _, (text,) in pipeline.run(records, run_key, observe=observe):
        written.append(text)
    private = written[0] if isinstance(texts, str) else written
    if tally is None:
        return private
    tally.records, tally.seconds = len(written), time.monotonic() - began
    return private, _report(pipeline, run_key, tally)


def embed(
    texts: str | Iterable[str],
    overrides: Mapping[str, object] | None = None,
    *,
    pool: str = "mean",
    model: str | None = None,
    mechanism: str | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    mu: float | None = None,
    risk: str | float | None = None,
    clip: float | None = None,
    dimensions: int | None = None,
    beta: float | None = None,
    lexicon: _Path | None = None,
    key: bytes | _Path | None = None,
) -> Vectors:
    """Release noisy vectors of texts.

    All settings are what the options of `dptext embed` are; overrides are laid over
    them (mechanism, space, tokens). One text gives one vector (m,), an iterable of
    texts (r, m) float32; with pool="word" a text gives the vectors of its words, (n,
    m), and several texts a list of such. The result's `report` says what is promised.
    Randomness and errors are those of `privatize`.
    """
    from dptext.embedding import settings as settings_
    from dptext.embedding import vectors

    run_key = open_key(key)
    over = choices.overrides(
        epsilon=epsilon,
        risk=risk,
        mechanism=mechanism,
        lexicon=None if lexicon is None else os.fspath(lexicon),
    )
    chosen = settings_.chosen(
        profiles.merged(overrides or {}, over),
        {"pool": pool, "model": model},
        delta=delta,
        clip=clip,
        dimensions=dimensions,
        beta=beta,
        mu=mu,
    )
    return vectors.of(_checked(texts), chosen, run_key, alone=isinstance(texts, str))


def _checked(texts: object) -> Iterator[str]:
    """Return an iterator of texts. Raises TypeError for anything else.

    A table or a dict would give the names of its columns or its keys.
    """
    kind = type(texts).__name__
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise TypeError(
            f"a {kind} is no list of texts: give one of its columns or its values"
        )
    if isinstance(texts, set | frozenset):
        raise TypeError(
            f"a {kind} has no order, in which texts could be returned: give a list"
        )
    if isinstance(texts, bytes | bytearray | memoryview):
        raise TypeError(f"a text is a str, not {kind}: decode it")
    if not isinstance(texts, Iterable):
        raise TypeError(f"give a text or an iterable of texts, not {kind}")
    return _each((texts,) if isinstance(texts, str) else texts)


def _each(texts: Iterable[object]) -> Iterator[str]:
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(
                f"the text at index {number} is no str but {type(text).__name__}"
            )
        yield text


def open_key(key: object) -> RunKey:
    """Return the key of a run, fresh for None. Raises TypeError and UsageError."""
    if key is None:
        return RunKey.fresh()
    if isinstance(key, bytes | bytearray):
        return RunKey.from_bytes(bytes(key))
    if isinstance(key, str | os.PathLike):
        return RunKey.from_file(os.fspath(key))
    raise TypeError(f"key: give bytes or the path of a file, not {type(key).__name__}")


def _report(pipeline: Pipeline, key: RunKey, tally: Tally) -> Document:
    from dptext.engines.serial import Job
    from dptext.report import assemble

    # Nothing was read from a file or written to one, and there is nothing but texts.
    job = Job(inputs=(), output=None, selection=Selection())
    measures = PublicMeasures.of(pipeline)
    return assemble.document(pipeline, job, key, tally, (), measures)
