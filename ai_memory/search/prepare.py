"""From what somebody typed to full-text expressions that SQLite always accepts."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ai_memory.hook_terms import STOPWORDS
from ai_memory.text.grams import expressions, has_run, quoted, runs_and_words

MAX_TERMS = 64
"""Terms above this add nothing to a ranking and cost time."""
MAX_CHARACTERS = 8_192
"""What a query says after these is not read: they hold more than `MAX_TERMS` words."""

_WORD = re.compile(r"[^\W_]+(?:[._/:#@+'-]*[^\W_]+)*|_+[^\W]+", re.UNICODE)
_PART = re.compile(r"[^\W_]+", re.UNICODE)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OPERATOR = re.compile(r"(?<!\S)(?:AND|OR|NOT)(?!\S)|\bNEAR\(")
_NEGATED = re.compile(r'(?<!\S)NOT\s+(?:"[^"]*"|\([^()]*\)|[^\s()"]+)')
"""What a page must not hold is no word to look for."""
_PIECE = re.compile(
    r'NEAR\((?P<near>[^()]*)\)|"(?P<phrase>[^"]*)"(?P<begins>\*?)|(?P<bracket>[()])|(?P<word>[^\s()"]+)'
)
_COLUMNS = {"title": "title", "body": "body", "heading": "heading", "tag": "words", "path": "words"}
_COLUMN = re.compile(rf"(?<![\w.:/-])(?:{'|'.join(_COLUMNS)}):(?=[\w\"])", re.IGNORECASE)
_MAX_BEGINNINGS = 8
"""Words with `*` in one expression: each reads the lists of all words that begin so."""
_UNREADABLE = re.compile("[\0\ud800-\udfff]")
"""What neither SQLite nor UTF-8 takes."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query as the legs ask it."""

    text: str
    terms: tuple[str, ...]
    """Words and parts of identifiers in lower case, once each, in the order typed. Not casefolded: `straße` would
    become `strasse`, which the index holds as another word."""
    explicit: str
    """The expression of a query in full-text syntax; "" for one in plain words. FTS5 may still refuse it."""


def prepare(query: str, *, stopwords: Collection[str] = STOPWORDS) -> Prepared:
    """The query, ready to be asked. Never fails."""
    plain = readable(query)
    explicit = explicit_expression(plain) if is_explicit(plain) else ""
    words = plain
    if explicit:
        for syntax in (_NEGATED, _OPERATOR, _COLUMN):
            words = syntax.sub(" ", words)
    return Prepared(plain, tuple(terms(words, stopwords=stopwords)), explicit)


def readable(query: str) -> str:
    """The beginning of a query as SQLite takes it, letters with marks in one piece each, as pages mostly hold them."""
    return unicodedata.normalize("NFC", _UNREADABLE.sub(" ", query[:MAX_CHARACTERS]))


def is_explicit(query: str) -> bool:
    """Whether somebody wrote full-text syntax: a phrase in quotes, or AND, OR, NOT, NEAR( where not all is capitals."""
    if any(map(_PART.search, re.findall(r'"([^"]*)"', query))):
        return True
    return _OPERATOR.search(query) is not None and not _OPERATOR.sub(" ", query).isupper()


def explicit_expression(query: str) -> str:
    """The query in FTS5's own syntax, each word quoted, operators and brackets as they stand. FTS5 may refuse it.

    "" for one that is longer than anybody types.
    """
    parts: list[str] = []
    for found in _PIECE.finditer(query):
        if found["bracket"]:
            parts.append(found["bracket"])
        elif found["near"] is not None:
            parts.append(_near_expression(found["near"]))
        elif found["phrase"] is not None:
            parts.append(_phrase_expression(found["phrase"], found["begins"]) if _PART.search(found["phrase"]) else "")
        elif found["word"] in ("AND", "OR", "NOT"):
            parts.append(found["word"])
        else:
            parts.append(_word_expression(found["word"]))
    if len(parts) > 2 * MAX_TERMS or sum(part.endswith("*") for part in parts) > _MAX_BEGINNINGS:
        return ""
    return " ".join(filter(None, parts))


def _word_expression(word: str) -> str:
    name, colon, rest = word.partition(":")
    column = _COLUMNS.get(name.lower()) if colon and rest else None
    bare = rest if column else word
    if not _PART.search(bare):
        return ""
    phrase = _phrase_expression(bare.rstrip("*"), "*" if bare.endswith("*") else "")
    return f"{column} : {phrase}" if column and not has_run(bare) else phrase


def _near_expression(inside: str) -> str:
    words, comma, distance = inside.rpartition(",")
    if not (comma and distance.strip().isdecimal() and len(distance.strip()) <= 3):
        words, distance = inside, "10"
    phrases = " ".join(quoted(word) for word in words.replace('"', " ").split() if _PART.search(word))
    return f"NEAR({phrases}, {int(distance)})" if phrases else ""


def _phrase_expression(phrase: str, begins: str) -> str:
    """The phrase in quotes; where it holds runs of Han and Kana, their pairs in a row, as the index holds them."""
    if not has_run(phrase):
        return quoted(phrase) + (begins if len(phrase.strip()) > 1 else "")
    found = []
    for run, word in runs_and_words(phrase):
        pairs = " ".join(run[at : at + 2] for at in range(len(run) - 1))
        found.append(quoted(word) if word else f"grams : {quoted(pairs)}" if pairs else f"grams : {quoted(run)}*")
    return f"({' AND '.join(found)})"


def terms(query: str, *, stopwords: Collection[str] = STOPWORDS) -> list[str]:
    """The words to look for, once each, in the order typed: identifiers whole and by part.

    `parse_config` gives `parse_config`, `parse`, `config`; words of the stop list go unless nothing else is left.
    """
    words = _WORD.findall(query)
    kept = [word for word in words if word.casefold() not in stopwords] or words
    found: dict[str, str] = {}
    for word in kept:
        for term in (word, *_parts(word)):
            found.setdefault(term.casefold(), term.lower())
            if len(found) >= MAX_TERMS:
                return list(found.values())
    return list(found.values())


def _parts(word: str) -> list[str]:
    parts = [piece for part in _PART.findall(word) for piece in (part, *_HUMP.split(part))]
    return [part for part in parts if part != word and len(part) > 1]


def match_expression(found: Iterable[str]) -> str:
    """An FTS5 expression: any of the terms, each a quoted phrase. "" when there is no term."""
    return " OR ".join(dict.fromkeys(part for term in found for part in expressions(term)))
