"""Public lists of words, phrases and patterns, and their matches in a text.

A word or phrase matches with any spacing, and a pattern is a Python regular expression.
Matches are found before a text is split into words.

An entry of the keep list is copied where it stands as whole tokens: not inside a word,
a contraction ("can" in "can't"), a name with marks ("AT" in "AT&T"), a number, or a
form or URL that is longer. Of a word with hyphens it is copied if the parts are
replaced one by one. A possessive "'s" behind it and an elided article before it
("l'iPhone") are copied with it. A word that begins with its only capital or stands in
capitals ("Apple", "LED") matches as written and in capitals, since "apple" and "led"
are other words; any other entry ("firmware", "iPhone", "Office 365") in any capitals.

An entry of the mask list matches in any capitals, not next to a letter, a digit or a
mark of a letter, and not in a contraction.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from dptext import streams, word_file
from dptext.errors import UsageError
from dptext.run.choices import is_word_file
from dptext.settings import convert, digest_of_bytes
from dptext.tokens import kinds, languages, markup
from dptext.tokens.form_finder import FormFinder, Found, WordFinder, first
from dptext.tokens.forms import FormLayout
from dptext.tokens.policy import NOTHING, Form, Policy, WordList
from dptext.tokens.regex import LETTER, split
from dptext.tokens.symbols import visible
from dptext.types import JsonObject
from dptext.word_file import WordFile

_LONGEST = 1000  # characters of an entry
# Around an entry that is a word.
_BEFORE, _AFTER = rf"(?<!{LETTER}_)", rf"(?!_?{LETTER})"
_APOSTROPHES = "'’‘ʼ´`′＇"
_HYPHENS = "-‐‑"
# Behind an entry that is a word: a possessive.
_POSSESSIVE = rf"(?:[{_APOSTROPHES}]s(?!{LETTER}))?"
_CONTRACTED = rf"(?![{_APOSTROPHES}]t(?!{LETTER}))"
# Before an entry: an article or the like that has lost its vowel.
_ELIDED = (
    rf"(?<!{LETTER})(?:[ldjsn]|qu|un|(?:de|ne|a|su|da|que|be)ll|quest|sant)"
    rf"[{_APOSTROPHES}]\Z"
)
# Texts with more pieces are long.
_MANY = 2**14
# Marks that join letters beside them to one name.
_JOINING = frozenset(f"&@{_APOSTROPHES}")
_SPELLED = str.maketrans(
    dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys(_HYPHENS, "-")
)


@cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"{LETTER}+")


@cache
def _elided() -> re.Pattern[str]:
    return re.compile(_ELIDED, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Settings:
    """A list's settings in a profile."""

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


def read(data: object, location: str) -> WordList:
    """Read a list and its files from a profile's settings.

    A plain list of words is short for {words: ...}. Raises UsageError.
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


def read_entries(path: str, location: str, content: bytes | None = None) -> list[str]:
    """Return the words and phrases in a file or its content. Raises UsageError."""
    lines = _text(path, location, content).split("\n")
    return [line.strip() for line in lines if line.strip()]


def read_words(data: object, location: str) -> WordFile | None:
    """Read a `dptext words` file by path, or from the settings in a report.

    Raises UsageError, for example for a file that differs from the report's.
    """
    if not data:
        return None
    if isinstance(data, str):
        return word_file.read(data)
    if not isinstance(data, Mapping) or not isinstance(data.get("file"), str):
        raise UsageError(f"{location}: give the path of a file written by dptext words")
    listed = word_file.read(data["file"])
    if dict(data) != listed.settings():
        raise UsageError(
            f"{location}: {data['file']} is not the list used in these settings: it "
            "was changed or rebuilt"
        )
    return listed


def _text(path: str, location: str, content: bytes | None = None) -> str:
    try:
        if content is None:
            content = streams.read_small(path, location)
        return content.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{location}: {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{location}: {path}: not UTF-8 text") from None


def digests(policy: Policy) -> dict[str, str]:
    """Return the sha256 of each list file's content, by path."""
    files = {
        path: digest_of_bytes(text.encode())
        for listed in (policy.keep, policy.mask)
        for path, text in zip(listed.files, listed.contents, strict=True)
    }
    words = policy.words
    return files if words is None else {**files, words.path: words.digest}


