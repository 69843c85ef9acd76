"""The default splitter: one compiled regular expression, lossless for every string.

A piece includes the single space before it, so that running text has about one piece a
word. Words keep inner apostrophes and hyphens; `segment` splits them if the vocabulary
knows their parts but not the whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import chain

import numpy as np

from dptext.tokens import kinds
from dptext.tokens.symbols import is_mark, visible
from dptext.types import Ints

# Scripts with combining marks in words, which `\w` lacks. Other signs in these ranges
# do not belong to words.
_WITH_MARKS = (
    (0x0300, 0x036F),
    (0x0483, 0x0487),
    (0x0591, 0x05C7),
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06DC),
    (0x0900, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17D3),
)
_MARKS = "".join(
    character
    for first, last in _WITH_MARKS
    for character in map(chr, range(first, last + 1))
    if unicodedata.category(character).startswith("M")
)
# Scripts without spaces: each character is a token.
_CJK = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# The characters of words, for classes of characters in patterns.
LETTERS = rf"\w{_MARKS}"
#: A letter or digit of a word, in scripts that divide words.
LETTER = rf"(?:[^\W_{_CJK}]|[{_MARKS}])"
_WORD = rf"{LETTER}+(?:['’_\-]{LETTER}+)*"
_URL = r"(?:[A-Za-z][A-Za-z0-9+.\-]{1,15}://|www\.)[^\s<>\"]*[^\s<>\".,;:!?'’)\]}]"
EMAIL = r"[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8}"
_DOMAIN = (
    r"(?:[A-Za-z0-9\-]{1,63}\.){1,8}(?:com|org|net|edu|gov|mil|info|biz|io|co|uk|de|fr)"
    r"(?![\w\-])(?:/[^\s<>\"]*[^\s<>\".,;:!?'’)\]}])?"
)
# Not in the middle of a row of letters and dots, which was tried from its beginning.
_ABBREVIATION = rf"(?<![^{LETTERS}'’\-][A-Za-z]\.)(?:[A-Za-z]\.){{2,}}+(?![^\W_])"
_ORDINAL = "st|nd|rd|th|ST|ND|RD|TH"
_NUMBER = rf"\d+(?:[.,:/\-]\d+)*(?:{_ORDINAL}|(?<=0)s)?(?![^\W_{_CJK}])"
_CLITIC = r"['’](?:s|re|ve|ll|d|m|em|S|RE|VE|LL|D|M|EM)(?![^\W_])"
# Pictures: several together are one piece. There are no marks among them.
PICTURES = (
    "\u231a\u231b\u23e9-\u23f3\u2600-\u266e\u2670-\u2767\u2776-\u27bf\u2b1b\u2b1c\u2b50"
    "\u2b55\U0001f000-\U0001faff"
)
_SYMBOLS = f"[{PICTURES}]"
EMOJI = f"{_SYMBOLS}(?:[\ufe0f\u200d\U0001f3fb-\U0001f3ff]|{_SYMBOLS})*"

_IDENTIFIER = rf"{_URL}|{EMAIL}|{_DOMAIN}|[@#]\w[\w\-.]*\w|[@#]\w"
# Most words and marks: no alternative below could match more than these before such a
# character. This changes no piece, it only saves time.
_PLAIN = r"[A-Za-z]++(?=[ ,;!?)\"\n]|\.(?:\s|\Z)|\Z)"
_PLAIN_MARK = r"[,;:!?()\"]|[.\-](?=\s|\Z)"
_BODY = (
    rf"{_ABBREVIATION}|{_IDENTIFIER}|{_NUMBER}|{_WORD}|{_CLITIC}|[{_CJK}]|{EMOJI}"
    r"|[^\s]"
)
_PIECE = re.compile(rf" {_PLAIN}| ?(?:{_PLAIN}|{_PLAIN_MARK}|{_BODY})|\s+")
_ANY_WORD = rf"{_ABBREVIATION}|{_WORD}|{_CLITIC}|[{_CJK}]"
_ENDING = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m|em)?)$", re.IGNORECASE)
# Most clitics of a word: with more, the time would grow with the square of its length.
_ENDINGS = 16
_ELISION = re.compile(r"(?:[^\W\d_]{1,2}|[^\W\d_]{1,6}(?:qu|ll))['’]", re.IGNORECASE)
_BEGINNING = re.compile(r"[^\W\d_]{1,8}['’]")
_JOINTS = re.compile(r"([\-_])")
_ASCII_MARKS = frozenset(filter(is_mark, map(chr, range(128))))
# The id of the marks between the parts of a word in results of `segment`.
MARK = -2
#: Conditions on the text after and before the pieces of most forms.
GUARD, BEHIND = r"(?![\w@]|[-.,/:][0-9])", r"(?<![\w@])"


@cache
def guarded(
    pattern: str, guard: str = GUARD, *, behind: str = BEHIND, ascii_only: bool = True
) -> re.Pattern[str]:
    """Compile a case-insensitive pattern with conditions on surrounding text.

    Compiling is slow, so the finders and layouts of a form share the pattern: a single
    piece also meets the conditions.
    """
    head = "(?a:" if ascii_only else "(?:"
    return re.compile(f"{behind}{head}{pattern}){guard}", re.IGNORECASE)


def split(text: str) -> list[str]:
    """Split a text into pieces; `"".join(split(text)) == text` for every string."""
    return _PIECE.findall(text)


def kind_of(piece: str) -> int:
    """Return the kind (dptext.tokens.kinds) of a piece from `split`.

    Punctuation marks are in the table of symbols (dptext.tokens.symbols). Any other
    character except letters, digits and spaces may have a meaning, and is an
    identifier.
    """
    body = piece[1:] if len(piece) > 1 and piece[0] == " " else piece
    if body.isspace():
        return kinds.SPACE
    if body in _ASCII_MARKS:
        return kinds.PUNCTUATION
    if body.isascii() and body.isalpha():
        return kinds.WORD
    number, identifier, word = _patterns_of_kinds()
    if body[:1].isdecimal() and number.fullmatch(body):
        return kinds.NUMBER
    if identifier.fullmatch(body):
        return kinds.IDENTIFIER
    if word.fullmatch(body):
        return kinds.WORD
    if len(body) == 1 and is_mark(body):
        return kinds.PUNCTUATION
    return kinds.IDENTIFIER


@cache
def _patterns_of_kinds() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    return re.compile(_NUMBER), re.compile(_IDENTIFIER), re.compile(_ANY_WORD)


@lru_cache(maxsize=64)  # each word is asked for several times in a row
def key_of(word: str) -> str:
    """Normalise a word for look-ups.

    Keys have lower case, straight quotes, composed accents (NFC), and
    no zero-width characters.
    """
    key = word.lower()
    if word.isascii():  # as most are
        return key
    key = key.replace("’", "'")
    return key if key.isascii() else unicodedata.normalize("NFC", visible(key))


def to_keys(words: Sequence[str]) -> list[str]:
    """Return the keys of all words at once; words must not contain line breaks."""
    lower = "\n".join(words).lower().replace("’", "'").split("\n") if words else []
    return [each if each.isascii() else key_of(each) for each in lower]


@lru_cache(maxsize=2)
def keys_of_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys of a vocabulary's words, cached."""
    return tuple(to_keys(words))


