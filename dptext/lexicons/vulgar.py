"""Words that are not written in the place of others: vulgar ones, and insults.

The built-in lexicon, and imports with English orders, know them and never draw them; a
decoder does not write them. They remain candidates of what a word was. Written by hand
for English; a word with a plain use as well ("sex", "gay") is not among them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.types import Lexicon

WORDS = frozenset(
    """
    anal arse arsehole ass asshole assholes bdsm bestiality bitch bitches blowjob
    blowjobs boobs bukkake bullshit cock cocks cum cumshot cumshots cunt cunts dildo
    dildos fag faggot faggots fags fuck fucked fucker fuckers fucking fucks gangbang
    handjob hentai horny incest milf milfs motherfucker motherfucking nigga niggas
    nigger niggers piss pissed porn porno pornos pussies pussy shemale shemales shit
    shits shitty slut sluts tits tranny twat upskirt wanker whore whores xxx
    """.split()
)


def rows(lexicon: Lexicon) -> NDArray[np.bool_]:
    """Tell which words of a lexicon, and the unknown word, are such: (V + 1,)."""
    vulgar = np.zeros(len(lexicon.words) + 1, bool)
    row_of = lexicon.row_of
    vulgar[[row_of[word] for word in WORDS & row_of.keys()]] = True
    return vulgar
