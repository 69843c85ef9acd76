"""Settings of files and variables: their precedence, sources and refusals."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from dptext.cli import configuration, parser
from dptext.cli.app import app
from dptext.lexicons import topics
from dptext.run import groups
from dptext.run.marks import ByFile, ByVariable
from tests import made_topics
from tests.cli.commands import ALL
from tests.cli.running import BALANCED, here, lexicon, small

RECORD = '{"id": 1, "body": "the film was good"}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of a repository, below another folder, without variables."""
    for name in os.environ:
        if name.startswith("DPTEXT_") and name != "DPTEXT_TEST_DATA":
            monkeypatch.delenv(name)
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "exports" / "2026"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    return tmp_path


def shown(*before: str) -> dict[str, tuple[Any, str]]:
    """Return value and source of each setting, as `dptext doctor` prints them."""
    ran = here(*before, "doctor", "--settings", "--json")
    assert ran.code == 0, ran.err
    rows = json.loads(ran.out)["settings"]
    return {row["setting"]: (row["value"], row["from"]) for row in rows}


def test_nearest_file_upward(folder: Path) -> None:
    """The nearest file counts alone, to the root of the repository and no further."""
    assert shown()["sanitize.profile"] == ("readable", "default")
    Path(folder.parent, ".dptext.yaml").write_text("sanitize: {profile: tem}\n")
    assert shown()["sanitize.profile"] == ("readable", "default")
    Path(folder.parent, ".dptext.yaml").unlink()
    Path(folder, "pyproject.toml").write_text(
        '[tool.dptext.sanitize]\nprofile = "strict"\nmax-record-bytes = 7\n'
    )
    assert shown()["sanitize.profile"] == ("strict", "../../pyproject.toml")
    assert shown()["sanitize.max_record_bytes"][0] == 7
    Path(folder, "exports/pyproject.toml").write_text("[tool.other]\n")
    Path(folder, ".dptext.yaml").write_text("sanitize: {field: [body, title]}\n")
    assert shown()["sanitize.field"] == (["body", "title"], "../../.dptext.yaml")
    assert shown()["sanitize.profile"] == ("readable", "default")
    assert shown("--no-config")["sanitize.field"] == (None, "default")
    Path("other.toml").write_text("[tool.dptext.sanitize]\njobs = 2\n")
    assert shown("--config", "other.toml")["sanitize.jobs"] == (2, "other.toml")


