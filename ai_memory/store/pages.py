"""Pages out of files and out of index rows."""

import json

from ai_memory.model import Page, PageRef, Tier
from ai_memory.store.blobs import blob_id
from ai_memory.store.driver import DatabaseError
from ai_memory.store.index import read_text

COLUMNS = (
    "p.workspace, p.project, p.path, p.version, p.title, p.kind, p.tier, p.pinned, p.expires_at_us,"
    " p.updated_at_us, p.frontmatter, p.text, p.body_start,"
    " p.fault,"
    " (SELECT json_group_array(tag) FROM (SELECT tag FROM tags WHERE page_id = p.id ORDER BY tag))"
)
"""What `page_from_row` reads, of `pages AS p`."""


def page_of(ref: PageRef, content: bytes, *, updated_at_us: int) -> Page:
    """A page from the bytes of its file. Never raises: what cannot be parsed is plain text."""
    text, parsed, fault = read_text(ref, content)
    return Page(
        ref=ref,
        version=blob_id(content),
        text=text,
        title=parsed.title,
        kind=parsed.kind,
        tier=parsed.tier,
        tags=tuple(sorted(parsed.tags)),
        pinned=parsed.pinned,
        expires_at_us=parsed.expires_at_us,
        updated_at_us=updated_at_us,
        frontmatter=parsed.frontmatter,
        body=parsed.body,
        fault=fault,
    )


def page_from_row(row: tuple[object, ...]) -> Page:
    """A page from a row of `COLUMNS`. Raises the driver's DatabaseError for a row that we did not write so."""
    try:
        return _page(row)
    except (ValueError, TypeError) as fault:
        raise DatabaseError(f"malformed row of {row[2]!r:.80}") from fault


def _page(row: tuple[object, ...]) -> Page:
    text, body_start = str(row[11]), int(str(row[12]))
    return Page(
        ref=PageRef(str(row[0]), str(row[1]), str(row[2])),
        version=str(row[3]),
        title=str(row[4]),
        kind=str(row[5]),
        tier=Tier(str(row[6])),
        pinned=bool(row[7]),
        expires_at_us=None if row[8] is None else int(str(row[8])),
        updated_at_us=int(str(row[9])),
        frontmatter=json.loads(str(row[10])),
        text=text,
        body=text[body_start:],
        fault=str(row[13]),
        tags=tuple(json.loads(str(row[14]))),
    )
