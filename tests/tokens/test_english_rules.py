"""What `readable` copies of rarer English words, and how it writes what people say."""

from __future__ import annotations

import datetime
import re
from itertools import pairwise

import pytest

import dptext
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens import codes, language_data, people, written_classes
from dptext.tokens.language_data import closed_classes, common_lists, invented_names
from dptext.types import Record
from dptext.writing import date_order
from dptext.writing.quantities import minutes

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


def test_stars_of_a_hotel_stay(readable: Pipeline) -> None:
    """Ratings are opinions."""
    assert {*outputs(readable, "a 5* hotel")} == {"a 5* hotel"}


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


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("A. Smith met J. K. Trellis.", r"[A-Z]\. \w+ met [A-Z]\. [A-Z]\. \w+\."),
        ("J.K. Rowling wrote it.", r"[A-Z]\.[A-Z]\. \w+ wrote it\."),
        ("Best,\nA.", r"Best,\n[A-Z]\."),
        ("take vitamin C or plan B", "take vitamin [A-Z] or plan [A-Z]"),
        ("John F. Kennedy said", r"\w+ [A-Z]\. \w+ said"),
    ],
)
def test_initials_are_initials(readable: Pipeline, text: str, pattern: str) -> None:
    """Equal ones are equal, and others others; all letters come."""
    outs = outputs(readable, text, 60)
    assert all(re.fullmatch(pattern, out) for out in outs), outs
    letters = {tuple(re.findall(r"\b[A-Z]\b", out)) for out in outs}
    if "." not in pattern or r"\. [" in pattern:
        assert all(len({*each}) == len(each) for each in letters)
    assert len({each[0] for each in letters}) > 15


def test_families_stand_behind_initials(readable: Pipeline) -> None:
    """Also words that are no names elsewhere."""
    families = {*people.lists()["families"]}
    for out in outputs(readable, "We met J. K. Rowling, B.B. King and D. Trellis."):
        names = re.findall(r"\. (\w\w+)", out)
        assert families.issuperset(names), out


@pytest.mark.parametrize(
    "office",
    [
        "Captain",
        "Professor",
        "Acting Commissioner",
        "Managing Director",
        "Chief Executive Officer",
    ],
)
def test_offices_before_names_are_copied(readable: Pipeline, office: str) -> None:
    """A family name stands behind one."""
    families = {*people.lists()["families"]}
    for out in outputs(readable, f"We met {office} Ahmed and {office} Lincoln."):
        match = re.fullmatch(rf"We met {office} (\w+) and {office} (\w+)\.", out)
        assert match is not None, out
        assert families.issuperset(match.groups())


def test_no_office_tells_a_special_category() -> None:
    """No rabbi, nurse, judge or president is unchanged."""
    lists = dict(language_data.sections("name_cues"))
    sections = ("written_offices", "ranks_of_given", "before_ranks", "fields")
    listed = {word for name in sections for word in lists[name]}
    listed |= language_data.short_forms("en")["posts"] | language_data.ranks()
    assert not listed & language_data.special_words("en")


@pytest.mark.parametrize(
    "text",
    ["it was Customer Service", "our Human Resources Manager", "a Managing Director"],
)
def test_offices_of_two_words_are_copied(readable: Pipeline, text: str) -> None:
    """With no name beside them."""
    assert outputs(readable, text, 4) == [text] * 4


@pytest.mark.parametrize("name", ["Stephen King Jones", "Billie King"])
def test_names_that_are_offices_are_replaced(readable: Pipeline, name: str) -> None:
    """A name of a person stands before them."""
    surname = name.split()[1]
    outs = outputs(readable, f"We met {name} here.")
    assert not any(surname in out for out in outs), outs


def test_kings_and_queens_have_given_names(readable: Pipeline) -> None:
    """Of their gender."""
    lists = people.lists()
    for out in outputs(readable, "We saw King Charles and Queen Elizabeth."):
        match = re.fullmatch(r"We saw King (\w+) and Queen (\w+)\.", out)
        assert match is not None, out
        assert match[1] in lists["men"]
        assert match[2] in lists["women"]


