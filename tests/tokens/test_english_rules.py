"""What `readable` copies of rarer English words, and how it writes what people say."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

import dptext
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens.language_data import closed_classes, invented_names
from dptext.types import Record

DRAWS = 12


@pytest.fixture(scope="module")
def readable() -> Pipeline:
    """Open the profile for people."""
    return dptext.open_pipeline("readable")


def outputs(pipeline: Pipeline, text: str, draws: int = DRAWS) -> list[str]:
    """Write a text under several seeds."""
    record = [Record(0, (text,), None)]
    seeds = map(RunKey.from_seed, range(draws))
    return [
        pipeline.privatize(record, pipeline.randomness(seed)).texts[0][0]
        for seed in seeds
    ]


@pytest.mark.parametrize(
    "text",
    [
        "please cancel the shipment; the courier left our parcel at the porch",
        "Firmware and router were refunded, the kettle's lid leaks",
        "you debited the surcharge twice and overcharged me",
        "they customise it, the dialog says it is overlooked",
        "Q: how does it work?",
    ],
)
def test_words_of_offices_are_copied(readable: Pipeline, text: str) -> None:
    """Also those that some people have as names, in lower case."""
    assert outputs(readable, text, 3) == [text] * 3


def test_rarer_words_are_copied_in_lower_case_alone(readable: Pipeline) -> None:
    """Beyond the 8,000 commonest, where a name may look like them."""
    assert set(outputs(readable, "it was overlooked")) == {"it was overlooked"}
    assert "Overlooked it was" not in outputs(readable, "Overlooked it was")
    assert not any("ravens" in out for out in outputs(readable, "we saw the ravens"))


def test_plurals_of_weekdays_stay_plurals(readable: Pipeline) -> None:
    """Of another day."""
    days = {f"{day}s" for day in closed_classes("en")["weekdays"]}
    outs = outputs(readable, "We meet on Saturdays.", 40)
    written = {out.removeprefix("We meet on ").removesuffix(".") for out in outs}
    assert written <= days
    assert len(written) > 4


@pytest.mark.parametrize("name", ["Al-Sayed", "Poppy", "Saga", "Fielding"])
def test_equal_names_stay_equal_where_they_are_words_too(
    readable: Pipeline, name: str
) -> None:
    """As a part behind a hyphen, or as rare words."""
    for out in outputs(readable, f"We met {name}. Yesterday {name} said so."):
        match = re.fullmatch(r"We met (\S+)\. Yesterday (\S+) said so\.", out)
        assert match is not None, out
        assert match[1] == match[2]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We ate at Golden Anchor.", ""),
        ("We ate at Golden Anchor Fish Restaurant.", " Restaurant"),
        ("We saw the Green Valley School District.", " District"),
        ("We bought it at Norvik Systems.", " Systems"),
    ],
)
def test_words_with_capitals_become_one_invented_name(
    readable: Pipeline, text: str, kind: str
) -> None:
    """With the listed word of its kind, if there is one."""
    names = invented_names("en")["organisations"]
    before = re.match("[^A-Z]*", text[1:])[0]  # type: ignore[index]
    for out in outputs(readable, text):
        name = out[1:].removeprefix(before).removesuffix(f"{kind}.")
        assert name in names, out


def test_words_of_headings_and_titles_are_no_such_name(readable: Pipeline) -> None:
    """Nor are words behind a cue."""
    invented = {*invented_names("en")["organisations"]}
    for text in ("Golden Anchors Sink Steel Trellis", "It was Grand Vizier Zork Qorp."):
        for out in outputs(readable, text, 4):
            assert invented.isdisjoint(re.findall(r"\w+", out)), out


@pytest.mark.parametrize("mark", ["@bob_1:", "#nowplaying -"])
def test_a_post_is_no_heading(readable: Pipeline, mark: str) -> None:
    """It may be the title of a song, of which no word with a capital is copied."""
    assert outputs(readable, "This Is Our Someday", 1) == ["This Is Our Someday"]
    for out in outputs(readable, f"{mark} This Is Our Someday"):
        assert "Our Someday" not in out


def test_times_of_a_chat_ascend(readable: Pipeline) -> None:
    """Whatever their order was; equal ones stay equal."""
    text = "11:20 A: hi\n[11:25] B: ok\n2024-05-02 11:21 A: yes\n11:20 B: no"
    for out in outputs(readable, text):
        times = re.findall(r"\d\d:\d\d", out)
        assert times[0] == times[3]
        assert all(one < two for one, two in pairwise(times[:3]))


@pytest.mark.parametrize("text", ["It takes 3 to 12 weeks", "It takes 10-15 min"])
def test_the_numbers_of_a_range_are_near(readable: Pipeline, text: str) -> None:
    """The second is at most twice the first and 8 more."""
    for out in outputs(readable, text, 60):
        one, two = map(int, re.findall(r"\d+", out))
        assert one < two <= 2 * one + 8


def test_a_rating_with_a_mark_stays_within_five(readable: Pipeline) -> None:
    """All values come."""
    digits = {re.findall(r"\d", out)[0] for out in outputs(readable, "a 5* hotel", 60)}
    assert digits == set("12345")


def test_capitals_with_digits_are_products(readable: Pipeline) -> None:
    """Equal ones stay equal; those of the list of short forms are copied."""
    products = invented_names("en")["products"]
    for out in outputs(readable, "SP2 is out; get SP2 and a PS5 for MP3 files"):
        one, two, other = re.findall(r"^(\S+) is out; get (\S+) and a (\S+) for", out)[
            0
        ]
        assert one == two != other
        assert {one, other} <= {*products}
        assert out.endswith("MP3 files")