def test_order_of_sources(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line goes before variables, and these before the file."""
    Path(folder, ".dptext.yaml").write_text(
        "sanitize: {risk: 30%, set: {tokens.number: mask}}\n"
    )

    group: Any = get_command(app)

    def params(*given: str) -> dict[str, Any]:
        with group.make_context("dptext", ["sanitize"]) as root:
            parser.set_defaults(root, "sanitize")
            with ALL["sanitize"].make_context("sanitize", [*given], root) as context:
                return {name: value for name, value in context.params.items() if value}

    def settings(*given: str) -> tuple[Any, ...]:
        of_run = params("--no-bayes-risk", *given)
        keys = of_run.get("set")
        return of_run.get("profile"), of_run.get("risk"), keys and list(keys)

    mask = ['tokens.number="mask"']
    assert settings() == (None, "30%", mask)
    monkeypatch.setenv("DPTEXT_RISK", "25%")
    assert settings() == (None, "25%", mask)
    assert settings("--risk", "20%") == (None, "20%", mask)
    assert settings("--epsilon", "3") == (None, None, mask)
    # A profile that is named is the one of that name.
    assert settings("--profile", "strict") == ("strict", None, None)
    assert settings("--profile", "strict", "--risk", "9%") == ("strict", "9%", None)
    monkeypatch.setenv("DPTEXT_PROFILE", "tem")
    assert settings() == ("tem", "25%", None)
    monkeypatch.setenv("DPTEXT_FIELD", "a 'b c'")
    assert list(params()["field"]) == ["a", "b c"]


def test_sources_are_named(folder: Path) -> None:
    """One line on standard error names the options that were set, and their source."""
    Path(folder, ".dptext.yaml").write_text("sanitize: {risk: 30%, jobs: 2}\n")
    plan = ("sanitize", "--plan", "--no-bayes-risk", "--mechanism", "rank")
    ran = here(*plan, "--epsilon", "2", "--lexicon", lexicon(Path.cwd()))
    assert ran.err.startswith("dptext: from ../../.dptext.yaml: jobs\n")


def test_settings_of_a_run_are_in_its_report(
    folder: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report states the settings in force, from any source; check reads them."""
    Path(folder, ".dptext.yaml").write_text(
        f"sanitize: {{epsilon: 12, lexicon: {options[1]}, field: body, "
        "profile: balanced, bayes_risk: false, set: {mechanism.k: 8}}\n"
        "check: {max_epsilon: 10}\n"
    )
    Path("in.jsonl").write_text(RECORD)
    assert here("sanitize", "in.jsonl", "-q", "-o", "out.jsonl").code == 0
    report = json.loads(Path("out.jsonl.dptext.json").read_bytes())
    assert report["guarantee"]["bound"]["epsilon"] == 12
    assert report["guarantee"]["strength"]["word"] != "strong"
    assert report["run"]["profile"] != "balanced"
    assert b"the policy allows 10" in here("check", "out.jsonl").out
    assert here("check", "out.jsonl", "--set", "max_epsilon=20").code == 0
    assert shown()["check.max_epsilon"][0] == 10


def test_paths_of_a_file_begin_where_it_lies(folder: Path) -> None:
    """Profiles and ledgers of a file are named from its own folder."""
    Path(folder, "ours.yaml").write_text("mechanism: rank\nbudget: {epsilon: 2}\n")
    Path(folder, ".dptext.yaml").write_text(
        "sanitize: {profile: ours.yaml, ledger: spent.db}\n"
    )
    assert shown()["sanitize.profile"][0] == str(folder / "ours.yaml")
    assert shown()["sanitize.ledger"][0] == str(folder / "spent.db")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "sanitize: {epsilo: 3}",
            "sanitize.epsilo: this option cannot be set in a file; did you mean",
        ),
        ("sanitize: {seed: 3}", "sanitize.seed: this option cannot be set in a file"),
        (
            "sanitize: {output: x}",
            "sanitize.output: this option cannot be set in a file",
        ),
        ("sanitize: {quarantine: x}", "this option cannot be set in a file"),
        (
            "sanitize: {key-file: k}",
            "not name a secret; use DPTEXT_KEY_FILE",
        ),
        ("sanitize: {epsilon: much}", "sanitize.epsilon: much: give a"),
        ("sanitize: {epsilon: -1}", "sanitize.epsilon: -1: give a number"),
        ("sanitize: {epsilon: true}", "sanitize.epsilon: give a word or a number"),
        ("sanitize: {jobs: 2.5}", "sanitize.jobs: 2.5: give an integer"),
        ("sanitize: {missing: maybe}", "sanitize.missing: maybe: choose"),
        ("sanitize: {quoting: perhaps}", "sanitize.quoting"),
        ("sanitize: {field: {a: b}}", "sanitize.field: give a word, or a list"),
        ("sanitize: 3", "sanitize: give keys and values"),
        ("sanitise: {field: text}", "unknown key 'sanitise'; did you mean 'sanitize'?"),
        (
            "sanitize: {max_epsilon: 3}",
            "sanitize.max_epsilon: this option cannot be set in a file",
        ),
        ("check: {risk: 3}", "check.risk: unknown key"),
        ("risk: 10%", "key 'risk'; known: sanitize, check (options belong"),
        ("sanitize: {risk: 10%}\nmax_epsilon: 3", "unknown key 'max_epsilon'"),
        ("a: [", ".dptext.yaml:2"),
        ("", "the configuration is empty"),
        (
            "sanitize: {max-record-bytes: 3, max_record_bytes: 4}",
            "a key is given twice",
        ),
    ],
)
def test_refused_in_one_line(folder: Path, text: str, said: str) -> None:
    """A wrong setting ends in one line that names its file and key."""
    Path(folder, ".dptext.yaml").write_text(text)
    ran = here("doctor", "--settings")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.count("\n") == 1
    assert ".dptext.yaml" in ran.err
    assert said in ran.err