@pytest.mark.parametrize(
    "place", ["UK", "United States", "US", "United Arab Emirates", "Netherlands"]
)
def test_places_behind_the_have_an_article(readable: Pipeline, place: str) -> None:
    """Unless the place stands before another word: "the London office"."""
    written = common_lists("en")["places with the"]
    for out in outputs(readable, f"We live in the {place}. The {place} is big."):
        match = re.fullmatch(r"We live in the (\w+)\. The (\w+) is big\.", out)
        assert match is not None, out
        assert match[1] == match[2]
        assert match[1] in written
    outs = outputs(readable, f"the {place} office")
    assert not all(out.split()[1] in written for out in outs)


@pytest.mark.parametrize("place", ["New York", "South Africa", "Saudi Arabia"])
def test_places_of_several_words_are_one(readable: Pipeline, place: str) -> None:
    """Where a sentence begins, too."""
    places = closed_classes("en")["places"]
    for out in outputs(readable, f"{place} is big. We saw {place}."):
        match = re.fullmatch(r"(\w+) is big\. We saw (\w+)\.", out)
        assert match is not None, out
        assert match[1] == match[2]
        assert match[1] in places


@pytest.mark.parametrize(
    "text",
    [
        "Open 9:00 AM - 5:30 PM",
        "Open 9am to 5pm",
        "Open 10am-4pm",
        "Open 9:00-17:30",
        "Open from 10:00 to 16:00",
        "Open between 9.30am and 5.15 pm",
    ],
)
def test_times_of_a_range_ascend(readable: Pipeline, text: str) -> None:
    """Each keeps its layout."""
    times = re.compile(r"\d+(?:[:.]\d\d)?(?: ?[ap]m)?", re.IGNORECASE)
    for out in outputs(readable, text, 40):
        assert times.sub("", out) == times.sub("", text)
        one, two = times.findall(out)
        assert minutes(one) < minutes(two), out


@pytest.mark.parametrize("text", ["2-4pm", "from 2 to 4 pm", "10-11am"])
def test_an_hour_before_a_time_is_one(readable: Pipeline, text: str) -> None:
    """It is before the other one."""
    for out in outputs(readable, text, 40):
        one, two = map(int, re.findall(r"\d+", out))
        assert 1 <= one <= 12
        assert one % 12 < two % 12 or one >= 10


def test_stamps_of_logs_stay_stamps(readable: Pipeline) -> None:
    """With their months and zones, in ascending order."""
    line = '127.0.0.1 - [10/Oct/2000:13:55:36 -0700] "GET"'
    pattern = r"\S+ - \[\d\d/[A-Z][a-z]{2}/20\d\d:\d\d:\d\d:\d\d -\d\d[03]0\] \"GET\""
    for out in outputs(readable, line):
        assert re.fullmatch(pattern, out), out
    text = "10/Oct/2000:13:55:36 a\n10/Nov/2000:13:55:37 b"
    for out in outputs(readable, text):
        one, two = (line.split()[0] for line in out.split("\n"))
        assert minutes(one) < minutes(two)
    for out in outputs(readable, "Date: Tue, 10 Oct 2000 13:55:36 -0700"):
        assert re.search(r" \d\d:\d\d:\d\d -\d\d[03]0$", out), out


@pytest.mark.parametrize(
    "text", ["DOB: 12/03/2019", "Date of birth 2019-03-12", "birth year: 2019"]
)
def test_births_are_those_of_adults(readable: Pipeline, text: str) -> None:
    """Whatever word tells that they are births."""
    years = [int(re.findall(r"\d{4}", out)[0]) for out in outputs(readable, text, 40)]
    assert all(1950 <= year <= 1999 for year in years)
    assert len({*years}) > 15


