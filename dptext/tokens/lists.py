"""Public lists of words, phrases and patterns, and the parts of a text that they name.

A word or phrase is found in any case where no letter, digit or mark of a letter stands
beside it; spaces in it stand for any spacing. A pattern is a regular expression of
Python, found where it matches, as it is written. Parts are found before a text is
divided into words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dptext import streams
from dptext.errors import UsageError
from dptext.settings import convert, digest_of_bytes
from dptext.tokens import kinds, markup
from dptext.tokens.form_finder import FormFinder, Found
from dptext.tokens.forms import FormLayout
from dptext.tokens.policy import NOTHING, Form, Listed, Policy
from dptext.tokens.regex import LETTERS, split
from dptext.tokens.symbols import visible
from dptext.types import JsonObject

_LONGEST = 1000  # characters of an entry
_RUN = re.compile(rf"[{LETTERS}]+")


@dataclass(frozen=True, slots=True)
class _Settings:
    """What a profile says of a list."""

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


def read(data: object, location: str) -> Listed:
    """Read a list and its files from the settings of a profile.

    Words alone may stand for {words: ...}. Raises UsageError.
    """
    if not data:
        return NOTHING
    if isinstance(data, str | list | tuple):
        data = {"words": [data] if isinstance(data, str) else data}
    settings = convert(data, _Settings, location)
    texts = tuple(_text(path, location) for path in settings.files)
    listed = Listed(settings.words, settings.files, settings.patterns, texts)
    Finder(listed, location)  # refuses what it cannot take
    return listed


def _text(path: str, location: str) -> str:
    try:
        return streams.read_small(path, location).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{location}: {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{location}: {path}: not UTF-8 text") from None


def digests(policy: Policy) -> dict[str, str]:
    """Return the sha256 of the content of each file that lists name, by its path."""
    return {
        path: digest_of_bytes(text.encode())
        for listed in (policy.keep, policy.mask)
        for path, text in zip(listed.files, listed.contents, strict=True)
    }


def by_content(policy: Policy) -> JsonObject:
    """Return a policy's settings with the digests of files for their paths."""
    settings, known = policy.settings(), digests(policy)
    for name, listed in (("keep", policy.keep), ("mask", policy.mask)):
        if listed.files:
            files = sorted(known[path] for path in listed.files)
            settings[name] = {**listed.settings(), "files": files}
    return settings


