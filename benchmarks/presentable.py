"""Faults of outputs that embarrass the people who hand them on, counted.

    python -m benchmarks presentable [--tickets 600] [--reviews 200] [--profile ...]
    python -m benchmarks presentable --check

Made tickets (the package faker; customers of twenty origins, HTML, quotes, signatures,
one in ten in German) and customer reviews of the test data, by profile, as drawn and as
decoded. *Never*: words that are never outputs; *news*: war, crime, death, politics;
each per thousand words, where the original did not have that word, and in what part of
the texts that had no word of the class; *places*, where the original had none;
*negations lost*, *genders turned*, of the words that deny or that have a gender;
*origin*: how often a classifier tells from the word drawn for a signature which of
twenty origins it was of (chance 5%); *mark*: how often a name that marks a group stands
in a signature of that group, and in one of another; *tags*, *URLs*: of the texts that
have some, those in which one is broken. Draws have a fixed seed.

--check compares 300 tickets under balanced with the limits below, in seconds, and fails
where a figure is larger. The lists are those of dptext/data/words.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from dptext import open_pipeline
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens.language_data import closed_classes, word_classes
from dptext.tokens.regex import key_of
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Record

# Names of customers by origin, given and family, as people of these countries have them
# often; written by hand.
ORIGINS = {
    "English": "James Smith, Emily Clarke, Oliver Wright, "
    "Charlotte Hughes, Harry Evans",
    "Irish": "Siobhan Murphy, Padraig Kelly, Aoife Byrne, "
    "Niamh Walsh, Ciaran Doyle",
    "German": "Jürgen Müller, Ursula Schmitz, Heike Krüger, "
    "Dieter Vogel, Katja Becker",
    "French": "Thierry Lefèvre, Amélie Dubois, Benoît Girard, "
    "Chloé Moreau, Luc Petit",
    "Spanish": "Javier García, Lucía Fernández, Íñigo Ruiz, "
    "Pilar Ortega, Pablo Moreno",
    "Italian": "Giuseppe Rossi, Chiara Esposito, Matteo Ricci, "
    "Giulia Conti, Luca Greco",
    "Swedish": "Søren Lindqvist, Astrid Bergström, Åsa Nyström, "
    "Björn Ek, Linnea Holm",
    "Polish": "Zbigniew Kowalski, Agnieszka Nowak, Łukasz Wójcik, "
    "Ewa Mazur, Piotr Zając",
    "Russian": "Dmitri Volkov, Svetlana Ivanova, Yuri Sokolov, "
    "Olga Popova, Igor Orlov",
    "Greek": "Yannis Papadakis, Eleni Georgiou, Kostas Nikolaidis, "
    "Despina Pappas, Nikos Vlahos",
    "Turkish": "Mehmet Yılmaz, Ayşe Demir, Emre Şahin, "
    "Elif Kaya, Özgür Çelik",
    "Arabic": "Ahmed Hassan, Fatima Al-Sayed, Omar Khalil, "
    "Aisha Mansour, Tariq Haddad",
    "Persian": "Reza Ahmadi, Shirin Karimi, Farhad Tehrani, "
    "Parisa Rostami, Babak Moradi",
    "Hebrew": "Rivka Goldstein, Moshe Levi, Yael Shapiro, "
    "Avi Peretz, Tamar Mizrahi",
    "Indian": "Rajesh Kumar, Priya Sharma, Anil Patel, "
    "Lakshmi Iyer, Deepak Gupta",
    "Chinese": "Wei Zhang, Xiaoming Li, Mei Chen, "
    "Jing Wang, Hui Liu",
    "Japanese": "Hiroshi Tanaka, Yuki Sato, Kenji Watanabe, "
    "Sakura Ito, Haruto Suzuki",
    "Vietnamese": "Nguyen Van Anh, Thi Huong Tran, Minh Pham, "
    "Linh Le, Quang Vo",
    "Nigerian": "Chinedu Okafor, Ngozi Adeyemi, Emeka Obi, "
    "Yetunde Balogun, Tunde Bello",
    "Korean": "Ji-woo Kim, Seo-yeon Park, Min-jun Choi, "
    "Hye-jin Lee, Dong-hyun Jung",
}  # fmt: skip
_SUBJECTS = (
    "I cannot log in to my account since {day}.",
    "I was charged {amount} twice for order {order} on {date}.",
    "The {thing} arrived damaged and nobody answers the phone.",
    "My husband called your support team twice, but he never got an answer.",
    "She said that the {thing} would be here within 24/7 support hours, and it is not.",
    "Please do not send the {thing} to my old address in {city}.",
    "I have not received the refund for my {thing} yet.",
    "The app doesn't work without a connection, and the manual isn't helpful.",
    "Your driver was friendly and carried the {thing} up to the third floor.",
    "Can you tell me why there is no {thing} in the box? I paid {amount}.",
    "I don't want another {thing}; I want my money back.",
    "Our office in {city} needs twelve more of the {thing} by {day}.",
)
_THINGS = ("lamp", "printer", "washing machine", "phone", "table", "jacket", "camera")
_GERMAN = (
    "Guten Tag, meine Bestellung {order} ist noch nicht angekommen. Bitte melden Sie "
    "sich bei mir. Mit freundlichen Grüßen",
    "Ich kann mich seit {day} nicht mehr anmelden. Vielen Dank für Ihre Hilfe.",
)
# A tag, with the name of its element, or an entity.
_TAG = re.compile(
    r"<(/?[A-Za-z][\w-]*)(?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s<>\"']+))*"
    r"\s*/?>|(&[a-z]+;)"
)
_URL = re.compile(r"https?://[^\s<>\"]+")
SEED = 40
_CLOSE = "Best regards"
# Its words, which a profile copies or replaces, and pieces without letters.
_CLOSING = frozenset({"", *map(key_of, _CLOSE.split())})
# What --check allows of 300 tickets under balanced: as drawn, decoded.
LIMITS = {
    "never, per 1,000 words": (0.0, 0.0),
    "texts with a new news word": (0.06, 0.03),
    "texts with a new place": (0.06, 0.05),
    "negations lost": (0.10, 0.10),
    "genders turned": (0.02, 0.02),
    "origin told (chance 5%)": (0.08, 0.08),
}


class Ticket(NamedTuple):
    """A made ticket: its text, and the origin of its customer."""

    text: str
    origin: str


def tickets(count: int) -> list[Ticket]:
    """Make tickets with the package faker, always the same ones."""
    try:
        import faker
    except ImportError:
        sys.exit("the package is not there: pip install faker")
    fake = faker.Faker("en_US")
    fake.seed_instance(SEED)
    rng = np.random.default_rng(SEED)
    origins = [*ORIGINS]
    made = []
    for number in range(count):
        origin = origins[number % len(origins)]
        names = ORIGINS[origin].split(", ")
        name = names[number // len(origins) % len(names)]
        filled = {
            "day": fake.day_of_week(),
            "amount": f"${fake.pyint(5, 400)}.{fake.pyint(10, 99)}",
            "order": fake.bothify("??#-#######").upper(),
            "date": fake.date(),
            "thing": _THINGS[int(rng.integers(len(_THINGS)))],
            "city": fake.city(),
        }
        if number % 10 == 9:
            body = _GERMAN[number // 10 % 2].format(**filled)
            made.append(Ticket(f"{body}\n{name}", origin))
            continue
        chosen = rng.choice(len(_SUBJECTS), 3, replace=False)
        lines = [_SUBJECTS[each].format(**filled) for each in chosen]
        made.append(Ticket(_laid_out(number, lines, name, fake), origin))
    return made


def _laid_out(number: int, lines: list[str], name: str, fake: object) -> str:
    """Write lines as mail, as HTML, with a quote, with an address or a link."""
    email = fake.email()  # type: ignore[attr-defined]
    close = f"Best regards,\n{name}"
    kind = number % 5
    if kind == 0:
        body = "".join(f"<p>{line}</p>" for line in lines)
        link = f'<a href="{fake.uri()}">my order</a>'  # type: ignore[attr-defined]
        return f"<div><b>Hello</b>{body}{link}<br/>{close} &amp; family</div>"
    if kind == 1:
        quote = "\n".join(f"> {line}" for line in lines[1:])
        return f"Hi,\n{lines[0]}\n\nYou wrote:\n{quote}\n\n{close}"
    if kind == 2:
        link = fake.uri()  # type: ignore[attr-defined]
        return f"Hello team,\n{' '.join(lines)} See {link} please.\n{close}\n{email}"
    return f"Hello,\n{' '.join(lines)}\n{close}"


@dataclass(frozen=True, slots=True)
class Lists:
    """Keys of classes of words."""

    never: frozenset[str]
    news: frozenset[str]
    places: frozenset[str]
    negation: frozenset[str]
    men: frozenset[str]
    women: frozenset[str]


@cache
def lists() -> Lists:
    """Return the classes, of the lists that ship and of the lexicon's places."""
    from tools.english.classes import never_written, news, proper

    closed = {
        name: frozenset(map(key_of, words))
        for name, words in closed_classes("en").items()
    }
    # A person is written as a name; what a name says of its bearer is counted apart.
    persons = frozenset().union(
        *(each.words for each in word_classes("en") if "persons" in each.name)
    )
    named = frozenset(key for key, name in proper().items() if name == "places")
    peoples = closed["peoples"]
    return Lists(
        never=(never_written() | persons) - peoples,
        news=frozenset().union(*news().values()),
        places=(named | closed["places"]) - never_written(),
        negation=closed["negation"],
        men=closed["men"],
        women=closed["women"],
    )


