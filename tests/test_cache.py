"""Entries of the cache folder are checked before use."""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import cache
from dptext.exponential import losses
from dptext.lexicons import store
from dptext.measures import bayes_risk, calibrate, sampled_risk
from dptext.measures import sampled_risk as guessing_rule
from dptext.spaces import cached_geometry
from dptext.types import Inputs
from tests import prepared, small

SIZE = 70
SHARES = (small.zipf(SIZE) + 0.05) / (small.zipf(SIZE) + 0.05).sum()


def keep_in(home: Path, patch: pytest.MonkeyPatch) -> Path:
    """Let entries be kept in a folder, and return it."""
    patch.setenv("XDG_CACHE_HOME", str(home))
    # Fewer draws of searches: tests are about stored entries, not good results.
    patch.setattr(guessing_rule, "_TRAINED", 500)
    patch.setattr(guessing_rule, "_VALIDATED", 200)
    patch.setattr(calibrate, "_SEARCH_DRAWS", 1000)
    return home / "dptext"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty cache folder."""
    return keep_in(tmp_path, monkeypatch)


def use() -> list[Any]:
    """Use every kind of entry once, as a new process would."""
    sampled_risk._tested.clear()
    lexicon, results = small.cloud(SIZE, 3, listed=9), []
    for name, target in (("santext", 0.5), ("laplace", 0.6)):
        mechanism = prepared.ready(name, lexicon)
        epsilon = calibrate.epsilon_for(mechanism, target, SHARES)
        results += [epsilon, bayes_risk.measure(mechanism, epsilon, SHARES)]
    for name in ("diffractor", "custext", "gumbel"):
        mechanism = prepared.ready(name, lexicon)
        ids = np.arange(3, dtype=np.int32)
        if mechanism.has_log_probs:
            weights = mechanism.log_probs(ids, np.full(3, 100.0))
            results.append(weights.tolist())
    moved = prepared.space_of(lexicon, "unit")
    results += [
        moved.lipschitz.over(Inputs.WORDS),
        moved.geometry,
        moved.neighbours[1].tolist(),
    ]
    results.append(moved.wide_neighbours[1].tolist())
    results.append(losses.recalibrated_scale(moved, 3.0))
    return results


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], Path]:
    """Return the results of an empty folder, and that folder with its entries."""
    with pytest.MonkeyPatch.context() as patch:
        filled = keep_in(tmp_path_factory.mktemp("filled"), patch)
        return use(), filled


def truncated(path: Path) -> None:
    """Cut an entry in the middle."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path: Path) -> None:
    """Change one bit of the content."""
    data = bytearray(path.read_bytes())
    data[-9] ^= 4
    path.write_bytes(data)


def emptied(path: Path) -> None:
    """Leave nothing of it."""
    path.write_bytes(b"")


def foreign(path: Path) -> None:
    """Put what another version, or another program, wrote there."""
    path.write_text('{"epsilon": 1000000.0, "lipschitz": 0.1, "eta": 9.0}')


def older(path: Path) -> None:
    """Name another format in the header."""
    path.write_bytes(path.read_bytes().replace(b"dptext-cache 2", b"dptext-cache 1", 1))


def a_folder(path: Path) -> None:
    """Put a folder in its place."""
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    """Put a pipe in its place, which must not be waited for."""
    path.unlink()
    os.mkfifo(path)


def closed(path: Path) -> None:
    """Take the right to read it."""
    path.chmod(0)


def open_to_all(path: Path) -> None:
    """Let every user write it, and an edit with a digest that matches."""
    forge(path, {"epsilon": 1e6, "lipschitz": 1e-9})
    path.chmod(0o666)


def forge(path: Path, content: Any) -> None:
    """Write an entry as the program would, with other content."""
    if path.suffix == ".numbers":
        data = json.dumps(content).encode()
    else:
        sink = io.BytesIO()
        np.savez(sink, **content) if isinstance(content, dict) else None
        data = sink.getvalue()
    path.unlink(missing_ok=True)
    cache._keep(path, path.stem, data)


@pytest.mark.parametrize(
    "damage",
    [
        truncated,
        flipped,
        emptied,
        foreign,
        older,
        a_folder,
        a_pipe,
        closed,
        open_to_all,
    ],
)
def test_damaged_entries_are_computed_anew(
    damage: Callable[[Path], None], used: tuple[list[Any], Path], folder: Path
) -> None:
    """With any damage to all entries, results are those of an empty folder."""
    first, filled = used
    shutil.copytree(filled, folder)
    entries = [path for path in folder.iterdir() if path.is_file()]
    assert {path.suffix for path in entries} == {".numbers", ".arrays"}
    for path in entries:
        damage(path)
    assert use() == first
    assert not list(folder.glob("*.part"))
    if damage is not a_folder:
        # They are whole again: nothing but their kind was wrong.
        assert all(path.is_file() for path in entries)