@pytest.mark.parametrize(
    "text",
    ["my Order Number is", "Invoice Number: none", "the Billing Address Details"],
)
def test_names_of_fields_are_copied(readable: Pipeline, text: str) -> None:
    """Words of offices with a capital, side by side."""
    assert outputs(readable, text, 3) == [text] * 3


@pytest.mark.parametrize("name", ["Star Gas", "Power Trellis Lamp", "Star Bank"])
def test_a_noun_that_begins_a_sentence_is_part_of_a_name(
    readable: Pipeline, name: str
) -> None:
    """If a replaced word with a capital follows; others are not."""
    invented = invented_names("en")["organisations"]
    for out in outputs(readable, f"{name} fell. Yesterday Golden Anchor rose."):
        match = re.fullmatch(r"(\w+)( Bank)? fell\. Yesterday (\w+) rose\.", out)
        assert match is not None, out
        assert {match[1], match[3]} <= {*invented}


def test_an_article_behind_a_mark_is_no_letter(readable: Pipeline) -> None:
    """As in reports of agencies."""
    for out in outputs(readable, "AP - A former boxer said. Plan: A. Smith", 4):
        assert re.search(r" - A former \w+ said\. Plan: [A-Z]\. [A-Z]\w+$", out), out


@pytest.mark.parametrize(
    "text",
    [
        "Proven products; Easy to use. Item: Desk lamp; Shipped: yes; Total: soon",
        "| Name | Qty | Price |",
        "Date\tCustomer\tAmount",
        "Content-Type: application/json; charset=utf-8 over HTTP/1.1",
        "see (b) and (c), it is hot in °C",
        "the Agreement covers the Employee, the Supplier and the Company",
        "our School, the Court and the Department of it",
        "Dear Board members, P.O. Box",
        "SO GLAD. WHAT A SAD DISASTER. NOT NICE, NOT FAIR",
        "the Captain said so to our Inspector",
        "i recieved it tommorow, definately a watchable thriller",
        "on the Street, Apt above, love you xx",
        "We tried: 1) restart, 2) reset; 3) call",
        "## 2. Hiring",
        "the Lease, the IT Department and Option one",
    ],
)
def test_words_at_which_readers_stopped_stay(readable: Pipeline, text: str) -> None:
    """Cells of tables, contracts, kinds alone, opinions in capitals, misspellings."""
    assert outputs(readable, text, 3) == [text] * 3


@pytest.mark.parametrize("number", ["(no. 47)", "(est. 47)", "(a :) b. 47)"])
def test_a_number_in_brackets_is_no_list_number(
    readable: Pipeline, number: str
) -> None:
    """It is replaced, also behind a period."""
    outs = outputs(readable, f"1) call (as said) the place {number} now", 20)
    assert all(out.startswith("1) call (as said) the place (") for out in outs)
    assert sum("47" in out for out in outs) < 5


def test_names_in_cells_and_lists_are_replaced(readable: Pipeline) -> None:
    """A name begins no sentence there."""
    text = "| Garcia | Rose |\nGarcia\tRose\nItem: x; Garcia; Rose; (f) (m)"
    for out in outputs(readable, text, 4):
        assert not re.search(r"Garcia|Rose|\(f\)|\(m\)", out), out


def test_a_currency_mark_is_no_country(readable: Pipeline) -> None:
    """Apart from its sign, too, but not without one."""
    for out in outputs(readable, "I paid US $1.25 and AU$ 30 in the US.", 6):
        assert re.fullmatch(r"I paid US \$\d\.\d\d and AU\$ \d\d in the \w+\.", out), (
            out
        )


def test_percentages_of_three_digits_are_all(readable: Pipeline) -> None:
    """With a space, without, and in words; those of two digits are random."""
    text = "We paid 100 %, 250% or 100 percent, not 30 %."
    for out in outputs(readable, text):
        assert re.fullmatch(r"We paid 100 %, 100% or 100 percent, not \d\d %\.", out), (
            out
        )


