"""Write the types of the keywords of Python, for type checkers and editors.

    python -m tools.keywords

Makes dptext/keywords.py from the options in dptext/run; a test compares both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dptext.run import python
from dptext.run.python import Keyword

FILE = Path(__file__).resolve().parents[1] / "dptext" / "keywords.py"
HEAD = '''"""The types of the keywords of Python.

Made by `python -m tools.keywords` from the options in dptext.run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, TypedDict
'''


def main() -> None:
    """Write the module."""
    FILE.write_text(text(), encoding="utf-8")


def text() -> str:
    """Return the module."""
    named = {each.name for each in python.OF_TABLES}
    files = [each for each in python.OF_FILES if each.name not in named]
    lines = [
        HEAD,
        *_class("ChoiceKeywords", "Changes of a profile, and the key.", python.CHOICES),
        *_class("TableKeywords", "The uses of columns or fields.", python.OF_TABLES),
        *_class("FileKeywords", "Files and their records.", files, "TableKeywords"),
        *_class("VectorKeywords", "Vectors of texts.", python.OF_VECTORS),
        *_class(
            "TableCall", "A call for a table.", (), "ChoiceKeywords, TableKeywords"
        ),
        *_class("FileCall", "A call for files.", (), "ChoiceKeywords, FileKeywords"),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _class(
    name: str, about: str, several: Sequence[Keyword], bases: str = "TypedDict"
) -> Iterator[str]:
    """Yield the lines of a class; parameters of every call are none of it."""
    yield f"\nclass {name}({bases}, total=False):"
    yield f'    """{about}"""\n'
    for each in several:
        if each.name not in ("fields", "output"):
            yield f"    {each.name}: {each.annotation}"
    if several:
        yield ""


if __name__ == "__main__":
    main()
