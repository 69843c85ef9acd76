"""Forms: pieces recognised by spelling and replaced with the same layout.

The layout is the only public part of a piece: the writer gets a layout and random bits,
never the piece. The statement describes the layouts of each form
(dptext.guarantees.sentences). Some written pieces belong to nobody: host names are
from RFC 2606, network addresses are for documentation (RFC 5737, 3849),
telephone numbers are for fiction in North America or of no country, card numbers and
IBANs are of no country. Codes and handles may be somebody's by chance, as may
telephone numbers that are written as codes.

The form of a piece depends only on its spelling, not on the words of a lexicon. The
earliest piece of a text has priority, then the longest, then the first form in RULES.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Literal, NamedTuple

from dptext.tokens import addresses, codes, dates, language_data, markup, number_words
from dptext.tokens.dates import is_date
from dptext.tokens.draws import (
    CONSONANTS,
    DIGITS,
    Integers,
    draw_numbers,
    numeric_shape,
    only_digits,
    put,
    shape,
)
from dptext.tokens.policy import Form
from dptext.tokens.regex import BEHIND, EMAIL, EMOJI, GUARD, guarded

# 64-bit integers that are enough for most layouts; long ones need one a character.
INTEGERS = 40
_LONGEST = 128  # characters of a code
LISTS: Mapping[str, list[str]] = dict(language_data.sections("form_words"))


def _any(name: str) -> str:
    """Return a pattern matching a public list's words, longest first."""
    words = sorted(LISTS[name], key=len, reverse=True)
    return f"(?:{'|'.join(map(re.escape, words))})"


class FormLayout(NamedTuple):
    """The public part of a piece."""

    form: Form
    #: What stays of the piece, in the notation of its form.
    shown: str


class FormRule(NamedTuple):
    """How a form's pieces are found and replaced, with descriptions."""

    #: The form in statements.
    name: str
    #: The content of its layouts in statements, "" if all pieces become the same.
    shows: str
    #: Returns the layout of a piece.
    find_layout: Callable[[str], str]
    #: Returns a random piece of a layout.
    write: Callable[[str, Integers], str]
    #: Whether a match of a pattern is a piece of the form.
    accepts: Callable[[str], bool] = lambda text: True
    #: Patterns of matches without spaces.
    patterns: tuple[str, ...] = ()
    #: Patterns of matches with spaces, and a digit.
    spaced: tuple[str, ...] = ()
    #: Patterns of matches that are found by their words.
    worded: tuple[str, ...] = ()
    #: Pattern of a part of every text that has a match of patterns.
    needs: str = "[0-9]"
    #: Condition on the text after a match.
    guard: str = GUARD
    #: Condition on the text before a match.
    behind: str = BEHIND
    #: Whether letters and digits are those of ASCII only.
    ascii: bool = True


# Card numbers.


def is_card(text: str) -> bool:
    """Return whether a number's check digit is valid (Luhn; ISO/IEC 7812-1)."""
    digits = only_digits(text)
    doubled = (2 * int(each) for each in digits[-2::-2])
    total = sum(map(int, digits[::-2])) + sum(n - (9 if n > 9 else 0) for n in doubled)
    return total % 10 == 0


def _write_card(layout: str, draws: Integers) -> str:
    # 9, then the number of a country (ISO/IEC 7812-1): 999 is unassigned (ISO 3166-1).
    digits = "9999" + draws.characters(DIGITS, len(only_digits(layout)) - 5)
    last = next(each for each in DIGITS if is_card(digits + each))
    return put(layout, digits + last)


# IBANs.

_NO_COUNTRY = "ZZ"  # ISO 3166-1 leaves it to users


@cache
def _iban_countries() -> Mapping[int, list[str]]:
    """Return IBAN countries by number of characters."""
    rows = language_data.sections("iban_lengths")
    return {int(length): countries for length, countries in rows}