def test_short_forms_stay(readable: Pipeline) -> None:
    """Short forms of the list are common words, alone and before a period."""
    text = "the appt at the bldg, esp. that of next week, is for their mgr"
    assert set(outputs(readable, text)) == {text}


def test_a_state_stays_one_before_its_postcode(readable: Pipeline) -> None:
    """Any of the USA, whatever it was."""
    states = {*codes.STATES}
    outs = outputs(readable, "Send it to Austin, TX 78701-1234 in 2004.", 20)
    found = [re.search(r", (\w+) \d{5}-\d{4} in \d{4}\.$", out) for out in outs]
    written = {match[1] for match in found if match}
    assert all(found)
    assert written <= states
    assert len(written) > 4


def test_morning_and_afternoon_stay(readable: Pipeline) -> None:
    """A party at 3 pm is none at 5 am."""
    text = "Party at 3 pm, work from 9am to 5pm, lunch at 12:30."
    for out in outputs(readable, text):
        match = re.fullmatch(
            r"Party at \d pm, work from ([6-9])am to \dpm, lunch at 1\d:\d\d\.|"
            r"Party at \d pm, work from ([6-9])am to \dpm, lunch at 20:\d\d\.",
            out,
        )
        assert match is not None, out


def test_dates_of_a_range_without_a_year_ascend(readable: Pipeline) -> None:
    """Whatever their order was; May has one layout with whole names."""
    names = "January February March April May June July August September October"
    months = [*names.split(), "November", "December"]
    text = "Closed from May 21st to February 10th."
    for out in outputs(readable, text):
        found = re.findall(r"([A-Z]\w+) (\d\d)", out.partition("from")[2])
        (one, first), (two, second) = found
        assert (months.index(one), first) < (months.index(two), second), out


def test_ages_fit_children_and_adults(readable: Pipeline) -> None:
    """By copied words beside them."""
    text = "My 5 year old son saw a 34-year-old man and a 99-year-old."
    for out in outputs(readable, text):
        child, *adults = map(int, re.findall(r"\d\d", out))
        assert 10 <= child <= 17
        assert all(18 <= adult <= 89 for adult in adults), out


@pytest.mark.parametrize(
    "text", ["4 stars out of 5", "1 pack per day", "1 hour instead"]
)
def test_numbers_of_stars_and_units_can_be(readable: Pipeline, text: str) -> None:
    """At most the scale, and one of a singular."""
    for out in outputs(readable, text):
        number = int(re.match(r"\d", out)[0])  # type: ignore[index]
        assert number <= int(text[-1]) if "stars" in text else number == 1, out
        assert out[1:] == text[1:]


def test_a_half_of_a_star_stays(readable: Pipeline) -> None:
    """And so does the number before it."""
    assert {*outputs(readable, "It gets 2 1/2 stars.")} == {"It gets 2 1/2 stars."}


def test_years_of_a_post_are_years(readable: Pipeline) -> None:
    """Before a plural with a capital, which is no plural of what is counted."""
    for out in outputs(readable, "2015 - 2019 Sales Assistant"):
        assert re.fullmatch(r"20[12]\d - 20[12]\d Sales Assistant", out), out


def test_order_numbers_do_not_begin_with_zero(readable: Pipeline) -> None:
    """Behind a number sign."""
    outs = outputs(readable, "order #4711", 60)
    assert not any("#0" in out for out in outs)


def test_an_unlisted_office_before_a_name_becomes_another(readable: Pipeline) -> None:
    """That of a special category is not copied."""
    offices = dict(language_data.sections("name_cues"))["written_offices"]
    for out in outputs(readable, "We saw President Whitmore today."):
        office = out.split()[2]
        assert office.lower() in offices, out


def test_who_was_diagnosed_was_left_with_it(readable: Pipeline) -> None:
    """A replaced participle is written as one that fits any."""
    for out in outputs(readable, "He was recently diagnosed with it."):
        assert out.split()[3] in ("left", "faced"), out