def is_elision(word: str) -> bool:
    """Return whether a word lost its last vowel before the next: "l'", "qu'"."""
    return word[-1:] in ("'", "’") and _ELISION.fullmatch(word) is not None


def is_clitic(word: str) -> bool:
    """Return whether a word is attached to the previous one without a space."""
    return word[:1] in ("'", "’") or word.lower() in ("n't", "n’t")


def segment(word: str, lookup: Callable[[str], int]) -> list[tuple[str, int]]:
    """Split a word into parts with ids, as coarsely as the vocabulary allows.

    The first possible option is used: the whole word, if known; the word without its
    accents; without a known clitic ("n't", "'s") or elision ("l'", "qu'"); its parts at
    hyphens, apostrophes and underscores, if at least one is known; the whole word as
    unknown. Returns pairs (part, id), with id -1 for unknown parts; the parts joined
    are the word. The function lookup returns the id of a key (`key_of`), or -1.
    """
    tails: list[tuple[str, int]] = []
    while (row := _known(word, lookup)) < 0 and len(tails) < _ENDINGS:
        ending = _ENDING.search(word, max(1, len(word) - 3))
        if ending is None or (tail := lookup(key_of(ending[0]))) < 0:
            break
        tails.insert(0, (ending[0], tail))
        word = word[: ending.start()]
    if row >= 0:
        return [(word, row), *tails]
    heads, begin = [], 0
    while (match := _ELISION.match(word, begin)) and match.end() < len(word):
        row = lookup(key_of(match[0]))
        if row < 0:
            break
        heads.append((match[0], row))
        begin = match.end()
    if heads:
        return [*heads, *segment(word[begin:], lookup), *tails]
    parts = re.split(r"([\-_'’])", word)
    ids = [_known(part, lookup) for part in parts[::2]] if len(parts) > 1 else [-1]
    if max(ids) < 0:
        return [(word, -1), *tails]
    rows = chain.from_iterable((row, MARK) for row in ids)
    return [*(pair for pair in zip(parts, rows, strict=False) if pair[0]), *tails]