def is_iban(text: str) -> bool:
    """Return whether an IBAN's length and check digits are valid (ISO 13616).

    The fictitious country ZZ may have the length of any other.
    """
    plain = text.replace(" ", "")
    countries = _iban_countries().get(len(plain), [])
    known = plain[:2] in countries or (plain[:2] == _NO_COUNTRY and bool(countries))
    return plain.isascii() and known and _remainder(plain) == 1


def _remainder(plain: str) -> int:
    return int("".join(str(int(each, 36)) for each in plain[4:] + plain[:4])) % 97


def _write_iban(layout: str, draws: Integers) -> str:
    signs = (DIGITS if each == "1" else CONSONANTS for each in layout.replace(" ", ""))
    account = "".join(map(draws.characters, list(signs)[4:]))
    check = 98 - _remainder(f"{_NO_COUNTRY}00{account}")
    return put(layout, f"{_NO_COUNTRY}{check:02d}{account}")


# Hosts, addresses of mail and handles.

_HOSTS = ("example.com", "example.org", "example.net")
_IN_URL = r"(?:[^\s<>\"'()\[\]{}|\\^`]|\([^\s<>\"()]{0,200}\))"
_LAST = r"(?<![.,;:!?'’*_~])"
_URL = (
    r"(?:[a-z][a-z0-9+.\-]{1,15}://(?=[^\s<>\"])|www\.(?=[\w]))"
    rf"(?:\[[0-9a-f:.]+\])?{_IN_URL}*{_LAST}"
)
_DOMAIN = (
    r"(?:[a-z0-9\-]{1,63}\.){1,8}"
    r"(?:com|org|net|edu|gov|mil|info|biz|io|co|uk|de|fr|eu|ch|example)"
    rf"(?![\w\-]|\.\w)(?::[0-9]{{1,5}})?(?:[/?#]{_IN_URL}*{_LAST})?"
)
_URL_PARTS = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.\-]{1,15})://)?(?P<www>www\.)?"
    r"(?P<host>\[[^\]]*\][^/?#]*|[^/?#]*)/?(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)


def _url_layout(text: str) -> str:
    parts = _URL_PARTS.fullmatch(text)
    assert parts is not None
    scheme = (parts["scheme"] or "").lower()
    if scheme:
        begin = f"{scheme if scheme in LISTS['schemes'] else 'https'}://"
    else:
        begin = "www." if parts["www"] else ""
    return begin + ("{host}/{path}" if parts["rest"] else "{host}")


def _write_url(layout: str, draws: Integers) -> str:
    host = _HOSTS[draws.below(len(_HOSTS))]
    return layout.format(host=host, path=_letters(draws))


def _letters(draws: Integers, count: int = 8) -> str:
    return draws.characters(CONSONANTS.lower(), count)


def _handle_layout(text: str) -> str:
    if text[:2] == "@ ":
        return "@ "
    return "@" if text[0] == "@" else ""


# Telephone numbers.


def _phone_layout(text: str) -> str:
    layout = re.sub("[0-9]", "1", text)
    return layout.replace("1", "0", 1) if only_digits(text)[0] == "0" else layout


_EXTENSION = r"(?:x[0-9]{1,5})?"
_AMERICAN = re.compile(
    r"(?:\+?1[ .-]?)?(?:\(111\) ?|111[-. ]?)111[-. ]?1111(?:x1+)?", re.IGNORECASE
)


def _is_phone(text: str) -> bool:
    number = text.lower().partition("x")[0]
    return 8 <= len(only_digits(number)) <= 15 and not is_date(number)


# Beginnings of the codes of countries that E.164 has not assigned.
_NOWHERE = ("28", "83", "89")


def _write_phone(layout: str, draws: Integers) -> str:
    digits = only_digits(layout)
    nowhere = _NOWHERE[draws.below(len(_NOWHERE))]
    if _AMERICAN.fullmatch(layout):
        # 555-0100 to 555-0199 are for fiction.
        area = draws.characters(DIGITS[2:]) + draws.characters(DIGITS, 2)
        main = only_digits(layout.lower().partition("x")[0])
        country = "1" if len(main) == 11 else ""
        behind = len(digits) - len(main)
        number = f"{country}{area}55501{draws.characters(DIGITS, 2 + behind)}"
        return put(layout, number)
    first = f"00{nowhere}" if digits[0] == "0" else nowhere
    return put(layout, first + draws.characters(DIGITS, len(digits) - len(first)))


