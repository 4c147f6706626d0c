"""One consistent view of the index, for readers. No lock, no write, no git."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ai_memory.model import Page, PageRef, Project
from ai_memory.store import index
from ai_memory.store.addresses import NO_REPORT
from ai_memory.store.blobs import blob_id
from ai_memory.store.driver import Connection, DatabaseError
from ai_memory.store.pages import COLUMNS, page_from_row
from ai_memory.text.names import LINT_FOLDER, LINT_KIND

Sort = Literal["path", "-path", "updated", "-updated", "title", "-title"]

_ORDER = {
    "path": "p.path, p.workspace, p.project",
    "-path": "p.path DESC, p.workspace, p.project",
    "updated": "p.updated_at_us, p.workspace, p.project, p.path",
    "-updated": "p.updated_at_us DESC, p.workspace, p.project, p.path",
    "title": "p.title COLLATE NOCASE, p.workspace, p.project, p.path",
    "-title": "p.title COLLATE NOCASE DESC, p.workspace, p.project, p.path",
}


_PROJECT_COLUMNS = "uid, workspace, name, identity, identity_source, aliases, former_names, created_at_us, private"
"""What `_project` reads."""


VALID = """
    (p.valid_from_us IS NULL OR p.valid_from_us <= ?1)
    AND iif(p.valid_to_us IS NULL, NOT p.superseded, p.valid_to_us > ?1)
    AND (p.kind = 'fact' OR NOT EXISTS (
        SELECT 1 FROM links AS l CROSS JOIN pages AS s ON s.id = l.source_id
        WHERE l.workspace = p.workspace AND l.project = p.project AND l.path = p.path AND l.kind = 'supersedes'
        AND s.id <> p.id AND NOT s.superseded AND (s.valid_from_us IS NULL OR s.valid_from_us <= ?1)
        AND NOT EXISTS (
            SELECT 1 FROM links AS b WHERE b.source_id = p.id
            AND b.workspace = s.workspace AND b.project = s.project AND b.path = s.path AND b.kind = 'supersedes'
        )
    ))
"""
"""Over `pages AS p`: it holds at an instant. What was closed without an end never holds, nor what another page that
holds supersedes; two that say so of each other both stay. A fact is closed by its own page alone, since every agent may
write another one."""


@dataclass(frozen=True, slots=True)
class PageList:
    """A part of a list, and how long the whole is."""

    pages: list[Page]
    total: int


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One link; `resolved` says whether its target exists."""

    source: PageRef
    target: PageRef
    kind: str
    resolved: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the index holds."""

    pages: int = 0
    chunks: int = 0
    links: int = 0
    unresolved_links: int = 0
    projects: int = 0
    faulty_pages: int = 0


_STALE_LINKS = """
    SELECT count(*) FROM links AS l
    JOIN pages AS t ON t.workspace = l.workspace AND t.project = l.project AND t.path = l.path
    WHERE (t.superseded OR t.expires_at_us <= ?) AND l.kind <> 'supersedes'
