"""Pages as resources: `memory://<workspace>/<project>/<path>`. Knows nothing of the SDK."""

from dataclasses import dataclass
from urllib.parse import quote, unquote

from ai_memory.bridge.calls import Place, fault_words, told
from ai_memory.errors import MemoryFault, NotFound, echo
from ai_memory.operations.ceiling import most_of, within
from ai_memory.operations.counting import used
from ai_memory.operations.read import read_page, recent
from ai_memory.operations.rows import PageRow
from ai_memory.operations.table import OPERATION_BY_TOOL
from ai_memory.text.fences import neutralise

SCHEME = "memory://"
TEMPLATE = "memory://{workspace}/{project}/{+path}"
MIME_TYPE = "text/markdown"
PAGE_OF_LIST = 100
"""Resources that one answer lists."""


_READ = OPERATION_BY_TOOL["memory_read_page"]


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of the list, newest first."""

    rows: tuple[PageRow, ...]
    cursor: str | None
    """What asks for the next ones; None at the end."""


def uri_of(workspace: str, project: str, path: str) -> str:
    """The page's URI, in ASCII."""
    return f"{SCHEME}{quote(workspace)}/{quote(project)}/{quote(path)}"


def address_of(uri: str) -> tuple[str, str, str]:
    """Workspace, project and path. Errors: NotFound for what names no page of ours."""
    workspace, _, rest = uri.removeprefix(SCHEME).partition("/")
    project, _, path = rest.partition("/")
    if not uri.startswith(SCHEME) or not (workspace and project and path):
        raise NotFound(f"no resource {echo(uri)}", hint="a page is memory://WORKSPACE/PROJECT/PATH")
    return unquote(workspace), unquote(project), unquote(path)


def listed(place: Place, cursor: str | None) -> Listed:
    """Pages of the caller's project, newest first; of all projects where it was only guessed. Errors: MemoryFault."""
    memory = place.memory("resources/list")
    here = recent(memory, limit=PAGE_OF_LIST, after=cursor, workspace=place.pins.workspace, project=place.pins.project)
    if here.scope is not None and here.scope.is_guess:
        here = recent(memory, limit=PAGE_OF_LIST, after=cursor, everywhere=True)
    return Listed(here.pages, here.next)


def read_text(place: Place, uri: str) -> str:
    """The page, fenced as a tool gives it. Errors: MemoryFault."""
    workspace, project, path = address_of(uri)
    memory = place.memory("resources/read")
    most_bytes = most_of(memory, _READ)
    room = within({"max_bytes": None}, most_bytes)
    found = read_page(memory, path=path, workspace=workspace, project=project, **room)
    text = told(_READ, found, "md", place.served, most_bytes=most_bytes)
    place.count("resources:read", text, used(_READ, found, is_agent=True))
    return text


def shown(title: str) -> str:
    """A page's title on one line, for a list that stands outside any fence."""
    return " ".join(neutralise(title).split())


def fault_line(fault: MemoryFault, place: Place) -> str:
    """What was wrong and what to do, in words for a model."""
    _, message, hint = fault_words(fault, _READ, place)
    return f"{message}; {hint}" if hint else message
