"""Releases that copy common words: messages, counts, checks and explanations.

With the profile and the lexicon that ship.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import dptext
from dptext import profile
from dptext.guarantees import claims
from dptext.run.work import SIDECAR
from dptext.settings import digest_of_data
from tests.cli.running import Ran, here

ROWS = (
    "Great thanks to Sarah Miller in Berlin! The repair was excellent.",
    "She has cancer, and came on Monday with Qwertz and 3 zyxlos.",
    "My number is K-83838974, I live in Florida since May 5, 2021.",
)
READABLE = ("--profile", "readable", "-f", "text")
RECIPE = profile.load("readable")
ALLOW = tuple(map(str, claims.unprotected(RECIPE.tokens, RECIPE.strategy)))
SETTINGS: dict[str, Any] = RECIPE.settings()
COUNT, EPSILON = f"{RECIPE.tokens.common:,}", SETTINGS["budget"]["epsilon"]


def allowing(*names: str) -> tuple[str, ...]:
    """Return the option of a policy that allows classes of token."""
    return "--set", f"allow=[{','.join(names)}]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write rows, and make them readable once."""
    path = tmp_path_factory.mktemp("readable")
    lines = (json.dumps({"id": n, "text": row}) for n, row in enumerate(ROWS))
    (path / "in.jsonl").write_text("\n".join(lines) + "\n")
    ran = sanitized(path, "out.jsonl", "--report", str(path / "internal.json"))
    (path / "answer.txt").write_text(ran.err)
    return path


def sanitized(folder: Path, name: str, *more: str) -> Ran:
    """Make the rows readable."""
    source, out = str(folder / "in.jsonl"), str(folder / name)
    ran = here("sanitize", source, *READABLE, "-o", out, *more)
    assert ran.code == 0, ran.err
    return ran


def test_the_first_lines_say_that_nobody_becomes_anonymous(folder: Path) -> None:
    """On the terminal, in the sidecar, in the full report and on its page."""
    answer = (folder / "answer.txt").read_text()
    verdict, first, *_ = answer.strip().split("\n")
    assert verdict == "Hand it at most to people under contract; do not publish it."
    assert first.strip().startswith("anonymous")
    assert "No. Common words and the facts that they tell can show who" in first
    sidecar = json.loads((folder / f"out.jsonl{SIDECAR}").read_text())
    said = sidecar["guarantee"]["scope"]["not_covered"][0]
    assert said.startswith("This does not anonymise. Common words are unchanged")
    assert "not protected at all" in said
    assert "anyone who has an original text recognises its row" in said
    assert f"{COUNT} most frequent" in said
    shown = here("report", str(folder / "out.jsonl")).out.decode()
    assert shown.index("anonymous") < shown.index("Guarantee")
    page = folder / "page.html"
    here("report", str(folder / "internal.json"), "--page", str(page))
    assert page.exists() is False or "anonymous" in page.read_text()


def test_copied_and_replaced_words_are_counted(folder: Path) -> None:
    """By class: in the answer, as JSON, and in the internal report; never in public."""
    answer = " ".join((folder / "answer.txt").read_text().split())
    assert "common words unchanged" in answer
    tokens = json.loads((folder / "internal.json").read_text())["private"]["words"]
    counts = tokens["tokens"]
    assert (counts["person"], counts["place"], counts["calendar"]) == (3, 2, 1)
    assert counts["formed"] == 2
    assert counts["common"] > 20
    assert tokens["treatment"]["common"] == "unchanged"
    shown = here("report", str(folder / "internal.json")).out.decode()
    whole = " ".join(shown.split())
    assert (
        "(persons 3, places 2, months and weekdays 1) replaced by random ones" in whole
    )
    ran = sanitized(folder, "again.jsonl", "--json")
    answered = json.loads(ran.err)
    assert answered["anonymous"]["anonymous"] is False
    assert answered["output"]["by_class"]["common"] == counts["common"]
    public = json.loads((folder / f"out.jsonl{SIDECAR}").read_text())
    assert public["private"] is None


def test_figures_are_of_replaced_words_or_not_measured(folder: Path) -> None:
    """No figure of other settings stands in for these."""
    shown = here("report", str(folder / "internal.json")).out.decode()
    answer = " ".join(shown.split())
    if "attacker Not measured" not in answer:
        assert "of all replaced words (names apart)" in answer
    else:
        assert "same word Not measured for these settings." in answer
    assert "of replaced words, from the drawn word" in answer
    assert "of replaced words changed" in answer


