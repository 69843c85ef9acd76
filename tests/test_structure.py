"""The shape of the package: allowed imports, lengths, and the time of each import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

import pytest

import dptext

pytestmark = pytest.mark.quick

ROOT = Path(dptext.__file__).parent
HEAVY = (
    "numpy spacy nltk torch sentence_transformers faiss pyarrow scipy cryptography "
    "pandas sklearn pyspark jinja2"
).split()
# The part of the names of components that stands in the code that imports them.
COMPONENTS = "dptext."
# Each layer may import the layers above it in this list. The rules of tokens, plain
# functions of characters, stand above the stages; stages (the fourth layer) do not
# import each other, except as STAGES allows.
LAYERS = (
    "types errors _version _built keywords",
    "streams randomness registry failures cache models progress noise ledger settings "
    "pseudonyms shared_draws signatures overrides run arrays partition word_file",
    "tokens.kinds tokens.policy tokens.regex tokens.language_data tokens.languages "
    "tokens.numbers "
    "tokens.forms tokens.names tokens.symbols tokens.dates tokens.draws tokens.markup "
    "tokens.form_finder tokens.codes tokens.number_words tokens.addresses "
    "tokens.name_cues",
    "tokens writing "
    "lexicons spaces budgets mechanisms mappings formats metrics guarantees "
    "measures geometry exponential attackers decoders views",
    # Releases: words by a pipeline, vectors by a release; and their counts.
    "profile pipeline calibration vectors engine.tally",
    # Reports as data and as pages, with figures of a whole pipeline.
    "report measures.public measures.context_risk",
    "engine vectors.run",
    "checking",
    "evaluation api sanitizer frames integrations spark",
    "cli __main__",
)
STAGES = {
    "geometry": {"spaces", "lexicons.orders", "lexicons.search"},
    "exponential": {"geometry", "spaces", "mechanisms"},
    "mechanisms": {"spaces", "lexicons.orders", "geometry", "exponential"},
    "mappings": {"spaces"},
    "spaces": {"lexicons.orders", "lexicons.search"},
    # Of mechanisms the output distribution, of lexicons where their files lie.
    "attackers": {"mechanisms", "tokens", "writing", "lexicons"},
    "decoders": {"attackers"},
    # Texts are written by the pieces that they were split into.
    "writing": {"tokens"},
    # Of texts the words, of lexicons the vectors.
    "views": {"tokens", "lexicons"},
    # They stand beside the path and look at mechanisms made ready.
    "guarantees": {"mechanisms", "lexicons.topics"},
    "measures": {"mechanisms", "metrics", "tokens", "spaces", "attackers", "lexicons"},
}
# Known exceptions, each with its reason; a new one is a decision, not an accident.
ALLOWED = {
    # The public entry points, imported when asked for, on a system that is supported.
    ("__init__", "errors"),
    ("__init__", "_version"),
    ("__init__", "api"),
    ("__init__", "pipeline"),
    ("__init__", "profile"),
    # An account is drawn up for a profile.
    ("guarantees.statement", "profile"),
    # The published rule looks for words itself, without the input word.
    ("mechanisms.vickrey", "mappings"),
    # Limits of a sampled risk.
    ("measures.sampled_risk", "guarantees.binomial"),
}

# Commands that import their parts at run time, to keep one line and help quick, and
# modules of all commands. Others, each loaded only to run it, import at the top.
BEGINNERS = (
    "cli.app cli.configuration cli.embed cli.init cli.lexicon cli.options "
    "cli.parser cli.sanitize cli.screen"
).split()
# Modules of dptext that a function imports, each with its reason; all others stand at
# the top.
LAZY = {
    # The platform is checked before anything that another system may lack.
    ("__init__", "errors"),
    ("__init__", "api"),
    ("__main__", "errors"),
    ("__main__", "cli.app"),
    # Threads and processes, only where more than one is asked for.
    ("engine.reading", "engine.pool"),
    # Policies, only for runs that stop at columns.
    ("sanitizer", "checking.contents"),
    # SQLite, only for runs with a ledger.
    ("engine.request", "engine.charging"),
    # Folders that a plain run does not load: see UNUSED.
    ("lexicons", "lexicons.importing"),
    ("mappings", "models"),
    # Templates and rich, only for reports that are shown.
    ("report.answer", "report.html"),
    # Numbers, only where a file is looked at.
    # Keywords of Python, only for answers of its functions.
    ("report.answer", "run.python"),
    ("report.answer", "report.terminal"),
    # Rows and sentences, only for reports that are shown.
    ("report.notebook", "report.answer"),
    ("engine.files", "report.html"),
    ("engine.files", "report.views"),
}
# A run of `sanitize` that asks for nothing special loads nothing of these.
UNUSED = (
    "dptext.evaluation",
    "dptext.vectors",
    "dptext.ledger",
    "dptext.spark",
    "dptext.models",
    "dptext.lexicons.importing",
    "dptext.checking",
    "dptext.frames",
    "dptext.integrations",
)


@cache
def syntax(path: Path) -> ast.Module:
    """Return the syntax tree of a file, read once."""
    return ast.parse(path.read_text("utf-8"))


@lru_cache(maxsize=1)
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of every module by its name inside dptext."""
    trees = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and parts[:-1] else parts)
        trees[name] = syntax(path)
    return trees


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield what a module imports from anywhere, at any depth, types included.

    So far as it stands in the code, what `import_module` imports is among it.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func).rpartition(".")[2]
            if called in ("import_module", "__import__"):
                yield beginning(node.args[0])


