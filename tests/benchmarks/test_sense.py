"""Counts of what stops a receiver: each counter finds its fault, and none elsewhere."""

from __future__ import annotations

import random
import sys

import pytest

from benchmarks.sense import __main__ as command
from benchmarks.sense import lists, records
from benchmarks.sense.counting import Written, counts
from dptext import open_pipeline
from dptext.attackers.context_writer import writable_words

# Of each row: a record, a right output, a wrong one; fields are divided by ~.
CASES = (
    (
        "equal names become unequal",
        "Order of {full1}~Hi {given1}, Mrs {family1} and {full2} wrote.",
        "Order of {full1}~Hi {given1}, Mrs {family1} and {full2} wrote.",
        "Order of {full1}~Hi {given3}, Mrs {family1} and {full2} wrote.",
    ),
    (
        "equal e-mail addresses become unequal",
        "Write to {email1}~or to {email1}, {email2}.",
        "Write to {email1}~or to {email1}, {email2}.",
        "Write to {email1}~or to {email2}, {email2}.",
    ),
    (
        "equal order numbers become unequal",
        "Order {order1}~The order {order1} is late.",
        "Order {order1}~The order {order1} is late.",
        "Order {order1}~The order {order2} is late.",
    ),
    (
        "equal phone numbers become unequal",
        "Call {phone1}, only {phone1}.",
        "Call {phone1}, only {phone1}.",
        "Call {phone1}, only {phone2}.",
    ),
    (
        "equal products become unequal",
        "My {product1} is a {product1}.",
        "My {product1} is a {product1}.",
        "My {product1} is a {product2}.",
    ),
    (
        "equal usernames become unequal",
        "I am @sweet_tree_co, {handle1} or {handle1}.",
        "I am @sweet_tree_co, {handle1} or {handle1}.",
        "I am @sweet_tree_co, {handle1} or {handle2}.",
    ),
    (
        "two people get one name",
        "{full1} met {full2} here.",
        "{full1} met {full2} here.",
        "{full1} met {full1} here.",
    ),
    (
        "he or she against the name",
        "{given1} came. {He1} paid.",
        "Mary came. She paid.",
        "Peter came. She paid.",
    ),
    (
        "polarity turned",
        "He was [opinion|not rude at all] today.",
        "He was not rude at all today.",
        "He was not good at all today.",
    ),
    (
        "polarity turned",
        "He was [opinion|not rude at all] today.",
        "He was not rude at all today.",
        "He was very rude at all today.",
    ),
    (
        "text with an opinion lost",
        "The soup was awful and cold here.",
        "The tea was awful and cold here.",
        "The soup was green and cold here.",
    ),
    (
        "text with an opinion lost",
        "Rude staff came here.",
        "Rude people came here.",
        "Sonic staff came here.",
    ),
    (
        "text with an opinion added",
        "The green soup came here.",
        "The brown soup came here.",
        "The awful soup came here.",
    ),
    (
        "illness without a word of illness",
        "Diagnosed with [illness|breast cancer] in March.",
        "Diagnosed with breast condition in April.",
        "Diagnosed with breast people in April.",
    ),
    (
        "illness without a word of illness",
        "She has [illness|type 2 diabetes] now.",
        "She has type 1 illness now.",
        "She has type 8 illness now.",
    ),
    (
        "illness without a word of illness",
        "Treated for [illness|kidney failure] now.",
        "Treated for heart failure now.",
        "Treated for condition failure now.",
    ),
    (
        "denial of a delicate word turned",
        "She is [denied|not pregnant] now.",
        "She is not hungry now.",
        "She is very hungry now.",
    ),
    (
        "denial of a delicate word turned",
        "I have [denied|no diabetes] now.",
        "I have no limits now.",
        "I have no asthma now.",
    ),
    (
        "equal plain words become unequal",
        "The trellis is my trellis here.",
        "The ladder is my ladder here.",
        "The ladder is my bucket here.",
    ),
    (
        "different plain words become equal",
        "The trellis hit my ukulele here.",
        "The ladder hit my bucket here.",
        "The ladder hit my ladder here.",
    ),
    (
        "times of a chat out of order",
        "[at|11:20] Hello~[at|11:21] Hi",
        "09:20 Hello~17:21 Hi",
        "17:21 Hello~09:20 Hi",
    ),
    (
        "weekday becomes another word",
        "Come on [weekday|Saturdays] only.",
        "Come on Mondays only.",
        "Come on Things only.",
    ),
    (
        "1 before a plural",
        "I tried [plural|4 times] today.",
        "I tried 2 times today.",
        "I tried 1 times today.",
    ),
    ("range backwards", "In [range|5-9 min].", "In 10-15 min.", "In 15-10 min."),
    ("range backwards", "In [range|5 to 9 min].", "In 1 to 5 min.", "In 5 to 5 min."),
    (
        "range backwards",
        "From [years|2016-2021] on.",
        "From 2018-2019 on.",
        "From 2019-2018 on.",
    ),
    (
        "year outside 2010 to 2035",
        "From [years|2016-2021] on.",
        "From 2018-2019 on.",
        "From 7102-7152 on.",
    ),
    (
        "year outside 2010 to 2035",
        "Since [year|2016] here.",
        "Since 2018 here.",
        "Since 1893 here.",
    ),
    ("rating above its scale", "I give [rating|4/5].", "I give 5/5.", "I give 8/5."),
    (
        "percentage above 100",
        "Save [percent|15%] now.",
        "Save 7% now.",
        "Save 412% now.",
    ),
    (
        "age below 10 or above 89",
        "He is [age|34] years old.",
        "He is 89 years old.",
        "He is 97 years old.",
    ),
    (
        "blood pressure that cannot be",
        "It was [pressure|120/80] today.",
        "It was 131/72 today.",
        "It was 61/260 today.",
    ),
    (
        "date that is none or outside 2010 to 2035",
        "On {date1} it came.",
        "On 2019-05-07 it came.",
        "On 1954-05-07 it came.",
    ),
    (
        "dates out of order",
        "Sent on {date2}, asked on {date1}.",
        "Sent on {date2}, asked on {date1}.",
        "Sent on {date1}, asked on {date2}.",
    ),
    (
        "dates out of order",
        "Sent on {dmy1}, asked on {dmy1}.",
        "Sent on {dmy2}, asked on {dmy2}.",
        "Sent on {dmy1}, asked on {dmy2}.",
    ),
    (
        "emoji become words or nothing",
        "[emoji|⭐⭐⭐] They came.",
        "🔹 They came.",
        "love ball game They came.",
    ),
    (
        "first word after emoji lost",
        "⭐⭐⭐ [after|They] came.",
        "⭐⭐⭐ They came.",
        "⭐⭐⭐ Boeing came.",
    ),
    (
        "common word with a capital replaced after a mark or greeting",
        "Hey team - [capital|Please] delete it.",
        "Hey team - Please remove it.",
        "Hey team - Like delete it.",
    ),
    (
        "modal or verb before a pronoun or article replaced",
        "[modal|May] I ask?",
        "May I walk?",
        "August I ask?",
    ),
    (
        "acronyms lost",
        "Send it [acronym|ASAP] by [acronym|Wi-Fi].",
        "Send it ASAP by Wi-Fi.",
        "Send it Boeing by Wi-Fi.",
    ),
    (
        "key of a log changed",
        "12:00 [key|user]={handle1} here",
        "12:00 user={handle2} here",
        "12:00 side={handle2} here",
    ),
    (
        "Windows, Error and the like lost",
        "My [keep|Windows] froze here.",
        "My Windows broke here.",
        "My Tokyo froze here.",
    ),
    (
        "range backwards",
        "We meet at [clock|10:00-11:30] there.",
        "We meet at 09:30-09:40 there.",
        "We meet at 17:30-09:40 there.",
    ),
    (
        "word of a heading in capitals changed",
        "[heading|DELIVERY PROBLEM] - again",
        "DELIVERY PROBLEM - again",
        "RIGHT PROBLEM - again",
    ),
    (
        "real brand invented",
        "I bought it at Amazon with Meridale.",
        "I bought it at Amazon with Bumovio.",
        "I bought it at Amazon with Toyota.",
    ),
    (
        "organisation of capitals becomes words",
        "The [chain|Superior Court of Fulton County] met.",
        "The Kravoria Court met.",
        "The Last School of Wilson People met.",
    ),
    (
        "username with underscores kept whole",
        "I am [x|here] as {handle1}.",
        "I am here as @user_gtqv.",
        "I am here as {handle1}.",
    ),
)


