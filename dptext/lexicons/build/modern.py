"""Common words of today that WordNet's texts, mostly older, say too seldom.

The glosses and the tagged texts (of about 1960) hardly know "online" or "movie". These
least figures, tokens per thousand of ordinary running English (news, reviews, speech
mixed), were written by hand from general knowledge, to one digit, and from no corpus.
"""

from __future__ import annotations

# "figure: words that have at least this many tokens per thousand".
_LEAST = """
.4: people year years time new made day days way world work home life
.3: company state government money week news game team movie film show season
.2: month months city country school family group president market business percent
.2: women men woman man children water night story house high police start thing things
.15: companies movies films states games players system service public top best court
.15: health book music job price prices deal play season plan report love great bad
.1: online internet website phone video security product products customer customers
.1: media technology program industry quality research office election minister party
.1: service order car league club coach cup match fans player actor actors character
.1: characters plot series director acting funny interesting amazing friend friends kids
.1: oil bank stock economy sales profit growth budget tax trade leader leaders officials
.08: web computer data software users user network mobile digital site sites email
.08: delivery price store shop hotel staff restaurant food experience excellent
.08: scientists space energy medical doctor hospital students university college
.08: attack war troops military killed terrorism bomb nuclear peace talks border
.05: laptop download blog password wireless broadband server browser spam virus
.05: drama comedy horror scene scenes script episode hero villain audience DVD sequel
.05: recommend recommended refund shipping package item items website cheap awesome
.05: analyst analysts shares investors earnings revenue quarter forecast CEO merger
.05: airline airport flight terrorist terrorists hostage insurgents militants rebels
.05: goal goals score scored championship tournament baseball basketball football soccer
.03: tablet podcast startup hackers gadget console gamers streaming
.03: boring stupid predictable hilarious cast actress starring cinematography remake
"""


def least() -> dict[str, float]:
    """Return word -> its least tokens per thousand; of two figures the larger."""
    found: dict[str, float] = {}
    for line in filter(None, _LEAST.split("\n")):
        figure, _, words = line.partition(":")
        for word in words.split():
            found[word] = max(found.get(word, 0.0), float(figure))
    return found
