"""Rows that several operations answer with."""

from dataclasses import dataclass

from ai_memory.clock import rfc3339
from ai_memory.model import Page, PageRef, Scope

FAULT_SHOWN = 200
EVERYTHING = 1_000_000
"""A limit for lists of which nothing may be left out."""
VERSION_SHOWN = 12
"""Hex digits of a version that a person sees (decision A13)."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """One page without its text."""

    workspace: str
    project: str
    path: str
    title: str
    kind: str
    tier: str
    tags: tuple[str, ...]
    pinned: bool
    expires_at: str | None
    updated_at: str
    version: str
    fault: str | None
    """What of it cannot be read, with file and line."""


def page_row(page: Page) -> PageRow:
    """The page's row; times as RFC 3339, the version whole."""
    return PageRow(
        workspace=page.ref.workspace,
        project=page.ref.project,
        path=page.ref.path,
        title=page.title,
        kind=page.kind,
        tier=page.tier.value,
        tags=page.tags,
        pinned=page.pinned,
        expires_at=None if page.expires_at_us is None else rfc3339(page.expires_at_us),
        updated_at=rfc3339(page.updated_at_us),
        version=page.version,
        fault=page.fault or None,
    )


@dataclass(frozen=True, slots=True)
class Address:
    """Where a page lies, as JSON rows name it."""

    workspace: str
    project: str
    path: str


def in_full(fault: str) -> str:
    """The note about a page that cannot be read in full, short: it may quote the page."""
    return f"cannot be read in full: {fault if len(fault) <= FAULT_SHOWN else fault[: FAULT_SHOWN - 1] + '…'}"


def address(ref: PageRef) -> Address:
    return Address(ref.workspace, ref.project, ref.path)


def label_from(row: "PageRow | Address", scope: Scope | None) -> str:
    """The shortest name of a page that works from that scope; the whole one where there is none."""
    return label(row, scope.workspace, scope.project) if scope else f"{row.workspace}/{row.project}:{row.path}"


def label(row: "PageRow | Address", workspace: str, project: str) -> str:
    """The shortest name of a page that works from this scope: `path`, `project:path` or `workspace/project:path`."""
    if row.workspace != workspace:
        return f"{row.workspace}/{row.project}:{row.path}"
    return row.path if row.project == project else f"{row.project}:{row.path}"
