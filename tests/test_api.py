"""The Python interface takes texts and nothing else, and gives as many back."""

from __future__ import annotations

import ast
import doctest
import html
import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dptext
from dptext import api, progress, sanitizer
from dptext.errors import UsageError
from dptext.lexicons import topics
from dptext.overrides import make_overrides
from dptext.report import document
from dptext.run.choices import Choices, read_keys
from tests import made_topics
from tests.cli.running import lexicon
from tools import keywords

TEXT = "the film was good and the story old"
KEY = bytes(range(7, 7 + 64))


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    """Return settings of a quick call."""
    return {
        "profile": "balanced",
        "lexicon": lexicon(tmp_path),
        "epsilon": 3,
        "overrides": {"tokens": {"number": "mask"}},
    }


def test_one_text_gives_one_text(settings: dict[str, Any]) -> None:
    """A string is one text, not as many texts as it has characters."""
    private = dptext.privatize(TEXT, **settings)
    assert isinstance(private, str)
    assert len(private.split()) == len(TEXT.split())
    assert dptext.privatize("", **settings) == ""


def test_any_iterable_gives_a_list(settings: dict[str, Any]) -> None:
    """Lists, tuples, generators and mapped values give a list in their order."""
    settings["key"] = KEY
    texts = [TEXT, "", "bread"]

    def generated() -> Iterator[str]:
        yield from texts

    expected = dptext.privatize(texts, **settings)
    assert len(expected) == 3
    assert expected[1] == ""
    values = dict(enumerate(texts)).values()
    for given in (tuple(texts), generated(), values, iter(texts)):
        assert dptext.privatize(given, **settings) == expected
    assert dptext.privatize([], **settings) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": TEXT}, "a dict is not a list of texts: give a list of its values"),
        (None, "not NoneType"),
        (5, "not int"),
        (b"the film", "bytes: decode it"),
        ({TEXT}, "no order"),
        ([TEXT, None], "the text at index 1 is missing (None): leave it out"),
        ([TEXT, 5.0], "the text at index 1 is of type float, not str"),
        ([b"the"], "index 0 is of type bytes, not str: decode it"),
    ],
)
def test_what_is_no_text(given: Any, said: str, settings: dict[str, Any]) -> None:
    """Anything else is a TypeError in one line that says what to do, without text."""
    with pytest.raises(TypeError) as raised:
        dptext.privatize(given, **settings)
    assert said in str(raised.value)
    assert "film" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_dict_is_not_a_table() -> None:
    """Neither message sends a user to the other one."""
    rows: Any = {"text": [TEXT]}
    with pytest.raises(TypeError, match="not a table: convert it") as raised:
        dptext.privatize(rows, columns="text")
    assert "leave columns out" not in str(raised.value)


def test_files_are_named_by_paths(tmp_path: Path) -> None:
    """A table is no list of paths, and one output is needed."""
    pandas = pytest.importorskip("pandas")
    output, rows = tmp_path / "o.jsonl", {"text": [TEXT]}
    tables: list[Any] = [pandas.DataFrame(rows), rows]
    for given in tables:
        with pytest.raises(
            TypeError, match=r"is no path: .*privatize\(table, columns="
        ):
            dptext.sanitize_files(given, output, fields="text")
    with pytest.raises(UsageError, match="give out_dir or output, not both"):
        dptext.sanitize_files("a.jsonl", output, out_dir=tmp_path)
    with pytest.raises(UsageError, match="name files, and either output or out_dir"):
        dptext.sanitize_files("a.jsonl")


def test_editors_complete_functions_without_running_the_package() -> None:
    """Names that are imported when first asked for stand in its source for jedi."""
    module = ast.parse(Path(dptext.__file__).read_text("utf-8"))
    (block,) = (each for each in module.body if isinstance(each, ast.If))
    imported = [
        name.asname
        for each in block.body
        if isinstance(each, ast.ImportFrom)
        for name in each.names
    ]
    assert {*dptext.__all__} - {"__version__"} <= {*imported}
    # A plain constant would be false for an editor, and the block not read.
    (constant,) = (each for each in module.body if isinstance(each, ast.AnnAssign))
    assert ast.unparse(constant) == "TYPE_CHECKING: bool = False"
    jedi = pytest.importorskip("jedi")
    script = jedi.Script("import dptext\ndptext.privatize(")
    assert script.get_signatures(2, 17)


def test_a_mechanism_without_a_risk_asks_for_epsilon() -> None:
    """No risk was given: it is that of the default profile."""
    with pytest.raises(UsageError, match=r"give epsilon=$"):
        dptext.privatize(TEXT, mechanism="mlm")


