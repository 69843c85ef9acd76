"""The real pre-commit tool stops a commit of an export that is not covered."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import loaded
from tests.cli.running import MARKER, environment, here, write_policy

HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def _hook(name: str) -> dict[str, Any]:
    """Return a shipped hook, run from here so that nothing is installed."""
    (hook,) = (each for each in yaml.safe_load(HOOKS.read_text()) if each["id"] == name)
    assert hook["entry"].split()[0] == "dptext"
    program = shlex.quote(str(loaded.program()))
    hook["entry"] = hook["entry"].replace("dptext", program, 1)
    hook["language"] = "system"
    return dict(hook)


def _use(*names: str) -> None:
    """Let the repository use these hooks, in this order."""
    config = {"repos": [{"repo": "local", "hooks": [_hook(name) for name in names]}]}
    Path(".pre-commit-config.yaml").write_text(yaml.safe_dump(config))


def _commits() -> tuple[bool, str]:
    """Run the hooks on staged files: whether they pass, and their messages."""
    _git("add", "-A")
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--color", "never"],
        capture_output=True,
        env=environment(),
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a git repository that uses the shipped hook."""
    pytest.importorskip("pre_commit")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    _git("init", "-q")
    _use("dptext-check")
    return work


def test_hook_stops_what_is_not_covered(
    repository: Path, options: tuple[str, ...]
) -> None:
    """A covered export passes; one without report, or edited, or off policy fails."""
    source = repository.parent / "in.jsonl"
    source.write_text('{"text":"the film was good"}\n')
    run = ("sanitize", "-f", "text", str(source), *options, "-q", "-o", "export.jsonl")
    assert here(*run).code == 0
    Path("notes.md").write_text("not an export")
    passed, said = _commits()
    assert passed, said
    assert "dptext check" in said
    assert "Passed" in said

    write_policy("max_epsilon: 1")
    passed, said = _commits()
    assert not passed
    assert (
        "export.jsonl: epsilon between any two words is 3 nats, the policy allows 1"
        in said
    )
    Path(".dptext.yaml").unlink()

    Path("raw.csv").write_text(f"id,text\n1,{MARKER}\n")
    with Path("export.jsonl").open("a") as file:
        file.write(f'{{"text":"{MARKER}"}}\n')
    passed, said = _commits()
    assert not passed
    assert "raw.csv: no public report" in said
    assert "export.jsonl: its public report belongs to another file" in said
    assert MARKER not in said


