"""The words of a text as a prompt is looked up by: the same for who renders the file and who reads it. Light.

Close to what the full text of the index does, without its library: words at whatever is no letter or digit, folded,
without accents, English endings of plurals, `-ed` and `-ing` cut (the first step of Porter's stemmer, which the index
goes on with), parts of identifiers beside the whole, pairs of Han and Kana.
"""

# ruff: noqa: SIM905 (a list of words reads better than a list of quotes)

STOPWORDS = frozenset(
    """
a about all also an and any are as at be been but by can could did do does doing for from had has have having he her
here him his how i if in into is it its just let like me my of on or our out over please she so some such than that the
their them then there these they this those to up us was we were what when where which while who why will with would
you your
""".split()
)
"""Words of English that carry no topic."""

_TALK = frozenset(
    """
again already add another anything back before better change check come continue create current currently done dont
else even everything explain fine first fix get give go going good got great help hey hi idea implement instead issue
know last lets look looks made make maybe more much need new next nice no not nothing now ok okay one only other
perfect problem put really review right run same say see seem seems should show something still sure take tell thank
thanks thing things think too try two update use used using very want way well whats work working works write yeah yep
yes yet
access branch code effort error fail failure file happen local mean message plan prompt question summary
com github http https org pr pull www
""".split()
)
"""Words that people say to agents whatever they speak of. A prompt is no question: half of it is of this kind."""

_BLANKS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))
_LONGEST = 40
"""Letters of a word; beyond are hashes and pasted data."""


def words(text: str) -> "list[str]":
    """The terms of a text in their order, repeated as they stand there. Words of talk are left out."""
    pairs: list[str] = []
    if text.isascii():
        found = text.encode().translate(_BLANKS).decode().split()
    else:
        found, pairs = _beyond_ascii(text)
    terms: list[str] = []
    for word in found:
        for part in (word, *_humps(word)):
            flat = part.lower()
            if len(flat) < 2 or len(flat) > _LONGEST or flat in STOPWORDS or flat in _TALK:
                continue
            stem = _stem(flat)
            if stem not in _TALK:
                terms.append(stem)
    return terms + pairs


def _beyond_ascii(text: str) -> "tuple[list[str], list[str]]":
    """Words without accents, and pairs of Han and Kana."""
    import unicodedata  # only for such a text

    from ai_memory.text.grams import grams, has_run, runs_and_words  # the same

    pairs = grams(text).split() if has_run(text) else []
    plain = " ".join(word for _, word in runs_and_words(text) if word) if pairs else text
    flat = "".join(sign for sign in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(sign))
    return "".join(sign if sign.isalnum() else " " for sign in flat).split(), pairs


def _humps(word: str) -> "list[str]":
    """`parse` and `Config` of `parseConfig`; nothing of a word that has no such parts."""
    if word.islower() or word.isupper() or word.istitle() or word.isdigit():
        return []
    parts, start = [], 0
    for at in range(1, len(word)):
        if word[at].isupper() and not word[at - 1].isupper():
            parts.append(word[start:at])
            start = at
    return [*parts, word[start:]] if parts else []


def _stem(word: str) -> str:
    """The word without an English ending of a plural, `-ed` or `-ing`."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("ies"):
        word = word[:-3] + "i"
    elif word[-1] == "s" and word[-2] not in "su":
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and any(vowel in rest for vowel in "aeiouy"):
            doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
            word = rest[:-1] if doubled else rest
            break
    if len(word) > 4 and word[-1] == "e":
        return word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word[-1] == "y" else word
