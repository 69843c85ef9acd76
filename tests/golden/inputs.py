"""The files that the golden net reads: small, public, written by this script alone."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

# Most frequent first. The texts below are of these, and of words that are not here.
WORDS = (
    "the of and a to in is it was that for on with he she they be are not this but "
    "by at from had have his her were or an which one you we all there their been "
    "has who so no if out up more when would them some what can said do time could "
    "new now made good film bad story actor scene music plot very old long short "
    "funny sad dark light house street river stone bread water doctor nurse bank "
    "London Paris Monday May dog dogs run runs city child children work works small "
    "great world café naïve don't"
).split()
TEXTS = (
    "The café in Paris was very good, but the bread was bad.",
    "Don't run: she's said he would've been at the bank by 10:30.",
    "Mail bob.smith@example.com or see https://example.org/a?b=c#d by Monday!",
    "On 2024-05-03 the doctor saw 12 dogs, 3,000 children and 1.5 actors.",
    "zqxj blorf unknownwordish WÖRTER naïve co-worker well-known U.S.A.",
    "东京 is a city; emoji 😀👩‍👩‍👧 and שלום stay.",
    "",
    "A small,  dark\thouse\n\non the street… «old» \u2014 'new' \"music\"",
    "THE FILM WAS SAD. the film was sad. The Film Was Sad.",
    "Card 4111 1111 1111 1111, IBAN DE89 3704 0044 0532 0130 00, +1 202-555-0143, "
    "May 3, 2020.",
)
SUBJECTS = ("ann", "bob", "ann", "cid", "bob", "ann", "dan", "cid", "eve", "bob")
LABELS = ("x", "y") * 5
CORPUS = (
    "the film was very good and the music was sad",
    "the doctor said that she was at the bank in London",
    "a small house on the dark street by the river",
    "the dog runs and the children are in the city",
)
# An Ed25519 key: RFC 8410 before the bytes 0 to 31.
PEM = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
"""


def vocabulary(size: int = 320) -> list[str]:
    """Return the words above, and syllables up to so many."""
    parts = itertools.product("bdfgklmnprstvz", "aeiou", "bdgklmnrst", ("", "a", "o"))
    syllables = ("".join(each) for each in parts)
    # Numbers, too: they give the number element its own place.
    first = [*WORDS, "1", "2", "10", "2024"]
    known = {word.lower() for word in first}
    rest = (word for word in syllables if word not in known)
    return [*first, *itertools.islice(rest, size - len(first))]


def write(folder: Path) -> None:
    """Write all inputs into a folder."""
    rows = [
        {"id": number, "who": who, "label": label, "text": text}
        for number, (who, label, text) in enumerate(
            zip(SUBJECTS, LABELS, TEXTS, strict=True)
        )
    ]
    files: dict[str, bytes | str] = {
        **_structured(rows),
        **_columns(rows),
        **_recipes(),
        "text.txt": "\n".join(text.replace("\n", " ") for text in TEXTS),
        "bom.txt": "\ufeffthe good film\r\nthe bad film\r\n",
        "empty.txt": "",
        "odd.docx": "",
        "broken.jsonl": '{"text": "the film"}\n{"text": \n{"text": "the dog"}\n',
        "noutf.jsonl": b'{"text": "the \xff film"}\n',
        "ragged.csv": "id,text\n1,the film\n2,the dog,more\n",
        "cut.jsonl.gz": gzip.compress(b'{"text": "the film"}\n' * 50, mtime=0)[:-12],
        "keep.txt": "Paris\nthe bank\n# a comment\nfilm\n",
        "mask.txt": "doctor\nexample.com\nwell-known\n",
        "corpus.jsonl": _lines({"text": text} for text in CORPUS * 5),
        "public.txt": "\n".join(CORPUS),
    }
    for name, data in files.items():
        content = data.encode() if isinstance(data, str) else data
        (folder / name).write_bytes(content)
    for name, secret in {
        "key": bytes(range(7, 7 + 64)),
        "other-key": bytes(range(64, 0, -1)),
        "weak-key": b"x" * 64,
        "sign.pem": PEM.encode(),
    }.items():
        (folder / name).write_bytes(secret)
        (folder / name).chmod(0o600)
    _vectors(folder)
    _packed(folder)


