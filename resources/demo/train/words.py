"""Words written by hand, which the templates of `texts` put together."""

NOUNS = tuple(
    """voice dog cat house river mountain child mother father teacher friend garden window door
    table book story song bird tree road city water fire stone light night morning machine robot
    computer memory layer token number word sentence letter sound music picture game world sun moon
    star ship boat train car box key map cup lamp chair bed hand face heart eye idea question answer
    cache slot model debugger pocket error test line page""".split()
)
ADJECTIVES = tuple(
    """tiny small big old new happy sad quiet loud bright dark warm cold fast slow clear broken
    empty full green red blue white black strange simple little long short good bad clean silent
    gentle brave lazy clever hungry""".split()
)
TRANSITIVE = tuple(
    """sees finds likes loves hears holds keeps opens closes reads writes breaks moves follows needs
    wants makes takes brings changes watches paints carries remembers forgets""".split()
)
INTRANSITIVE = tuple(
    """sleeps runs sings speaks waits listens works falls stops starts laughs cries dances smiles
    jumps walks talks moves""".split()
)
ADVERBS = (
    *"slowly quickly now today again here there quietly loudly".split(),
    "every day",
    "at night",
    "in the morning",
    "all the time",
    "very well",
)
PREPOSITIONS = tuple("in on near under behind over with beside".split())
DETERMINERS = tuple("the a my your this that every our".split())
NUMBERS = tuple(
    """zero one two three four five six seven eight nine ten eleven twelve twenty thirty""".split()
)
AUXILIARIES = tuple("can will do did".split())
PRONOUNS = tuple("you we they i".split())
PLAIN_VERBS = tuple("see hear find like open hold want need".split())
PAST_VERBS = tuple("saw heard found".split())
CONJUNCTIONS = tuple("and but so".split())

FIXED = (
    "hello world. i am a tiny voice.",
    "hello world.",
    "i am a tiny voice.",
    "hello.",
    "hello there.",
    "good morning.",
    "good night.",
    "thank you.",
    "how are you?",
    "i am here.",
    "this is a test.",
    "can you hear me?",
    "yes.",
    "no.",
    "please speak slowly.",
    "i am a small model.",
    "the cache is full.",
    "the cache is broken.",
    "my voice is clear.",
    "hello my friend.",
    "one two three four five.",
    "six seven eight nine ten.",
    "what is your name?",
    "my name is pocket.",
    "i can speak.",
    "the weather is nice today.",
    "see you soon.",
    "all is well.",
    "welcome back.",
    "i am a debugger.",
)
GLUE = ("i", "am", "is", "hello", "an")
CLASSES = (
    NOUNS,
    ADJECTIVES,
    TRANSITIVE,
    INTRANSITIVE,
    PREPOSITIONS,
    NUMBERS,
    AUXILIARIES,
    PRONOUNS,
    (*PLAIN_VERBS, *PAST_VERBS),
    DETERMINERS,
)
