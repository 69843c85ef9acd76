"""What Python programs call: `dptext.privatize` and what it is made of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar, Unpack, overload

from dptext import choices as choices_
from dptext import profile as profiles
from dptext.calls import Call, Choices, Missing, Path
from dptext.calls import load_profile as load_profile
from dptext.calls import open_key as open_key
from dptext.calls import open_pipeline as open_pipeline
from dptext.errors import UsageError
from dptext.types import Selection

if TYPE_CHECKING:
    from dptext.embedding.vectors import Vectors
    from dptext.report.document import Document

Table = TypeVar("Table")  # of pandas, Polars, pyarrow or datasets


# A table gives a table of its kind, a text a text, an iterable of texts a list; a
# string is both for type checkers.
@overload
def privatize(
    texts: Table,
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    columns: str | Sequence[str],
    id: str | None = ...,
    missing: Missing = ...,
    report: Literal[False] = ...,
    **choices: Unpack[Choices],
) -> Table: ...
@overload
def privatize(
    texts: Table,
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    columns: str | Sequence[str],
    id: str | None = ...,
    missing: Missing = ...,
    report: Literal[True],
    **choices: Unpack[Choices],
) -> tuple[Table, Document]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[False] = ...,
    **choices: Unpack[Choices],
) -> str: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[False] = ...,
    **choices: Unpack[Choices],
) -> list[str]: ...
@overload
def privatize(  # type: ignore[overload-overlap]
    texts: str,
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[True],
    **choices: Unpack[Choices],
) -> tuple[str, Document]: ...
@overload
def privatize(
    texts: Iterable[str],
    profile: Path = ...,
    overrides: Mapping[str, object] | None = ...,
    *,
    report: Literal[True],
    **choices: Unpack[Choices],
) -> tuple[list[str], Document]: ...
def privatize(
    texts: object,
    profile: Path = profiles.DEFAULT,
    overrides: Mapping[str, object] | None = None,
    *,
    columns: str | Sequence[str] | None = None,
    id: str | None = None,
    missing: Missing = "fail",
    report: bool = False,
    **choices: Unpack[Choices],
) -> object:
    """Replace the words of texts.

    One text gives one text; any other iterable of texts, a generator for one, a list of
    as many, in order. profile is a name or the path of a .yaml file; overrides are laid
    over its keys, as in {"tokens": {"number": "mask"}}. risk ("20%" or 0.2), epsilon
    (nats per word), mechanism, lexicon (a name or a file) and decode (a decoder's name)
    are what the options of `dptext sanitize` are.

    With columns, texts is a table of pandas, Polars, pyarrow or Hugging Face datasets,
    and a table of the same kind comes back. The columns named hold texts, lists of
    texts, or structs in which a dotted path leads to them; all others are shared with
    the table that was given. id names a column that randomness goes by in the place of
    the row's number; a null in a text column is an InputError unless missing is "pass".

    Randomness is fresh and secure each time. With a key, at least 32 secret random
    bytes or the path of a file that holds them, equal texts at equal positions of a
    call with the same settings give the same texts.

    With report=True the privacy report comes as a second result: report.guarantee and
    report.risk are public, report.private holds functions of the texts. The functions
    `encode` and `public` of dptext.report.document turn it into JSON and into what may
    be released.

    Raises TypeError for what is no text or table, UsageError and LexiconError for
    settings, InputError for columns that hold no texts.
    """
    if columns is not None:
        from dptext import frames

        frame = frames.of(texts)
        paths = [columns] if isinstance(columns, str) else list(columns)
        selection, names = frame.selected(paths, id, missing)
        call = Call(profile, overrides, choices, counts=report)
        replaced = frames.Columns(call.pipeline, call.key, selection, call.tally)
        private: object = frame.privatized(names, replaced, 0)
        return (private, call.report(selection)) if report else private
    if id is not None or missing != "fail":
        raise UsageError("id and missing are of tables: name their columns, too")
    checked = _checked(texts)
    call = Call(profile, overrides, choices, counts=report)
    written = list(call.texts(checked))
    private = written[0] if isinstance(texts, str) else written
    return (private, call.report(Selection())) if report else private


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
    lexicon: Path | None = None,
    key: bytes | Path | None = None,
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
    over = choices_.overrides(
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
    if isinstance(texts, Mapping) or hasattr(type(texts), "columns"):
        raise TypeError(
            f"a {kind} is no list of texts: give one of its columns or its values, or "
            "name the columns of a table, as in columns='text'"
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
