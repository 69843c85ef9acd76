"""Texts of every kind of token, and what their statement shows of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dptext.tokens import forms, kinds
from dptext.tokens.policy import Form, Policy, WordList
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Ids, Lexicon, Words
from dptext.writing.joining import Joiner
from tests import distributions, small

ENGLISH = small.english(
    "the",
    "cat",
    "dog",
    "do",
    "n't",
    "'s",
    "Paris",
    "runs",
    "Is",
    "well",
    "known",
    "日",
    "naive",
)
WORDLIKE = (
    kinds.WORD,
    kinds.NUMBER,
    kinds.IDENTIFIER,
    kinds.STOP_WORD,
    kinds.UNKNOWN,
    kinds.KEPT,
    kinds.MASKED,
    kinds.FORMED,
)


@lru_cache(maxsize=8)
def both(lexicon: Lexicon, policy: Policy) -> tuple[Tokenizer, Joiner]:
    """Return what divides texts and what joins them, made once."""
    return Tokenizer(lexicon, policy), Joiner(lexicon, policy)


def written(
    text: str, drawn: Ids, policy: Policy, lexicon: Lexicon = ENGLISH, seed: int = 0
) -> str:
    """Write one text with drawn words instead of its words."""
    tokenizer, joiner = both(lexicon, policy)
    words = tokenizer.words([text])
    positions = joiner.positions_to_redraw(words)
    joiner.redraw(words, distributions.bits(len(positions), seed), positions)
    return joiner.join(words, drawn, distributions.bits(len(words.ids), seed)).texts[0]


@dataclass(frozen=True)
class Seen:
    """The properties of a text that its statement names as shown.

    A gap is kept between two words only when both are copied as they stand.
    """

    positions: tuple[object, ...]


def form(body: str, flags: int, treatment: str, policy: Policy) -> object:
    """Return the visible part of one word besides its place."""
    if treatment == "perturb":
        capitals = flags & (kinds.TITLE | kinds.UPPER)
        return capitals if policy.case == "copy" else None
    if treatment == "form":
        return layout(body, policy)
    return {
        "keep": body,
        "digits": "".join("0" if c.isdecimal() else c for c in body),
        "mask": {kinds.NUMBER: "number", kinds.MASKED: "listed"}.get(
            flags & kinds.KIND
        ),
        "drop": None,
    }[treatment]


def layout(body: str, policy: Policy) -> object:
    """Return the form of an identifier, and what the statement says is shown of it."""
    shape = forms.find_layout(body, policy.forms)
    of = shape and shape.form
    if of in (Form.EMAIL, Form.HANDLE, Form.HASHTAG, Form.EMOJI):
        return of
    if of is Form.URL:
        scheme, _, rest = body.rpartition("://")
        host, _, path = rest.partition("/")
        return of, scheme or host.startswith("www."), path != ""
    if of is Form.FILE:
        return of, body.rpartition(".")[2]
    if of is Form.TIME:
        return of, re.sub("[0-9]", "1", body), body[:1] == "0" and body[1:2].isdigit()
    if of is Form.CODE:
        capital = re.sub("[A-Z]", "A", re.sub("[0-9]", "1", body))
        return of, re.sub("[a-z]", "a", capital), body.isdigit() and body[0] == "0"
    month = next((word for word in body.split() if word.strip(",").isalpha()), "")
    if of is Form.DATE and len(month) > 2:
        is_short = len(month) == 3 and month.lower() != "may"
        written = (is_short, month.isupper(), month[:1].isupper())
        rest = body.replace(month, "").replace("st", "th").replace("nd", "th")
        rest = rest.replace("rd", "th")
        return of, written, "".join("0" if c.isdigit() else c for c in rest)
    shown = "".join(
        "0" if c.isdigit() else "A" if c.isalpha() and of is Form.IBAN else c
        for c in body
    )
    first = next(c for c in body if c.isalnum()) == "0"
    zero = (Form.PHONE, Form.AMOUNT, Form.VERSION)
    return of, shown, first if of in zero else None


def markup(piece: str) -> str:
    """Return what stays of a tag, an entity or code."""
    body = re.sub("`[^`]+`", "`code`", piece)
    body = re.sub(r"<(/?\w+)[^>]*?(/?)>", r"<\1\2>", body)
    return re.sub("<(/?)acme", r"<\1span", body)


def seen(pieces: list[str], flags_of: list[int], policy: Policy) -> Seen:
    """Reduce the words of one text to what its policy keeps, masks or drops."""
    copied = {
        kinds.UNKNOWN: policy.unknown,
        kinds.IDENTIFIER: policy.unknown,
        kinds.NUMBER: policy.number,
        kinds.STOP_WORD: policy.stop_word,
        kinds.KEPT: "keep",
        kinds.MASKED: "mask",
        kinds.FORMED: "form",
    }
    positions: list[object] = []
    before: str | None = None  # treatment of the word just before, None at a mark
    for piece, flags in zip(pieces, flags_of, strict=True):
        kind = flags & kinds.KIND
        if kind not in WORDLIKE:
            if policy.punctuation == "keep":
                is_markup = kind == kinds.MARKUP
                positions.append(("mark", markup(piece) if is_markup else piece))
                before = None
            continue
        treatment = copied.get(kind, "perturb")
        shown: list[object] = [treatment]
        gap = piece[:1] == " "
        both = treatment in ("keep", "digits") and before in ("keep", "digits")
        if policy.punctuation == "keep" and (before is None or both):
            shown.append(gap)
        shown.append(form(piece.lstrip(" "), flags, treatment, policy))
        positions.append(tuple(shown))
        before = treatment
    return Seen(tuple(positions))


ITEMS = (
    "cat Dog RUNS Paris paris I the The zq Zq ZQQ 42 7 1,000 ٣٤ 12:30 http://a.org/b?c "
    "x@y.org #tag @who 😀 👍🏽 naïve 日 本 \u200b \x07 ᠎ U.S. can zq-zq iPhone "
    "'ll n't ½ Ⅷ "
    "don't cat's 日本 cat😀 Don’t dog#tag 日zq zq日 日42 DON'T 日the the日 zq's 42日 "
    "\u200bcat cat\u200b 日#a THE'S well-known zq-cat"
).split(" ")
MARKS = [". ", ", ", " (", ") ", "\n", "  ", " - ", "-", "!", '"', "?? ", "…", "\x1c"]
POLICIES = [
    Policy(),
    Policy(case="lower"),
    Policy(case="copy"),
    Policy(unknown="mask"),
    Policy(unknown="drop"),
    Policy(unknown="keep"),
    Policy(number="mask"),
    Policy(number="keep"),
    Policy(number="digits"),
    Policy(stop_word="keep"),
    Policy(stop_word="drop"),
    Policy(unknown="keep", number="digits", stop_word="drop", case="copy"),
    Policy(unknown="keep", number="digits", stop_word="keep", case="copy"),
    Policy(unknown="mask", number="mask", stop_word="keep", case="lower"),
    Policy(
        keep=WordList(words=("cat", "zq", "42"), patterns=(r"#\w+", "[A-Z]{2}S")),
        mask=WordList(words=("runs", "日", "the zq", "x@y.org")),
        forms=(Form.EMAIL,),
    ),
    Policy(
        keep=WordList(words=("the", "I")),
        mask=WordList(words=("naïve",)),
        forms=tuple(Form),
        unknown="keep",
        stop_word="drop",
        number="digits",
        case="copy",
    ),
]


def seen_of_each(
    texts: list[str], policy: Policy, lexicon: Lexicon = ENGLISH
) -> list[Seen]:
    """Return the visible part of each text."""
    return seen_in(Tokenizer(lexicon, policy).words(texts), policy)


def seen_in(words: Words, policy: Policy) -> list[Seen]:
    """Return the visible part of each text of a batch."""
    begins = [0, *words.ends[:-1].tolist()]
    return [
        seen(words.pieces[begin:end], words.flags[begin:end].tolist(), policy)
        for begin, end in zip(begins, words.ends.tolist(), strict=True)
    ]


def mixed(items: tuple[str, ...] | list[str]) -> list[str]:
    """Return texts of one to four items, most of them with a mark inside."""
    rng = np.random.default_rng(5)
    texts = [*items, *(f"{one} {two}" for one in items for two in items)]
    for _ in range(1500 if len(items) > 40 else 500):
        length = int(rng.integers(2, 5))
        few = rng.choice(items, length).tolist()
        mark = MARKS[int(rng.integers(3))] if rng.random() < 0.7 else " "
        position = int(rng.integers(1, length))
        texts.append(" ".join(few[:position]) + mark + " ".join(few[position:]))
    return texts
