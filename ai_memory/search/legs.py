"""The legs beside full text: what is named exactly, what carries an entity, what is linked to the best."""

import itertools
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
    FROM pages AS p
    WHERE p.id IN (SELECT id FROM pages WHERE path IN (?1, ?1 || '.md') OR title = ?1 COLLATE NOCASE) AND {conditions}
    ORDER BY p.workspace, p.project, p.path
    LIMIT 20
"""
_BY_VERSION = "SELECT p.id, 'version' FROM pages AS p WHERE p.version LIKE ?1 || '%' AND {conditions} LIMIT 20"
_BY_ID = """
    SELECT p.id, 'id' FROM pages AS p WHERE json_extract(p.frontmatter, '$.id') = ?1 AND {conditions}
    ORDER BY p.workspace, p.project, p.path LIMIT 20
"""
_ENTITIES = """
    SELECT e.page_id, e.name, (SELECT count(*) FROM entities AS same WHERE same.name = e.name)
    FROM entities AS e JOIN pages AS p ON p.id = e.page_id
    WHERE e.name >= ? AND e.name < ? AND {conditions}
    LIMIT 200
"""
_NEIGHBOURS = """
    SELECT t.id, l.kind, 0 FROM links AS l
    JOIN pages AS t ON t.workspace = l.workspace AND t.project = l.project AND t.path = l.path
    JOIN pages AS p ON p.id = t.id
    WHERE l.source_id = ?1 AND {conditions}
    UNION ALL
    SELECT l.source_id, l.kind, 1 FROM pages AS s
    JOIN links AS l ON l.workspace = s.workspace AND l.project = s.project AND l.path = s.path
    JOIN pages AS p ON p.id = l.source_id
    WHERE s.id = ?1 AND {conditions}
    ORDER BY 3, 1
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
    text = prepared.text.strip().strip('"').strip()
    if not 2 <= len(text) <= 512:
        return []
    asked = [_NAMED]
    if len(text) >= 7 and all(sign in "0123456789abcdef" for sign in text):
        asked.append(_BY_VERSION)
    if _ID.fullmatch(text):
        asked.append(_BY_ID)
    rows = [row for sql in asked for row in index.execute(sql.format(conditions=conditions), (text, *parameters))]
    return [Found(page_id, 1.0, by) for page_id, by in dict(reversed(rows)).items()]


def entities(index: Connection, prepared: Prepared, *, conditions: str, parameters: Sequence[object]) -> list[Found]:
    """Pages that carry an entity or alias which a word of the query is or begins: the rarer, the better."""
    words = [term for term in prepared.terms if 3 <= len(term) <= 64][:_MOST_ENTITY_WORDS]
    spans = [*words, *(f"{left} {right}" for left, right in itertools.pairwise(words))]
    weights: dict[int, dict[str, float]] = {}
    for word in spans:
        for page_id, name, count in index.execute(
            _ENTITIES.format(conditions=conditions), (word, f"{word}\U0010ffff", *parameters)
        ):
            weights.setdefault(page_id, {})[name] = 1.0 / count
    found = [Found(page_id, sum(own.values()), ", ".join(sorted(own))) for page_id, own in weights.items()]
    return sorted(found, key=lambda one: (-one.score, one.page_id))


def neighbours(
    index: Connection, seeds: Sequence[int], *, conditions: str, parameters: Sequence[object]
) -> list[Found]:
    """Pages that the seeds link to, or that link to them; the best seed's first, each page once, no seed."""
    found: dict[int, Found] = {}
    sql = _NEIGHBOURS.format(conditions=_renumbered(conditions, 2))
    for place, seed in enumerate(seeds):
        for page_id, kind, direction in index.execute(sql, (seed, *parameters)):
            if page_id not in seeds and page_id not in found:
                arrow = "from" if direction else "to"
                found[page_id] = Found(page_id, 1.0 / (place + 1), f"{kind} {arrow} {seed}")
    return list(found.values())


def _renumbered(conditions: str, first: int) -> str:
    """The conditions with numbered parameters, so that they can stand in one statement twice."""
    parts = conditions.split("?")
    return "".join(part + (f"?{first + place}" if place < len(parts) - 1 else "") for place, part in enumerate(parts))