def _structured(rows: list[dict[str, object]]) -> dict[str, bytes | str]:
    """Return records as JSON lines of several kinds."""
    plain = _lines(rows)
    nested = ({"a": {"b": row["text"], "c": [row["text"], "the dog"]}} for row in rows)
    some = ({k: v for k, v in row.items() if row["id"] != 2} for row in rows)
    return {
        "in.jsonl": plain,
        "two.jsonl": _lines(rows[3:5]),
        "in.json": json.dumps(rows, indent=1, ensure_ascii=False) + "\n",
        "one.json": json.dumps({"rows": rows}),
        "crlf.jsonl": plain.replace("\n", "\r\n"),
        "cut.jsonl": plain.rstrip("\n"),
        "spelled.jsonl": '{"n": 1.50e+01, "text":"the \\u0066ilm",\t"z":null }\n',
        "nested.jsonl": _lines(nested),
        "absent.jsonl": _lines(({} if not row else row) for row in some)
        + '{"id": 99}\n{"id": 98, "text": null}\n',
        "private.jsonl": plain.replace("film", "story").replace("good", "bad"),
        "twice.jsonl": _lines([*rows, rows[0]]),
        "in.jsonl.gz": gzip.compress(plain.encode(), mtime=0),
    }


def _columns(rows: list[dict[str, object]]) -> dict[str, bytes | str]:
    """Return records as delimited text of several kinds."""
    out: dict[str, bytes | str] = {}
    for name, delimiter, end in (
        ("in.csv", ",", "\n"),
        ("crlf.csv", ",", "\r\n"),
        ("semi.csv", ";", "\n"),
        ("in.tsv", "\t", "\n"),
    ):
        sink = io.StringIO()
        writer = csv.writer(sink, delimiter=delimiter, lineterminator=end)
        writer.writerow(["id", "who", "label", "text"])
        writer.writerows(list(row.values()) for row in rows)
        out[name] = sink.getvalue()
    out["latin.csv"] = "id;who;text\r\n1;J\xe9r\xf4me;the film\r\n".encode("cp1252")
    out["bare.tsv"] = 'x\ty\n1\tthe "good" film\n2\tthe dog\n'
    out["nohead.csv"] = "1,the good film\n2,the dog runs\n"
    return out


def _recipes() -> dict[str, bytes | str]:
    """Return profiles, sound ones and others."""
    return {
        "mine.yaml": "name: mine\nlexicon: gold\n"
        "mechanism: {name: rank, weights: power, k: 8, p: 2}\n"
        "budget: {name: uniform, epsilon: 4}\ntokens: {stop_word: keep}\n",
        "wrong.yaml": "mechanism: {name: rank, kk: 3}\nbudget: {name: uniform}\n",
        "twice.yaml": "mechanism: rank\nmechanism: tem\n",
        "torn.yaml": "a: [1",
    }


def _lines(rows: Iterable[object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _vectors(folder: Path) -> None:
    """Write the same public vectors in the formats that can be imported."""
    words = vocabulary()
    table = np.random.default_rng(29).normal(size=(len(words), 8)).round(4)
    wide = table.astype(np.float32)
    lines = [
        " ".join([word, *(f"{value:.4f}" for value in row)])
        for word, row in zip(words, table, strict=True)
    ]
    body = "\n".join(lines) + "\n"
    (folder / "gold.vec").write_text(f"{len(words)} 8\n{body}", "utf-8")
    (folder / "glove.txt").write_text(body, "utf-8")
    (folder / "glove.txt.gz").write_bytes(gzip.compress(body.encode(), mtime=0))
    binary = b"".join(
        word.encode() + b" " + row.tobytes() + b"\n"
        for word, row in zip(words, wide, strict=True)
    )
    (folder / "word2vec.bin").write_bytes(f"{len(words)} 8\n".encode() + binary)
    counts = np.arange(len(words), 0, -1) ** 2
    np.savez(folder / "words.npz", words=np.array(words), vectors=wide, counts=counts)


def _packed(folder: Path) -> None:
    """Write the inputs that need an optional package, where it is here."""
    try:
        import zstandard
    except ImportError:
        pass
    else:
        data = (folder / "in.csv").read_bytes()
        (folder / "in.csv.zst").write_bytes(zstandard.compress(data))
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return
    table = pa.table(
        {
            "id": list(range(len(TEXTS))),
            "who": list(SUBJECTS),
            "text": [text or None for text in TEXTS],
            "many": [[text, None, "the dog"] for text in TEXTS],
        }
    )
    pq.write_table(table, folder / "in.parquet", row_group_size=4)