def test_what_is_copied_and_shown_must_be_allowed(folder: Path) -> None:
    """A policy that asks for more refuses common words and classes by name."""
    path = str(folder / "out.jsonl")
    assert here("check", path).code == 0
    said = here("check", path, *allowing("punctuation", "forms")).out.decode()
    assert "common words are unchanged; the policy does not allow" in said
    assert "the output shows where names, places and the like stood" in said
    for name in ALLOW:
        rest = [each for each in ALLOW if each != name]
        assert here("check", path, *allowing(*rest)).code == 1, name
    assert here("check", path, *allowing(*ALLOW)).code == 0
    limits = ("--set", f"max_epsilon={EPSILON}", "--set", "max_risk=15%")
    assert here("check", path, *allowing(*ALLOW), *limits).code == 0
    ran = here("check", path, *allowing(*ALLOW), "--set", "max_epsilon=.5")
    assert b"the policy allows 0.5" in ran.out


def tokens_of(change: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return an edit of the settings, with a digest that fits them."""

    def edit(report: Any) -> None:
        settings = report["run"]["settings"]
        change(settings["tokens"])
        report["run"]["settings_digest"] = digest_of_data(settings)

    return edit


def scope_of(change: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return an edit of the scope of a guarantee."""
    return lambda report: change(report["guarantee"]["scope"])


EDITS: dict[str, Callable[[Any], object]] = {
    "fewer common words": tokens_of(lambda tokens: tokens.update(common=500)),
    "none": tokens_of(lambda tokens: tokens.pop("common")),
    "fewer classes": tokens_of(lambda tokens: tokens["classes"].pop()),
    "no classes": tokens_of(lambda tokens: tokens.pop("classes")),
    "the first sentence": scope_of(lambda scope: scope["not_covered"].pop(0)),
    "its words": scope_of(
        lambda scope: scope["not_covered"].__setitem__(
            0, scope["not_covered"][0].replace(COUNT, "300")
        )
    ),
    "unprotected": scope_of(lambda scope: scope["unprotected"].remove("common-words")),
    "shown classes": scope_of(lambda scope: scope["unprotected"].remove("classes")),
    "the risk": lambda report: report["words"]["risk"].update(success=0.001),
    "made anonymous": lambda report: report["guarantee"]["wording"].update(
        sentence="This text is anonymous."
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_edited_reports_are_found(folder: Path, name: str, tmp_path: Path) -> None:
    """A report edited to claim more, with digests that fit, is found."""
    out = tmp_path / "out.jsonl"
    out.write_bytes((folder / "out.jsonl").read_bytes())
    report = json.loads((folder / f"out.jsonl{SIDECAR}").read_text())
    EDITS[name](report)
    Path(f"{out}{SIDECAR}").write_text(json.dumps(report))
    ran = here("check", str(out), *allowing(*ALLOW))
    assert ran.code == 1
    assert b"its report was changed" in ran.out


def test_each_token_is_explained(folder: Path) -> None:
    """Which are common, which of a class and among how many one is drawn."""
    ran = here("explain", "--profile", "readable", "--json", ROWS[0])
    tokens = {each["text"]: each for each in json.loads(ran.out)["tokens"]}
    assert tokens["Great"]["kind"] == "common"
    assert tokens["Great"]["treatment"] == "unchanged"
    assert tokens["Sarah"]["kind"] == "person"
    assert tokens["Sarah"]["any_of"] > 50
    assert tokens["Berlin"]["treatment"] == "made new"
    assert tokens["excellent"]["any_of"] == 0
    shown = here("explain", "--profile", "readable", ROWS[0]).out.decode()
    assert "of its class, equally likely" in shown
    assert "common words" in shown


def test_a_plan_says_it_before_a_text_is_read(folder: Path) -> None:
    """First that nobody becomes anonymous, then how much is copied."""
    ran = here("sanitize", "--plan", "--profile", "readable", "--json")
    plan = json.loads(ran.out)
    assert 0.7 < plan["copied"] < 0.9
    shown = " ".join(
        here("sanitize", "--plan", "--profile", "readable").out.decode().split()
    )
    assert "anonymous No. Common words and the facts that they tell" in shown
    assert "of words, which are common by the frequencies of the lexicon" in shown


@pytest.mark.parametrize("audience", ["people", "programs", "statistics"])
def test_init_asks_who_reads_the_output(
    folder: Path, audience: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it writes for people passes its own policy, without another option."""
    monkeypatch.chdir(tmp_path)
    source = str(folder / "in.jsonl")
    ran = here("init", source, "--audience", audience)
    settings = yaml.safe_load(ran.out)
    if audience == "programs":
        assert settings["sanitize"]["risk"] == "20%"
        assert settings["sanitize"]["profile"] == "balanced"
    elif audience == "statistics":
        assert settings["sanitize"]["topics"] == "topics"
        assert settings["check"]["allow"] == []
    else:
        assert settings["sanitize"]["profile"] == "readable"
        assert set(settings["check"]["allow"]) == {*ALLOW}
        Path(".dptext.yaml").write_bytes(ran.out)
        assert here("sanitize", source, "-o", "out.jsonl").code == 0
        ran = here("check", "out.jsonl")
        assert ran.code == 0, ran.out


def test_a_key_gives_the_same_bytes(folder: Path, key: str) -> None:
    """Whatever the jobs and the size of batches, and from Python."""
    keyed = ("--key-file", key)
    sanitized(folder, "one.jsonl", *keyed)
    sanitized(folder, "two.jsonl", *keyed, "--jobs", "2")
    first, second = ((folder / f"{name}.jsonl").read_bytes() for name in ("one", "two"))
    assert first == second
    texts = [json.loads(line)["text"] for line in first.decode().splitlines()]
    assert "Sarah" not in texts[0]
    assert "Florida" not in texts[2] or "K-83838974" not in texts[2]
    assert "cancer" not in texts[1]
    assert texts[0].startswith("Great thanks to ")
    released = dptext.privatize([*ROWS], profile="readable")
    assert released[0].startswith("Great thanks to ")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("tokens.common=0",), "classes need common; set common"),
        (("tokens.punctuation=drop",), "punctuation cannot be drop"),
        (("tokens.classes=[person,animal]",), "tokens.classes"),
        (("tokens.common=-1",), "tokens.common"),
    ],
)
def test_settings_that_do_not_go_together(
    folder: Path, settings: tuple[str, ...], said: str
) -> None:
    """One line says why."""
    options = [part for each in settings for part in ("--set", each)]
    source = str(folder / "in.jsonl")
    ran = here("sanitize", source, *READABLE, *options, "-o", "x.jsonl")
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert said in ran.err


@pytest.mark.skipif(RECIPE.tokens.grammar != "show", reason="no form is shown")
def test_the_best_guess_is_that_of_an_attacker_who_sees_the_form(folder: Path) -> None:
    """A shown form helps to guess: the answer and a policy go by the larger figure."""
    report = json.loads((folder / f"out.jsonl{SIDECAR}").read_text())
    risk = report["words"]["risk"]
    assert risk["success_with_form"] > risk["success"]
    assert risk["baseline_with_form"] > risk["baseline"]
    said = json.loads(here("report", str(folder / "out.jsonl"), "--json").out)
    assert said["one_guess"]["found"] == risk["success_with_form"]
    assert said["one_guess"]["sentence"].startswith(
        f"Right for {risk['success_with_form']:.1%} of replaced words, from the drawn "
        "word and its grammatical form, before decoding"
    )
    between = (risk["success"] + risk["success_with_form"]) / 2.0
    checked = here(
        "check", str(folder / "out.jsonl"), "--set", f"max_risk={between:.4%}"
    )
    assert f"risk is {risk['success_with_form']:.2%}" in checked.out.decode()


def test_marks_stand_in_place_of_invented_words(folder: Path) -> None:
    """With --marks, which goes with no decoder; the statement and the answer say so."""
    sanitized(folder, "marks.jsonl", "--marks")
    rows = (folder / "marks.jsonl").read_text().splitlines()
    texts = [json.loads(row)["text"] for row in rows]
    assert texts[0].startswith("Great thanks to [name 1] [name 2] in [place 1]!")
    assert texts[1].startswith("She has [word], and came on [date]")
    assert "[code 1], I live in [place 1] since [date]." in texts[2]
    report = json.loads((folder / f"marks.jsonl{SIDECAR}").read_text())
    scope = report["guarantee"]["scope"]
    assert "Marks stand in place of invented words" in " ".join(scope["not_covered"])
    assert scope.get("decoder", "none") == "none"
    refused = here("sanitize", *READABLE, "--marks", "--decode", "ngram", given=b"")
    assert refused.code == 2
    assert "--marks" in refused.err