class Version(NamedTuple):
    """Written texts, with the words that were replaced: before, after."""

    texts: list[str]
    before: list[list[str]]
    after: list[list[str]]
    denied: list[int]
    """Words that deny in each text, replaced or not."""


def version(ready: Pipeline, texts: Sequence[str], seed: int) -> Version:
    """Write texts anew, and tell which word stands in the place of which."""
    randomness = ready.randomness(RunKey.from_seed(seed))
    records = [Record(number, (text,), None) for number, text in enumerate(texts)]
    out: list[str] = []
    before: list[list[str]] = [[] for _ in texts]
    after: list[list[str]] = [[] for _ in texts]
    negation = lists().negation
    every = Tokenizer(ready.lexicon, ready.profile.tokens, every_word=True)
    denied = [
        sum(key_of(piece.strip()) in negation for piece in every.words([text]).pieces)
        for text in texts
    ]
    for begin in range(0, len(records), 200):
        done = ready.privatize(records[begin : begin + 200], randomness)
        out += [text for (text,) in done.texts]
        words, spelled = done.words, [*done.joined.spelled]
        for position, text, new in zip(
            words.positions.tolist(), words.texts.tolist(), spelled, strict=True
        ):
            before[begin + text].append(key_of(words.pieces[position].strip()))
            after[begin + text].append(key_of(new.strip()))
    return Version(out, before, after, denied)