"""
"""A page that supersedes another one names it for good."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Pages by what they are and where they lie."""

    by_kind: Mapping[str, int] = field(default_factory=dict)
    by_tier: Mapping[str, int] = field(default_factory=dict)
    by_project: Mapping[str, int] = field(default_factory=dict)
    """Under `workspace/project`; 0 for one without pages."""
    expiring: int = 0
    stale_links: int = 0
    """Links of pages to one that is superseded or whose time is over."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which pages. All given conditions hold; None asks for nothing."""

    workspace: str | None = None
    project: str | None = None
    kind: str | None = None
    """Of facts also the kind of fact."""
    tag: str | None = None
    tier: str | None = None
    prefix: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    pinned: bool | None = None
    unexpired_at_us: int | None = None
    """Leave out what expired before this instant."""
    expired_at_us: int | None = None
    """Only what is over at this instant."""
    state: str | None = None
    """As the frontmatter says it, of a handoff."""
    origin: str | None = None
    superseded: bool | None = None
    """False leaves out pages that another one replaced."""
    valid_at_us: int | None = None
    """Leave out what does not hold yet at this instant, or no longer: with `valid_to` that says it, else superseded."""
    agent: str | None = None
    """Of session pages: whose session they tell of."""
    refs: tuple[PageRef, ...] | None = None
    """Only these pages."""
    is_public: bool = False
    """Leave out pages of private projects: what looks over all projects does."""
    no_reports: bool = False
    """Leave out reports on other pages, unless their kind, folder or address is asked for."""

    def sql(self) -> tuple[str, list[object]]:
        """Conditions over `pages AS p`, and their parameters."""
        conditions: list[str] = ["1"]
        parameters: list[object] = []
        for condition, value in (
            ("p.workspace = ?", self.workspace),
            ("p.project = ?", self.project),
            ("p.tier = ?", self.tier),
            ("p.updated_at_us >= ?", self.since_us),
            ("p.updated_at_us < ?", self.until_us),
            ("p.pinned = ?", self.pinned),
            ("p.superseded = ?", self.superseded),
            ("EXISTS (SELECT 1 FROM tags WHERE tag = ? AND page_id = p.id)", self.tag),
            ("(p.expires_at_us IS NULL OR p.expires_at_us >= ?)", self.unexpired_at_us),
            ("p.expires_at_us <= ?", self.expired_at_us),
            ("json_extract(p.frontmatter, '$.state') = ?", self.state),
            ("json_extract(p.frontmatter, '$.origin') = ?", self.origin),
        ):
            if value is not None:
                conditions.append(condition)
                parameters.append(value)
        if self.kind is not None:
            conditions.append("? IN (p.kind, json_extract(p.frontmatter, '$.fact_kind'))")
            parameters.append(self.kind)
        if self.valid_at_us is not None:
            conditions.append(VALID.replace("?1", str(int(self.valid_at_us))))
        if self.agent is not None:
            conditions.append("json_extract(p.frontmatter, '$.agent') = ?")
            parameters.append(self.agent)
        if self.refs is not None:
            conditions.append(
                "EXISTS (SELECT 1 FROM json_each(?) AS j WHERE j.value ->> 0 = p.workspace"
                " AND j.value ->> 1 = p.project AND j.value ->> 2 = p.path)"
            )
            parameters.append(json.dumps([(ref.workspace, ref.project, ref.path) for ref in self.refs]))
        if self.is_public:
            conditions.append(
                "NOT EXISTS (SELECT 1 FROM projects AS q"
                " WHERE q.workspace = p.workspace AND q.name = p.project AND q.private)"
            )
        if self.no_reports and not self._asks_for_reports:
            conditions.append(NO_REPORT)
        if self.prefix:
            conditions.append("substr(p.path, 1, ?) = ?")
            parameters += [len(self.prefix), self.prefix]
        return " AND ".join(conditions), parameters

    @property
    def _asks_for_reports(self) -> bool:
        is_there = (self.prefix or "").startswith(LINT_FOLDER)
        return is_there or self.kind == LINT_KIND or self.refs is not None