@pytest.mark.parametrize(
    ("name", "text"), [("JOBS", "many"), ("MISSING", "maybe"), ("EPSILON", "nan")]
)
def test_variables_that_cannot_be(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable that an option does not take is named."""
    monkeypatch.setenv(f"DPTEXT_{name}", text)
    ran = here("sanitize")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.startswith(f"dptext: DPTEXT_{name}: ")


def test_a_typed_value_is_named_by_its_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a variable sets the same option, the message is about the typed value."""
    monkeypatch.setenv("DPTEXT_EPSILON", "3")
    ran = here("sanitize", "--epsilon", "nan")
    assert (ran.code, ran.err[:20]) == (2, "dptext: --epsilon na")


def test_a_toml_that_is_none(folder: Path) -> None:
    """A broken pyproject.toml, and one without our table that is named, are refused."""
    Path("pyproject.toml").write_text("[tool.dptext\n")
    assert "pyproject.toml: " in here("sanitize", "--plan").err
    Path("pyproject.toml").write_text("[tool]\n")
    ran = here("--config", "pyproject.toml", "sanitize", "--plan")
    assert "no table [tool.dptext]" in ran.err
    assert "No such file" in here("--config", "nowhere.yaml", "sanitize", "--plan").err


PLAN = ("sanitize", "--plan", "--no-bayes-risk")
NOBODY = 65534
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


def refused(said: str, *command: str) -> None:
    """See that a command is refused in one line, before it does anything."""
    ran = here(*command)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert said in ran.err


def test_files_of_other_users(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another user laid above is refused, unless it is named."""
    path = Path(folder, ".dptext.yaml")
    path.write_text("sanitize: {epsilon: 500}\n")
    owner = path.stat().st_uid
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)
        owner = 12345
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    refused("belongs to another user", *PLAN)
    assert shown("--config", str(path))["sanitize.epsilon"][0] == 500


@ROOT_ONLY
@pytest.mark.parametrize("place", [".", "..", "../.."])
@pytest.mark.parametrize("name", configuration.NAMES)
def test_root_obeys_no_file_of_another_user(
    place: str, name: str, options: tuple[str, ...]
) -> None:
    """Root is restricted as all users are: in every folder, command and file."""
    Path("in.txt").write_text("the film\n")
    run = ("sanitize", "in.txt", *options, "--no-bayes-risk", "-q")
    assert here(*run, "-o", "out.txt").code == 0
    path = Path(place, name)
    settings = "sanitize: {batch_size: 7}\ncheck: {max_epsilon: 900}\n"
    if path.suffix == ".toml":
        settings = "[tool.dptext.sanitize]\nbatch_size = 7\n"
    path.write_text(settings)
    os.chown(path, NOBODY, -1)
    for command in (run, ("check", "out.txt", "-q"), ("explain", "the film"), PLAN):
        refused("belongs to another user", *command)
        assert here("--no-config", *command).code == 0
    assert shown("--config", str(path))["sanitize.batch_size"][0] == 7
    os.chown(path, 0, -1)
    assert shown()["sanitize.batch_size"][0] == 7


@ROOT_ONLY
def test_another_user_may_have_settings_of_other_programs() -> None:
    """A pyproject.toml without settings of dptext is not its configuration."""
    path = Path("pyproject.toml")
    path.write_text("[tool.other]\n")
    os.chown(path, NOBODY, -1)
    assert here(*PLAN).code == 0


@ROOT_ONLY
def test_a_link_of_another_user_is_refused(tmp_path: Path) -> None:
    """It may lead to a file that this user wrote for another folder."""
    own, link = tmp_path / "own.yaml", Path(".dptext.yaml")
    own.write_text("sanitize: {epsilon: 500}\n")
    link.symlink_to(own)
    assert shown()["sanitize.epsilon"][0] == 500
    os.chown(link, NOBODY, -1, follow_symlinks=False)
    refused("belongs to another user", *PLAN)
    os.chown(link, 0, -1, follow_symlinks=False)
    os.chown(own, NOBODY, -1)
    refused("belongs to another user", *PLAN)


def test_a_file_that_all_users_may_write_is_refused() -> None:
    """Its owner says nothing on who wrote the settings."""
    path = Path(".dptext.yaml")
    path.write_text("sanitize: {epsilon: 500}\n")
    path.chmod(0o666)
    refused("run: chmod o-w ", *PLAN)
    path.chmod(0o664)
    assert shown()["sanitize.epsilon"][0] == 500


def test_the_search_ends_at_the_home_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of the home folder and repositories, only the working folder counts."""
    (folder / ".git").rmdir()
    path = folder / ".dptext.yaml"
    path.write_text("sanitize: {epsilon: 500}\n")
    link = folder / "link"
    link.symlink_to(folder)
    for home, epsilon in (
        (folder, 500),
        (folder.parent, 500),
        (link, 500),
        (folder / "exports", None),
        (Path.cwd(), None),
        (folder / "other", None),
        (Path("nowhere"), None),
    ):
        monkeypatch.setenv("HOME", str(home))
        assert shown()["sanitize.epsilon"][0] == epsilon, home
    Path(".dptext.yaml").write_text("sanitize: {epsilon: 7}\n")
    assert shown()["sanitize.epsilon"][0] == 7


def test_a_file_above_the_working_folder_is_always_named(
    folder: Path, options: tuple[str, ...]
) -> None:
    """Other people may have written it: no option hides its settings."""
    path, own = Path(folder, ".dptext.yaml"), Path(".dptext.yaml")
    path.write_text("sanitize: {jobs: 1}\ncheck: {max_epsilon: 9, allow: [case]}\n")
    Path("in.txt").write_text("the film\n")
    run = ("sanitize", "in.txt", *options, "--no-bayes-risk", "-o", "out.txt")
    said = "from ../../.dptext.yaml: "
    assert here(*run, "-q").err == f"dptext: {said}jobs\n"
    warnings = json.loads(here(*run, "--json").err)["warnings"]
    assert warnings[0] == f"{said}jobs"
    check = ("check", "out.txt")
    for more in ((), ("-q",), ("--format", "json")):
        assert f"dptext: {said}allow, max_epsilon\n" in here(*check, *more).err
    assert said not in here(*check, "--policy", str(path)).err
    assert here("--config", str(path), *run, "-q").err == ""
    own.write_bytes(path.read_bytes())
    assert here(*run, "-q").err == ""
    assert "from .dptext.yaml" not in here(*check).err


@pytest.mark.parametrize(
    ("content", "line", "hint"),
    [
        ("sanitize:\n  field: text\n body: x\n", 3, "indent keys of a section alike"),
        ("sanitize: {field: text\ncheck: {}\n", 2, "close the bracket"),
        ("sanitize:\n  field: a: b\n", 2, "put a value with a colon in quotes"),
        ("sanitize:\n  field: @x\n", 2, "indent with spaces, put values with"),
        ("sanitize:\ncheck\n  a: 1\n", 3, "write KEY: VALUE"),
        ("check: {}\n---\ncheck: {}\n", 2, "write one document"),
    ],
)
def test_a_file_that_is_no_yaml(content: str, line: int, hint: str) -> None:
    """The line and a remedy, without the states of a parser."""
    Path(".dptext.yaml").write_text(content)
    ran = here("doctor", "--settings")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f".dptext.yaml:{line}: invalid YAML here or above; {hint}" in ran.err
    assert "expected" not in ran.err


def test_a_far_key_lists_no_other_keys() -> None:
    """A near one is suggested; else a command lists them all."""
    Path(".dptext.yaml").write_text("sanitize: {zzqx: 1}\n")
    assert here("doctor", "--settings").err.endswith(
        "sanitize.zzqx: this option cannot be set in a file; dptext --no-config "
        "doctor --settings lists the options that can\n"
    )
    Path(".dptext.yaml").write_text("sanitize: {profil: strict}\n")
    assert "did you mean 'profile'?" in here("doctor", "--settings").err


def test_topics_of_a_file_give_way_to_other_vocabularies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Topics are a setting; a lexicon or a profile that is typed removes them."""
    document = made_topics.make("topics")
    Path(".dptext.yaml").write_text("sanitize: {topics: topics}\n")
    plan = ("sanitize", "--plan", "--no-bayes-risk")
    for options, code in (
        ((), 0),
        ((*small(Path.cwd())[:4], "--mechanism", "rank"), 0),
        (("--profile", "balanced"), 0),
        (("--topics", "absent"), 2),
    ):
        ran = here(*plan, *options)
        assert ran.code == code, ran.err
        named = "topics" in ran.err.partition("\n")[0]
        assert named == (not options or code == 2), ran.err
    Path(".dptext.yaml").write_text("sanitize: {lexicon: absent}\n")
    assert here(*plan, "--topics", "topics").code == 0
    Path("own.json").write_bytes(topics.encode(document))
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    for name in ("own.json", "own.json/8"):
        Path("../.dptext.yaml").write_text(f"sanitize: {{topics: {name}}}\n")
        ran = here(*plan)
        assert ran.code == 0, ran.err


def test_every_option_that_a_file_sets_is_one() -> None:
    """The table of settings names options that the commands have."""
    options = {option.name for option in ALL["sanitize"].params}
    assert {*groups.named(ByFile), *groups.named(ByVariable)} <= options
    for names in configuration.OVERRIDDEN.values():
        assert names <= {option.name for option in ALL["sanitize"].params}


def test_quiet_runs_say_nothing(options: tuple[str, ...]) -> None:
    """A quiet run takes the settings, and says nothing."""
    Path("in.txt").write_text("the film\n")
    Path(".dptext.yaml").write_text("sanitize: {bayes_risk: false}\n")
    ran = here("sanitize", "in.txt", *options, "-q")
    assert (ran.code, ran.err) == (0, "")


def test_a_variable_with_an_open_quote(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of a variable are quoted as in a shell, which one line says."""
    monkeypatch.setenv("DPTEXT_FIELD", "customer's note")
    ran = here("sanitize", given=b'{"text":"the film"}\n')
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert ran.err.startswith("dptext: DPTEXT_FIELD: a quote is not closed")
    monkeypatch.setenv("DPTEXT_FIELD", '"customer\'s note"')
    ran = here("sanitize", given=b'{"text":"the film"}\n')
    assert "customer's note" in ran.err


def test_a_user_without_an_account(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in containers: no HOME, an unknown user id, and a run all the same."""

    def unknown(number: int) -> None:
        raise KeyError(number)

    monkeypatch.delenv("HOME", raising=False)
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    (folder / ".git").rmdir()
    ran = here("sanitize", "--field", "body", "--quiet", given=RECORD.encode())
    assert (ran.code, ran.err) == (0, "")
    assert here("lexicon", "list").code == 0
    ran = here("lexicon", "info", "absent")
    assert (ran.code, "internal" in ran.err) == (2, False)
    Path("settings.yaml").write_text("sanitize: {ledger: ~/spent.db}\n")
    assert here("--config", "settings.yaml", "doctor", "--settings").code == 0


def test_fields_that_a_typed_list_no_longer_leaves_out_are_named(
    options: tuple[str, ...], key: str
) -> None:
    """One line names the fields that stay; it is silent where none does."""
    record = '{"id":"1","body":"the film","name":"Ann","mail":"a@x.org","nr":"7"}\n'
    Path("in.jsonl").write_text(record * 2)
    Path(".dptext.yaml").write_text(
        "sanitize: {field: [body], drop: [name, mail], pseudonym: [nr]}\n"
    )
    run = ("sanitize", "in.jsonl", *options, "--no-bayes-risk", "-o", "o.jsonl")
    run += ("--key-file", key)
    said = "replaces the list of .dptext.yaml, so these fields are now unchanged: "
    for more, lines in (
        ((), []),
        (("--drop", "id"), [f"--drop {said}name, mail;"]),
        (("--drop", "name", "--pseudonym", "mail"), [f"--pseudonym {said}nr;"]),
        (("--drop", "name", "--drop", "mail", "--drop", "id"), []),
        (("--drop", "name", "-f", "mail", "-f", "body"), []),
        (("--drop", "id", "--quiet"), []),
    ):
        ran = here(*run, *more)
        assert ran.code == 0, ran.err
        assert ran.err.count("replaces the list") == len(lines)
        for line in lines:
            assert f"dptext: {line}" in ran.err


def test_errors_name_the_source_of_what_was_not_typed(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quiet run as well; an option that is typed needs no source."""
    Path("in.jsonl").write_bytes(RECORD.encode())
    Path(".dptext.yaml").write_text("sanitize: {field: [bdy], risk: 200%}\n")
    run = ("sanitize", "in.jsonl", "--quiet", "-o", "o.jsonl")
    assert "(from .dptext.yaml: risk)" in here(*run).err
    absent = here(*run, *options).err
    assert "choose another with --field" in absent
    assert "(from .dptext.yaml: field)" in absent
    monkeypatch.setenv("DPTEXT_FIELD", "bdy")
    assert "(from DPTEXT_FIELD: field)" in here(*run, *options).err
    typed = here(*run, *options, "--field", "bdy").err
    assert "choose another with --field" in typed
    assert "from" not in typed


def test_the_docs_list_what_a_file_may_set() -> None:
    """All keys of the section sanitize, and no other one."""
    page = Path(__file__).parents[2] / "docs" / "configuration.md"
    text = page.read_text("utf-8").split("- These keys", 1)[1].split("\n- ", 1)[0]
    assert tuple(re.findall("`([a-z_]+)`", text)) == groups.named(ByFile)


def test_a_working_folder_that_is_gone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where another program cleans up; without a configuration it is not needed."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    ran = here("sanitize", "--field", "body", given=RECORD.encode())
    assert (ran.code, "working folder was deleted" in ran.err) == (2, True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "written",
    [
        "{budget.epsilon: 4, budget.risk: null}",
        "{budget: {epsilon: 4, risk: null}}",
        "[budget.epsilon=4, budget.risk=null]",
    ],
)
def test_an_option_decides_over_keys_of_lower_layers(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    """Typed, or in a variable over a file; other keys of `set` stay."""

    def epsilon(*more: str) -> float:
        Path("in.jsonl").write_bytes(RECORD.encode())
        run = ("sanitize", "in.jsonl", "-f", "body", "-q", "--no-bayes-risk")
        ran = here(*run, *more, "-o", "o.jsonl")
        assert ran.code == 0, ran.err
        report = json.loads(Path("o.jsonl.dptext.json").read_text("utf-8"))
        return float(report["guarantee"]["bound"]["epsilon"])

    lexicon_ = options[options.index("--lexicon") + 1]
    keys = f"profile: balanced, set: {written}"
    Path(".dptext.yaml").write_text(f"sanitize: {{{keys}}}\n")
    profile = ("--set", "budget.epsilon=6", "--set", "budget.risk=null")
    assert epsilon(*profile, "--lexicon", lexicon_) == 6
    assert epsilon("--lexicon", lexicon_) == 4
    assert epsilon("--lexicon", lexicon_, "--epsilon", "5") == 5
    monkeypatch.setenv("DPTEXT_EPSILON", "3")
    assert epsilon("--lexicon", lexicon_) == 3


@pytest.mark.parametrize(
    "typed",
    [
        ("--epsilon", "5", "--set", "budget.epsilon=4"),
        ("--risk", "10%", "--set", "budget.name=linguistic"),
        ("--mechanism", "rank", "--set", "mechanism=santext"),
        ("--decode", "none", "--set", "decoder.name=ngram"),
        ("--lexicon", "builtin", "--set", "lexicon=english"),
    ],
)
def test_a_typed_override_replaces_no_typed_choice(typed: tuple[str, ...]) -> None:
    """Neither wins silently; parameters of a chosen part go with it."""
    Path("in.jsonl").write_text(RECORD)
    ran = here("sanitize", "in.jsonl", "-f", "body", "-o", "out.jsonl", *typed)
    assert ran.code == 2
    (line,) = ran.err.splitlines()
    assert re.search(rf"{typed[0]}: --set has another \w+; give only one", line)
    assert not Path("out.jsonl").exists()


def test_an_override_fits_the_choice_beside_it(tmp_path: Path) -> None:
    """The same value again, and parameters of the mechanism that is chosen."""
    Path("in.jsonl").write_text(RECORD)
    words = ("--lexicon", lexicon(tmp_path))
    base = ("sanitize", "in.jsonl", "-f", "body", "-q", *BALANCED, *words)
    same = ("--epsilon", "5", "--set", "budget.epsilon=5")
    part = ("--mechanism", "rank", "--epsilon", "5", "--set", "mechanism.k=3")
    for each in (same, part):
        assert here(*base, *each).code == 0