def figures(done: Version, texts: Sequence[str]) -> dict[str, float]:
    """Count the faults of replacements: shares and rates, by name."""
    known, counts = lists(), Counter[str]()
    counts["negations"] = sum(done.denied)
    for text, new, before, after in zip(
        texts, done.texts, done.before, done.after, strict=True
    ):
        counts["words"] += len(after)
        originals = {key_of(word) for word in re.findall(r"[^\W\d_]+", text)}
        for name in ("never", "news", "places"):
            listed: frozenset[str] = getattr(known, name)
            added = sum(word in listed and word not in originals for word in after)
            counts[name] += added
            if not originals & listed:
                counts[f"{name} texts"] += 1
                counts[f"{name} hit"] += added > 0
        for old, word in zip(before, after, strict=True):
            if old in known.negation:
                counts["lost"] += word not in known.negation
            for one, other in ((known.men, known.women), (known.women, known.men)):
                if old in one:
                    counts["genders"] += 1
                    counts["turned"] += word in other
        if found := _TAG.findall(text):
            counts["tags texts"] += 1
            counts["tags broken"] += _TAG.findall(new) != found
        # Those of attributes are left out with them.
        if found := _URL.findall(_TAG.sub(" ", text)):
            counts["urls texts"] += 1
            counts["urls broken"] += len(_URL.findall(new)) != len(found)
    words = max(counts["words"], 1)
    return {
        "never, per 1,000 words": 1e3 * counts["never"] / words,
        "news, per 1,000 words": 1e3 * counts["news"] / words,
        "texts with a new never word": _share(counts, "never hit", "never texts"),
        "texts with a new news word": _share(counts, "news hit", "news texts"),
        "texts with a new place": _share(counts, "places hit", "places texts"),
        "negations lost": _share(counts, "lost", "negations"),
        "genders turned": _share(counts, "turned", "genders"),
        "texts with broken tags": _share(counts, "tags broken", "tags texts"),
        "texts with broken URLs": _share(counts, "urls broken", "urls texts"),
    }


