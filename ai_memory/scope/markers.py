"""The marker `.ai-memory.toml` of a checkout: found, bounded, and read into what it names.

A marker comes with a cloned repository, so it is hostile: it can name things, never run things, never point outside.
*Source*: TOML 1.0; decision C1 for its place in the order.
"""

# Paths stay strings here: they are compared and shown as strings, and a hostile one may hold anything.
# ruff: noqa: PTH113, PTH114, PTH118, PTH116

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ai_memory.errors import MemoryFault, echo
from ai_memory.scope import naming
from ai_memory.scope.places import ancestry, is_nameable, is_root, is_same, is_within
from ai_memory.scope.remotes import normalise_identity
from ai_memory.scope.repository import Repository, find_repository, never_checkouts
from ai_memory.scope.routes import Route, RouteFault, read_routes
from ai_memory.scope.smallfiles import TooBig, read_small
from ai_memory.text.names import check_name, is_reserved_project
from ai_memory.toml_text import BrokenToml, layout, read

MARKER_NAME = ".ai-memory.toml"
MAX_MARKER_BYTES = 64 << 10
MAX_ALIASES = 16
TRUTHY = frozenset(("true", "1", "yes", "on"))
FALSY = frozenset(("false", "0", "no", "off"))

_SCOPE_KEYS = ("workspace", "project", "project_strategy", "identity", "identity_style", "aliases")
_OTHER_KEYS = ("drop_subagent_captures", "recall", "briefing", "handoff", "capture", "profile", "routes", "server")
_STRATEGIES = ("repo-root", "basename")
_STYLES = ("path", "host_path")


class MarkerFault(MemoryFault):
    """A marker that cannot be read as it stands. For a hook its policy is unknown: metadata only."""

    def __init__(self, path: str, line: int | None, message: str, *, hint: str = "") -> None:
        super().__init__(f"{path}{f', line {line}' if line else ''}: {message}", hint=hint)
        self.path = path
        self.line = line