def settings_by_content(policy: Policy) -> JsonObject:
    """Return a policy's settings with file digests instead of paths."""
    settings, known = policy.settings(), digests(policy)
    for name, listed in (("keep", policy.keep), ("mask", policy.mask)):
        if listed.files:
            files = sorted(known[path] for path in listed.files)
            settings[name] = {**listed.settings(), "files": files}
    if policy.words is not None:
        settings["words"] = policy.words.digest
    if policy.languages:
        settings["lists of languages"] = languages.digest()
    return settings


def add(listed: WordList, typed: object, location: str) -> WordList:
    """Add entries to a list: words, phrases, and files of them.

    Raises UsageError for invalid entries, and for several words in one entry.
    """
    settings = convert({"words": typed}, _Settings, location)
    words, files = list(listed.words), list(listed.files)
    for entry in settings.words:
        if is_word_file(entry, Path(entry)):
            files.append(entry)
        elif "," in entry:
            raise UsageError(
                f"{location}: {entry!r}: give one word at a time, or a .txt file with "
                "one per line"
            )
        else:
            words.append(entry.strip())
    plain = {
        "words": [*dict.fromkeys(words)],
        "files": [*dict.fromkeys(files)],
        "patterns": [*listed.patterns],
    }
    return read({key: value for key, value in plain.items() if value}, location)


def entries(listed: WordList) -> frozenset[str]:
    """Return the words and phrases of a list and its files."""
    lines = (line.strip() for text in listed.contents for line in text.split("\n"))
    typed = (each.strip() for each in listed.words)
    spelled = (unicodedata.normalize("NFC", each) for each in (*lines, *typed))
    return frozenset(filter(None, spelled))


class Finder:
    """Finds the matches of one list."""

    def __init__(self, listed: WordList, location: str = "") -> None:
        for each in listed.words:
            _check_length(each.strip(), location)
        self._patterns = [_compile(each, location) for each in listed.patterns]
        # By their first run of letters: entries, and the number of characters before
        # it.
        self._by_run: dict[str, dict[str, int]] = {}
        self._compiled: dict[str, re.Pattern[str]] = {}
        for each in entries(listed):
            # The tokenizer removes characters without width from texts, too.
            entry = unicodedata.normalize("NFC", visible(each) or each).strip()
            _check_length(entry, location)
            if (run := _run().search(entry)) is None:
                self._patterns.append(re.compile(re.escape(entry)))
            else:
                self._by_run.setdefault(_key(run[0]), {})[entry] = run.start()

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match; matches may overlap."""
        yield from self.entry_spans(text)
        for pattern in self._patterns:
            yield from (match.span() for match in pattern.finditer(text))

    def entry_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each occurrence of a listed word or phrase."""
        yield from (match.span() for _, match in self._matches(text))

    def _matches(self, text: str) -> Iterator[tuple[str, re.Match[str]]]:
        if not self._by_run:
            return
        for run in _run().finditer(text):
            for entry, before in self._by_run.get(_key(run[0]), {}).items():
                match = self._expression(entry).match(
                    text, max(run.start() - before, 0)
                )
                if match and match.start() + before == run.start():
                    yield entry, match

    def names(self, word: str) -> bool:
        """Return whether the list contains a single word, ignoring case."""
        spelled = {word, word.lower(), word.upper(), word[:1].upper() + word[1:]}
        return all((0, len(each)) in self.spans(each) for each in spelled)

    def _expression(self, entry: str) -> re.Pattern[str]:
        """Return an entry's regular expression, compiled on first use.

        Texts may contain combining accents, and apostrophes and hyphens of all
        kinds.
        """
        if entry not in self._compiled:
            plain = r"\s+".join(map(_escaped, entry.split()))
            decomposed = unicodedata.normalize("NFD", plain)
            both = plain if decomposed == plain else f"(?:{plain}|{decomposed})"
            begin = _BEFORE if _run().fullmatch(entry[0]) else ""
            end = _AFTER + self._behind() if _run().fullmatch(entry[-1]) else ""
            self._compiled[entry] = re.compile(f"{begin}({both}){end}", re.IGNORECASE)
        return self._compiled[entry]

    def _behind(self) -> str:
        """Return the pattern for characters after an entry that is a word."""
        return _CONTRACTED