def beginning(node: ast.expr) -> str:
    """Return the first characters of a text in code, up to the first variable part."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0]
    return str(node.value) if isinstance(node, ast.Constant) else ""


def inside(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of dptext that a module imports, by their names inside it."""
    for name in imported(tree):
        # Components are found by name in the folders of stages.
        if name == COMPONENTS and tree is modules()["registry"]:
            continue
        if name != "dptext" and not name.startswith("dptext."):
            continue
        parts = name.split(".")[1:]
        while parts and ".".join(parts) not in modules():
            parts.pop()  # a name of a module, not a module
        yield ".".join(parts) or "__init__"


def layer_of(name: str) -> int:
    """Return the number of the layer that names a module most exactly."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        prefix = ".".join(parts[:length])
        for number, layer in enumerate(LAYERS):
            if prefix in layer.split():
                return number
    pytest.fail(f"{name} is in no layer")


def lawful(name: str, other: str) -> bool:
    """Tell whether one module may import another."""
    if (name, other) in ALLOWED or other == name:
        return True
    if name == "__init__" or other == "__init__":
        return False
    mine, theirs = layer_of(name), layer_of(other)
    top, other_top = name.split(".")[0], other.split(".")[0]
    if mine != theirs:
        return theirs < mine
    if top == other_top:
        return True
    if top in STAGES or mine == layer_of("tokens"):
        allowed = STAGES.get(top, set())
        return any(other == part or other.startswith(part + ".") for part in allowed)
    return True


def test_data_flows_one_way() -> None:
    """No module imports a later layer, and no stage another one, not even for types."""
    broken = [
        f"{name} imports {other}"
        for name, tree in modules().items()
        for other in inside(tree)
        if not lawful(name, other)
    ]
    assert not broken


def test_every_exception_to_the_law_is_in_use() -> None:
    """An exception that nobody needs is removed from the table."""
    used = {(name, other) for name, tree in modules().items() for other in inside(tree)}
    assert used >= ALLOWED


def test_no_import_runs_in_circles() -> None:
    """No two modules need each other: for types and inside functions counts, too."""
    graph = {name: {*inside(tree)} - {name} for name, tree in modules().items()}
    done: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path, name])
        if name not in done:
            for other in sorted(graph[name]):
                walk(other, (*path, name))
            done.add(name)

    for name in graph:
        walk(name, ())


def test_imports_stand_at_the_top() -> None:
    """A function imports a module of dptext only where LAZY has a reason for it."""
    lazy = {
        (name, other)
        for name, tree in modules().items()
        if name not in BEGINNERS
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for statement in node.body
        for other in inside(statement)
        if name != "registry"
    }
    assert lazy == LAZY


def test_no_module_is_longer_than_a_subject_needs() -> None:
    """No module has more than 600 lines: it is one subject."""
    counts = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines())
        for path in ROOT.rglob("*.py")
    }
    assert not {name: count for name, count in counts.items() if count > 600}


@pytest.mark.parametrize(
    "code",
    [
        "import dptext",
        "from dptext.cli import app",
        "import dptext, sys; sys.argv = ['dptext', '--help']; "
        "from dptext.__main__ import main\n"
        "try: main()\n"
        "except SystemExit as error: assert not error.code",
    ],
)
def test_nothing_heavy_loads_before_it_is_needed(code: str) -> None:
    """Importing dptext and asking for help load no numeric or language package."""
    check = (
        f"{code}\nimport sys\n"
        f"found = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not found, found"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", check], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("options", ["", "--quiet --epsilon 7.125"])
def test_one_line_loads_what_it_needs(options: str) -> None:
    """A run of JSON lines loads no help, entry points, pages or other work.

    A quiet one loads nothing that shows reports.
    """
    unused = (
        "jinja2 sqlite3 rich.markdown concurrent.futures typer.rich_utils "
        "dptext.report.html dptext.mechanisms.laplace numpy.ma"
    ).split()
    if options:
        unused += ["dptext.report.answer", "dptext.report.blocks"]
    arguments = ["dptext", "sanitize", "-", "-f", "text", *options.split()]
    check = (
        f"import sys; sys.argv = {arguments!r}\n"
        "from dptext.__main__ import main\n"
        "try: main()\n"
        "except SystemExit as error: assert not error.code\n"
        f"loaded = [name for name in {unused!r} if name in sys.modules]\n"
        f"folders = {UNUSED!r}\n"
        "loaded += [n for n in sys.modules if '.'.join(n.split('.')[:2]) in folders]\n"
        "loaded += [name for name in folders if name in sys.modules]\n"
        "assert not loaded, loaded"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", check],
        input='{"text": "A good film."}\n',
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_what_runs_in_a_checkout_is_not_imported() -> None:
    """The package does without tools, benchmarks and tests, and is installed alone."""
    outside = {"tools", "benchmarks", "tests", "examples"}
    for name, tree in modules().items():
        assert not outside & {n.split(".")[0] for n in imported(tree)}, name


def test_click_is_never_imported() -> None:
    """Typer brings its own; Click need not be there at run time."""
    for name, tree in modules().items():
        assert not [n for n in imported(tree) if n.split(".")[0] == "click"], name


def test_types_are_published() -> None:
    """py.typed ships, so that type checkers see the annotations."""
    assert (ROOT / "py.typed").exists()


def test_commands_print_through_their_screen() -> None:
    """No command makes another console, on which foreign text is not harmless."""
    bare = {"rich.print", "rich.get_console", "rich.inspect"}
    for name, tree in modules().items():
        if not name.startswith("cli.") or name == "cli.screen":
            continue
        assert not bare & set(imported(tree)), name
        for node in ast.walk(tree):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert not called.endswith("Console"), name
            if isinstance(node, ast.Call) and called in ("Progress", "Live", "Status"):
                assert "console" in {each.arg for each in node.keywords}, name


# Idioms that the code of others does not have: `*("a", "b")` packs values on a line
# against the formatter; a text times a condition is an if; five or more values without
# names are not read without the definition.
FOLDERS = ("dptext", "tests", "tools", "benchmarks")
# They take any number of values of one kind.
VARIADIC = {"chain", "key_of", "max", "min", "print", "startswith", "union", "zip"}


def is_packed(node: ast.AST) -> bool:
    """Tell whether a call or display unpacks a literal: `f(*(a, b))`."""
    if not isinstance(node, ast.Starred):
        return False
    return isinstance(node.value, ast.Tuple | ast.List | ast.Set)


def is_multiplied(node: ast.AST) -> bool:
    """Tell whether a text or list is multiplied by a condition: `"s" * (n > 1)`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    sides = [node.left, node.right]
    is_text = any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )
    return is_text and any(
        isinstance(side, ast.Compare | ast.BoolOp)
        or ast.unparse(side).startswith(("not ", "bool(", "isinstance("))
        for side in sides
    )