@pytest.mark.parametrize("damage", [truncated, emptied, a_folder, a_pipe])
def test_a_table_is_made_once_and_anew_where_it_is_damaged(
    damage: Callable[[Path], None], folder: Path
) -> None:
    """It is mapped from its file while that holds, and right in any case."""
    values = np.arange(-100, 100, dtype=np.int8)
    computed = []

    def use() -> NDArray[Any]:
        def compute() -> NDArray[Any]:
            computed.append(values)
            return values.copy()

        return cache.table(
            "key", compute, lambda kept: np.array_equal(kept, values), "making a table"
        )

    assert not use().flags.writeable
    np.testing.assert_array_equal(use(), values)
    assert len(computed) == 1
    damage(folder / "key.table")
    np.testing.assert_array_equal(use(), values)
    assert len(computed) == 2


def test_an_entry_in_the_place_of_another_is_not_taken(
    used: tuple[list[Any], Path], folder: Path
) -> None:
    """Each entry is bound to its key, so that none can stand for another."""
    first, filled = used
    shutil.copytree(filled, folder)
    entries = sorted(folder.iterdir())
    contents = [path.read_bytes() for path in entries]
    for path, content in zip(entries, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    assert use() == first


def kept(folder: Path, holding: str) -> list[Path]:
    """Return the entries that hold an item of a name."""
    paths = []
    for path in folder.iterdir():
        content = path.read_bytes().partition(b"\n")[2]
        if path.suffix == ".numbers":
            names = list(json.loads(content))
        else:
            names = np.load(io.BytesIO(content)).files
        paths += [path] if holding in names else []
    return paths


@pytest.mark.parametrize("name", ["santext", "laplace"])
def test_a_forged_epsilon_is_measured_before_it_is_used(
    name: str, folder: Path
) -> None:
    """With a digest that matches an epsilon of a larger risk is still not used."""
    mechanism = prepared.ready(name, small.cloud(SIZE, 3, listed=9))
    epsilon = calibrate.epsilon_for(mechanism, 0.5, SHARES)
    sampled_risk._tested.clear()
    (entry,) = kept(folder, "epsilon")
    forge(entry, {"epsilon": 1.2 * epsilon})
    assert calibrate.epsilon_for(mechanism, 0.5, SHARES) == epsilon
    # One that meets the target is taken without a search.
    forge(entry, {"epsilon": 0.5 * epsilon})
    assert calibrate.epsilon_for(mechanism, 0.5, SHARES) == 0.5 * epsilon


def test_forged_guesses_are_noticed(folder: Path) -> None:
    """An exact risk that is lowered by 5% of words is found out at random inputs.

    300 inputs by the prior all miss 5% of it with probability 2e-7.
    """
    mechanism = prepared.ready("santext", small.cloud(SIZE, 3, listed=9))
    risk = bayes_risk.measure(mechanism, 3.0, SHARES)
    (entry,) = kept(folder, "best")
    best = np.load(io.BytesIO(entry.read_bytes().partition(b"\n")[2]))["best"]
    forge(entry, {"best": best * (1.0 - 0.05 / risk.success)})
    assert bayes_risk.measure(mechanism, 3.0, SHARES) == risk


def test_forged_wins_are_noticed(folder: Path) -> None:
    """A sampled risk that is lowered by 5% is found out by playing again.

    512 of 20,000 plays all miss 1,000 with probability below 1e-11.
    """
    mechanism = prepared.ready("laplace", small.cloud(SIZE, 3, listed=9))
    risk = bayes_risk.measure(mechanism, 3.0, SHARES)
    (entry,) = kept(folder, "won")
    won = np.load(io.BytesIO(entry.read_bytes().partition(b"\n")[2]))["won"]
    won[0, np.flatnonzero(won[0])[:1000]] = False
    forge(entry, {"won": won})
    assert bayes_risk.measure(mechanism, 3.0, SHARES) == risk


def test_forged_distances_and_scales_are_noticed(folder: Path) -> None:
    """Constants that noise and laws rest on are looked at before they are used."""
    lexicon = small.cloud(SIZE, 3, listed=9)

    def constants() -> tuple[Any, ...]:
        space = prepared.space_of(lexicon, "unit")
        diameter = cached_geometry(space, lambda: space.vectors, "a test").diameter
        far = space.neighbours[1]
        return (
            diameter,
            space.lipschitz.over(Inputs.WORDS),
            losses.recalibrated_scale(space, 3.0),
            far.tolist(),
        )

    first = constants()
    for item, forged in (
        ("diameter", {"nearest_median": 0.1, "median": 0.5, "diameter": 0.9}),
        ("lipschitz", {"lipschitz": 0.5 * first[1]}),
        ("eta", {"eta": 6.0}),
    ):
        for entry in kept(folder, item):
            forge(entry, forged)
        assert constants() == first
    (entry,) = kept(folder, "far")
    stored = dict(np.load(io.BytesIO(entry.read_bytes().partition(b"\n")[2])))
    forge(entry, {**stored, "far": stored["far"] * 1.5})
    assert constants() == first


@pytest.mark.parametrize("target", ["a file", "a closed folder", "no such home"])
def test_a_folder_that_cannot_be_used_costs_only_time(
    target: str,
    used: tuple[list[Any], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Results are the same without a cache."""
    first, _ = used
    if target == "a file":
        (tmp_path / "dptext").write_text("")
    elif target == "a closed folder":
        (tmp_path / "dptext").mkdir(mode=0o500)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/nowhere")
    assert use() == first


def test_a_full_disk_costs_only_time(
    used: tuple[list[Any], Path], folder: Path
) -> None:
    """Where an entry cannot be written to its end, nothing of it stays."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    first, _ = used
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard))
    try:
        assert use() == first
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(folder.iterdir())


def test_entries_are_closed_to_other_users(folder: Path) -> None:
    """Nobody else may write an entry, under any umask."""
    before = os.umask(0)
    try:
        use()
    finally:
        os.umask(before)
    assert all(path.stat().st_mode & 0o022 == 0 for path in folder.iterdir())
    assert folder.stat().st_mode & 0o022 == 0


def test_a_folder_is_hashed_again_once_it_changes(folder: Path, tmp_path: Path) -> None:
    """A digest is kept while no file changes its time; a fresh folder is not kept."""
    held, computed = tmp_path / "held", list[int]()

    def digest() -> str:
        computed.append(len(computed))
        state = store.state(held)
        return cache.folder_digest(state, lambda: f"{len(computed)}")

    held.mkdir()
    file = held / "words.txt"
    for text, age, digests in (("a", 0, "12"), ("b", 60, "33"), ("c", 30, "55")):
        file.write_text(text)
        stamp = time.time() - age
        os.utime(file, (stamp, stamp))
        assert "".join((digest(), digest())) == digests


def aged(folder: Path, name: str, days: float, size: int = 10) -> Path:
    """Write an entry that was last used some days ago."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    used = time.time() - days * 86_400
    os.utime(path, (used, used))
    if path.parent != folder:
        os.utime(path.parent, (used, used))
    return path


def test_results_that_were_not_used_for_a_month_go(folder: Path) -> None:
    """Those of earlier versions, opened lexicons too; no file that is another's."""
    old = [aged(folder, f"{name}", 31) for name in ("a.arrays", "b.table", "c.part")]
    old.append(aged(folder / "lexicons", "key/vectors.npy", 31))
    stay = [aged(folder, "d.numbers", 29), aged(folder, "notes.txt", 99)]
    stay.append(aged(folder / "lexicons", "other/vectors.npy", 2))
    cache.tidy.cache_clear()
    cache.numbers("new", lambda: {"a": 1})
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in [*stay, folder / "new.numbers"])


