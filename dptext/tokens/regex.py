"""The default splitter: one compiled regular expression, lossless for every string.

A piece carries the single space before it, if there is one, so that running text needs
about one piece a word. Words keep inner apostrophes and hyphens; `segment` divides
them when the vocabulary knows their parts but not the whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import chain

from dptext.tokens import kinds
from dptext.tokens.symbols import is_mark, visible

# Scripts whose letters need combining marks that `\w` leaves out; signs among them are
# no part of words.
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
# Written without spaces: each character is a token of its own.
_CJK = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# What words are made of, in a class of characters.
LETTERS = rf"\w{_MARKS}"
_CHAR = rf"(?:[^\W_{_CJK}]|[{_MARKS}])"
_WORD = rf"{_CHAR}+(?:['’_\-]{_CHAR}+)*"
_URL = r"(?:[A-Za-z][A-Za-z0-9+.\-]{1,15}://|www\.)[^\s<>\"]*[^\s<>\".,;:!?'’)\]}]"
EMAIL = r"[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8}"
_DOMAIN = (
    r"(?:[A-Za-z0-9\-]{1,63}\.){1,8}(?:com|org|net|edu|gov|mil|info|biz|io|co|uk|de|fr)"
    r"(?![\w\-])(?:/[^\s<>\"]*[^\s<>\".,;:!?'’)\]}])?"
)
# Not within a row of letters and dots that was tried from its beginning.
_ABBREVIATION = rf"(?<![^{LETTERS}'’\-][A-Za-z]\.)(?:[A-Za-z]\.){{2,}}+(?![^\W_])"
_ORDINAL = "st|nd|rd|th|ST|ND|RD|TH"
_NUMBER = rf"\d+(?:[.,:/\-]\d+)*(?:{_ORDINAL}|(?<=0)s)?(?![^\W_{_CJK}])"
_CLITIC = r"['’](?:s|re|ve|ll|d|m|em|S|RE|VE|LL|D|M|EM)(?![^\W_])"
# Pictures, of which several side by side are one piece; no mark is among them.
_SYMBOLS = "[\u2600-\u266e\u2670-\u2767\u2776-\u27bf\U0001f000-\U0001faff]"
EMOJI = f"{_SYMBOLS}(?:[\ufe0f\u200d\U0001f3fb-\U0001f3ff]|{_SYMBOLS})*"

_IDENTIFIER = rf"{_URL}|{EMAIL}|{_DOMAIN}|[@#]\w[\w\-.]*\w|[@#]\w"
# Most words: behind them stands what no alternative below could take in as well, so
# that these need not be tried. It changes no piece, only the time.
_PLAIN = r"[A-Za-z]+(?=[ ,;!?)\"\n]|\.(?:\s|\Z)|\Z)"
_BODY = (
    rf"{_ABBREVIATION}|{_IDENTIFIER}|{_NUMBER}|{_WORD}|{_CLITIC}|[{_CJK}]|{EMOJI}"
    r"|[^\s]"
)
_PIECE = re.compile(rf" ?(?:{_PLAIN}|{_BODY})|\s+")
# Compiled by the first piece that is no plain word.
_ANY_WORD = rf"{_ABBREVIATION}|{_WORD}|{_CLITIC}|[{_CJK}]"
_ENDING = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m|em)?)$", re.IGNORECASE)
# So many are looked at, so that the time of a long word grows with its length.
_ENDINGS = 16
_ELISION = re.compile(r"(?:[^\W\d_]{1,2}|[^\W\d_]{1,6}(?:qu|ll))['’]", re.IGNORECASE)
_ASCII_MARKS = frozenset(filter(is_mark, map(chr, range(128))))


def split(text: str) -> list[str]:
    """Divide a text into pieces; `"".join(split(text)) == text` for every string."""
    return _PIECE.findall(text)


def kind_of(piece: str) -> int:
    """Tell the kind (dptext.tokens.kinds) of a piece that `split` returned.

    Punctuation is what the table of symbols has as marks (dptext.tokens.symbols);
    whatever else is neither letter nor digit nor space may carry content and counts as
    an identifier.
    """
    body = piece[1:] if len(piece) > 1 and piece[0] == " " else piece
    if body.isspace():
        return kinds.SPACE
    if body in _ASCII_MARKS:
        return kinds.PUNCTUATION
    if body.isascii() and body.isalpha():
        return kinds.WORD
    if body[:1].isdecimal() and re.fullmatch(_NUMBER, body):
        return kinds.NUMBER
    if re.fullmatch(_IDENTIFIER, body):
        return kinds.IDENTIFIER
    if re.fullmatch(_ANY_WORD, body):
        return kinds.WORD
    if len(body) == 1 and is_mark(body):
        return kinds.PUNCTUATION
    return kinds.IDENTIFIER


def key_of(word: str) -> str:
    """Return the form under which a word is looked up.

    Lower case, straight quotes, an accent and its letter in one character (NFC), and no
    character without width.
    """
    key = word.lower().replace("’", "'")
    return key if key.isascii() else unicodedata.normalize("NFC", visible(key))


def keys_of(words: Sequence[str]) -> list[str]:
    """Return the key of each word, none of which holds a line's end: all at once."""
    return key_of("\n".join(words)).split("\n") if words else []


