"""Private texts among the public ones that topics were made of are found."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import dptext
from dptext.errors import UsageError
from dptext.lexicons import topics
from dptext.lexicons.public_rows import PublicRows, row_digests
from dptext.settings import digest_of_path
from dptext.types import Record
from tests import made_topics, small
from tests.cli.running import here

PUBLIC = made_topics.public_texts().texts
OTHERS = [f"{text} indeed" for text in PUBLIC]


@pytest.fixture(scope="module", autouse=True)
def made(run_folders: Path) -> topics.TopicFile:
    """Build topics once."""
    return made_topics.make("rows")


def records(texts: Sequence[str]) -> list[Record]:
    """Return a record for each text."""
    return [Record(number, (text,), None) for number, text in enumerate(texts)]


def fresh() -> PublicRows:
    """Make ready for the topics."""
    return PublicRows(topics.open_lexicon("rows", 4))


def test_the_same_text_has_the_same_digest_in_any_layout() -> None:
    """Case and spacing do not count; all digests are sorted and of six bytes."""
    assert row_digests(["A  b\nc", "d"]) == row_digests(["d", "a b C"])
    assert len(row_digests(["a"])) == 8


@pytest.mark.parametrize(
    "texts",
    [
        PUBLIC,
        [text.upper() for text in PUBLIC],
        [*OTHERS, *PUBLIC[:3]],
        PUBLIC[:2],
    ],
)
def test_copies_are_refused(texts: Sequence[str]) -> None:
    """Two equal texts, and one of a hundred, end a run without a word of them."""
    with pytest.raises(UsageError, match="among the public") as error:
        fresh().look(records(texts))
    assert not any(text in str(error.value) for text in texts)


def test_few_equal_texts_are_warned_of() -> None:
    """One text may be a coincidence; short ones are, if they are few."""
    rows = fresh()
    rows.look(records([*OTHERS, PUBLIC[0]]))
    assert "1 of the first texts" in str(rows.warning)
    other = fresh()
    other.look(records(OTHERS))
    assert other.warning is None


def test_fields_that_were_one_text_are_found() -> None:
    """Topics of two fields of a record were made of both as one text."""
    both = [f"{text}\nlast words" for text in OTHERS]
    document = topics.read("rows")
    joined = topics.TopicFile(
        **{
            name: getattr(document, name)
            for name in document.__dataclass_fields__
            if name not in ("rows", "name")
        },
        rows=row_digests(both),
        name="joined",
    )
    path = made_topics.save(joined)
    rows = PublicRows(topics.open_lexicon("joined", 4))
    with pytest.raises(UsageError):
        rows.look(Record(n, (t, "last words"), None) for n, t in enumerate(OTHERS))
    path.unlink()


def test_a_lexicon_of_words_looks_at_nothing(tmp_path: Path) -> None:
    """Without topics there is no public text."""
    rows = PublicRows(small.cloud(20, 4))
    rows.look(records(PUBLIC))
    rows.check_file(str(tmp_path / "absent"))
    assert rows.warning is None


def test_the_file_itself_is_refused(tmp_path: Path) -> None:
    """A file that topics were made of is known by its digest, whatever is in it."""
    source = tmp_path / "short.txt"
    source.write_text("".join(f"word{n}\n" for n in range(3)))
    document = topics.read("rows")
    public = topics.PublicSource(source.name, digest_of_path(str(source)), 3)
    fields = {
        name: getattr(document, name)
        for name in document.__dataclass_fields__
        if name not in ("public", "name", "rows")
    }
    path = made_topics.save(
        topics.TopicFile(**fields, public=(public,), name="file", rows=row_digests([]))
    )
    target = tmp_path / "out.txt"
    ran = here("sanitize", str(source), "--topics", "file", "-o", str(target))
    assert ran.code == 2
    assert "is the public text" in ran.err
    assert not target.exists()
    path.unlink()


def test_every_way_in_refuses_the_public_text(tmp_path: Path) -> None:
    """Files, processes, compressed files, texts and tables of Python."""
    source = tmp_path / "in.jsonl.gz"
    lines = "".join(json.dumps({"text": text}) + "\n" for text in PUBLIC)
    source.write_bytes(gzip.compress(lines.encode()))
    target = tmp_path / "out.jsonl"
    for more in ((), ("--jobs", "2")):
        ran = here(
            "sanitize",
            str(source),
            "-f",
            "text",
            "--topics",
            "rows",
            "-o",
            str(target),
            *more,
        )
        assert ran.code == 2
        assert not target.exists()
    over = {"lexicon": "topics:rows"}
    with pytest.raises(UsageError):
        dptext.privatize(PUBLIC, profile="topics", overrides=over)
    import pandas as pd

    table = pd.DataFrame({"text": PUBLIC})
    with pytest.raises(UsageError):
        dptext.privatize(table, profile="topics", overrides=over, columns="text")
