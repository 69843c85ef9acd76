"""A WordNet of a few synsets in the format of the database, for tests."""

from __future__ import annotations

from pathlib import Path

_LICENCE = "  1 This software and database is being provided to you  \n"
_FILES = {
    "data.noun": """\
00000101 03 n 01 thing 0 003 ~ 00000102 n 0000 ~ 00000103 n 0000 ~ 00000104 n 0000 | \
what there is; "a Thing of beauty"
00000102 05 n 02 dog 0 hound 0 002 @ 00000101 n 0000 + 00000201 v 0101 | a tame animal \
that barks; "the dogs ran to London"
00000103 05 n 02 cat 0 true_cat 0 001 @ 00000101 n 0000 | a tame animal
00000104 15 n 02 London 0 Greater_London 0 001 @i 00000101 n 0000 | a city
""",
    "data.verb": """\
00000201 38 v 02 run 0 dog 1 001 + 00000102 n 0101 01 + 02 00 | go fast; "he runs"
""",
    "data.adj": """\
00000301 00 a 02 happy 0 glad(p) 0 001 ! 00000302 a 0101 | feeling joy
00000302 00 s 01 sad 0 001 ! 00000301 a 0101 | feeling sorrow
""",
    "data.adv": """\
00000401 02 r 01 fast 0 000 | with speed
""",
    "index.sense": """\
cat%1:05:00:: 00000103 1 5
dog%1:05:00:: 00000102 1 9
dog%2:38:01:: 00000201 1 0
fast%4:02:00:: 00000401 1 2
glad%3:00:00:: 00000301 1 3
greater_london%1:15:00:: 00000104 1 0
happy%3:00:00:: 00000301 1 6
hound%1:05:00:: 00000102 1 0
london%1:15:00:: 00000104 1 4
run%2:38:00:: 00000201 1 8
sad%5:00:00:happy:00 00000302 1 2
thing%1:03:00:: 00000101 1 7
true_cat%1:05:00:: 00000103 1 0
""",
    "noun.exc": "",
    "verb.exc": "ran run\nrunning run\n",
    "adj.exc": "happier happy\nhappiest happy\n",
    "adv.exc": "",
}


def put(folder: Path) -> Path:
    """Write the database to a folder and return it."""
    for name, text in _FILES.items():
        head = _LICENCE if name.startswith("data") else ""
        (folder / name).write_text(head + text, encoding="utf-8")
    return folder