def test_the_oldest_results_above_a_limit_go(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the last day stay: a run that goes on may need them. Use renews."""
    monkeypatch.setattr(cache, "_LIMIT", 250)
    ages = {"today.table": 0.5, "new.table": 2, "mid.table": 3, "old.table": 9}
    paths = {name: aged(folder, name, days, 100) for name, days in ages.items()}
    cache.tidy.cache_clear()
    cache.tidy(folder)
    assert [name for name in ages if paths[name].exists()] == [
        "today.table",
        "new.table",
    ]
    again = cache.numbers("used", lambda: {"a": 1})
    os.utime(folder / "used.numbers", (0, 0))
    assert cache.numbers("used", lambda: {"a": 2}) == again
    cache.tidy.cache_clear()
    cache.tidy(folder)
    assert (folder / "used.numbers").exists()


def test_kept_arrays_are_those_that_were_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of any type, shape and order; they can be written to."""
    folder = keep_in(tmp_path, monkeypatch)
    computed = {
        "rows": np.arange(7, dtype=np.uint16),
        "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "none": np.zeros((0, 4), np.int8),
        "number": np.array(0.5),
    }
    cache.arrays("a" * 32, lambda: computed)
    assert len([*folder.iterdir()]) == 1
    again = cache.arrays("a" * 32, lambda: pytest.fail("computed twice"))
    assert again.keys() == computed.keys()
    for name, array in computed.items():
        np.testing.assert_array_equal(again[name], array)
        assert again[name].dtype == array.dtype
        assert again[name].flags.writeable
