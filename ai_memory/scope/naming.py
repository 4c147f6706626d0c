"""Names for projects that nobody named: made to fit the name rule, told apart when two would share one."""

import re
import unicodedata
from typing import Protocol

from ai_memory.errors import MemoryFault
from ai_memory.scrub import scrub, strip_controls
from ai_memory.text.names import check_name, is_reserved_project

MAX_NAME = 64
"""Longest name that is made here; a person may write a longer one."""

_UNFIT = re.compile(r"[^a-z0-9._-]+")


class Catalogue(Protocol):
    """The projects that exist, as the store knows them."""

    def by_identity(self, workspace: str, identity: str) -> str | None:
        """Name of the project with that identity."""

    def by_name(self, workspace: str, name: str) -> str | None:
        """Identity of the project that holds the name, now or formerly; empty when it has none, None when unknown."""

    def moved_to(self, workspace: str, name: str, identity: str | None) -> tuple[str, str] | None:
        """Where the project is today that had this name, or lay in this workspace, once; None where none was moved."""


class NoProjects:
    """The catalogue of a data dir that does not exist yet."""

    def by_identity(self, workspace: str, identity: str) -> str | None:  # noqa: ARG002 (nothing is known)
        return None

    def by_name(self, workspace: str, name: str) -> str | None:  # noqa: ARG002 (nothing is known)
        return None

    def moved_to(self, workspace: str, name: str, identity: str | None) -> None:  # noqa: ARG002 (nothing is known)
        return None


def fit_name(text: str) -> str:
    """The text as a name: lower case, unfit characters as `-`, at most `MAX_NAME`; may be empty, as for a secret."""
    if scrub(text) != strip_controls(text):
        return ""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
    fitted = re.sub(r"-{2,}", "-", _UNFIT.sub("-", plain)).lstrip("._-")[:MAX_NAME]
    while fitted.endswith((".", "-", ".git", ".lock")):
        fitted = fitted.rstrip(".-").removesuffix(".git").removesuffix(".lock")
    return fitted


def kept_identity(identity: str) -> str:
    """The identity as `_meta.md` may hold it: in place of a secret a label, and a digest that tells it from others."""
    clean = scrub(identity)
    if clean == identity:
        return identity
    import hashlib  # as below

    return f"{clean}#{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def name_of_remote(identity: str, *, with_host: bool = False) -> str:
    """Name for a repository: its whole path without the host, `acme-api` for `github.com/acme/api`."""
    path = identity if with_host else identity.partition("/")[2] or identity
    return fit_name(path.replace("/", "-"))


def settle_name(workspace: str, wanted: str, identity: str, catalogue: Catalogue) -> str:
    """The name under which that identity is kept: its project's, else `wanted`, else `wanted` + `-` + hex digits.

    The digits are the first 4 of the SHA-256 of the identity (8, 12 … should these be taken too).
    """
    known = catalogue.by_identity(workspace, identity)
    if known:
        return known
    if is_free_to_use(wanted) and catalogue.by_name(workspace, wanted) in (None, "", identity):
        return wanted
    import hashlib  # 5 ms CPU, only where a name is taken (2026-11-30)

    digits = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
    tries = [f"{(wanted or 'project')[: MAX_NAME - 1 - n].rstrip('.-')}-{digits[:n]}" for n in (4, 8, 12, 24)]
    for name in tries:
        if not is_valid(name):
            continue
        if catalogue.by_name(workspace, name) in (None, "", identity):
            return name
    return f"project-{digits[:40]}"


def current_name(workspace: str, name: str, catalogue: Catalogue) -> str:
    """The name that a project has today, when `name` is a former one of it; else `name`."""
    identity = catalogue.by_name(workspace, name)
    return (catalogue.by_identity(workspace, identity) if identity else None) or name


def is_free_to_use(name: str) -> bool:
    """A project may get that name without a person asking for it."""
    return is_valid(name) and not is_reserved_project(name)


def is_valid(name: str) -> bool:
    """The name passes the name rule."""
    try:
        check_name(name)
    except MemoryFault:
        return False
    return True