class KeptFinder(Finder):
    """Finds the matches of a keep list, as whole tokens.

    is_one: whether hyphenated words are replaced as a whole.
    """

    def __init__(self, listed: WordList, is_one: Callable[[str], bool]) -> None:
        super().__init__(listed)
        self._is_one = is_one

    def entry_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match, with possessive and elided article."""
        tokens: _Tokens | None = None
        for entry, match in self._matches(text):
            if not _is_spelled(match[1], entry):
                continue
            tokens = tokens or _Tokens(text, self._is_one)
            begin, end = match.span()
            if elided := _elided().search(text, max(begin - 8, 0), begin):
                begin = elided.start()
            if tokens.are_whole(begin, end):
                yield begin, end

    def _behind(self) -> str:
        return _POSSESSIVE


class _Tokens:
    """The tokens of a text by position."""

    def __init__(self, text: str, is_one: Callable[[str], bool]) -> None:
        self._text, self._is_one = text, is_one
        pieces = split(text)
        self._ends = [*accumulate(map(len, pieces))]
        self._begins = [
            end - len(piece.removeprefix(" ")) if len(piece) > 1 else end - len(piece)
            for piece, end in zip(pieces, self._ends, strict=True)
        ]

    def are_whole(self, begin: int, end: int) -> bool:
        """Return whether a span consists of whole tokens."""
        first, last = (bisect_right(self._ends, at) for at in (begin, end - 1))
        starts = begin == self._begins[first] or self._divides(first, begin - 1)
        stops = end == self._ends[last] or self._divides(last, end)
        return starts and stops and not self._joins(begin, end)

    def _divides(self, piece: int, at: int) -> bool:
        """Return whether a piece is split at a character."""
        word = self._text[self._begins[piece] : self._ends[piece]]
        return self._text[at] == "-" and not self._is_one(word)

    def _joins(self, begin: int, end: int) -> bool:
        """Return whether marks join the span to neighbouring letters."""
        text = self._text
        two, one = text[begin - 2 : begin - 1], text[begin - 1 : begin]
        after, next_one = text[end : end + 1], text[end + 1 : end + 2]
        first, last = text[begin], text[end - 1]
        if not first.isalnum() and begin and one.isalnum():
            return True  # ".NET" in "ASP.NET"
        if unicodedata.category(after or " ").startswith("M"):
            return True
        if not _run().fullmatch(last):
            return after.isalnum() and not last.isalnum()
        before = begin > 1 and two.isalnum()
        if (before and one in _JOINING) or (next_one.isalnum() and after in _JOINING):
            return True
        if before and one == "." and first.islower():
            return True
        return after == "." and (next_one.islower() or next_one.isdecimal())


def _check_length(entry: str, location: str) -> None:
    if not 0 < len(entry) <= _LONGEST:
        size = f"{len(entry)} characters; give 1 to {_LONGEST}"
        raise UsageError(f"{location}: an entry of {size}")


def _escaped(part: str) -> str:
    """Return a pattern that matches any kind of apostrophe and hyphen."""
    escaped = re.escape(part)
    escaped = re.sub(f"[{_APOSTROPHES}]", f"[{_APOSTROPHES}]", escaped)
    return re.sub(rf"\\?[{_HYPHENS}]", f"[{_HYPHENS}]", escaped)


def _is_spelled(part: str, entry: str) -> bool:
    """Return whether a span's capitals allow copying it as this entry."""
    shown, spelled = _plain(part), _plain(entry)
    is_name = spelled in (spelled.capitalize(), spelled.upper()) and spelled.isalpha()
    return shown in (spelled, spelled.upper()) if is_name else True