# Amounts.

SIGN = "[$¢£¤¥֏؋߾߿৲৳৻૱௹฿៛₠-⃀꠸﷼﹩＄￠￡￥￦]"
_NUMBER = r"(?:[0-9]{1,3}(?:[,.'][0-9]{3})+(?:[.,][0-9]{1,2})?|[0-9]+(?:[.,][0-9]+)?)"
_SIGNED = rf"(?:{_any('signs')})?{SIGN}"
_CURRENCY = _any("currencies")
_SHORT = rf"{_any('short')}?"
#: Letters that may have a space between them and the sign, in capitals alone.
SPACED_SIGNS = frozenset(("US", "AU", "CA", "NZ", "HK"))
_SPACED_SIGN = f"(?-i:{'|'.join(sorted(SPACED_SIGNS))})"
_SIZE = rf"(?:[ -]{_any('sizes')})?"


# Layouts with a plural after a single digit.
_SEVERAL = re.compile(rf"1 ?{_any('plurals')}", re.IGNORECASE)
# Those with a singular, such as "1 dollar".
_ONE = re.compile(rf"1 {_any('singulars')}", re.IGNORECASE)

# Percentages of three digits are all of something.
_WHOLE = re.compile("111 ?%")


def _is_amount(text: str) -> bool:
    return len(only_digits(text)) <= 15


def _write_amount(layout: str, draws: Integers) -> str:
    if _ONE.fullmatch(layout):
        return layout
    if _WHOLE.fullmatch(layout):
        return layout.replace("111", "100")
    if _SEVERAL.fullmatch(layout):
        return draws.characters(DIGITS[2:]) + layout[1:]
    return draw_numbers(layout, draws)


# Versions.

_ENDING = rf"(?:[-.+]?{_any('version-endings')}(?:[.\-]?[0-9]{{1,3}})?)?"
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+")


# Names of files.

_FILE = r"(?:[a-z]:\\|[~.]{1,2}[\\/]|[\\/])?(?:[\w\-.]+[\\/])*[\w\-.]*[\w\-]\." + _any(
    "file-endings"
)


EMOJI_SHOWN = "\U0001f539"  # a small blue diamond, which means nothing
_IDENTIFIER_GUARD = r"(?![\w@])"

