"""English function words: what `stop_word: keep` keeps.

A public list of articles, pronouns, prepositions, conjunctions, auxiliaries and their
contractions; content words are not in it.
"""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    a an the this that these those some any each every either neither both all no none
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs
    themselves one who whom whose which what where when why how
    and or but nor so yet if because as until while although though unless since whether
    than then of at by for with about against between into through during before after
    above below to from up down in out on off over under again further once onto upon
    within without toward towards among across along around behind beside besides
    be am is are was were been being do does did doing done have has had having
    will would shall should can could may might must ought
    not only own same such too very just here there now also even ever never
    n't 's 're 've 'll 'd 'm ca wo
    don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't won't
    wouldn't can't cannot couldn't shouldn't mustn't
    """.split()
)