def is_elision(word: str) -> bool:
    """Tell whether a word has lost its last vowel to the next, as "l'" and "qu'"."""
    return word[-1:] in ("'", "’") and _ELISION.fullmatch(word) is not None


def is_clitic(word: str) -> bool:
    """Tell whether a word is written without a space after another one."""
    return word[:1] in ("'", "’") or word.lower() in ("n't", "n’t")


def segment(word: str, lookup: Callable[[str], int]) -> list[tuple[str, int]]:
    """Divide a word into parts with ids, as coarsely as the vocabulary allows.

    The whole word where it is known; else without its accents; else without its clitic
    ("n't", "'s") or elision ("l'", "qu'") where that is known; else part by part at
    hyphens, apostrophes and underscores where at least one part is known; else the
    whole word as unknown. Returns (part, id) pairs, id -1 for unknown; the parts joined
    are the word. lookup takes a key (`key_of`) and returns an id or -1.
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
    elisions: bool = False,
) -> list[tuple[str, int]]:
    """Divide a word by its spelling alone; returns what `segment` returns.

    At all hyphens and underscores, and before clitics ("n't", "'s"), or where elisions
    are asked for after them ("l'"); other apostrophes never divide. Keys of whole are
    not divided ("can't", "right-wing"), but for clitics behind them, nor are words of
    which is_whole is true, by their spelling alone ("Min-jun"). What the vocabulary
    knows divides nothing, so that no part decides whether another one stands alone.
    """
    head, tails = _without_clitics(word)
    for one, rest in ((word, []), (head, tails)):
        if key_of(one) in whole or is_whole(one):
            return [(part, _known(part, lookup)) for part in (one, *rest)]
    parts: list[tuple[str, int]] = []
    for number, piece in enumerate(re.split(r"([\-_])", word)):
        if number % 2:
            parts.append((piece, MARK))
        elif piece:
            spelled = [piece]
            if key_of(piece) not in whole:
                spelled = _by_apostrophes(piece, elisions=elisions)
            parts += [(part, _known(part, lookup)) for part in spelled]
    return parts


def _without_clitics(word: str) -> tuple[str, list[str]]:
    """Take the clitics off the end of a word; returns both."""
    tails: list[str] = []
    while ("'" in word or "’" in word) and len(tails) < _ENDINGS:
        ending = _ENDING.search(word, max(1, len(word) - 3))
        if ending is None:
            break
        tails.insert(0, ending[0])
        word = word[: ending.start()]
    return word, tails


def _by_apostrophes(word: str, *, elisions: bool) -> list[str]:
    """Divide a word before its clitics and after its elisions."""
    word, tails = _without_clitics(word)
    heads, begin = [], 0
    while elisions and (match := _ELISION.match(word, begin)):
        if match.end() == len(word):
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


# The id that `segment` gives to the marks between parts of a word.
MARK = -2