@dataclass(frozen=True, slots=True)
class Source:
    """A marker file as it lies on disk; another size or time means that it changed."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Marker:
    """What one marker names. All names are checked."""

    path: str
    workspace: str | None = None
    project: str | None = None
    project_strategy: str | None = None
    """`repo-root`, `basename` or None."""
    identity: str | None = None
    """Normalised like a remote where it reads as one, else as written."""
    identity_style: str = "path"
    aliases: tuple[str, ...] = ()
    tables: Mapping[str, object] | None = None
    """The whole file, for the policy."""
    routes: tuple[Route, ...] = ()
    """Only of the home marker."""
    warnings: tuple[str, ...] = ()

    @property
    def has_scope(self) -> bool:
        """It says where memory goes. One without (only `[capture]`, say) is transparent for scope."""
        return bool(self.workspace or self.project or self.project_strategy or self.identity)

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)


def marker_paths(cwd: str, home: str, *, repository: Repository | None = None) -> tuple[str, ...]:
    """Where a marker may lie for that folder, nearest first, the home marker last. Both paths must be real.

    Up to the home folder; outside it, up to the checkout root; outside both, only the folder itself. From the root of
    a linked worktree the way goes on at the main checkout, so that a worktree elsewhere has the same markers.
    """
    folders: list[str] = []
    for here in ancestry(cwd, sys.platform):
        folders.append(here)
        if repository is not None and here == repository.root:
            break
        if is_same(here, home, sys.platform):
            break
    at_root = repository is not None and folders[-1] == repository.root
    if at_root and repository is not None:
        start = repository.main_root or repository.place
        folders += [start] if start != repository.root else []
        folders += _above(start, home)
    elif not is_within(cwd, home, sys.platform):
        folders = [cwd]
    known = dict.fromkeys(folder for folder in folders if _may_anchor(folder, home))
    return tuple(os.path.join(folder, MARKER_NAME) for folder in (*known, home))


def nearest_markers(cwd: str, home: str) -> tuple[Source, ...]:
    """The marker files that exist for that folder, nearest first, the home marker last.

    `AI_MEMORY_IGNORE_MARKER` plays no part: it is for client commands, a capture policy must not be switched off by it.
    """
    real_home = os.path.realpath(home)
    if is_nameable(cwd, sys.platform):
        real_cwd = os.path.realpath(cwd)
        repository = find_repository(real_cwd, never=never_checkouts(real_home))
        paths = marker_paths(real_cwd, real_home, repository=repository)
    else:
        paths = (os.path.join(real_home, MARKER_NAME),)
    found: list[Source] = []
    for path in paths:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        found.append(Source(path, status.st_size, status.st_mtime_ns))
    return tuple(found)


def read_marker(path: str, *, home: str) -> Marker | None:
    """The marker at that path, or None when there is none. *Errors*: MarkerFault.

    One that is a symlink out of its checkout is as good as absent; `Marker.warnings` of an empty marker says so.
    """
    if os.path.islink(path) and not _stays_inside(path, home):
        return Marker(path, warnings=(f"{path} is ignored: it is a symlink that leads out of the checkout",))
    try:
        found = read_small(path, MAX_MARKER_BYTES)
    except TooBig as fault:
        limit = f"it is larger than {MAX_MARKER_BYTES >> 10} KiB"
        raise MarkerFault(path, None, limit, hint="a marker holds a few names; move the rest elsewhere") from fault
    if found is None:
        if os.path.isfile(path):
            raise MarkerFault(path, None, "it cannot be read", hint="check its permissions")
        return None
    try:
        text = found.content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise MarkerFault(path, None, "it is not UTF-8", hint="save it as UTF-8") from fault
    return parse_marker(text, path=path, is_home=is_same(os.path.dirname(path), home, sys.platform))


def parse_marker(text: str, *, path: str, is_home: bool = False) -> Marker:
    """The text of a marker as checked values. *Errors*: MarkerFault naming file and line. Unknown keys only warn."""
    try:
        tables = read(text)
    except BrokenToml as fault:
        raise MarkerFault(path, fault.line, f"not valid TOML: {fault.reason}") from fault
    reader = _Reader(text, path, tables)
    warnings = [_unknown(path, key) for key in tables if key not in _SCOPE_KEYS + _OTHER_KEYS]
    if "server" in tables:
        warnings.append(f"{path}: `server` is ignored: there is no server")
    routes: tuple[Route, ...] = ()
    if is_home:
        try:
            routes = read_routes(tables.get("routes"))
        except RouteFault as fault:
            raise reader.fault(fault.key, fault.reason) from fault
    elif "routes" in tables:
        warnings.append(f"{path}: `[routes]` is ignored: only the marker in the home folder has routes")
    marker = Marker(
        path=path,
        workspace=reader.name("workspace"),
        project=reader.name("project"),
        project_strategy=reader.choice("project_strategy", _STRATEGIES),
        identity=reader.identity(),
        identity_style=reader.choice("identity_style", _STYLES) or "path",
        aliases=reader.aliases(),
        tables=tables,
        routes=routes,
    )
    if marker.has_scope and not marker.workspace:
        warnings.append(f"{path} names no workspace")
    return replace(marker, warnings=tuple(warnings))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Checked reading of single keys, with the line of each in its fault."""

    text: str
    path: str
    tables: Mapping[str, object]

    def fault(self, key: tuple[str, ...], reason: str, hint: str = "") -> MarkerFault:
        return MarkerFault(self.path, layout(self.text).line_of(key), reason, hint=hint)

    def string(self, key: str) -> str | None:
        value = self.tables.get(key)
        if value is not None and not isinstance(value, str):
            raise self.fault((key,), f"`{key}` must be a string")
        return value

    def name(self, key: str) -> str | None:
        value = self.string(key)
        return self.checked_name(key, value) if value is not None else None

    def checked_name(self, key: str, value: str) -> str:
        try:
            check_name(value, what=key if key == "workspace" else "project")
        except MemoryFault as fault:
            fitted = naming.fit_name(value)
            raise self.fault((key,), fault.message, f"write {fitted!r}" if fitted else fault.hint) from fault
        if key != "workspace" and is_reserved_project(value):
            raise self.fault((key,), f"`{value}` is a reserved project", "choose another name")
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str | None:
        value = self.string(key)
        if value is not None and value not in choices:
            raise self.fault((key,), f"`{key}` must be one of {', '.join(choices)}, not {echo(value)}")
        return value

    def identity(self) -> str | None:
        value = self.string("identity")
        if value is None:
            return None
        plain = normalise_identity(value) or value.strip()
        if not re.fullmatch(r"[^\s@:?#\x00-\x1f\x7f]{1,512}", plain) or plain.startswith("/"):
            raise self.fault(("identity",), f"not an identity: {value[:80]!r}", "write it as host/owner/repo")
        return plain

    def aliases(self) -> tuple[str, ...]:
        value = self.tables.get("aliases", [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.fault(("aliases",), "`aliases` must be a list of names")
        if len(value) > MAX_ALIASES:
            raise self.fault(("aliases",), f"`aliases` holds {len(value)} names, at most {MAX_ALIASES} are read")
        return tuple(dict.fromkeys(self.checked_name("aliases", one) for one in value))


def _may_anchor(folder: str, home: str) -> bool:
    """No root and no home folder holds a marker like others do: it would be the marker of everything."""
    return not is_root(folder, sys.platform) and not is_same(folder, home, sys.platform)


def _above(folder: str, home: str) -> list[str]:
    """The folders above, up to the home folder; none outside it."""
    if not is_within(folder, home, sys.platform):
        return []
    return [up for up in ancestry(folder, sys.platform)[1:] if is_within(up, home, sys.platform)]


def _stays_inside(path: str, home: str) -> bool:
    """The target lies in the same checkout; outside any checkout, in the home folder or beside the link."""
    folder = os.path.dirname(path)
    repository = find_repository(folder, never=never_checkouts(home))
    if repository is not None:
        allowed = repository.root
    else:
        allowed = home if is_within(folder, home, sys.platform) else folder
    return is_within(os.path.realpath(path), os.path.realpath(allowed), sys.platform)


def _unknown(path: str, key: str) -> str:
    return f"{path}: unknown key `{key[:60]}` is ignored"
