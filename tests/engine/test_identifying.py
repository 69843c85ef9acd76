"""Fields that identify people are known by name and content, and others are not."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path

import pytest

import dptext
from dptext.engine.identifying import FieldValues, Kind, identifying, warning
from tests.cli.running import here

GIVEN = ("Mary", "James", "Aino", "Priya", "Wei", "Jürgen", "Fatima", "Linda")
FAMILY = ("Smith", "Virtanen", "Raman", "Zhang", "Müller", "Haddad", "O'Neil", "Lee")
ENGLISH = ("Mary", "James", "Linda", "Robert", "Susan", "Priya", "Karen", "Wei")


def kind(name: str, *values: str) -> Kind | None:
    """Return how a field with these values identifies people."""
    field = FieldValues()
    for value in values:
        field.add(value)
    return field.kind(name)


def _names(given: tuple[str, ...]) -> list[str]:
    draws = random.Random(1)
    return [f"{draws.choice(given)} {draws.choice(FAMILY)}" for _ in range(40)]


FIRST = ["Priya", "Bernd", "Marek", "Yusuf", "J. Okafor", "Liu Wei", "Ellen", "Carla"]
FIRST += ["Ian", "Nadia", "Oskar", "Kev", "Perfect"]
IDENTIFYING = [
    ("customer", _names(GIVEN), Kind.NAME),
    ("ticket.requester.name", _names(GIVEN), Kind.NAME),
    ("customerName", _names(GIVEN), Kind.NAME),
    ("handled_by", _names(ENGLISH), Kind.NAME),
    ("customer", ["john smith", "mary", "susan lee"], Kind.NAME),
    ("first_name", ["Zo", "Ay"], Kind.NAME),
    ("name", FIRST[:5], Kind.NAME),
    ("reviewer", FIRST[:5], Kind.NAME),
    ("client", FIRST, Kind.NAME),
    ("col7", FIRST, Kind.NAME),
    ("customer", ["blue", "kestrel", "zephyr", "quartz"], Kind.PERSON),
    ("contact_details", ["a.b@example.org", "c@example.org"], Kind.EMAIL),
    ("notes", ["call", "back", "to", "Ann <ann@example.org>"], Kind.EMAIL),
    ("callback", ["+49 30 1234567", "+44 20 7946 0958"], Kind.PHONE),
    ("col7", ["(212) 555-0199", "212-555-0123"], Kind.PHONE),
    ("pay_to", ["DE89 3704 0044 0532 0130 00"], Kind.ACCOUNT),
    ("card", ["4111 1111 1111 1111", "5500-0000-0000-0004"], Kind.ACCOUNT),
    ("col2", ["078-05-1120", "219-09-9999"], Kind.NUMBER),
    ("customer_id", ["", ""], Kind.NUMBER),
    ("patientNo", ["17", "18"], Kind.NUMBER),
    ("patient", [f"P-{n}" for n in range(20)], Kind.NUMBER),
    ("SSN", [""], Kind.NUMBER),
    ("home_address", ["1 Main St"], Kind.ADDRESS),
    ("date_of_birth", ["1980-02-03"], Kind.BIRTH),
]


@pytest.mark.parametrize(("name", "values", "expected"), IDENTIFYING)
def test_identifying_fields_are_known(
    name: str, values: list[str], expected: Kind
) -> None:
    """Names, addresses, numbers and accounts of people are known for what they are."""
    assert kind(name, *values) is expected


CITIES = (
    "Chicago Houston Phoenix Dallas Austin Charlotte Denver Boston London Paris Berlin "
    "Madrid Vienna Hamburg Lyon Delhi Cairo Lagos Lima Madison"
).split()
OTHERS = [
    ("id", [str(n) for n in range(50)]),
    ("id", [f"{n:010d}" for n in range(50)]),
    ("ticket_id", [f"T-{n}" for n in range(50)]),
    ("order.id", [f"{n:x}-{n * 7919:x}" for n in range(50)]),
    ("opened", ["2026-03-02", "2026-03-03T10:15:00Z"]),
    ("date", ["02/03/2026", "3 March 2026"]),
    ("status", ["In Progress", "Open", "Closed"]),
    ("city", ["San Francisco", "Virginia Beach", "New York", "Jackson", "Paris"]),
    ("city", ["Charlotte", "Austin", "Houston", "Boston", "Dallas"]),
    ("country", ["Jordan", "Georgia", "Chad"]),
    ("name", CITIES),
    ("place", CITIES),
    ("brand", "Nike Puma Ford Toyota Honda Tesla Apple Sony Dell Bosch Lego".split()),
    ("name", "Rose Lily Iris Daisy Tulip Oak Pine Maple Birch Ash Fern Moss".split()),
    ("code", "ANA BEN DAN LEE KIM ALI IAN EVA IDA UMA ZOE AMY".split()),
    ("product", ["Blue Lamp", "Desk Chair", "Ruby Ring", "Oak Shelf", "Max Pro"]),
    ("name", ["Blue Lamp", "Desk Chair", "Garden Table"]),
    ("category", ["Home And Garden", "Office"]),
    ("title", ["Annie Hall", "The Godfather", "Taxi Driver", "Pulp Fiction"]),
    ("client", ["web", "ios", "web", "android", "web", "web"]),
    ("customer", ["yes", "no", "no", "yes"]),
    ("user_agent", ["Mozilla/5.0 (X11)", "curl/8.0", "Mozilla/5.0 (Mac)"]),
    ("version", ["1.2.3", "10.4.1"]),
    ("price", ["10.99", "1,200.00"]),
    ("stars", ["", ""]),
    ("url", ["https://example.org/a", "https://example.org/b"]),
    ("body", ["The lamp was broken.", "Mary said it would come on Monday."]),
    ("customer.city", ["Oslo", "Rome"]),
    ("customer_status", ["new", "old"]),
]


@pytest.mark.parametrize(("name", "values"), OTHERS)
def test_other_fields_are_left_alone(name: str, values: list[str]) -> None:
    """Record numbers, dates, places, products and states are not taken for people."""
    assert kind(name, *values) is None


def test_the_warning_names_fields_and_no_value() -> None:
    """The message holds names and kinds of fields alone."""
    fields = {"customer": FieldValues(), "email": FieldValues()}
    fields["customer"].add("Mary Zqxjk")
    fields["email"].add("zqxjk@example.org")
    said = warning(identifying([*fields, "absent"], fields))
    assert "'customer' (names of people), 'email' (e-mail addresses)" in said
    assert "qxjk" not in said.lower()


def test_texts_with_a_value_of_a_kind_are_no_values_of_it() -> None:
    """One address among many texts is counted, and the column not called a list."""
    field = FieldValues()
    for number in range(24):
        field.add(f"The lamp of room {number} is broken.")
    field.add("Write to Ann (ann@example.org) or ring.")
    how = field.identifies("review")
    assert str(how) == "holds an e-mail address in 1 of 25 values"
    said = warning(identifying(["review"], {"review": field}))
    assert "and looks like texts with e-mail addresses; make it private" in said


def _rows() -> bytes:
    names = ("Mary Smith", "Priya Raman", "Jürgen Müller")
    rows = [
        f'{{"id":{n},"customer":"{name}","text":"The film was good."}}\n'
        for n, name in enumerate(names)
    ]
    return "".join(rows).encode()


def test_runs_name_identifying_copies_last(tmp_path: Path) -> None:
    """Each run that copies such a field ends with a warning; none holds a value."""
    said = "column 'customer' was left unchanged and looks like names of people"
    sanitize = ("sanitize", "-f", "text", "--format", "jsonl", "--no-bayes-risk")
    for options in ((), ("--verbose",)):
        ran = here(*sanitize, *options, given=_rows())
        last = " ".join(ran.err.split())[-200:]
        assert ran.code == 0
        assert said in last
        assert last.endswith("or leave it out (--drop)")
        assert "Raman" not in ran.err
    plain = json.loads(here(*sanitize, "--json", given=_rows()).err)
    assert said in plain["warnings"][-1]
    assert here(*sanitize, "--quiet", given=_rows()).err == ""
    assert said not in here(*sanitize, "-f", "customer", given=_rows()).err
    path = tmp_path / "out.npz"
    embed = ("embed", "-f", "text", "--format", "jsonl", "-o", str(path))
    assert said in " ".join(here(*embed, "--id", "customer", given=_rows()).err.split())
    assert "warning" not in here(*embed, "--id", "id", given=_rows()).err


def test_parts_of_several_processes_are_looked_at(tmp_path: Path) -> None:
    """With several files and processes, fields of each file are named."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(
            _rows().replace(b"customer", name.encode() + b"_customer")
        )
    ran = here(
        "sanitize",
        "-f",
        "text",
        "-j",
        "2",
        str(tmp_path),
        "--out-dir",
        str(tmp_path / "out"),
        "--no-bayes-risk",
    )
    said = " ".join(ran.err.split())
    assert "'a_customer' (names of people), 'b_customer' (names of people)" in said


def test_tables_of_programs_are_looked_at() -> None:
    """Columns of a table that look identifying are warned of, private ones are not."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(list(map(json.loads, _rows().splitlines())))
    with pytest.warns(UserWarning, match="'customer'.*columns="):
        dptext.privatize(frame, columns="text")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dptext.privatize(frame, columns=["text", "customer"])