@pytest.fixture
def export(
    repository: Path,
    options: tuple[str, ...],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Return a covered export, committed through the installed hook.

    The first test makes the repository, others have copies of it.
    """
    made = tmp_path_factory.getbasetemp() / "committed"
    if made.exists():
        shutil.copytree(made, repository.parent, dirs_exist_ok=True)
        return Path("exports/out.jsonl")
    source = repository.parent / "in.jsonl"
    source.write_text('{"text":"the film was good"}\n')
    Path("exports").mkdir()
    run = (
        "sanitize",
        "-f",
        "text",
        str(source),
        *options,
        "-q",
        "-o",
        "exports/out.jsonl",
    )
    assert here(*run).code == 0
    _git("config", "user.name", "a")
    _git("config", "user.email", "a@example.org")
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "install"], check=True, capture_output=True
    )
    _git("add", "-A")
    passed, said = _commit("exports/out.jsonl")
    assert passed, said
    shutil.copytree(repository.parent, made)
    return Path("exports/out.jsonl")


def _commit(message: str) -> tuple[bool, str]:
    """Commit the staged files: whether git did, and its messages."""
    done = subprocess.run(
        ["git", "commit", "-m", message],
        capture_output=True,
        env=environment(),
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode == 0, done.stdout + done.stderr


def test_removed_report_stops_a_commit(export: Path) -> None:
    """A commit that only removes a report is stopped; one that removes both is not."""
    _git("rm", "-q", "exports/out.jsonl.dptext.json")
    passed, said = _commit("remove")
    assert not passed
    assert "exports/out.jsonl: no public report" in said
    _git("rm", "-q", "exports/out.jsonl")
    passed, said = _commit("remove both")
    assert passed, said


def test_report_on_disk_must_be_staged(export: Path) -> None:
    """A report that lies beside the export but is not staged does not count."""
    _git("rm", "-q", "--cached", "exports/out.jsonl.dptext.json")
    assert Path("exports/out.jsonl.dptext.json").exists()
    passed, said = _commit("untrack")
    assert not passed
    assert "is not staged; run git add exports/out.jsonl.dptext.json" in said
    assert "sanitize" not in said
    _git("add", "exports/out.jsonl.dptext.json")
    Path("more.txt").write_text("")
    _git("add", "-f", ".pre-commit-config.yaml")
    passed, said = _commit("nothing new")
    assert "Passed" in said


def test_advice_after_privatizing_in_place(
    export: Path, options: tuple[str, ...]
) -> None:
    """Private file and report lie on disk: to stage both is all that is said."""
    Path("exports/new.jsonl").write_text(f'{{"text":"{MARKER}"}}\n')
    _git("add", "exports/new.jsonl")
    run = ("sanitize", "-f", "text", "--in-place", "exports/new.jsonl", *options, "-q")
    assert here(*run).code == 0
    said = here("check", "--staged").out.decode()
    both = "exports/new.jsonl exports/new.jsonl.dptext.json"
    assert said.endswith(f"is not staged; run git add {both}\n")
    _git("add", "exports/new.jsonl.dptext.json")
    said = here("check", "--staged").out.decode()
    assert said.endswith("the digests differ; run git add exports/new.jsonl\n")
    _git("add", "exports/new.jsonl")
    assert here("check", "--staged").code == 0


def test_report_that_is_ignored(export: Path, options: tuple[str, ...]) -> None:
    """A report that git ignores is never staged, so its export fails."""
    Path(".gitignore").write_text("*.dptext.json\n")
    source = Path("exports").absolute().parent.parent / "in.jsonl"
    run = (
        "sanitize",
        "-f",
        "text",
        str(source),
        *options,
        "-q",
        "-o",
        "exports/new.jsonl",
    )
    assert here(*run).code == 0
    _git("add", "-A")
    passed, said = _commit("ignored")
    assert not passed
    assert "exports/new.jsonl: no public report" in said
    assert "run git add -f exports/new.jsonl.dptext.json" in said


def test_renamed_export_stops_a_commit(export: Path) -> None:
    """An export that moves without its report, or under another name, is stopped."""
    _git("mv", "exports/out.jsonl", "exports/two.jsonl")
    passed, said = _commit("rename")
    assert not passed
    assert "exports/two.jsonl: no public report" in said
    _git("mv", "exports/out.jsonl.dptext.json", "exports/two.jsonl.dptext.json")
    passed, said = _commit("rename both")
    assert not passed
    assert "a file with another name" in said


def test_staged_content_counts(export: Path) -> None:
    """The staged content is judged, not the file on disk."""
    good = export.read_bytes()
    export.write_text(f'{{"text":"{MARKER}"}}\n')
    _git("add", "exports/out.jsonl")
    export.write_bytes(good)
    assert here("check", "exports/out.jsonl").code == 0
    ran = here("check", "--staged")
    assert ran.code == 1
    assert b"exports/out.jsonl: its public report belongs to another file" in ran.out
    passed, said = _commit("other content")
    assert not passed
    assert MARKER not in said


def test_policy_must_be_staged(export: Path) -> None:
    """The staged policy counts; one that only lies on disk is refused."""
    write_policy("max_epsilon: 1")
    ran = here("check", "--staged")
    assert ran.code == 2
    assert ".dptext.yaml: on disk but not staged" in ran.err
    _git("add", ".dptext.yaml")
    write_policy("max_epsilon: 10")
    assert here("check", "--staged").code == 1
    assert here("check", "--staged", "--policy", ".dptext.yaml").code == 0


def test_policy_above_the_folder(export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of the repository the nearest staged file upward is the policy."""
    Path("pyproject.toml").write_text("[tool.dptext.check]\nmax-epsilon = 1\n")
    monkeypatch.chdir("exports")
    assert "../pyproject.toml: on disk but not staged" in here("check", "--staged").err
    _git("add", "../pyproject.toml")
    Path("../pyproject.toml").write_text("[tool.other]\n")
    ran = here("check", "--staged")
    assert (ran.code, b"the policy allows 1" in ran.out) == (1, True)
    assert here("--no-config", "check", "--staged").code == 0
    Path(".dptext.yaml").write_text("check: {max_epsilon: 10}\n")
    _git("add", ".dptext.yaml")
    assert here("check", "--staged").code == 0


def test_folders_of_a_repository(export: Path) -> None:
    """All staged exports are checked, or those in the folders that are named."""
    Path("raw.csv").write_text(f"id,text\n1,{MARKER}\n")
    Path("exports/README.md").write_text(MARKER)
    Path("exports/link.csv").symlink_to("../raw.csv")
    _git("add", "-A")
    assert here("check", "--staged", "exports").code == 0
    assert here("check", "--staged", "./exports/").code == 0
    assert here("check", "--staged", "exp").code == 0
    ran = here("check", "--staged")
    assert ran.code == 1
    assert ran.out.decode() == (
        "raw.csv: no public report: raw.csv.dptext.json is missing; if this file is "
        "an original, do not share it but run dptext init raw.csv; if it is an "
        "output, restore the report; to skip a file, list it under exclude in the "
        "policy\n"
    )


def test_names_that_git_quotes(export: Path, options: tuple[str, ...]) -> None:
    """Names with spaces, line breaks and other letters are read unchanged."""
    source = Path("exports").absolute().parent.parent / "in.jsonl"
    name = "exports/a b\n\u00e9.jsonl"
    assert (
        here("sanitize", "-f", "text", str(source), *options, "-q", "-o", name).code
        == 0
    )
    _git("add", "-A")
    assert here("check", "--staged").code == 0
    _git("rm", "-q", "--cached", f"{name}.dptext.json")
    ran = here("check", "--staged")
    assert ran.code == 1
    assert ran.out.count(b"\n") == 1


def test_content_that_lfs_keeps(export: Path) -> None:
    """The pointer of Git LFS names the digest; a look at fields needs the file."""
    import hashlib

    data = export.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    export.write_text(
        "version https://git-lfs.github.com/spec/v1\n"
        f"oid sha256:{digest}\nsize {len(data)}\n"
    )
    _git("add", "exports/out.jsonl")
    ran = here("check", "--staged")
    assert ran.code == 1, "nobody looked at it"
    assert b"its columns were not checked" in ran.out
    assert b"run git lfs pull; or accept this with unverified: [content]" in ran.out
    assert here("check", "--staged", "--set", "unverified=content").code == 0
    write_policy("copy: []")
    _git("add", ".dptext.yaml")
    assert b"fields cannot be read" in here("check", "--staged").out
    export.write_bytes(data)
    assert here("check", "--staged").code == 0


def test_staged_needs_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of a git repository --staged says so."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    ran = here("check", "--staged")
    assert (ran.code, ran.out) == (2, b"")
    assert "a git repository" in ran.err


def test_hook_privatizes_exports(repository: Path, options: tuple[str, ...]) -> None:
    """Originals are made private before they are committed, each once; others stay."""
    _use("dptext-sanitize", "dptext-check")
    Path(".dptext.yaml").write_text(
        f"sanitize: {{lexicon: {options[1]}, profile: balanced, epsilon: 3, "
        "field: body, set: {mechanism.k: 8}, bayes_risk: false}\n"
        "check: {max_epsilon: 3}\n"
    )
    Path("exports/2026").mkdir(parents=True)
    originals = {
        Path("exports/a.jsonl"): f'{{"id":1,"body":"{MARKER} film"}}\n',
        Path("exports/2026/b c.csv"): f"id,body\n1,{MARKER}\n",
    }
    for path, text in originals.items():
        path.write_text(text)
    Path("other.txt").write_text(MARKER)
    _git("add", "-A")
    _git("rm", "-q", "--cached", "other.txt")
    Path("other.txt").unlink()
    passed, said = _commits()
    assert not passed
    assert "files were modified by this hook" in said
    assert "run git add exports/a.jsonl exports/a.jsonl.dptext.json" in said
    assert "run dptext sanitize" not in said
    assert MARKER not in said
    private = {path: path.read_bytes() for path in originals}
    for path, data in private.items():
        assert MARKER.encode() not in data
        assert path.with_name(f"{path.name}.dptext.json").exists()
    passed, said = _commits()
    assert passed, said
    assert private == {path: path.read_bytes() for path in originals}

    # An export that was edited is an original again; one that cannot be read stays.
    Path("exports/a.jsonl").write_text(f'{{"id":1,"body":"{MARKER}"}}\n')
    Path("exports/d.jsonl").write_text(f'{{"id":2,"note":"{MARKER}"}}\n')
    passed, said = _commits()
    assert not passed
    assert MARKER.encode() not in Path("exports/a.jsonl").read_bytes()
    assert MARKER in Path("exports/d.jsonl").read_text()
    assert "exports/d.jsonl" in said
    assert "exports/d.jsonl: no public report" in said
    assert MARKER not in said
