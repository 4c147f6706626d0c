"""What pages are without their texts, for whoever looks at all of them: the texts of 100,000 pages fill the memory."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ai_memory.model import PageRef, Tier
from ai_memory.store.driver import Connection, DatabaseError
from ai_memory.store.snapshot import Filter

_HEADS = """
    SELECT p.workspace, p.project, p.path, p.version, p.title, p.kind, p.tier, p.pinned, p.expires_at_us,
        p.updated_at_us, p.frontmatter, p.fault, length(CAST(p.text AS BLOB)), p.superseded
    FROM pages AS p WHERE {conditions} ORDER BY p.workspace, p.project, p.path
"""


@dataclass(frozen=True, slots=True)
class PageHead:
    """One version of a page, without its text."""

    ref: PageRef
    version: str
    title: str
    kind: str
    tier: Tier
    pinned: bool
    expires_at_us: int | None
    updated_at_us: int
    frontmatter: Mapping[str, object]
    fault: str
    size_bytes: int
    superseded: bool


def page_heads(index: Connection, wanted: Filter) -> Iterator[PageHead]:
    """The pages that are wanted, by address. Raises the driver's DatabaseError for a row that we did not write so."""
    conditions, parameters = wanted.sql()
    for row in index.execute(_HEADS.format(conditions=conditions), parameters):
        try:
            yield PageHead(
                ref=PageRef(row[0], row[1], row[2]),
                version=row[3],
                title=row[4],
                kind=row[5],
                tier=Tier(row[6]),
                pinned=bool(row[7]),
                expires_at_us=row[8],
                updated_at_us=row[9],
                frontmatter=json.loads(row[10]),
                fault=row[11],
                size_bytes=row[12],
                superseded=bool(row[13]),
            )
        except (ValueError, TypeError) as fault:
            raise DatabaseError(f"malformed row of {row[2]!r:.80}") from fault
