"""Sentences with marked entities, made tickets, and texts without marks."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MARKED = ("wikigold", "wnut17", "btc", "presidio_made")
TICKETS = "tickets"
# Corpora that show how well texts read, and the field of a classifier.
TEXTS = {
    "reviews": ("trustpilot_en_test", ""),
    "news": ("agnews_test5600", "label"),
}
DATE, PERSON, ADDRESS = "date of birth", "person", "address"
_DAYS = 36_525  # of a hundred years
# A made ticket: words, and {kinds} where values stand.
_TEMPLATES = (
    "Hello, my name is {person} and my order {order} has not arrived. Please call me at"
    " {phone} or write to {email}.",
    "I moved last month, so please change my address to {address}. My account is"
    " {account}.",
    "{person} here. I was charged twice for order {order}; my date of birth is {date of"
    " birth} if you need it to find me.",
    "Can you refund the money to {account}? You can reach me under {phone}. Regards,"
    " {person}",
    "The parcel for {order} went to {address} instead of my house. My e-mail is"
    " {email}.",
    "I cannot log in with {email} any more, it says that {date of birth} is not my"
    " birthday.",
    "Your driver called {phone} twice, but my wife {person} was at work. Order:"
    " {order}",
    "please delete my data: {person}, born {date of birth}, {address}, {email}",
)


@dataclass(frozen=True, slots=True)
class Marked:
    """Texts and their values: (text number from 1, kind, value)."""

    texts: Sequence[str]
    values: Sequence[tuple[int, str, str]]


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    """Read a file of the test data, in a fixed mixed order."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    order = np.random.default_rng(0).permutation(len(rows))
    return [rows[position] for position in order.tolist()]


def marked(folder: Path, name: str, most: int) -> Marked:
    """Return the first sentences that have entities, all of them for most = 0."""
    rows = [row for row in read(folder / "ner", name) if row["spans"]]
    rows = rows[: most or len(rows)]
    return Marked(
        [row["text"] for row in rows],
        [
            (number, kind, row["text"][begin:end])
            for number, row in enumerate(rows, 1)
            for begin, end, kind in row["spans"]
        ],
    )


def tickets(count: int, seed: int) -> Marked:
    """Make tickets of nobody. Raises ImportError without faker."""
    from faker import Faker

    fake = Faker("en_US")
    fake.seed_instance(seed)
    choose = fake.random.choice
    makers: dict[str, Callable[[], str]] = {
        PERSON: fake.name,
        "e-mail": fake.email,
        "telephone": fake.phone_number,
        "order number": lambda: choose(
            (fake.bothify("ORD-####-######"), fake.bothify("??#####").upper())
        ),
        "account number": lambda: choose(
            (fake.iban(), fake.credit_card_number(), fake.numerify("K-########"))
        ),
        ADDRESS: lambda: fake.address().replace("\n", ", "),
        DATE: lambda: fake.date_of_birth(minimum_age=18).strftime(
            choose(("%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d", "%B %d, %Y"))
        ),
    }
    keys = {"email": "e-mail", "phone": "telephone", "order": "order number"}
    keys |= {"account": "account number"}
    texts, values = [], []
    for number in range(1, count + 1):
        text = ""
        for part in choose(_TEMPLATES).split("{"):
            key, brace, rest = part.partition("}")
            if brace:
                kind = keys.get(key, key)
                value = makers[kind]()
                values.append((number, kind, value))
                text += value + rest
            else:
                text += part
        texts.append(text)
    return Marked(texts, values)


def chance_of_equal(kind: str, value: str) -> float | None:
    """Return how often a random value of the same form is equal; None for persons.

    A digit is any of ten, a letter any of 26, marks stay; a date is any day of a
    hundred years. The letters of addresses are words: there only digits count, so that
    it is an upper limit.
    """
    if kind == PERSON:
        return None
    if kind == DATE:
        return 1.0 / _DAYS
    letters = 1 if kind == ADDRESS else 26
    chance = 1.0
    for character in value:
        if character.isdigit():
            chance /= 10
        elif character.isalpha():
            chance /= letters
    return chance