# By priority.
RULES: Mapping[Form, FormRule] = {
    Form.FIXED: FormRule(
        name=f"fixed expressions ({', '.join(LISTS['fixed'])})",
        shows="which one",
        find_layout=str,
        write=lambda layout, draws: layout,
        patterns=(_any("fixed"),),
        needs=r"[/%]|[xX]7|[A-Za-z]\.|[fF]-",
    ),
    Form.CARD: FormRule(
        name=(
            "payment card numbers (13 to 19 digits, the last one right by Luhn's rule)"
        ),
        shows=(
            "how many digits they have, and the spaces or hyphens between groups of "
            "them"
        ),
        find_layout=shape,
        write=_write_card,
        accepts=is_card,
        patterns=(
            r"[0-9]{13,19}",
            r"[0-9]{4}-(?:[0-9]{4}-[0-9]{4}-[0-9]{4}|[0-9]{6}-[0-9]{4,5})",
        ),
        spaced=(r"[0-9]{4} (?:[0-9]{4} [0-9]{4} [0-9]{4}|[0-9]{6} [0-9]{4,5})",),
        needs="[0-9]{4}-?[0-9]{4}",
    ),
    Form.IBAN: FormRule(
        name="IBANs (with the length of their country and right check digits)",
        shows="which of their characters are letters, which are digits, and the spaces "
        "between them",
        find_layout=shape,
        write=_write_iban,
        accepts=is_iban,
        patterns=(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,27}",),
        spaced=(r"[A-Z]{2}[0-9]{2}(?: [A-Z0-9]{4}){2,6}(?: [A-Z0-9]{1,4})?",),
        needs="[0-9]{2}[A-Za-z0-9]{11}",
    ),
    Form.URL: FormRule(
        name="URLs",
        shows="the scheme or www, and whether anything follows the name of the host",
        find_layout=_url_layout,
        write=_write_url,
        patterns=(_URL, _DOMAIN),
        needs=r"\.|://",
        guard="",
        ascii=False,
    ),
    Form.EMAIL: FormRule(
        name="e-mail addresses",
        shows="",
        find_layout=lambda text: "",
        write=lambda layout, draws: f"{_letters(draws)}@mail.example",
        patterns=(EMAIL,),
        needs="@",
        ascii=False,
    ),
    Form.HANDLE: FormRule(
        name=(
            "handles (@name, words with an underscore inside, and names before the "
            "time or address of a line of a log, as in - frank [10/Oct/2000:13:55:36)"
        ),
        shows="an @ before them, and a space behind it",
        find_layout=_handle_layout,
        write=lambda layout, draws: f"{layout}user_{_letters(draws, 6)}",
        # What is a code with an underscore stays a code, and before "=" is a key.
        accepts=lambda text: text[0] == "@" or not codes.is_code(text),
        patterns=(
            r"@\w(?:[\w\-.]*\w)?(?:@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8})?",
            r"[^\W_]+(?:_[^\W_]+)+(?!=)",
        ),
        needs="[@_]",
        guard=_IDENTIFIER_GUARD,
        ascii=False,
    ),
    Form.DATE: FormRule(
        name="dates (two or more of day, month and year)",
        shows=dates.SHOWS,
        find_layout=dates.find_layout,
        write=dates.write,
        accepts=is_date,
        patterns=dates.NUMERIC,
        spaced=dates.NAMED,
        needs="[0-9][-/.][0-9]{1,2}[-/.][0-9]",
    ),
    Form.TIME: FormRule(
        name="times of day",
        shows=dates.TIME_SHOWS,
        find_layout=dates.find_time_layout,
        write=dates.write_time,
        patterns=dates.TIMES,
        spaced=dates.SPACED_TIMES,
        needs="[0-9][:aphtAPHT]",
        guard=dates.TIME_GUARD,
    ),
    Form.PHONE: FormRule(
        name="telephone numbers (8 to 15 digits in the layout of such)",
        shows=(
            "how many digits they have, the marks and spaces between them, whether the "
            "first is 0, and an x before an extension"
        ),
        find_layout=_phone_layout,
        write=_write_phone,
        accepts=_is_phone,
        patterns=(
            r"\+[0-9]{1,3}(?:[.-]?(?:\([0-9]{1,4}\)|[0-9]{1,4})){2,6}",
            r"(?:\(0[0-9]{1,4}\)|0[0-9]{1,4})(?:-?[0-9]{2,4}){2,4}",
            r"(?:\+?1[-.])?(?:\([0-9]{3}\)|[0-9]{3}[-.])[0-9]{3}[-.][0-9]{4}"
            + _EXTENSION,
            r"(?:\+[0-9]{1,3}|00?1)(?:-[0-9]{3}){2}-[0-9]{4}" + _EXTENSION,
        ),
        spaced=(
            r"\+[0-9]{1,3}(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{1,4})){2,6}",
            r"(?:\(0[0-9]{1,4}\)|0[0-9]{1,4})(?:[ -]?[0-9]{2,4}){2,4}",
            r"(?:\+?1[-. ])?(?:\([0-9]{3}\) ?|[0-9]{3}[-. ])[0-9]{3}[-. ][0-9]{4}"
            + _EXTENSION,
        ),
        needs="(?:[0-9][^0-9]*){8}",
    ),
    Form.IP: FormRule(
        name="addresses of machines (IPv4, IPv6)",
        shows=(
            "IPv4 or IPv6, and whether a port or the length of a prefix follows, with "
            "its number of digits"
        ),
        find_layout=addresses.find_machine_layout,
        write=addresses.write_machine,
        patterns=(
            rf"(?:{addresses.OCTET}\.){{3}}{addresses.OCTET}(?::[0-9]{{1,5}}|/[0-9]{{1,2}})?",
            r"(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}",
            r"(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}",
        ),
    ),
    Form.ADDRESS: FormRule(
        name="street addresses with a house number",
        shows=addresses.SHOWS,
        find_layout=addresses.find_layout,
        write=addresses.write,
        worded=addresses.PATTERNS,
        guard=addresses.GUARD,
        ascii=False,
    ),
    Form.AGE: FormRule(
        name="ages (beside old, age, aged, yrs or the like)",
        shows=number_words.AGE_SHOWS,
        find_layout=number_words.find_age_layout,
        write=number_words.write_age,
        patterns=number_words.AGE_PATTERNS,
        spaced=number_words.AGE_SPACED,
        worded=number_words.AGE_WORDS,
        needs="[0-9][ \xa0-]?[yY]",
    ),
    Form.NUMBER_WORDS: FormRule(
        name="numbers, years and dates of two or more number words (English)",
        shows=number_words.SHOWS,
        find_layout=number_words.find_layout,
        write=number_words.write,
        worded=number_words.PATTERNS,
        guard=number_words.GUARD,
    ),
    Form.AMOUNT: FormRule(
        name=(
            "amounts (with a currency, a percent sign, or a unit right behind the "
            "number)"
        ),
        shows=(
            "the currency or unit, a word of size such as million, how many digits "
            "they have, whether the first is 0, and the marks and spaces between "
            "them"
        ),
        find_layout=numeric_shape,
        write=_write_amount,
        accepts=_is_amount,
        patterns=(
            rf"{_SIGNED}{_NUMBER}{_SHORT}",
            rf"{_NUMBER}{_SHORT}{SIGN}",
            rf"{_CURRENCY}{_NUMBER}|{_NUMBER}{_CURRENCY}",
            rf"{_NUMBER}{_any('units')}",
        ),
        spaced=(
            rf"{_SIGNED} ?{_NUMBER}(?:{_any('short')}|{_SIZE})",
            rf"{_NUMBER}{_SHORT}{_SIZE} (?:{SIGN}|{_CURRENCY}|{_any('money')})",
            rf"{_CURRENCY} {_NUMBER}(?:{_any('short')}|{_SIZE})",
            rf"{_SPACED_SIGN} ?{SIGN} ?{_NUMBER}(?:{_any('short')}|{_SIZE})",
            rf"{_NUMBER} %",
        ),
        needs=rf"[^\W\d_]|%|{SIGN}",
    ),
    Form.VERSION: FormRule(
        name="versions (of three or more numbers, or behind a v)",
        shows=(
            "the v, how many numbers of how many digits they have, and an ending such "
            "as beta"
        ),
        find_layout=numeric_shape,
        write=lambda layout, draws: draw_numbers(layout, draws, each=True),
        accepts=lambda text: not _THOUSANDS.fullmatch(text),
        patterns=(
            rf"v\.?[0-9]{{1,4}}(?:\.[0-9]{{1,5}}){{0,4}}{_ENDING}",
            rf"[0-9]{{1,4}}(?:\.[0-9]{{1,5}}){{2,4}}{_ENDING}",
        ),
        needs=r"[vV]\.?[0-9]|\.[0-9]{1,5}\.",
    ),
    Form.FILE: FormRule(
        name="names and paths of files",
        shows="the ending (pdf, for example)",
        find_layout=lambda text: text.rpartition(".")[2].lower(),
        write=lambda layout, draws: f"file.{layout}",
        patterns=(_FILE,),
        needs=r"\.",
        guard=r"(?![\w@]|[-./\\]\w)",
        behind=r"(?<![\w@./\\])",
        ascii=False,
    ),
    Form.CODE: FormRule(
        name=(
            "codes of letters and digits (order and customer numbers, UK, Canadian "
            "and, behind the code of a state, US postcodes), of seven and more digits, "
            "or of three and more names with dots between them"
        ),
        shows=(
            "which of their characters are digits, capital letters and small letters, "
            "the marks and spaces between them, and whether the first is 0 (of names "
            "with dots their number, and which begin with a capital)"
        ),
        find_layout=codes.find_layout,
        write=codes.write,
        accepts=lambda text: len(text) <= _LONGEST and codes.is_code(text),
        spaced=codes.POSTCODES,
        patterns=(
            r"#?[A-Za-z0-9]+(?:[-_/.][A-Za-z0-9]+)*",
            codes.DOTTED,
        ),
        needs=(r"\A(?s:(?=.*[0-9]).*[A-Za-z])|#[0-9]|(?:[0-9][^0-9]*){7}|\.\w+\."),
    ),
    Form.HASHTAG: FormRule(
        name="hash tags (#topic)",
        shows="",
        find_layout=lambda text: "",
        write=lambda layout, draws: "#topic",
        patterns=(r"#\w*[^\W\d_][\w]*",),
        needs="#",
        guard=_IDENTIFIER_GUARD,
        behind=r"(?<![\w@&])",
        ascii=False,
    ),
    Form.EMOJI: FormRule(
        name="emoji",
        shows="",
        find_layout=lambda text: "",
        write=lambda layout, draws: EMOJI_SHOWN,
        patterns=(EMOJI,),
        needs="",
        guard="",
        behind="",
        ascii=False,
    ),
    Form.MARKUP: FormRule(
        name="tags and entities of HTML, code between backticks and numbers of lists",
        shows=(
            "the name of an element of HTML (others become span), whether it opens "
            "or closes, an entity of a mark or space, where code stands, and the "
            "number of a list at the beginning of a line, or with a bracket behind a "
            "mark"
        ),
        find_layout=lambda text: markup.find_layout(text) or "",
        write=lambda layout, draws: layout,
        accepts=lambda text: markup.find_layout(text) is not None,
    ),
}
RANK = {form: rank for rank, form in enumerate(RULES)}