@dataclass(slots=True)
class Snapshot:
    """A read transaction over the index. `gaps` names what the answer may lack."""

    index: Connection
    gaps: list[str] = field(default_factory=list)

    @property
    def head(self) -> str | None:
        """The commit that the index holds."""
        return index.head(self.index)

    def page(self, ref: PageRef) -> Page | None:
        """The page, its text checked against its version. Raises the driver's DatabaseError where they differ."""
        row = self.index.execute(
            f"SELECT {COLUMNS} FROM pages AS p WHERE p.workspace = ? AND p.project = ? AND p.path = ?",
            (ref.workspace, ref.project, ref.path),
        ).fetchone()
        page = None if row is None else page_from_row(row)
        if page is not None and not page.fault and blob_id(page.text.encode("utf-8", "replace")) != page.version:
            raise DatabaseError(f"malformed text of {ref}")
        return page

    def has_version(self, version: str) -> bool:
        """Whether some page stands at that version, wherever it lies."""
        return self.index.execute("SELECT 1 FROM pages WHERE version = ? LIMIT 1", (version,)).fetchone() is not None

    def select(self, wanted: Filter, *, sort: str = "-updated", limit: int = 100, offset: int = 0) -> PageList:
        """Pages by `wanted`, in a total order. `sort` is one of `Sort`.

        Chosen by id first: a sort carries what it selects, and the texts of 10,000 pages took 34 ms (2026-11-30).
        """
        conditions, parameters = wanted.sql()
        total = self.index.execute(f"SELECT count(*) FROM pages AS p WHERE {conditions}", parameters).fetchone()[0]
        rows = self.index.execute(
            f"SELECT {COLUMNS} FROM pages AS p WHERE p.id IN"
            f" (SELECT p.id FROM pages AS p WHERE {conditions} ORDER BY {_ORDER[sort]} LIMIT ? OFFSET ?)"
            f" ORDER BY {_ORDER[sort]}",
            [*parameters, limit, offset],
        )
        return PageList([page_from_row(row) for row in rows], total)

    def pages(
        self,
        *,
        workspace: str | None = None,
        project: str | None = None,
        kind: str | None = None,
        tag: str | None = None,
        tier: str | None = None,
        prefix: str | None = None,
        since_us: int | None = None,
        until_us: int | None = None,
        pinned: bool | None = None,
        is_public: bool = False,
        sort: str = "-updated",
        limit: int = 100,
        offset: int = 0,
    ) -> PageList:
        """`select`, with the conditions as words."""
        wanted = Filter(workspace, project, kind, tag, tier, prefix, since_us, until_us, pinned, is_public=is_public)
        return self.select(wanted, sort=sort, limit=limit, offset=offset)

    def projects(self, workspace: str | None = None) -> list[Project]:
        rows = self.index.execute(
            f"SELECT {_PROJECT_COLUMNS} FROM projects WHERE ?1 IS NULL OR workspace = ?1 ORDER BY workspace, name",
            (workspace,),
        )
        return [_project(row) for row in rows]

    def projects_with_pages(self) -> set[tuple[str, str]]:
        """(workspace, name) of those that hold any page."""
        return {(row[0], row[1]) for row in self.index.execute("SELECT DISTINCT workspace, project FROM pages")}

    def private_projects(self) -> frozenset[tuple[str, str]]:
        """(workspace, name) of those that answer nobody outside them."""
        return frozenset(self.index.execute("SELECT workspace, name FROM projects WHERE private"))

    def counts(self, wanted: Filter | None = None) -> Counts:
        conditions, parameters = (wanted or Filter()).sql()
        pages, faulty = self.index.execute(
            f"SELECT count(*), coalesce(sum(p.fault <> ''), 0) FROM pages AS p WHERE {conditions}", parameters
        ).fetchone()
        chunks = self.index.execute(
            f"SELECT count(*) FROM chunks AS c JOIN pages AS p ON p.id = c.page_id WHERE {conditions}", parameters
        ).fetchone()[0]
        links, unresolved = self.index.execute(
            "SELECT count(*), coalesce(sum(t.id IS NULL), 0) FROM links AS l JOIN pages AS p ON p.id = l.source_id"
            " LEFT JOIN pages AS t ON t.workspace = l.workspace AND t.project = l.project AND t.path = l.path"
            f" WHERE {conditions}",
            parameters,
        ).fetchone()
        projects = len(self.projects(wanted.workspace if wanted else None))
        return Counts(pages, chunks, links, unresolved, projects, faulty)

    def figures(self, *, expiring_between_us: tuple[int, int]) -> "Figures":
        """How many pages there are by kind, tier and project, and how many expire within that span."""

        def by(column: str) -> dict[str, int]:
            rows = self.index.execute(f"SELECT {column}, count(*) FROM pages AS p GROUP BY {column} ORDER BY {column}")
            return {str(row[0]): int(row[1]) for row in rows}

        expiring = self.index.execute(
            "SELECT count(*) FROM pages WHERE expires_at_us > ? AND expires_at_us <= ?", expiring_between_us
        ).fetchone()[0]
        stale = self.index.execute(_STALE_LINKS, (expiring_between_us[0],)).fetchone()[0]
        projects = {f"{one.workspace}/{one.name}": 0 for one in self.projects()}
        by_project = projects | by("workspace || '/' || project")
        return Figures(by("kind"), by("tier"), by_project, int(expiring), int(stale))

    def faults(self) -> list[tuple[PageRef, str]]:
        """Pages whose file cannot be read as a page, with what is wrong."""
        rows = self.index.execute(
            "SELECT workspace, project, path, fault FROM pages WHERE fault <> '' ORDER BY workspace, project, path"
        )
        return [(PageRef(*row[:3]), row[3]) for row in rows]

    def outlinks(self, ref: PageRef) -> list[LinkRow]:
        """What the page links to."""
        rows = self.index.execute(
            "SELECT l.workspace, l.project, l.path, l.kind, t.id IS NOT NULL FROM links AS l"
            " JOIN pages AS p ON p.id = l.source_id"
            " LEFT JOIN pages AS t ON t.workspace = l.workspace AND t.project = l.project AND t.path = l.path"
            " WHERE p.workspace = ? AND p.project = ? AND p.path = ?"
            " ORDER BY l.workspace, l.project, l.path, l.kind",
            (ref.workspace, ref.project, ref.path),
        )
        return [LinkRow(ref, PageRef(*row[:3]), row[3], bool(row[4])) for row in rows]

    def links_into(self, workspace: str, project: str) -> list[LinkRow]:
        """What links to any address in that project, whether or not a page stands there."""
        rows = self.index.execute(
            "SELECT p.workspace, p.project, p.path, l.path, l.kind, t.id IS NOT NULL FROM links AS l"
            " JOIN pages AS p ON p.id = l.source_id"
            " LEFT JOIN pages AS t ON t.workspace = l.workspace AND t.project = l.project AND t.path = l.path"
            " WHERE l.workspace = ? AND l.project = ? ORDER BY p.workspace, p.project, p.path, l.path, l.kind",
            (workspace, project),
        )
        return [LinkRow(PageRef(*row[:3]), PageRef(workspace, project, row[3]), row[4], bool(row[5])) for row in rows]

    def backlinks(self, ref: PageRef) -> list[LinkRow]:
        """What links to that address, whether or not a page stands there."""
        rows = self.index.execute(
            "SELECT p.workspace, p.project, p.path, l.kind, t.id IS NOT NULL FROM links AS l"
            " JOIN pages AS p ON p.id = l.source_id"
            " LEFT JOIN pages AS t ON t.workspace = l.workspace AND t.project = l.project AND t.path = l.path"
            " WHERE l.workspace = ? AND l.project = ? AND l.path = ?"
            " ORDER BY p.workspace, p.project, p.path, l.kind",
            (ref.workspace, ref.project, ref.path),
        )
        return [LinkRow(PageRef(*row[:3]), ref, row[3], bool(row[4])) for row in rows]


def _project(row: tuple[object, ...]) -> Project:
    try:
        return _read_project(row)
    except (ValueError, TypeError) as fault:
        raise DatabaseError(f"malformed row of {row[1]!r:.80}") from fault


def _read_project(row: tuple[object, ...]) -> Project:
    return Project(
        id=str(row[0]),
        workspace=str(row[1]),
        name=str(row[2]),
        identity=None if row[3] is None else str(row[3]),
        identity_source=None if row[4] is None else str(row[4]),
        aliases=tuple(json.loads(str(row[5]))),
        former_names=tuple(json.loads(str(row[6]))),
        created_at_us=int(str(row[7])),
        private=bool(row[8]),
    )
