"""Pages that came with a source, as the index has them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ai_memory.model import PageRef
from ai_memory.store.driver import Connection

_OF_SOURCE = """
    SELECT path, version, pinned, frontmatter FROM pages
    WHERE workspace = ? AND project = ? AND json_extract(frontmatter, '$.imported_from.source') = ? ORDER BY path
"""
_TAKEN = """
    SELECT path, json_extract(frontmatter, '$.id') FROM pages WHERE workspace = ? AND project = ? ORDER BY path
"""
_BROUGHT = """
    SELECT DISTINCT p.workspace, p.project, json_extract(p.frontmatter, '$.imported_from.source') AS source
    FROM json_each(?) AS named
    CROSS JOIN pages AS p
    ON p.workspace = named.value ->> 0 AND p.project = named.value ->> 1 AND p.path = named.value ->> 2
    WHERE instr(p.frontmatter, 'imported_from') > 0 AND typeof(source) = 'text'
"""


@dataclass(frozen=True, slots=True)
class Owned:
    """One page of a source, and what its frontmatter says of where it came from."""

    ref: PageRef
    version: str
    pinned: bool
    keys: Mapping[str, object]

    def origin(self, key: str) -> str:
        """A text under `imported_from`; empty where there is none."""
        origin = self.keys.get("imported_from")
        value = origin.get(key) if isinstance(origin, dict) else None
        return value if isinstance(value, str) else ""


def pages_of_source(index: Connection, workspace: str, project: str, source: str) -> list[Owned]:
    """The pages of a project that this source brought, by path."""
    rows = index.execute(_OF_SOURCE, (workspace, project, source))
    return [
        Owned(PageRef(workspace, project, path), version, bool(pinned), json.loads(keys))
        for path, version, pinned, keys in rows
    ]


def taken_in(index: Connection, workspace: str, project: str) -> tuple[set[str], set[str]]:
    """Paths and ids of all pages of a project."""
    rows = index.execute(_TAKEN, (workspace, project)).fetchall()
    return {path for path, _ in rows}, {identifier for _, identifier in rows if isinstance(identifier, str)}


def sources_of(index: Connection, refs: Iterable[PageRef]) -> set[tuple[str, str, str]]:
    """Workspace, project and source of those of the pages that a source brought."""
    named = json.dumps([(ref.workspace, ref.project, ref.path) for ref in refs])
    return {(workspace, project, source) for workspace, project, source in index.execute(_BROUGHT, (named,))}
