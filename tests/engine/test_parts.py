"""Parts of a file are read, written and counted like the file in one piece."""

from __future__ import annotations

import contextlib
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dptext import formats
from dptext.engine import source
from dptext.engine.job import FilePart, Job, Task, TaskResult, Worker
from dptext.errors import InputError
from dptext.metrics import FIRST_TEXTS
from dptext.randomness import RunKey
from dptext.run.selection import Selection
from dptext.run.work import Work
from dptext.types import Fault, Verbatim
from tests.cli.running import BALANCED, here, lexicon

QUICK = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
# Lines that records, faults and blank lines are made of, regular and irregular.
LINES = {
    "jsonl": [
        b'{"text": "a b"}',
        b'{"text": ["c", "d"]}',
        b"",
        b" \t",
        b"{",
        b'{"t": 1}',
    ],
    "text": [b"a b", b"", b" ", b"c\0", b"\xff", b"\xef\xbb\xbfe"],
    "csv": [b"a,1", b'"a\n""b""",2', b"", b"only one", b'"c"d,3', b'"e,f', b"g\rh,4"],
}
HEADS = {"jsonl": b"", "text": b"", "csv": b"text,n\n"}
ENDS = [b"\n", b"\n", b"\n", b"\r\n"]


class Upper(Worker):
    """Writes texts in capitals, and keeps what it has seen."""

    def __init__(self, seen: list[tuple[int, tuple[str, ...]]]) -> None:
        self._seen = seen
        self._key = RunKey.from_seed(0)

    def _records(self, task: Task) -> TaskResult:
        records = task.records
        texts = [tuple(text.upper() for text in record.texts) for record in records]
        self._seen += [(each.ordinal, each.texts) for each in records if each.texts]
        return TaskResult(
            cast(Any, None),
            texts=texts,
            replaced=[],
            data=b"",
            present=Counter(),
            faults=[],
        )


class Outcome:
    """The result of a file: bytes, ordinals with texts, faults, or its error."""

    def __init__(self, name: str, cut: bool, path: Path) -> None:
        self.out = io.BytesIO()
        self.seen: list[tuple[int, tuple[str, ...]]] = []
        self.faults: list[tuple[str, str, bytes]] = []
        self.present: Counter[Any] = Counter()
        self.parts, self.ended = 0, ""
        module, selection = formats.find(None, name), Selection(max_record_bytes=40)
        job = Job((str(path),), None, selection, work=Work(on_error="skip"))
        read = source.Source(job, None)
        read.fault = self._fault  # type: ignore[method-assign]
        writer = module.writer(self.out, selection)
        read._format = module
        try:
            with path.open("rb") as read._first:
                for item in read.items(parts=cut):
                    if isinstance(item, FilePart):
                        self.parts += 1
                        self._finish(item, writer)
                    elif isinstance(item.rest, Verbatim):
                        writer.verbatim(item.rest)
                    elif isinstance(item.rest, Fault):
                        self._fault(item.rest)
                    elif isinstance(item.rest, InputError):
                        raise item.rest
                    else:
                        self.present[item.present] += 1
                        (texts,) = Upper(self.seen)(Task([item], 0)).texts
                        assert texts is not None
                        writer.write(item, texts)
        except InputError as error:
            self.ended = str(error)
        writer.close()

    def _finish(self, part: FilePart, writer: formats.Writer) -> None:
        done = Upper(self.seen)(Task([], 0, part))
        if done.data:
            assert isinstance(writer, formats.LineWriter)
            writer.piece(done.data)
        self.present += done.present
        for fault in done.faults:
            self._fault(fault)

    def _fault(self, fault: Fault) -> None:
        self.faults.append((fault.location, fault.reason, fault.raw))


@QUICK
@given(data=st.data(), name=st.sampled_from(sorted(LINES)))
def test_a_file_in_parts_is_the_file(
    data: st.DataObject, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes, ordinals, faults with their lines and errors do not depend on the cut."""
    line = st.tuples(st.sampled_from(LINES[name]), st.sampled_from(ENDS))
    drawn = b"".join(b"".join(each) for each in data.draw(st.lists(line, max_size=30)))
    if data.draw(st.booleans()):
        drawn = drawn.rstrip(b"\r\n")
    path = tmp_path / "in"
    path.write_bytes(HEADS[name] + drawn)
    monkeypatch.setattr(source, "SIZE", data.draw(st.integers(1, 60)))
    monkeypatch.setattr(source, "SAMPLE", 1)
    monkeypatch.setattr(source, "FIRST_TEXTS", 1)
    uncut, cut = (Outcome(name, parts, path) for parts in (False, True))
    assert cut.ended == uncut.ended
    if not uncut.ended:
        assert cut.out.getvalue() == uncut.out.getvalue()
    assert cut.seen == uncut.seen
    assert cut.faults == uncut.faults
    assert cut.present == uncut.present


@pytest.mark.parametrize("more", [-1, 0, 500])
def test_texts_of_a_file_are_counted_up_to_the_first(more: int, tmp_path: Path) -> None:
    """Figures of the first texts of a run need no other number."""
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a b"}\n' * (FIRST_TEXTS + more))
    with contextlib.ExitStack() as stack:
        reader = source.Source(Job((str(path),), None, Selection(format="jsonl")), None)
        reader.open(stack)
        assert reader.count_texts() == FIRST_TEXTS + min(more, 0)


@pytest.mark.parametrize("name", sorted(LINES))
def test_large_files_are_cut(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first records there are parts; none is read twice or left out."""
    monkeypatch.setattr(source, "SIZE", 2**10)
    path = tmp_path / "in"
    path.write_bytes(HEADS[name] + (LINES[name][0] + b"\n") * 20_000)
    cut = Outcome(name, True, path)
    assert cut.parts > 50
    assert [ordinal for ordinal, _ in cut.seen] == list(range(20_000))


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_bytes_and_reports_are_those_of_one_process(
    suffix: str, tmp_path: Path
) -> None:
    """With parts in other processes the report is the same to the last digit, too."""
    rows = [f"the film {row} was, good" for row in range(6000)]
    text = "".join(json.dumps({"text": row}) + "\n" for row in rows)
    if suffix == "csv":
        text = "text\n" + "".join(f'"{row}"\n' for row in rows)
    source_file = tmp_path / f"in.{suffix}"
    source_file.write_text(text)
    outputs, reports = [], []
    for jobs in ("1", "2"):
        target, report = tmp_path / f"{jobs}.{suffix}", tmp_path / f"{jobs}.json"
        ran = here(
            "sanitize",
            "-f",
            "text",
            str(source_file),
            "-o",
            str(target),
            "--report",
            str(report),
            "--lexicon",
            lexicon(tmp_path),
            "--epsilon",
            "3",
            "--set",
            "mechanism.k=8",
            *BALANCED,
            "--seed",
            "4",
            "-q",
            "--no-bayes-risk",
            "-j",
            jobs,
        )
        assert not ran.code, ran.err
        outputs.append(target.read_bytes())
        read = json.loads(report.read_bytes())
        del read["private"]["seconds"], read["private"]["words"]["words_per_second"]
        del read["output"]["file"]
        reports.append(read)
    assert outputs[0] == outputs[1]
    assert reports[0] == reports[1]
    assert outputs[0].count(b"\n") == text.count("\n")