@cache
def compiled(
    form: Form, kind: Literal["patterns", "spaced", "worded"]
) -> tuple[re.Pattern[str], ...]:
    """Compile a form's patterns, with conditions on the surrounding text."""
    rule = RULES[form]
    patterns: tuple[str, ...] = getattr(rule, kind)
    return tuple(
        guarded(each, rule.guard, behind=rule.behind, ascii_only=rule.ascii)
        for each in patterns
    )


def matches(form: Form, text: str) -> bool:
    """Return whether a text is a single piece of a form."""
    rule = RULES[form]
    if form is Form.MARKUP:
        return rule.accepts(text)
    patterns = (*compiled(form, "patterns"), *compiled(form, "spaced"))
    patterns += compiled(form, "worded")
    return any(each.fullmatch(text) for each in patterns) and rule.accepts(text)


def find_layout(text: str, forms: Iterable[Form]) -> FormLayout | None:
    """Return the layout of the first matching form, or None."""
    for form in sorted(forms, key=RANK.__getitem__):
        if matches(form, text):
            return FormLayout(form, RULES[form].find_layout(text))
    return None


def write(
    layout: FormLayout,
    integers: Iterator[int],
    years: tuple[int, int] | None = None,
) -> str:
    """Return a random piece with a layout, from `count_integers` integers.

    years: the first and last year that may be written; None: any usual year.
    """
    return draw(layout, Integers(integers, years))


def draw(layout: FormLayout, draws: Integers) -> str:
    """Return a random piece with a layout."""
    return RULES[layout.form].write(layout.shown, draws)


def count_integers(layout: FormLayout) -> int:
    """Return how many random integers suffice for a layout."""
    return max(INTEGERS, len(layout.shown) + 2)
