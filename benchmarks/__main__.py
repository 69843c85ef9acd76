"""Run a benchmark by its name, or list all of them.

python -m benchmarks
python -m benchmarks NAME [ARGUMENTS]
"""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent


def known() -> dict[str, tuple[str, str]]:
    """Return what can be run: name -> its module, the first line of its docstring.

    A folder is run by the name of the folder. What does not say how it is run is part
    of something else.
    """
    modules = {}
    for path in sorted(HERE.rglob("*.py")):
        parts = path.relative_to(HERE).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__main__")
        doc = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        if name and f"python -m benchmarks {name}" in doc:
            module = ".".join(("benchmarks", *parts))
            modules[name] = module, doc.partition("\n")[0]
    return modules


def main() -> None:
    """Run one, or print the first line of each."""
    names = known()
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        for name, (_, line) in names.items():
            print(f"{name:16} {line}")
        return
    name = sys.argv.pop(1)
    if name not in names:
        sys.exit(f"no benchmark named {name}; python -m benchmarks lists them")
    sys.argv[0] = f"python -m benchmarks {name}"
    importlib.import_module(names[name][0]).main()


if __name__ == "__main__":
    main()
