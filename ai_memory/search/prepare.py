"""From what somebody typed to full-text expressions that SQLite always accepts."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ai_memory.text.grams import has_run, query_grams

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
_OPERATOR = re.compile(r"(?<!\S)(?:AND|OR|NOT)(?!\S)|\bNEAR\(")
_PIECE = re.compile(
    r'NEAR\((?P<near>[^()]*?)(?:,\s*(?P<distance>\d{1,3}))?\s*\)|"(?P<phrase>[^"]*)"(?P<begins>\*?)'
    r'|(?P<bracket>[()])|(?P<word>[^\s()"]+)'
)
_COLUMNS = {"title": "title", "body": "body", "heading": "heading", "tag": "words", "path": "words"}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query as the legs ask it."""

    text: str
    terms: tuple[str, ...]
    """Words and parts of identifiers, casefolded, once each, in the order typed."""
    phrases: tuple[str, ...]
    """What stood in double quotes."""
    explicit: str
    """The expression of a query in full-text syntax; "" for one in plain words. FTS5 may still refuse it."""

    @property
    def any_term(self) -> str:
        """The expression that any of the terms fulfils."""
        return match_expression(self.terms)


def prepare(query: str, *, stopwords: Collection[str] = STOPWORDS) -> Prepared:
    """The query, ready to be asked. Never fails."""
    plain = query.replace("\0", " ")
    phrases = tuple(" ".join(found.split()) for found in re.findall(r'"([^"]+)"', plain) if found.strip())
    explicit = explicit_expression(plain) if is_explicit(plain) else ""
    words = re.sub(_OPERATOR, " ", plain) if explicit else plain
    return Prepared(plain, tuple(terms(words, stopwords=stopwords)), phrases, explicit)


def is_explicit(query: str) -> bool:
    """Whether somebody wrote full-text syntax: a phrase in quotes, or AND, OR, NOT, NEAR( among words in lower case."""
    has_operator = _OPERATOR.search(query) is not None and any(map(str.islower, query))
    return has_operator or re.search(r'"[^"]*\w[^"]*"', query) is not None


def explicit_expression(query: str) -> str:
    """The query in FTS5's own syntax, each word quoted, operators and brackets as they stand. FTS5 may refuse it."""
    parts: list[str] = []
    for found in _PIECE.finditer(query):
        if found["bracket"]:
            parts.append(found["bracket"])
        elif found["near"] is not None:
            words = " ".join(_quoted(word) for word in found["near"].replace('"', " ").split())
            parts.append(f"NEAR({words}, {found['distance'] or 10})")
        elif found["phrase"] is not None:
            parts.append(_quoted(found["phrase"]) + found["begins"] if _PART.search(found["phrase"]) else "")
        elif found["word"] in ("AND", "OR", "NOT"):
            parts.append(found["word"])
        else:
            parts.append(_word_expression(found["word"]))
    return " ".join(filter(None, parts))


def _word_expression(word: str) -> str:
    name, colon, rest = word.partition(":")
    column = _COLUMNS.get(name.lower()) if colon and rest else None
    bare = rest if column else word
    if not _PART.search(bare):
        return ""
    return (f"{column} : " if column else "") + _quoted(bare.rstrip("*")) + ("*" if bare.endswith("*") else "")


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


def match_expression(found: Iterable[str]) -> str:
    """An FTS5 expression: any of the terms, each a quoted phrase. "" when there is no term."""
    return " OR ".join(dict.fromkeys(part for term in found for part in term_expressions(term)))


def term_expressions(term: str) -> list[str]:
    """What a term is looked for as: itself, or the pairs of its Han and Kana runs."""
    if not has_run(term):
        return [_quoted(term)]
    return [_quoted(gram[:-1]) + "*" if gram.endswith("*") else _quoted(gram) for gram in query_grams(term)]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
