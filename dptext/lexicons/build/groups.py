"""Groups of closed-class words that can stand for one another.

Glosses say little of function words; these groups tell which are alike. Written by
hand; a word may be in several.
"""

from __future__ import annotations

_GROUPS = """
the a an
this that these those
some any each every either neither both all no none several many few
more most less least fewer enough much plenty lots lot
another other others such same own
what which whose whatever whichever
who whom whoever whomever someone somebody anyone anybody everyone everybody nobody
something anything everything nothing somethin nothin
I you he she it we they one ye thou y'all yo
me you him her it us them 'em em thee
my your his her its our their thy
mine yours his hers its ours theirs thine
myself yourself himself herself itself ourselves yourselves themselves oneself thyself
of for by with from to per via
in on at within inside upon onto into
over above below under beneath underneath behind beside near off by
up down out off away back over around along past round
before after during since until till while once when whenever
between among amongst amid amidst across through throughout
against versus vs despite except without beyond toward towards unto
about regarding concerning like unlike as than
and or but nor so yet plus
if unless whether because since although though whereas while whilst albeit lest
however therefore thus hence moreover nevertheless nonetheless furthermore otherwise
where when why how wherever whenever
here there now then where
be am is are was were been being
do does did done doing
have has had having 've 's 'd
will would shall should can could may might must ought cannot
gonna gotta wanna hafta oughta shoulda coulda woulda kinda sorta outta lemme gimme dunno
don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't ain't n't not
won't wouldn't can't couldn't shouldn't mustn't mightn't needn't shan't daren't mayn't
oughtn't cannot can't ca wo ai shan't won't
I'm you're we're they're he's she's it's that's there's here's what's who's where's
I've you've we've they've who've
I'll you'll we'll they'll he'll she'll it'll that'll there'll who'll what'll
I'd you'd we'd they'd he'd she'd it'd that'd who'd there'd
how's why's when's where's what's who's let's what're
's 're 've 'll 'd 'm n't
not never always often sometimes ever
very too so quite rather really almost somewhat
just only even also still already soon again else instead
perhaps maybe indeed anyway somehow anyways
somewhere anywhere everywhere nowhere somehow forever
yes yeah yep yup nope no OK okay
oh ah ha haha hahaha hey hi hello bye wow ugh uh um hmm huh oops ouch yikes whoa
aw aww yay hurray hooray bravo alas gee gosh geez sheesh phew meh duh blah yuck yum
lol omg wtf btw imo imho etc
damn dang heck crap shit fuck fucking goddamn
please thanks thank congrats kudos
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty
ninety hundred thousand million billion trillion dozen zero two three four five
first second third fourth fifth sixth seventh eighth ninth tenth
hundreds thousands millions billions dozens
Mr Mrs Ms Dr St Jr Sr sir ma'am
la le el der den des du di da del los de van von al bin ibn san santa et
II III IV VI VII VIII IX
b c d e f g h j k l m n o p q r s t u v w x y z
th nd rd re ex
inc ltd corp co
UK EU USA U.S. U.K. U.N. D.C.
a.m. p.m. pm e.g. i.e. pp
"""


def groups() -> tuple[tuple[str, ...], ...]:
    """Return the groups, keys in lower case."""
    return tuple(tuple(line.lower().split()) for line in _GROUPS.split("\n") if line)