def _output(record: records.Made, text: str, seed: int) -> Written:
    """Return a made record beside an output, whose slots are filled by the seed."""
    other = records.filled("ticket", tuple(text.split("~")), random.Random(seed))
    return Written(record, other.texts)


@pytest.mark.parametrize(("row", "given", "right", "wrong"), CASES)
def test_each_counter_finds_its_fault(
    row: str, given: str, right: str, wrong: str
) -> None:
    """A wrong output has the fault, a right one has a chance of it and no fault."""
    record = records.filled("ticket", tuple(given.split("~")), random.Random(1))
    # A username that is kept is that of the record itself.
    seed = 1 if "username with" in row else 2
    found = [bad for name, bad in counts(_output(record, wrong, seed)) if name == row]
    assert any(found)
    good = [*counts(_output(record, right, 2))]
    assert row in dict(good)
    assert not any(bad for name, bad in good if name == row)


def test_every_row_is_counted() -> None:
    """Each row of the limits has chances in the made records, and a test here."""
    made = [each for each in records.made(20, 0) if each.kind != "german"]
    # Outputs with other names and numbers, and everything else as it was.
    again = [each for each in records.made(20, 1) if each.kind != "german"]
    table = command.Table()
    for record, other in zip(made, again, strict=True):
        table.add(Written(record, other.texts))
    table.close()
    # Plain words are as they were in these outputs.
    rows = set(command.LIMITS) - {"German row not told"}
    plain = {row for row in rows if "plain words" in row}
    assert {row for row in rows if not row.startswith("five")} == {
        row for row, *_ in CASES
    }
    for row in rows - plain:
        if not row.startswith("five"):
            assert table.chances[row] > 0, row