@pytest.mark.parametrize("place", ["NEW YORK", "Los Angeles", "SAN FRANCISCO"])
def test_a_place_of_two_words_is_one_in_capitals(
    readable: Pipeline, place: str
) -> None:
    """As at the beginning of news."""
    for out in outputs(readable, f"{place} - the prices fell."):
        assert re.fullmatch(r"[A-Z][a-z]+( [A-Z][a-z]+)? - the prices fell\.", out), out


def test_no_opinion_is_written_where_it_was_drawn(readable: Pipeline) -> None:
    """Nor anywhere else."""
    opinions = language_data.opinion_words("en") | language_data.opinion_nouns("en")
    text = "it is a zorkest thing and the qorply zemmer was not vorked by the blurf"
    for out in outputs(readable, text, 60):
        assert opinions.isdisjoint(out.split()), out


def test_letters_of_units_stay_behind_numbers(readable: Pipeline) -> None:
    """And nowhere else."""
    for out in outputs(readable, "It is 1.5 m tall, 60 W and 98.6 F.", 4):
        assert re.fullmatch(r"It is \d\.\d m tall, \d\d W and \d\d\.\d F\.", out), out
    assert not any(" m " in out for out in outputs(readable, "and m is tall", 6))


@pytest.mark.parametrize("name", ["Street", "Box", "Class", "Gate"])
def test_a_post_behind_a_title_is_a_name(readable: Pipeline, name: str) -> None:
    """Which is replaced, with a period and without."""
    for out in outputs(readable, f"We met Mr. {name} and Mrs {name} here.", 6):
        assert name not in out, out


@pytest.mark.parametrize(
    "text",
    [
        "WHO DO I call",
        "Agent: WHO DO I have on the line",
        "WELL PLEASED, WILL USE AGAIN",
        "CAN I GET A REFUND",
        "YOU SOLD ME A BROKEN PHONE",
        "I WILL NOT COME BACK",
        "Will probably use it again",
        "she was really patient with me, and very patient",
        "Next I was told to wait",
        "Next week we meet. Next day delivery was late",
        "Express delivery was late. Standard shipping, too. Access denied",
    ],
)
def test_words_in_capitals_and_firms_that_are_words_stay(
    readable: Pipeline, text: str
) -> None:
    """Where a sentence begins, or words in capitals are beside them."""
    assert set(outputs(readable, text, 3)) == {text}


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("YOU SOLD ME A LAMP", "YOU SOLD ME A "),
        ("OSLO - A German court ruled", " - A"),  # or "An"
        ("OSLO - A zirconium mine", " - A"),
        ("WILL SMITH CAME", " CAME"),
    ],
)
def test_an_article_is_copied_before_replaced_words(
    readable: Pipeline, text: str, stays: str
) -> None:
    """In capitals and behind a dash; a name in capitals is not."""
    outs = outputs(readable, text, 6)
    assert all(stays in out for out in outs)
    assert not any("WILL" in out for out in outs)


def test_words_that_tell_more_elsewhere_are_replaced(readable: Pipeline) -> None:
    """Firms that are words, and a patient, where no such word is beside them."""
    for text in (
        "the patient was late",
        "there is patient data",
        "Next sent me a coat",
        "Target sent it",
        "Orange billed me twice",
    ):
        assert text not in outputs(readable, text)


def test_words_such_as_city_stay_before_places(readable: Pipeline) -> None:
    """A city becomes a town, and a state none, also behind an address."""
    towns, others = written_classes.towns_and_others(readable.lexicon)
    text = "the State of New York, the City of London; 14 Elm Street, Springfield"
    for out in outputs(readable, text):
        match = re.fullmatch(
            r"the State of ([^,]+), the City of ([^;]+); \d+ \w+ Street, (.+)", out
        )
        assert match is not None, out
        state, city, town = match.groups()
        assert state in others
        assert {city, town} <= {*towns}