def _share(counts: Counter[str], part: str, whole: str) -> float:
    return counts[part] / counts[whole] if counts[whole] else float("nan")


def origins(ready: Pipeline, runs: int) -> dict[str, float]:
    """Return what drawn signatures tell of the origin of a name.

    runs signatures of each of a hundred names; a naive Bayes classifier is made of
    half of them and asked about the others.
    """
    signed = [
        (origin, f"{_CLOSE},\n{name}")
        for origin, names in ORIGINS.items()
        for name in names.split(", ")
        for _ in range(runs)
    ]
    done = version(ready, [text for _, text in signed], SEED + 1)
    drawn = [
        (
            origin,
            [w for w, old in zip(after, before, strict=True) if old not in _CLOSING],
        )
        for (origin, _), before, after in zip(
            signed, done.before, done.after, strict=True
        )
    ]
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for origin, words in drawn[::2]:
        seen[origin].update(words)
    vocabulary = {word for words in seen.values() for word in words}
    totals = {origin: sum(words.values()) for origin, words in seen.items()}

    def score(origin: str, words: list[str]) -> float:
        each = (
            (seen[origin][word] + 0.5) / (totals[origin] + 0.5 * len(vocabulary))
            for word in words
        )
        # The mean, since a name of three pieces is told by their number alone.
        return float(np.mean(np.log([*each] or [1.0])))

    right = [
        max(ORIGINS, key=lambda one: score(one, words)) == origin
        for origin, words in drawn[1::2]
    ]
    own = other = marks = others = 0
    for origin, words in drawn:
        for group, names in ORIGINS.items():
            marked = {
                key_of(part) for name in names.split() for part in [name.strip(",")]
            }
            found = any(word in marked for word in words)
            if group == origin:
                own, marks = own + found, marks + 1
            else:
                other, others = other + found, others + 1
    return {
        "origin told (chance 5%)": float(np.mean(right)),
        "mark of the group in its signatures": own / marks,
        "mark of the group in others": other / others,
    }


def measured(
    profile: str, texts: Sequence[str], runs: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the figures of a profile as drawn and as decoded."""
    for name, decoder in (("drawn", {"decoder": {"name": "none"}}), ("decoded", {})):
        ready = open_pipeline(profile, decoder)
        found = figures(version(ready, texts, SEED), texts)
        yield name, found | (origins(ready, runs) if runs else {})


def check() -> None:
    """Exit where a figure is larger than allowed."""
    texts = [ticket.text for ticket in tickets(300)]
    wrong = []
    for column, (name, found) in enumerate(measured("balanced", texts, 10)):
        for figure, limits in LIMITS.items():
            line = f"{figure}, {name}: {found[figure]:.4f} (limit {limits[column]})"
            print(line)
            if not found[figure] <= limits[column]:
                wrong.append(line)
    if wrong:
        sys.exit("worse than it may be:\n" + "\n".join(wrong))


def table(kind: str, texts: Sequence[str], profiles: Sequence[str], runs: int) -> None:
    """Print a table of Markdown."""
    columns = {
        f"{profile}, {name}": found
        for profile in profiles
        for name, found in measured(profile, texts, runs)
    }
    print(f"\n| {kind} | {' | '.join(columns)} |\n| --- |{' --- |' * len(columns)}")
    for figure in next(iter(columns.values())):
        values = [found[figure] for found in columns.values()]
        if all(map(np.isnan, values)):
            continue
        form = ".2f" if "per 1,000" in figure else ".1%"
        shown = ["none" if np.isnan(v) else format(v, form) for v in values]
        print(f"| {figure} | {' | '.join(shown)} |", flush=True)


def main() -> None:
    """Print the tables, or check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tickets", type=int, default=600)
    parser.add_argument("--reviews", type=int, default=200)
    parser.add_argument(
        "--profile", nargs="+", default=["readable", "balanced", "strict"]
    )
    arguments = parser.parse_args()
    if arguments.check:
        check()
        return
    made = [ticket.text for ticket in tickets(arguments.tickets)]
    table(f"{len(made)} tickets", made, arguments.profile, 20)
    if arguments.reviews:
        from benchmarks.private_rows import read_rows

        rows = read_rows("trustpilot_en_test")[: arguments.reviews]
        texts = [row["text"] for row in rows]
        table(f"{len(texts)} reviews", texts, arguments.profile, 0)


if __name__ == "__main__":
    main()
