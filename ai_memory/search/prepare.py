"""From what somebody typed to a full-text expression that SQLite always accepts."""

import re
from collections.abc import Collection

MAX_TERMS = 64
"""Terms above this add nothing to a ranking and cost time."""

_STOPWORD_TEXT = """
a about all also an and any are as at be been but by can could did do does doing for from had has have having he her
here him his how i if in into is it its just let like me my of on or our out over please she so some such than that the
their them then there these they this those to up us was we were what when where which while who why will with would
you your
"""

STOPWORDS = frozenset(_STOPWORD_TEXT.split())
"""Words of English that carry no topic. All-stopword queries keep them."""

_WORD = re.compile(r"[^\W_]+(?:[._/:#@+'-]*[^\W_]+)*|_+[^\W]+", re.UNICODE)
_PART = re.compile(r"[^\W_]+", re.UNICODE)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def terms(query: str, *, stopwords: Collection[str] = STOPWORDS) -> list[str]:
    """The words to look for, once each, in the order typed: identifiers whole and by part.

    `parse_config` gives `parse_config`, `parse`, `config`; words of the stop list go unless nothing else is left.
    """
    words = _WORD.findall(query.replace("\0", " "))
    kept = [word for word in words if word.casefold() not in stopwords] or words
    found: dict[str, None] = {}
    for word in kept:
        for term in (word, *_parts(word)):
            found.setdefault(term.casefold(), None)
            if len(found) >= MAX_TERMS:
                return list(found)
    return list(found)


def _parts(word: str) -> list[str]:
    parts = [piece for part in _PART.findall(word) for piece in (part, *_HUMP.split(part))]
    return [part for part in parts if part != word and len(part) > 1]


def match_expression(found: Collection[str]) -> str:
    """An FTS5 expression: any of the terms, each a quoted phrase. "" when there is no term."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in found)