class Finder:
    """Finds what one list names."""

    def __init__(self, listed: Listed, location: str = "") -> None:
        lines = (line.strip() for text in listed.contents for line in text.split("\n"))
        entries = {*filter(None, lines), *listed.words}
        # As the tokenizer reads texts.
        entries = {visible(each) or each for each in entries}
        self._patterns = [_compiled(each, location) for each in listed.patterns]
        # Entries by their first run of letters: how far before it they begin.
        self._by_run: dict[str, dict[str, int]] = {}
        self._compiled: dict[str, re.Pattern[str]] = {}
        for entry in (unicodedata.normalize("NFC", each.strip()) for each in entries):
            if not 0 < len(entry) <= _LONGEST:
                size = f"{len(entry)} characters; give 1 to {_LONGEST}"
                raise UsageError(f"{location}: an entry of {size}")
            if (run := _RUN.search(entry)) is None:
                self._patterns.append(re.compile(re.escape(entry)))
            else:
                self._by_run.setdefault(_key(run[0]), {})[entry] = run.start()

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the begin and end of each place that is named; they may overlap."""
        if self._by_run:
            for run in _RUN.finditer(text):
                for entry, before in self._by_run.get(_key(run[0]), {}).items():
                    match = self._of(entry).match(text, max(run.start() - before, 0))
                    if match and match.start() + before == run.start():
                        yield match.span()
        for pattern in self._patterns:
            yield from (match.span() for match in pattern.finditer(text))

    def names(self, word: str) -> bool:
        """Tell whether a word is named as it stands by itself, in any spelling."""
        spelled = {word, word.lower(), word.upper(), word[:1].upper() + word[1:]}
        return all((0, len(each)) in self.spans(each) for each in spelled)

    def _of(self, entry: str) -> re.Pattern[str]:
        """Return the expression of an entry, made when it may occur for the first time.

        An accent may be a mark of its own in the text, and a quote may be curly.
        """
        if entry not in self._compiled:
            parts = (re.sub("['’]", "['’]", re.escape(part)) for part in entry.split())
            plain = r"\s+".join(parts)
            decomposed = unicodedata.normalize("NFD", plain)
            both = plain if decomposed == plain else f"(?:{plain}|{decomposed})"
            end = rf"(?![{LETTERS}])" if _RUN.fullmatch(entry[-1]) else ""
            self._compiled[entry] = re.compile(both + end, re.IGNORECASE)
        return self._compiled[entry]


def _key(run: str) -> str:
    return unicodedata.normalize("NFC", run).lower()


def _compiled(pattern: str, location: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        reason = getattr(error, "msg", "too large")
        raise UsageError(
            f"{location}: {pattern!r} is not a regular expression: {reason}"
        ) from None


class Divided(NamedTuple):
    """The pieces of a text, the kinds of those that are named, and layouts of forms."""

    pieces: list[str]
    #: Kinds by the position of a piece.
    named: dict[int, int]
    #: The layout of each piece that has a form, by its position.
    layouts: dict[int, FormLayout]


class Spans:
    """Finds what lists and forms of a policy name.

    Where two overlap, the mask list goes before forms, and these before the keep list;
    of one of them the first goes before others, and of several that begin at one place
    the longest.
    """

    def __init__(self, policy: Policy) -> None:
        self._mask, self._keep = Finder(policy.mask), Finder(policy.keep)
        self._forms = FormFinder(policy.forms) if policy.forms else None
        self._markup = Form.MARKUP in policy.forms
        self._lists = bool(policy.keep or policy.mask)

    def readable(self, text: str) -> str:
        """Return a text as it is divided.

        Without characters that have no width; where tags and entities are known,
        entities of letters are letters.
        """
        text = visible(text)
        return visible(markup.with_letters(text)) if self._markup else text

    def divide(self, text: str) -> Divided:
        """Return the pieces of a text; joined they are the text."""
        if self._forms is None and not self._lists:
            return Divided(split(text), {}, {})
        found = [] if self._forms is None else self._forms.find(text)
        if not self._lists:
            if not found:
                return Divided(split(text), {}, {})
            parts = _of_forms(found)
        else:
            parts = self._by_rank(text, found)
        pieces: list[str] = []
        named: dict[int, int] = {}
        layouts: dict[int, FormLayout] = {}
        end = 0
        for begin, after, kind, layout in parts:
            # A piece carries the single space before it.
            lead = begin > end and text[begin - 1] == " "
            lead = lead and (begin - 1 == end or not text[begin - 2].isspace())
            if begin - lead > end:
                pieces += split(text[end : begin - lead])
            named[len(pieces)] = kind
            if layout is not None:
                layouts[len(pieces)] = layout
            pieces.append(text[begin - lead : after])
            end = after
        return Divided(pieces + split(text[end:]), named, layouts)

    def keeps_or_masks(self, word: str) -> bool:
        """Tell whether a list names a word as it stands by itself."""
        return self._mask.names(word) or self._keep.names(word)

    def _by_rank(self, text: str, found: Sequence[Found]) -> list[_Part]:
        """Return the parts that are named, in order, where some overlap the first."""
        taken: list[_Part] = []
        used = bytearray(len(text))
        for parts in (
            _listed(text, self._mask, kinds.MASKED),
            _of_forms(found),
            _listed(text, self._keep, kinds.KEPT),
        ):
            for begin, after, kind, layout in parts:
                if not any(used[begin:after]):
                    used[begin:after] = b"\1" * (after - begin)
                    taken.append((begin, after, kind, layout))
        return sorted(taken, key=lambda part: part[0])


# Begin, end, kind and, of a form, layout of a part of a text.
_Part = tuple[int, int, int, FormLayout | None]


def _listed(text: str, finder: Finder, kind: int) -> Iterator[_Part]:
    bare = {_bare(text, *span) for span in finder.spans(text)}
    for begin, end in sorted(bare, key=lambda span: (span[0], -span[1])):
        if begin < end:
            yield begin, end, kind, None


def _of_forms(found: Sequence[Found]) -> list[_Part]:
    return [(begin, end, _kind(layout), layout) for begin, end, layout in found]


def _kind(layout: FormLayout) -> int:
    """Return the kind of a piece of a form: what is copied is kept or layout."""
    if layout.form is Form.MARKUP:
        return kinds.MARKUP
    return kinds.KEPT if layout.form is Form.FIXED else kinds.FORMED


def _bare(text: str, begin: int, end: int) -> tuple[int, int]:
    """Leave spaces around a part out."""
    inside = text[begin:end]
    return end - len(inside.lstrip()), begin + len(inside.rstrip())
