"""Closed-class English words with their public rule-of-thumb frequency.

Glosses are telegraphic: they hardly say "I", "was" or "don't". These figures, tokens
per thousand of ordinary running English (news, reviews, speech mixed), were written by
hand from general knowledge of English word frequencies, to two digits at best, and from
no corpus. They replace what the glosses say about these words.
"""

from __future__ import annotations

# How much of running English the open classes leave; see dptext.lexicons.build.counts.
NUMBERS_PER_MILLE = 12.0

# One line a class: "word frequency word frequency ..."; capitals are kept ("I").
_CLASSES = {
    "determiner": """
        the 56 a 23 an 3.2 this 5.5 that 10.5 these 1.3 those 1.0 some 1.8 any 1.2
        each .6 every .6 either .2 neither .1 both .6 all 3.0 no 2.2 none .12 another .6
        such .8 other 1.3 others .3 same .7 many .9 much 1.2 more 2.2 most 1.1 few .6
        fewer .05 less .4 least .3 several .3 enough .4 own .6 half .2 whole .3
        what 2.5 which 2.5 whose .2 whatever .1 whichever .02 plenty .05 lots .1 lot .5
    """,
    "pronoun": """
        I 14 me 2.2 my 4.0 mine .08 myself .25 you 8.0 your 2.3 yours .05 yourself .15
        yourselves .01 he 6.5 him 2.0 his 4.5 himself .35 she 3.2 her 3.6 hers .02
        herself .12 it 11 its 1.8 itself .3 we 3.8 us 1.0 our 1.4 ours .02 ourselves .06
        they 4.3 them 2.1 their 2.8 theirs .02 themselves .22 one 3.0
        ones .25 oneself .01
        who 2.6 whom .1 someone .25 somebody .07 something .6 anyone .25 anybody .05
        anything .3 everyone .3 everybody .1 everything .3 nobody .08 nothing .4
        whoever .03 whomever .005 thou .01 thee .01 thy .02 thine .004 thyself .002
        ye .02 y'all .005 somethin .002 nothin .003 em .01 'em .03 yo .01
    """,
    "preposition": """
        of 27 in 18.5 to 26 for 9.5 on 7.0 with 7.0 at 5.0 by 4.2 from 4.0 about 2.4
        into 1.4 through .8 over 1.0 after 1.1 before .7 between .5 under .4 during .35
        without .45 against .4 within .2 among .18 across .18 behind .18 around .6
        along .25 upon .15 toward .06 towards .1 above .18 below .1
        beneath .04 beside .03
        besides .06 beyond .12 near .15 off .6 out 2.2 up 2.2 down .9 onto .08 until .3
        till .04 since .4 per .15 via .04 despite .12 except .12 throughout .12 amid .05
        amidst .01 amongst .03 aboard .02 alongside .03 inside .15 outside .15 past .25
        like 2.2 unlike .06 than 1.6 as 6.5 versus .02 vs .03
        regarding .05 concerning .03
        unto .01 underneath .02 opposite .03 round .1 worth .2 minus .02 plus .1 de .1
    """,
    "conjunction": """
        and 26 or 3.2 but 5.2 if 2.5 because 1.1 so 2.3 while .7 although .2 though .45
        unless .08 whereas .03 whether .3 nor .12 yet .35 when 2.2 where .9
        why .6 how 1.3
        whenever .05 wherever .03 however .3 therefore .08 thus .1
        hence .03 moreover .02
        nevertheless .02 nonetheless .01 otherwise .09 once .5 lest .005 cause .15
        cuz .005 albeit .008 meanwhile .06 furthermore .02 anyways .01 whilst .02
    """,
    "auxiliary": """
        be 5.0 am .7 is 10.5 are 4.6 was 7.5 were 2.6 been 2.0 being .8 do 2.1 does .7
        did 1.1 done .4 doing .35 have 4.2 has 2.7 had 2.9 having .3 will 2.5 would 2.2
        shall .06 should .8 can 2.3 could 1.5 may .8 might .6 must .5 ought .03
        cannot .2 ca .05 wo .03 ai .01 gonna .03 gotta .02 wanna .02 hafta .001
        oughta .001 shoulda .001 coulda .001 woulda .001 lemme .003 gimme .004
        dunno .005 kinda .02 sorta .008 outta .005
    """,
    "light word": """
        get 1.1 got .8 gets .2 getting .2 gotten .03 need .6 needs .2 dare .02 used .5
    """,
    "contraction": """
        don't 1.0 doesn't .4 didn't .5 isn't .3 aren't .12 wasn't .25 weren't .08
        haven't .1 hasn't .06 hadn't .04 won't .2 wouldn't .2 can't .4 couldn't .15
        shouldn't .05 mustn't .005 mightn't .002 needn't .005 shan't .001 ain't .03
        daren't .0005 oughtn't .0005 mayn't .0002
        I'm .8 I've .3 I'll .25 I'd .25 you're .35 you've .09 you'll .15 you'd .06
        he's .35 he'd .06 he'll .05 she's .18 she'd .03 she'll .02 it's 1.4 it'll .03
        it'd .01 we're .15 we've .07 we'll .08 we'd .02 they're .2
        they've .04 they'll .04
        they'd .02 that's .5 that'll .01 that'd .004 there's .25
        there'll .005 here's .05
        what's .09 who's .07 where's .02 how's .015 why's .002 when's .002 let's .12
        who'd .006 who've .004 who'll .004 there'd .002 what'll .001 what're .001
        y'know .003 ma'am .01 o'clock .04 c'mon .004 tis .003 twas .002
    """,
    "clitic": "n't .3 's 7.5 're .1 've .08 'll .06 'd .04 'm .03",
    "adverb": """
        not 5.5 very 1.4 too .9 also 1.1 just 1.7 only 1.2 even 1.0 still .7 then 1.1
        there 2.3 here .8 now 1.1 again .5 ever .35 never .7 always .5 often .25
        sometimes .15 perhaps .15 maybe .25 quite .25 rather .2 almost .3 already .25
        soon .15 away .4 back .8 well .9 really .6 else .15 instead .15 together .2
        far .3 later .25 indeed .1 further .12 forever .04 anyway .08 somehow .05
        somewhere .05 anywhere .04 everywhere .04 nowhere .03 thereby .01 therein .005
        thereof .003 hereby .002 herein .002 wherein .008 whereby .008 whereupon .002
        thereafter .008 hereafter .002 somewhat .06 alot .02 ago .2 apart .05 aside .04
        altogether .03 likewise .01 ahead .07 afterwards .03 afterward .01 upwards .01
    """,
    "interjection": """
        yes .3 yeah .1 yep .01 yup .008 nope .01 oh .25 ah .03 ha .03
        haha .01 hahaha .003
        hey .04 hi .03 hello .04 bye .02 wow .04 OK .08 okay .08 please .2 thanks .2
        thank .2 ugh .01 uh .02 um .02 hmm .01 huh .01 oops .005 ouch .004 yikes .003
        whoa .005 aw .003 aww .002 yay .004 hurray .002 hooray .002 bravo .006 alas .01
        gee .006 gosh .004 geez .002 sheesh .001 phew .001 meh .002 duh .002 blah .004
        yuck .002 yum .003 lol .02 omg .005 wtf .003 btw .005 imo .003 imho .002 etc .06
        eh .006 er .006 ooh .003 amen .006 heck .01 dang .003 damn .02 shit .01 fuck .01
        fucking .01 goddamn .003 crap .02 hallelujah .001 kudos .006 congrats .005
        sir .05 Mr .4 Mrs .08 Ms .06 Dr .1 St .1 Jr .04 Sr .02 vs .03 pm .05 pp .005
    """,
    "number word": """
        two 1.3 three .7 four .4 five .35 six .25 seven .15 eight .15 nine .1 ten .2
        eleven .03 twelve .05 thirteen .02 fourteen .015 fifteen .03 sixteen .015
        seventeen .01 eighteen .015 nineteen .01 twenty .07 thirty .05
        forty .03 fifty .04
        sixty .02 seventy .015 eighty .012 ninety .012 hundred .15 hundreds .06
        thousand .12 thousands .07 million .4 millions .08 billion .15 billions .03
        trillion .02 dozen .06 dozens .04 zero .05 first 1.3 second .6
        third .25 fourth .1
        fifth .05 sixth .03 seventh .02 eighth .02 ninth .015 tenth .015 twice .1
    """,
    # Particles inside foreign names, letters, and endings that a hyphen cuts off.
    "particle": """
        la .06 le .03 el .03 von .02 van .04 der .02 den .01 des .01 du .02
        di .02 da .02
        del .02 los .04 san .08 santa .03 al .1 bin .03 ibn .002 et .02 th .02 nd .01
        rd .01 re .02 ex .02 x .03 b .03 c .03 d .02 e .03 s .05 t .05 m .03 n .01 o .01
        p .01 r .02 u .03 v .02 w .02 f .01 g .01 h .01 j .02 k .01 l .01 q .01 y .02
        z .005
    """,
    "abbreviation": """
        II .03 III .02 IV .008 VI .006 VII .003 VIII .002 IX .002 co .05 inc .12 ltd .03
        corp .08 TV .1 PC .05 UK .08 EU .05 USA .05 U.S. .25 U.K. .01 U.N. .02 D.C. .02
        a.m. .02 p.m. .02 e.g. .01 i.e. .01
    """,
}


def classes() -> dict[str, dict[str, float]]:
    """Return class -> word -> tokens per thousand of running English."""
    return {name: _pairs(text) for name, text in _CLASSES.items()}


def frequencies() -> dict[str, float]:
    """Return word -> tokens per thousand, over all classes; the first class wins."""
    merged: dict[str, float] = {}
    for pairs in classes().values():
        for word, per_mille in pairs.items():
            merged.setdefault(word, per_mille)
    return merged


def _pairs(text: str) -> dict[str, float]:
    parts = text.split()
    return {
        word: float(figure)
        for word, figure in zip(parts[::2], parts[1::2], strict=True)
    }