def test_a_right_output_has_no_fault() -> None:
    """Records with other people, numbers and dates: nothing is counted as a fault.

    Acronyms (some are read as opinions) and layouts of ranges are drawn anew, and
    usernames are few: these rows are left out.
    """
    made, again = ([*records.made(20, seed)] for seed in (0, 1))
    for record, other in zip(made, again, strict=True):
        faults = {row for row, bad in counts(Written(record, other.texts)) if bad}
        assert faults <= {
            "acronyms lost",
            "range backwards",
            "text with an opinion added",
            "text with an opinion lost",
            "username with underscores kept whole",
        }, (record.texts, other.texts)


def test_no_brand_is_made_up() -> None:
    """No gap without a name is filled with a brand, a team or a short form."""
    pipeline = open_pipeline("readable")
    writable = writable_words(pipeline.channel)
    words = {
        word
        for word, one, two in zip(pipeline.lexicon.words, *writable, strict=False)
        if one or two
    }
    assert len(words) > 10_000
    assert not words & (lists.BRANDS | {"canucks", "macintosh", "inc", "hrs"})


def test_names_are_of_twenty_origins() -> None:
    """Each origin has men, women and families; each name is one word."""
    assert len(lists.PEOPLE) == 20
    assert {len(names) for names in lists.PEOPLE.values()} == {12}
    assert len({*lists.ACRONYMS}) == 40
    assert len(lists.BRANDS) >= 100


def test_rows_in_german_are_told() -> None:
    """Of a file with three German rows, a warning tells all."""
    pipeline = open_pipeline("readable")
    made = [*records.made(1, 0)][-20:]
    assert [*command.told(pipeline, made)] == [(3, 0)]


def test_five_commonest_words() -> None:
    """A word that stands for all others is a fifth of nothing else: its share is 1."""
    record = records.filled("news", ("a cat saw my dog",), random.Random(0))
    table = command.Table()
    table.add(Written(record, ["a time saw my time"]))
    table.close()
    assert table.share("five commonest words, news") == 1.0


def test_check_fails_above_a_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a limit that nothing keeps, --check prints the table and fails."""
    monkeypatch.setattr(command, "LIMITS", {"acronyms lost": -1.0})
    monkeypatch.setattr(sys, "argv", ["sense", "--check", "--draws", "1"])
    with pytest.raises(SystemExit, match="above the limit: acronyms lost"):
        command.main()
    assert "| acronyms lost |" in capsys.readouterr().out
