"""Public lists of words, phrases and patterns, and their places in a text.

A word or phrase matches in any case, with any spacing, and not next to a letter, a
digit or a mark of a letter. A pattern is a regular expression of Python. Places are
found before a text is divided into words.
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
from dptext.tokens import kinds, languages, markup
from dptext.tokens.form_finder import FormFinder, Found, WordFinder, first
from dptext.tokens.forms import FormLayout
from dptext.tokens.policy import NOTHING, Form, Policy, WordList
from dptext.tokens.regex import LETTERS, split
from dptext.tokens.symbols import visible
from dptext.types import JsonObject

_LONGEST = 1000  # characters of an entry
_RUN = re.compile(rf"[{LETTERS}]+")


@dataclass(frozen=True, slots=True)
class _Settings:
    """A list in a profile."""

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


def read(data: object, location: str) -> WordList:
    """Read a list and its files from the settings of a profile.

    A list of words is short for {words: ...}. Raises UsageError.
    """
    if not data:
        return NOTHING
    if isinstance(data, str | list | tuple):
        data = {"words": [data] if isinstance(data, str) else data}
    settings = convert(data, _Settings, location)
    texts = tuple(_text(path, location) for path in settings.files)
    listed = WordList(settings.words, settings.files, settings.patterns, texts)
    Finder(listed, location)  # raises UsageError for invalid entries
    return listed


def _text(path: str, location: str) -> str:
    try:
        return streams.read_small(path, location).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{location}: {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{location}: {path}: not UTF-8 text") from None


def digests(policy: Policy) -> dict[str, str]:
    """Return the sha256 of the content of each file of the lists, by its path."""
    return {
        path: digest_of_bytes(text.encode())
        for listed in (policy.keep, policy.mask)
        for path, text in zip(listed.files, listed.contents, strict=True)
    }


def settings_by_content(policy: Policy) -> JsonObject:
    """Return the settings of a policy, with digests of files instead of paths."""
    settings, known = policy.settings(), digests(policy)
    for name, listed in (("keep", policy.keep), ("mask", policy.mask)):
        if listed.files:
            files = sorted(known[path] for path in listed.files)
            settings[name] = {**listed.settings(), "files": files}
    if policy.languages:
        settings["lists of languages"] = languages.digest()
    return settings


class Finder:
    """Finds the places of one list."""

    def __init__(self, listed: WordList, location: str = "") -> None:
        lines = (line.strip() for text in listed.contents for line in text.split("\n"))
        entries = {*filter(None, lines), *listed.words}
        # The tokenizer removes characters without width from texts, too.
        entries = {visible(each) or each for each in entries}
        self._patterns = [_compile(each, location) for each in listed.patterns]
        # By their first run of letters: entries, and the number of characters before
        # it.
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
        """Yield begin and end of each place; places may overlap."""
        if self._by_run:
            for run in _RUN.finditer(text):
                for entry, before in self._by_run.get(_key(run[0]), {}).items():
                    match = self._expression(entry).match(
                        text, max(run.start() - before, 0)
                    )
                    if match and match.start() + before == run.start():
                        yield match.span()
        for pattern in self._patterns:
            yield from (match.span() for match in pattern.finditer(text))

    def names(self, word: str) -> bool:
        """Tell whether the list names a word alone, in any capitals."""
        spelled = {word, word.lower(), word.upper(), word[:1].upper() + word[1:]}
        return all((0, len(each)) in self.spans(each) for each in spelled)

    def _expression(self, entry: str) -> re.Pattern[str]:
        """Return the expression of an entry, compiled when it may first occur.

        Texts may have accents as separate marks, and curly quotes.
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


def _compile(pattern: str, location: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        reason = getattr(error, "msg", "too large")
        raise UsageError(
            f"{location}: {pattern!r} is not a regular expression: {reason}"
        ) from None


class Divided(NamedTuple):
    """The pieces of a text."""

    pieces: list[str]
    #: The kinds of pieces of lists and forms, by position.
    named: dict[int, int]
    #: The layouts of pieces with a form, by position.
    layouts: dict[int, FormLayout]


class Spans:
    """Finds the places of lists and forms of a policy.

    If places overlap, the mask list has priority, then forms, then the keep list;
    within each the earliest place, then the longest.
    """

    def __init__(
        self, policy: Policy, copied_emoji: frozenset[str] = frozenset()
    ) -> None:
        self._mask, self._keep = Finder(policy.mask), Finder(policy.keep)
        self._forms: FormFinder | None = None
        if policy.forms:
            self._forms = FormFinder(policy.forms, copied_emoji)
        self._words = WordFinder(policy.forms)
        self._markup = Form.MARKUP in policy.forms
        self._lists = bool(policy.keep or policy.mask)

    def readable(self, text: str) -> str:
        """Return a text without characters that have no width.

        If tags and entities are recognised, entities of letters become letters.
        """
        if text.isascii() and "&" not in text:  # as most are
            return text
        text = visible(text)
        return visible(markup.with_letters(text)) if self._markup else text

    def divide(self, text: str) -> Divided:
        """Return the pieces of a text, which join to the text."""
        if self._forms is None and not self._lists:
            return Divided(split(text), {}, {})
        forms = [] if self._forms is None else self._forms.find(text)
        divided = self._divide(text, forms)
        if worded := self._words.find(text, divided.pieces):
            return self._divide(text, first([*forms, *worded]))
        return divided

    def _divide(self, text: str, forms: list[Found]) -> Divided:
        if not self._lists:
            if not forms:
                return Divided(split(text), {}, {})
            parts = _form_parts(forms)
        else:
            parts = self._by_priority(text, forms)
        pieces: list[str] = []
        named: dict[int, int] = {}
        layouts: dict[int, FormLayout] = {}
        end = 0
        for begin, after, kind, layout in parts:
            # A piece includes the single space before it.
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
        """Tell whether a list names a word alone."""
        return self._mask.names(word) or self._keep.names(word)

    def _by_priority(self, text: str, forms: Sequence[Found]) -> list[_Part]:
        """Return the parts of lists and forms in order, without overlaps."""
        parts: list[_Part] = []
        used = bytearray(len(text))
        for candidates in (
            _listed(text, self._mask, kinds.MASKED),
            _form_parts(forms),
            _listed(text, self._keep, kinds.KEPT),
        ):
            for begin, after, kind, layout in candidates:
                if not any(used[begin:after]):
                    used[begin:after] = b"\1" * (after - begin)
                    parts.append((begin, after, kind, layout))
        return sorted(parts, key=lambda part: part[0])


# Begin, end and kind of a part of a text, with the layout of a form.
_Part = tuple[int, int, int, FormLayout | None]


def _listed(text: str, finder: Finder, kind: int) -> Iterator[_Part]:
    stripped = {_strip(text, *span) for span in finder.spans(text)}
    for begin, end in sorted(stripped, key=lambda span: (span[0], -span[1])):
        if begin < end:
            yield begin, end, kind, None


def _form_parts(forms: Sequence[Found]) -> list[_Part]:
    return [(begin, end, _kind(layout), layout) for begin, end, layout in forms]


def _kind(layout: FormLayout) -> int:
    """Return the kind of a piece of a form; markup and fixed ones are not replaced."""
    if layout.form is Form.MARKUP:
        return kinds.MARKUP
    return kinds.KEPT if layout.form is Form.FIXED else kinds.FORMED


def _strip(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return begin and end of a part without the spaces around it."""
    inside = text[begin:end]
    return end - len(inside.lstrip()), begin + len(inside.rstrip())
