"""The legs beside full text: what is named exactly, what carries an entity, what is linked to the best."""

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ai_memory.search.prepare import Prepared
from ai_memory.store.driver import Connection

_MOST_ENTITY_WORDS = 12
_ID = re.compile(r"(?:f-)?[0-9a-f]{12}|[0-9a-f]{32}")
"""Ids of facts, handoffs and sessions."""
_NAMED = """
    SELECT p.id, CASE WHEN p.path IN (?1, ?1 || '.md') THEN 'path' ELSE 'title' END
    FROM (
        SELECT id FROM pages WHERE path IN (?1, ?1 || '.md')
        UNION SELECT id FROM pages WHERE title = ?1 COLLATE NOCASE
    ) AS named CROSS JOIN pages AS p ON p.id = named.id
    WHERE {conditions}
    ORDER BY p.workspace, p.project, p.path
    LIMIT 20
"""
"""`CROSS JOIN` here and below keeps SQLite from walking all pages of the project first, as it would."""
_BY_VERSION = """
    SELECT p.id, 'version'
    FROM (SELECT id FROM pages WHERE version >= ?1 AND version < ?1 || 'g') AS named
    CROSS JOIN pages AS p ON p.id = named.id
    WHERE {conditions}
    ORDER BY p.workspace, p.project, p.path LIMIT 20
"""
_BY_ID = """
    SELECT p.id, 'id'
    FROM (
        SELECT id FROM pages
        WHERE json_extract(frontmatter, '$.id') = ?1 AND json_extract(frontmatter, '$.id') IS NOT NULL
    ) AS named CROSS JOIN pages AS p ON p.id = named.id
    WHERE {conditions}
    ORDER BY p.workspace, p.project, p.path LIMIT 20
"""
_ENTITIES = """
    SELECT e.page_id, e.name, (SELECT count(*) FROM entities AS same WHERE same.name = e.name)
    FROM json_each(?) AS word
    CROSS JOIN entities AS e ON e.name >= word.value AND e.name < word.value || char(1114111)
    CROSS JOIN pages AS p ON p.id = e.page_id
    WHERE {conditions}
    ORDER BY word.key, e.name, p.workspace, p.project, p.path
    LIMIT 1000
"""
_NEIGHBOURS = """
    SELECT p.id, l.kind, 'to', p.workspace, p.project, p.path
    FROM links AS l
    CROSS JOIN pages AS p ON p.workspace = l.workspace AND p.project = l.project AND p.path = l.path
    WHERE l.source_id = ?1 AND {conditions}
    UNION ALL
    SELECT p.id, l.kind, 'from', p.workspace, p.project, p.path
    FROM pages AS s
    CROSS JOIN links AS l ON l.workspace = s.workspace AND l.project = s.project AND l.path = s.path
    CROSS JOIN pages AS p ON p.id = l.source_id
    WHERE s.id = ?1 AND {conditions}
    ORDER BY 3 DESC, 4, 5, 6, 2
    LIMIT 50
"""


@dataclass(frozen=True, slots=True)
class Found:
    """One page that a leg found. `score` as the leg counts, higher is better."""

    page_id: int
    score: float
    detail: str


def exact(index: Connection, prepared: Prepared, *, conditions: str, parameters: Sequence[object]) -> list[Found]:
    """Pages whose path, title, version or id is the query itself."""
    text = " ".join(prepared.text.strip().strip('"').split())
    if not 1 <= len(text) <= 512:
        return []
    asked = [_NAMED]
    if len(text) >= 7 and all(sign in "0123456789abcdef" for sign in text):
        asked.append(_BY_VERSION)
    if _ID.fullmatch(text):
        asked.append(_BY_ID)
    rows = [row for sql in asked for row in index.execute(sql.format(conditions=conditions), (text, *parameters))]
    first = dict(reversed(rows))
    return [Found(page_id, 1.0, first[page_id]) for page_id in dict(rows)]


def entities(index: Connection, prepared: Prepared, *, conditions: str, parameters: Sequence[object]) -> list[Found]:
    """Pages that carry an entity or alias which a word of the query is or begins: the rarer, the better."""
    words = [term for term in prepared.terms if 3 <= len(term) <= 64][:_MOST_ENTITY_WORDS]
    spans = [*words, *(f"{left} {right}" for left, right in itertools.pairwise(words))]
    weights: dict[int, dict[str, float]] = {}
    rows = index.execute(_ENTITIES.format(conditions=conditions), (json.dumps(spans), *parameters))
    for page_id, name, count in rows if spans else ():
        weights.setdefault(page_id, {})[name] = 1.0 / count
    return [Found(page_id, sum(own.values()), ", ".join(sorted(own))) for page_id, own in weights.items()]


def neighbours(
    index: Connection, seeds: Sequence[tuple[int, str]], *, conditions: str, parameters: Sequence[object]
) -> list[Found]:
    """Pages that the seeds (id, path) link to, or that link to them: the best seed's first, each once, no seed."""
    found: dict[int, Found] = {}
    known = {page_id for page_id, _ in seeds}
    sql = _NEIGHBOURS.format(conditions=_renumbered(conditions, 2))
    for place, (seed, path) in enumerate(seeds):
        for page_id, kind, direction, *_ in index.execute(sql, (seed, *parameters)):
            if page_id not in known and page_id not in found:
                found[page_id] = Found(page_id, 1.0 / (place + 1), f"{kind} {direction} {path}")
    return list(found.values())


def _renumbered(conditions: str, first: int) -> str:
    """The conditions with numbered parameters, so that they can stand in one statement twice."""
    parts = conditions.split("?")
    return "".join(part + (f"?{first + place}" if place < len(parts) - 1 else "") for place, part in enumerate(parts))