def divide(
    word: str,
    lookup: Callable[[str], int],
    *,
    whole: frozenset[str] = frozenset(),
    is_whole: Callable[[str], bool] = lambda word: False,
    elisions: bool | frozenset[str] = False,
) -> list[tuple[str, int]]:
    """Split a word by spelling alone; return pairs as in `segment`.

    It is split at all hyphens and underscores, before clitics ("n't", "'s"), and with
    elisions after these ("l'", or listed ones); other apostrophes never split. Keys
    in whole ("can't", "right-wing") and words for which is_whole is true ("Min-jun")
    only lose clitics after them. The vocabulary is not used: whether a part is
    separate does not depend on other parts.
    """
    if word.isalpha():  # as most words are
        return [(word, _known(word, lookup))]
    head, tails = without_clitics(word)
    for one, rest in ((word, []), (head, tails))[: 1 + bool(tails)]:
        if key_of(one) in whole or is_whole(one):
            return [(part, _known(part, lookup)) for part in (one, *rest)]
    parts: list[tuple[str, int]] = []
    for number, piece in enumerate(_JOINTS.split(word)):
        if number % 2:
            parts.append((piece, MARK))
        elif piece:
            spelled = [piece]
            if not piece.isalpha() and key_of(piece) not in whole:
                spelled = _divide_at_apostrophes(piece, elisions=elisions)
            parts += [(part, _known(part, lookup)) for part in spelled]
    return parts


def without_clitics(word: str) -> tuple[str, list[str]]:
    """Return a word without its final clitics, and the clitics."""
    tails: list[str] = []
    while ("'" in word or "’" in word) and len(tails) < _ENDINGS:
        ending = _ENDING.search(word, max(1, len(word) - 3))
        if ending is None:
            break
        tails.insert(0, ending[0])
        word = word[: ending.start()]
    return word, tails


def _divide_at_apostrophes(word: str, *, elisions: bool | frozenset[str]) -> list[str]:
    """Split a word before its clitics and after its elisions."""
    word, tails = without_clitics(word)
    heads, begin = [], 0
    pattern = _ELISION if elisions is True else _BEGINNING
    while elisions and (match := pattern.match(word, begin)):
        is_listed = elisions is True or key_of(match[0]) in elisions
        if match.end() == len(word) or not is_listed:
            break
        heads.append(match[0])
        begin = match.end()
    return [*heads, word[begin:], *tails]


def _known(word: str, lookup: Callable[[str], int]) -> int:
    key = key_of(word)
    row = lookup(key)
    if row < 0 and not key.isascii():
        plain = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()
        row = lookup(plain) if plain else -1
    return row


def replace_divided(
    pieces: list[str],
    codes: Ints,
    ends: Ints,
    *,
    several: int,
    parts_of: Callable[[str], list[tuple[str, int]]],
) -> tuple[list[str], Ints, Ints, Ints]:
    """Replace each piece with the code `several` by its parts and their codes.

    Returns pieces, codes, ends of texts, and how far each piece moved.
    """
    out: list[str] = []
    grown = np.zeros(len(pieces) + 1, np.int64)
    where: list[int] = []
    new: list[int] = []
    before = 0
    for position in np.flatnonzero(codes == several).tolist():
        piece = pieces[position]
        parts = parts_of(piece)
        out += pieces[before:position]
        where += range(len(out), len(out) + len(parts))
        out += [part for part, _ in parts]
        new += [code for _, code in parts]
        grown[position + 1] = len(parts) - 1
        before = position + 1
    out += pieces[before:]
    moved = np.cumsum(grown)
    out_codes = np.empty(len(out), np.int64)
    out_codes[np.arange(len(codes)) + moved[:-1]] = codes
    out_codes[where] = new
    return out, out_codes, ends + moved[ends], moved