def test_a_table_is_not_its_columns(settings: dict[str, Any]) -> None:
    """A table is refused; one of its columns is taken."""
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"text": [TEXT, "bread"]})
    with pytest.raises(TypeError, match="a Table is not a list of texts"):
        dptext.privatize(table, **settings)
    assert len(dptext.privatize(table["text"].to_pylist(), **settings)) == 2


def test_keys(settings: dict[str, Any], key: str) -> None:
    """The same key, as bytes or in a file, gives the same texts; no key others."""
    texts = [TEXT] * 20
    first = dptext.privatize(texts, key=KEY, **settings)
    assert dptext.privatize(texts, key=Path(key), **settings) == first
    assert dptext.privatize(texts, key=key, **settings) == first
    assert dptext.privatize(texts, **settings) != first
    assert len(set(first)) > 1, "every position has randomness of its own"
    with pytest.raises(UsageError, match="a key needs at least 32 random bytes"):
        dptext.privatize(texts, key=b"short", **settings)
    with pytest.raises(TypeError, match="give bytes or the path"):
        dptext.privatize(texts, key=5, **settings)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"epsilon": float("nan")}, "epsilon nan: give a finite number above 0"),
        ({"epsilon": -1}, "epsilon -1: "),
        ({"epsilon": "8"}, "epsilon '8': "),
        ({"risk": 2}, "risk 2: give a share between 0 and 1"),
        ({"risk": "lots"}, "risk lots: "),
        ({"risk": 0.2, "epsilon": 1}, "give only one of epsilon, risk"),
        ({"mechanism": "rnk"}, "did you mean 'rank'"),
        ({"profile": "balancd"}, "did you mean 'balanced'"),
        ({"lexicon": "nowhere"}, "nowhere"),
        ({"overrides": {"tokens": {"number": "hide"}}}, "'hide'; known: perturb, "),
        (
            {"overrides": {"budget": {"epsilon": float("inf"), "risk": None}}},
            "inf is not a finite number",
        ),
    ],
)
def test_wrong_settings(given: dict[str, Any], said: str) -> None:
    """A wrong setting is one line, under its name in Python."""
    with pytest.raises((UsageError, dptext.errors.LexiconError)) as raised:
        dptext.privatize(TEXT, **given)
    assert said in str(raised.value)
    assert "--" not in str(raised.value)


def test_numbers_of_numpy_and_wrong_overrides(settings: dict[str, Any]) -> None:
    """An epsilon may be any real number; overrides are keys and values."""
    for epsilon in (np.float32(3), np.int64(3)):
        over = make_overrides(epsilon=epsilon)
        assert over["budget"]["epsilon"] == 3.0  # type: ignore[index]
    wrong: Any
    for wrong in ("tokens", ["tokens"]):
        with pytest.raises(TypeError, match="overrides: give a dictionary"):
            dptext.privatize(TEXT, **(settings | {"overrides": wrong}))


def test_the_report_is_a_second_result(settings: dict[str, Any]) -> None:
    """With report=True comes what `dptext sanitize --report` writes."""
    texts, report = dptext.privatize([TEXT, TEXT], report=True, **settings)
    assert len(texts) == 2
    assert report.run.settings["tokens"]["number"] == "mask"
    assert report.guarantee.bound.epsilon == 3
    assert report.words is not None
    assert report.words.risk is not None
    assert report.output is None
    assert report.private is not None
    assert report.private.records == report.private.texts == 2
    assert report.private.words is not None
    tokens = report.private.words.tokens
    assert tokens["word"] + tokens["stop_word"] == 16
    public = json.loads(document.encode(document.public(report)))
    assert public["private"] is None
    text, _ = dptext.privatize(TEXT, report=True, **settings)
    assert isinstance(text, str)


def test_settings_of_the_command_line(settings: dict[str, Any]) -> None:
    """Risk and mechanism are those of the options."""
    _, report = dptext.privatize(
        TEXT, risk="40%", lexicon=settings["lexicon"], report=True
    )
    assert report.words is not None
    assert report.words.risk is not None
    assert report.words.risk.success <= 0.4
    _, report = dptext.privatize(
        TEXT, mechanism="santext", epsilon=1, lexicon=settings["lexicon"], report=True
    )
    assert report.run.settings["mechanism"]["name"] == "santext"