def _plain(text: str) -> str:
    spaced = " ".join(unicodedata.normalize("NFC", text).split())
    return spaced.translate(_SPELLED)


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
    """A text split into pieces."""

    pieces: list[str]
    #: The kinds of pieces of lists and forms, by position.
    named: dict[int, int]
    #: The layouts of pieces with a form, by position.
    layouts: dict[int, FormLayout]


class Spans:
    """Finds matches of a policy's lists and forms.

    If matches overlap, the mask list has priority, then forms, then the keep list;
    within each the earliest match, then the longest. A word or phrase of the keep list
    takes precedence over a form inside it ("Office 2021").

    is_one: whether hyphenated words are replaced as a whole.
    """

    def __init__(
        self,
        policy: Policy,
        copied_emoji: frozenset[str] = frozenset(),
        is_one: Callable[[str], bool] = lambda word: False,
    ) -> None:
        self._mask = Finder(policy.mask)
        self._keep = KeptFinder(policy.keep, is_one)
        self._forms: FormFinder | None = None
        if policy.forms:
            self._forms = FormFinder(policy.forms, copied_emoji)
        self._words = WordFinder(policy.forms)
        self._markup = Form.MARKUP in policy.forms
        self._lists = bool(policy.keep or policy.mask)

    def readable(self, text: str) -> str:
        """Return a text without zero-width characters.

        If tags and entities are recognised, entities for letters become letters.
        """
        if text.isascii() and "&" not in text:  # as most are
            return text
        text = visible(text)
        return visible(markup.with_letters(text)) if self._markup else text

    def divide(self, text: str) -> Divided:
        """Split a text into pieces, whose concatenation is the text."""
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
        """Return whether a list contains a single word."""
        return self._mask.names(word) or self._keep.names(word)

    def _by_priority(self, text: str, forms: Sequence[Found]) -> list[_Part]:
        """Return matches of lists and forms in order, without overlaps."""
        parts: list[_Part] = []
        used = bytearray(len(text))
        shown = _form_parts(forms)
        entries = self._keep.entry_spans(text) if shown else iter(())
        around = [span for span in entries if _covers(span, shown)]
        for candidates in (
            _listed(text, self._mask.spans(text), kinds.MASKED),
            _listed(text, around, kinds.KEPT),
            shown,
            _listed(text, self._keep.spans(text), kinds.KEPT),
        ):
            for begin, after, kind, layout in candidates:
                if not any(used[begin:after]):
                    used[begin:after] = b"\1" * (after - begin)
                    parts.append((begin, after, kind, layout))
        return sorted(parts, key=lambda part: part[0])


# Begin, end and kind of a part of a text, with the layout of a form.
_Part = tuple[int, int, int, FormLayout | None]


def _covers(span: tuple[int, int], forms: Sequence[_Part]) -> bool:
    """Return whether a span contains forms, and everything it overlaps entirely."""
    begin, end = span
    met = [each for each in forms if each[0] < end and begin < each[1]]
    return bool(met) and all(begin <= each[0] and each[1] <= end for each in met)


def _listed(text: str, spans: Iterable[tuple[int, int]], kind: int) -> Iterator[_Part]:
    stripped = {_strip(text, *span) for span in spans}
    for begin, end in sorted(stripped, key=lambda span: (span[0], -span[1])):
        if begin < end:
            yield begin, end, kind, None


def _form_parts(forms: Sequence[Found]) -> list[_Part]:
    return [(begin, end, _kind(layout), layout) for begin, end, layout in forms]


def _kind(layout: FormLayout) -> int:
    """Return the kind of a form's piece; markup and fixed pieces are not replaced."""
    if layout.form is Form.MARKUP:
        return kinds.MARKUP
    return kinds.KEPT if layout.form is Form.FIXED else kinds.FORMED


def _strip(text: str, begin: int, end: int) -> tuple[int, int]:
    """Strip spaces from a span; return its start and end."""
    inside = text[begin:end]
    return end - len(inside.lstrip()), begin + len(inside.rstrip())


def shared(pieces: list[str]) -> list[str]:
    """Return a text's pieces; in a long text, equal ones share memory."""
    if len(pieces) <= _MANY:
        return pieces
    known: dict[str, str] = {}
    return list(map(known.setdefault, pieces, pieces))
