"""What an argument of a prompt or of the pages' URIs may be, by how it begins. Knows nothing of the SDK."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ai_memory.bridge.calls import Place
from ai_memory.operations.projects import list_projects
from ai_memory.operations.read import pages

MOST = 100
"""Values of one answer; the protocol allows no more."""


@dataclass(frozen=True, slots=True)
class Values:
    """Those that are told, and how many there are."""

    values: tuple[str, ...] = ()
    total: int = 0


def completed(place: Place, argument: str, begun: str, known: Mapping[str, str]) -> Values:
    """Values that begin so, in their order; none for an argument that has none to offer. Errors: MemoryFault.

    `known`: other arguments that were filled in already.
    """
    match argument:
        case "workspace":
            return _of(begun, {row.workspace for row in list_projects(place.memory("completion")).projects})
        case "project":
            rows = list_projects(place.memory("completion"), workspace=known.get("workspace") or place.pins.workspace)
            return _of(begun, {row.project for row in rows.projects})
        case "path":
            workspace = known.get("workspace") or place.pins.workspace
            project = known.get("project") or place.pins.project
            found = pages(
                place.memory("completion"), prefix=begun or None, limit=MOST, workspace=workspace, project=project
            )
            return Values(tuple(row.path for row in found.pages), found.total)
    return Values()


def _of(begun: str, names: Iterable[str]) -> Values:
    found = sorted(name for name in names if name.startswith(begun))
    return Values(tuple(found[:MOST]), len(found))