def is_unnamed(node: ast.AST) -> bool:
    """Tell whether a call has five or more arguments by position."""
    if not isinstance(node, ast.Call) or len(node.args) < 5:
        return False
    name = ast.unparse(node.func).rpartition(".")[2]
    plain = [each for each in node.args if not isinstance(each, ast.Starred)]
    return len(plain) >= 5 and name not in VARIADIC


# Participles and the like, which say nothing of a value.
EMPTY_NAMES = {"found", "given", "place", "said"}


def assigned_name(node: ast.AST) -> str:
    """Return the name of a parameter, or of a variable or attribute with a value."""
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr
    return ""


def test_names_say_what_a_value_is() -> None:
    """No variable, parameter or attribute of dptext has a name that fits any value."""
    empty = [
        f"{path.relative_to(ROOT)}: {assigned_name(node)}"
        for path in ROOT.rglob("*.py")
        for node in ast.walk(syntax(path))
        if assigned_name(node) in EMPTY_NAMES
    ]
    assert not empty, "take the name of the thing: matches, rows, position"


def test_no_idioms_of_this_project_alone() -> None:
    """No code packs values or multiplies texts; dptext names many arguments."""
    found = [
        f"{path.relative_to(ROOT.parent)}:{node.lineno}"
        for folder in FOLDERS
        for path in (ROOT.parent / folder).rglob("*.py")
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.expr)
        if is_packed(node)
        or is_multiplied(node)
        or (folder == "dptext" and is_unnamed(node))
    ]
    assert not found, "write values one by one; name the arguments of a call with five"


def called_at_import(tree: ast.AST) -> Iterator[str]:
    """Give the names of functions that a module calls while it is imported."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for each in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                yield from called_at_import(ast.Expression(each))
        else:
            yield from called_at_import(node)


def test_no_import_words_a_message() -> None:
    """It would name options of the command line in messages of Python, too."""
    words = {"option", "noun", "unit", "current", "refuse_both"}
    assert not {
        name for name, tree in modules().items() if words & set(called_at_import(tree))
    }


#: Modules that print for the command line alone.
BY_COMMANDS = ("cli", "checking", "models", "evaluation")


def test_messages_of_python_name_no_option_of_commands() -> None:
    """`option` and `noun` of dptext.run.interface write them, and help is free."""
    found = []
    for name, tree in modules().items():
        if name.startswith(BY_COMMANDS):
            continue
        helps = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"Option", "MissingExtra"}
            for part in ast.walk(node)
        } | {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        found += [
            f"{name}: {node.value}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in helps
            # Commands that are written whole are the same in every interface.
            and re.search(r"^(?!.*(dptext|wsl) ).*(?<![\w-])--[a-z]{2}", node.value)
        ]
    assert found == []


def test_ids_of_tests_are_short(request: pytest.FixtureRequest) -> None:
    """They name a test on a line of a terminal or a log, not all of its values."""
    ids = [each.nodeid for each in request.session.items]
    assert not [name for name in ids if len(name) > 240]