def test_types_are_those_of_the_calls(tmp_path: Path) -> None:
    """A type checker knows that a text gives a text, and a report comes second."""
    program = tmp_path / "program.py"
    program.write_text(
        "import dptext\n"
        "reveal_type(dptext.privatize('x'))\n"
        "reveal_type(dptext.privatize(['x']))\n"
        "reveal_type(dptext.privatize(x for x in 'x'))\n"
        "text, report = dptext.privatize('x', report=True)\n"
        "reveal_type(text)\n"
        "reveal_type(report.guarantee.wording.sentence)\n"
        "reveal_type(dptext.privatize(3.0, columns='text', drop='id'))\n"
        "dptext.privatize(['x'], epsilonn=3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", str(program)],
        capture_output=True,
        text=True,
        cwd=Path(dptext.__file__).parents[1],
        check=False,
    )
    revealed = re.findall(r'Revealed type is "(?:builtins\.)?([^"]*)"', done.stdout)
    assert [each.replace("builtins.", "") for each in revealed] == [
        "str",
        "list[str]",
        "list[str]",
        "str",
        "str",
        "float",
    ], done.stdout
    assert 'did you mean "epsilon"?' in done.stdout


def test_settings_are_named_in_help_and_completion() -> None:
    """Every public function has its parameters by name, with a type and no others."""
    functions: list[Any] = [
        dptext.privatize,
        dptext.embed,
        dptext.sanitize_files,
        dptext.Sanitizer,
        dptext.Sanitizer.table,
        dptext.Sanitizer.files,
        dptext.Sanitizer.plan,
    ]
    for function in (*functions, dptext.load_profile, dptext.open_pipeline):
        signature = inspect.signature(function)
        for each in signature.parameters.values():
            assert each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
            # Types in full: no names that only this package knows.
            assert each.name == "self" or each.annotation not in (
                each.empty,
                "object",
                "Path",
                "StrPath",
            )
        assert signature.return_annotation != "object"
    for function in functions:
        # Help lists the parameters, or refers to those of privatize.
        told = f"{function.__doc__}, {dptext.privatize.__doc__}, self, "
        assert [
            name for name in inspect.signature(function).parameters if name not in told
        ] == []


def test_types_of_keywords_are_those_of_the_options() -> None:
    """The classes for type checkers are written from the declaration."""
    assert keywords.FILE.read_text("utf-8") == keywords.text()


def test_examples_of_docstrings_run() -> None:
    """They give what they show."""
    pytest.importorskip("pandas")
    for module, examples in ((api, 8), (sanitizer, 3)):
        done = doctest.testmod(module, extraglobs={"dptext": dptext})
        assert done.attempted >= examples
        assert not done.failed