def test_a_german_court_is_no_name(readable: Pipeline) -> None:
    """The article is no part of it."""
    for out in outputs(readable, "A German court ruled."):
        assert re.match("An? [A-Z]", out), out


def test_forms_of_companies_stay(readable: Pipeline) -> None:
    """Each is the kind of a name."""
    for form in ("GmbH", "LLC", "AG", "SARL"):
        for out in outputs(readable, f"with Alpine Bakery {form} we", 4):
            assert re.fullmatch(rf"with [A-Z][a-z]+ {form} we", out), out


@pytest.mark.parametrize(
    "line",
    [
        '192.168.1.20 - {} [10/Oct/2024:13:55:36 +0200] "GET / HTTP/1.1" 200 2',
        "Accepted password for {} from 10.1.2.3",
        "Invalid user {} from 10.1.2.3",
    ],
)
def test_users_of_logs_are_handles(readable: Pipeline, line: str) -> None:
    """Also where their names are common words, whichever they are."""
    for name in ("frank", "rose", "order", "j.doe"):
        for out in outputs(readable, line.format(name), 3):
            assert name not in out, out
            assert "user_" in out
    assert " - - [" in outputs(readable, line.format("-"), 1)[0] or "[" not in line


def test_weekdays_fit_written_dates(readable: Pipeline) -> None:
    """Also an equal one elsewhere; a date that is read in two ways tells none."""
    text = "On Monday, 3 March 2025, and 2025-03-06 (Thursday). See you Monday."
    for out in outputs(readable, text):
        match = re.match(r"On (\w+), (\d+ \w+ \d+), and (\S+) \((\w+)\)\.", out)
        assert match is not None, out
        first = datetime.datetime.strptime(match[2], "%d %B %Y")
        assert f"{first:%A}" == match[1]
        assert f"{datetime.date.fromisoformat(match[3]):%A}" == match[4]
        assert out.endswith(f"See you {match[1]}.")
    days = {out.split()[0] for out in outputs(readable, "Friday 03/04/2025", 40)}
    assert len(days) > 4


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("she suffers from asthma and diabetes", ("noun", "plural")),
        ("he suffers from lupus, eczema or migraines", ("noun", "noun", "plural")),
        ("I was diagnosed with epilepsy", ("noun",)),
        ("struggling with alcoholism", ("noun",)),
    ],
)
def test_illnesses_become_words_for_any(
    readable: Pipeline, text: str, kinds: tuple[str, ...]
) -> None:
    """Behind an and, too; by copied words and the shown form alone."""
    lists = language_data.illness_cues("en")
    nouns, plurals = lists["noun"], lists["plural"]
    for out in outputs(readable, text):
        written = [
            word for word in re.findall("[a-z]+", out) if word in nouns | plurals
        ]
        assert len(written) == len(set(written)) == len(kinds), out
        of_kind = [("plural" if word in plurals else "noun") for word in written]
        assert tuple(of_kind) == kinds


def test_ratings_and_weekdays_of_other_languages() -> None:
    """By words of opinion and weekdays of the language of the record."""
    tokens = {"languages": ["en", "de", "fr"]}
    several = dptext.open_pipeline("readable", {"tokens": tokens})
    days = date_order.weekdays_of("de")
    months = dict(language_data.sections("form_words"))["months-de"]
    text = (
        "Ich gebe 5 Sterne, sehr gut. Am Montag, 3. März 2025 kam das Paket. Note: 4/5"
    )
    for out in outputs(several, text):
        match = re.fullmatch(
            r"Ich gebe 5 Sterne, sehr gut\. Am (\w+), (\d+)\. (\w+) (\d+) kam das Paket"
            r"\. Note: 4/5",
            out,
        )
        assert match is not None, out
        month = 1 + months.index(match[3])
        date = datetime.date(int(match[4]), month, int(match[2]))
        assert match[1] == days[date.weekday()].capitalize()
    text = "Je donne mon avis : très bien 5/5, merci"
    assert set(outputs(several, text, 4)) == {text}
