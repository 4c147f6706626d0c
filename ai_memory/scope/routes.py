"""Routes of the home marker: where a repository or a folder belongs, said once by the person for their machine."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ai_memory.errors import MemoryFault
from ai_memory.scope.places import clean, is_absolute, is_within, key
from ai_memory.scope.remotes import normalise_identity
from ai_memory.text.names import check_name, is_reserved_project

MAX_ROUTES = 64


class RouteFault(Exception):
    """A route that cannot be read: its key path in the file, and the reason."""

    def __init__(self, key: tuple[str, ...], reason: str) -> None:
        super().__init__(reason)
        self.key = key
        self.reason = reason


class AmbiguousRoute(MemoryFault):
    """Two routes fit equally well and lead to different projects: nothing is chosen."""


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `identity` or `path` is set, never both."""

    written: str
    """The key as it stands in the file."""
    identity: str | None
    path: str | None
    """May begin with `~`."""
    workspace: str | None
    project: str | None

    @property
    def target(self) -> tuple[str | None, str | None]:
        return self.workspace, self.project


def read_routes(table: object) -> tuple[Route, ...]:
    """The routes of the `routes` table. *Errors*: RouteFault."""
    if table is None:
        return ()
    if not isinstance(table, Mapping):
        raise RouteFault(("routes",), '`routes` must hold tables such as [routes.path."~/work"]')
    found: list[Route] = []
    for kind, entries in table.items():
        if kind not in ("identity", "path") or not isinstance(entries, Mapping):
            raise RouteFault(("routes", kind), "routes go by `identity` or by `path`")
        found += [_route(kind, written, entry) for written, entry in entries.items()]
    if len(found) > MAX_ROUTES:
        raise RouteFault(("routes",), f"{len(found)} routes, at most {MAX_ROUTES} are read")
    return tuple(found)


def choose_route(
    routes: Iterable[Route], *, identity: str | None, folders: Iterable[str], home: str, platform: str
) -> Route | None:
    """The route that fits: by identity first, else the longest path that holds one of the folders.

    *Errors*: AmbiguousRoute.
    """
    by_identity = [route for route in routes if route.identity and route.identity == identity]
    if by_identity:
        return _only(by_identity)
    fitting: dict[str, list[Route]] = {}
    wanted = tuple(folders)
    for route in routes:
        if route.path is None:
            continue
        place = expand(route.path, home, platform)
        if any(is_within(folder, place, platform) for folder in wanted):
            fitting.setdefault(key(place, platform), []).append(route)
    return _only(fitting[max(fitting, key=len)]) if fitting else None


def expand(path: str, home: str, platform: str) -> str:
    """The path with a leading `~` replaced by the home folder."""
    return clean(home + path[1:] if path == "~" or path.startswith(("~/", "~\\")) else path, platform)


def _only(routes: list[Route]) -> Route:
    if len({route.target for route in routes}) > 1:
        names = " and ".join(f"{route.written!r}" for route in routes)
        raise AmbiguousRoute(f"the home marker routes {names} lead to different projects", hint="keep one of them")
    return routes[0]


def _route(kind: str, written: str, entry: object) -> Route:
    at = ("routes", kind, written)
    if not isinstance(entry, Mapping):
        raise RouteFault(at, "a route is a table with `workspace` and `project`")
    for name in entry:
        if name not in ("workspace", "project"):
            raise RouteFault((*at, name), f"a route has no key `{name}`, only `workspace` and `project`")
    workspace, project = (_name(at, what, entry.get(what)) for what in ("workspace", "project"))
    if workspace is None and project is None:
        raise RouteFault(at, "a route names a workspace, a project or both")
    if kind == "identity":
        identity = normalise_identity(written)
        if identity is None:
            raise RouteFault(at, f"not a repository identity: {written[:80]!r}; write host/owner/repo")
        return Route(written, identity, None, workspace, project)
    if "\0" in written or not (written == "~" or written.startswith("~/") or _is_absolute_somewhere(written)):
        raise RouteFault(at, f"a route path is absolute or begins with ~/: {written[:80]!r}")
    return Route(written, None, written, workspace, project)


def _is_absolute_somewhere(path: str) -> bool:
    return is_absolute(path, "linux") or is_absolute(path, "win32")


def _name(at: tuple[str, ...], what: str, value: object) -> str | None:
    if value is None:
        return None
    try:
        if isinstance(value, str) and not (what == "project" and is_reserved_project(value)):
            return check_name(value, what=what)
    except MemoryFault as fault:
        raise RouteFault((*at, what), fault.message) from fault
    raise RouteFault((*at, what), f"not a name that a route may lead to: {value!r}")