def test_progress_is_shown_for_a_call_that_asks(
    settings: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """Shares of texts and of rows, and counts of records, of this call alone."""
    frame = pytest.importorskip("pandas").DataFrame({"text": [TEXT] * 9})
    seen: list[tuple[str, float]] = []
    monkeypatch.setattr(
        progress, "_notebook_bar", lambda: lambda *share: seen.append(share)
    )
    dptext.privatize([TEXT] * 9, progress=True, **settings)
    dptext.privatize(frame, columns="text", progress=True, **settings)
    source = tmp_path / "in.txt"
    source.write_text(f"{TEXT}\n" * 9)
    dptext.sanitize_files(source, tmp_path / "o.txt", progress=True, **settings)
    assert list(dict.fromkeys(name for name, share in seen if share == 1.0)) == [
        "texts",
        "rows",
        "9 records, 72 words replaced",
    ]
    shown = len(seen)
    dptext.privatize([TEXT], **settings)
    assert len(seen) == shown
    assert not progress.enabled()
    assert capsys.readouterr().err == ""


def test_topics_take_the_place_of_texts(run_folders: Path) -> None:
    """A name of topics is enough: one public topic for a text, as in a command."""
    made_topics.make("python")
    texts, report = dptext.privatize(
        ["soup and bread", "rain"], topics="python", key=KEY, report=True
    )
    assert "topics" in report.run.profile
    assert report.words is not None
    assert report.words.topics is not None
    assert set(texts) <= set(topics.open_lexicon("python", 8).words)
    strong = dptext.privatize(["rain"], "topics-strong", topics="python", key=KEY)
    assert len(strong) == 1
    with pytest.raises(UsageError, match="give topics or lexicon, not both"):
        dptext.privatize("rain", topics="python", lexicon="builtin")


def test_the_guide_for_programs_shows_what_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Python section of docs/extending.md runs as it stands."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(Path(__file__).parents[1] / "examples", "examples")
    page = Path(__file__).parents[1] / "docs" / "extending.md"
    section = page.read_text("utf-8").partition("## From Python")[2]
    programs = re.findall(r"```python\n(.*?)```", section.partition("\n## ")[0], re.S)
    names: dict[str, Any] = {}
    for program in programs:
        if "sklearn" not in program or find_spec("sklearn") is not None:
            exec(program, names)
    assert isinstance(names["text"], str)
    assert len(names["texts"]) == 2
    assert names["report"].guarantee.bound.notion == "LDP"
    (written,) = names["result"].paths
    first = written.read_text().splitlines()[0]
    assert json.loads(first).keys() == {"opened", "text", "priority"}
    assert "dptext report tickets.private.jsonl" in capsys.readouterr().out


def test_choices_set_nothing_aside_that_overrides_say(tmp_path: Path) -> None:
    """As --set beside options: the decoder, parameters and mapping of a mechanism."""
    file = lexicon(tmp_path)

    def recipe(overrides: dict[str, Any], **chosen: Any) -> Any:
        given: Any = {"lexicon": file, "epsilon": 3.0, **chosen}
        return dptext.Sanitizer("balanced", overrides, **given).profile

    off = recipe({"decoder": {"name": "none"}}, mechanism="rank")
    assert off.decoder.name == "none"
    assert recipe({"decoder": "none"}, mechanism="rank").decoder.name == "none"
    given = {"mechanism": {"lam": 0.3}}
    assert recipe(given, mechanism="mahalanobis").mechanism.params.lam == 0.3
    laplace = {"mapping": {"name": "two-nearest"}}
    changed = recipe(laplace, mechanism="laplace")
    assert changed.mapping.name == "two-nearest"
    with pytest.raises(UsageError, match="epsilon: overrides has another budget"):
        recipe({"budget": {"epsilon": 4.0}})
    vectors = dptext.embed([TEXT], given, mechanism="mahalanobis", lexicon=file)
    params: Any = vectors.release.settings.recipe.mechanism.params
    assert params.lam == 0.3
    assert given == {"mechanism": {"lam": 0.3}}
    assert make_overrides({"mechanism": {"k": 8}}, mechanism="rank") == (
        Choices(overrides=read_keys(["mechanism.k=8"]), mechanism="rank").keys
    )


def test_texts_of_libraries(settings: dict[str, Any]) -> None:
    """Columns and arrays of texts are texts, with a key always the same."""
    settings["key"] = KEY
    texts = [TEXT, "bread"]
    expected = dptext.privatize(texts, **settings)
    given: list[Any] = [np.array(texts), np.array(texts, dtype=object)]
    if find_spec("pandas"):
        import pandas as pd

        given += [pd.Series(texts), pd.Series(texts, dtype="category")]
        with pytest.raises(TypeError, match=r"index 1 is missing \(nan\)"):
            dptext.privatize(pd.Series(["a", float("nan")], dtype=object), **settings)
    if find_spec("polars"):
        import polars as pl

        given.append(pl.Series(texts))
    if find_spec("pyarrow"):
        import pyarrow as pa

        given += [pa.array(texts), pa.chunked_array([texts])]
    for each in given:
        assert dptext.privatize(each, **settings) == expected
    with pytest.raises(TypeError, match="not ndarray of 2 axes"):
        dptext.privatize(np.array([texts]), **settings)
    with pytest.raises(TypeError, match="not ndarray of 0 axes"):
        dptext.privatize(np.array(TEXT), **settings)


def test_a_report_shows_itself_in_notebooks() -> None:
    """The short answer as HTML, guarantee, risk, and JSON that reads back."""
    _, report = dptext.privatize("the film was good", "balanced", report=True)
    assert report.risk == pytest.approx(0.2, abs=0.001)
    assert report.guarantee.bound.epsilon > 0
    again = document.decode(report.to_json().encode(), "report")
    assert again.to_json() == report.to_json()
    shown = report._repr_html_()
    assert shown.startswith("<div")
    assert "film" not in shown
    verdict, *lines = str(report).splitlines()
    assert verdict.startswith("Hand it at most to a partner's programs, under contract")
    assert verdict in html.unescape(shown)
    assert len(lines) <= 19
    assert max(map(len, lines)) <= 80
    assert "film" not in str(report)


def test_a_choice_that_does_not_exist_is_refused() -> None:
    """A mistyped epsilon must not leave a run with that of the profile."""
    with pytest.raises(TypeError, match="keyword argument"):
        dptext.privatize(["good film"], epsilonn=4)  # type: ignore[call-overload]


def test_every_public_name_is_there() -> None:
    """`from dptext import *` takes each name."""
    assert [
        name for name in dptext.__all__ if getattr(dptext, name, None) is None
    ] == []
