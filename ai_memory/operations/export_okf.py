"""The pages of a project in the Open Knowledge Format, version 0.2: each with its type and where it comes from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory import __version__
from ai_memory.clock import rfc3339
from ai_memory.errors import MemoryFault, NotFound
from ai_memory.model import Page, PageRef, Scope
from ai_memory.operations.cleaning import refuse_secrets
from ai_memory.operations.export import new_folder, write_folder
from ai_memory.operations.field import Everywhere, Field, ProjectName, Workspace
from ai_memory.operations.looking import look_around
from ai_memory.operations.rows import EVERYTHING
from ai_memory.operations.setup import no_progress
from ai_memory.operations.unscoped import resolve_for
from ai_memory.store.addresses import page_ref
from ai_memory.text.page import parse, splice

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

TYPES: Mapping[str, str] = {
    "session": "Session Summary",
    "rule": "Rule",
    "gotcha": "Gotcha",
    "decision": "Decision",
    "procedure": "Procedure",
    "concept": "Concept",
    "note": "Note",
    "runbook": "Runbook",
    "lint": "Lint Report",
    "lint-report": "Lint Report",
    "pending": "Pending Note",
}
"""Type of a page by its kind (facts: Open Knowledge Format v0.2)."""

INDEX = "index.md"
SHOWN = 20


@dataclass(frozen=True, slots=True)
class ExportedOkf:
    scope: Scope | None
    folder: str
    pages: int
    invalid: tuple[str, ...]
    """Pages that were left out, with the reason."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def export_okf(
    memory: "Memory",
    *,
    folder: Annotated[str, Field("folder to make; it must be empty or not there", positional=True)],
    skip_invalid: Annotated[bool, Field("leave pages out that cannot be read in full, and name them")] = False,
    everywhere: Everywhere = False,
    workspace: Workspace = None,
    project: ProjectName = None,
    progress: Callable[[int, int], None] = no_progress,
) -> ExportedOkf:
    """Write pages in the Open Knowledge Format v0.2: each says its type, who made it when, and from which session.
    One page that cannot be read in full stops it and is named, unless --skip-invalid.
    """
    refuse_secrets(memory, folder=folder)
    target = new_folder(memory, folder)
    _, left = look_around(memory)
    with memory.reading() as snapshot:
        scope, untold = resolve_for(memory, workspace, project, everywhere=everywhere, snapshot=snapshot)
        place = None if everywhere or scope is None else (scope.workspace, scope.project)
        pages = snapshot.pages(
            workspace=place[0] if place else None, project=place[1] if place else None, sort="path", limit=EVERYTHING
        ).pages
    if not pages:
        raise NotFound("there are no pages to export", hint="`ai-memory list-projects` lists projects")
    makers = _makers(memory, place)
    files: dict[str, bytes] = {}
    invalid = []
    for page in pages:
        try:
            files[_path(page.ref, is_one=place is not None)] = _conforming(page, makers.get(page.ref, "")).encode(
                "utf-8"
            )
        except (MemoryFault, UnicodeEncodeError) as fault:
            invalid.append(f"{page.ref}: {fault}".replace("\n", " "))
    if invalid and not skip_invalid:
        more = f" and {len(invalid) - 1} more" if len(invalid) > 1 else ""
        raise MemoryFault(
            f"nothing was exported: {invalid[0]}{more}", hint="mend it, or leave such pages out with --skip-invalid"
        )
    files.setdefault(INDEX, _index(pages, files, is_one=place is not None).encode("utf-8"))
    write_folder(target, sorted(files.items()), len(files), progress, is_noted=False)
    return ExportedOkf(scope, str(target), len(pages) - len(invalid), tuple(invalid), (*untold, *left))


def _path(ref: PageRef, *, is_one: bool) -> str:
    return ref.path if is_one else ref.git_path


def _conforming(page: Page, maker: str) -> str:
    """The page with the keys that the format asks for; its own keys and its body stay. Errors: MemoryFault."""
    if page.fault:
        raise MemoryFault(page.fault)
    parsed = parse(page.text, path=page.ref.path)
    keys = parsed.frontmatter
    added: dict[str, object | None] = {
        "type": _type(page.kind, keys),
        "title": page.title,
        "generated": {"by": maker or f"process:ai-memory/{__version__}", "at": rfc3339(page.updated_at_us)},
    }
    if parsed.summary and "description" not in keys:
        added["description"] = parsed.summary
    sessions = _sessions(keys)
    if sessions:
        added["sources"] = [{"resource": f"ai-memory://session/{session}"} for session in sessions]
    if page.expires_at_us is not None:
        added["stale_after"] = rfc3339(page.expires_at_us)
    kept = {key: value for key, value in added.items() if key not in keys or key in ("generated", "sources")}
    return splice(page.text, kept, path=page.ref.path)


def _type(kind: str, keys: Mapping[str, object]) -> str:
    if kind == "slot":
        return "Invariant" if keys.get("slot_kind") == "invariant" else "State"
    return TYPES.get(kind) or kind.replace("-", " ").replace("_", " ").title() or "Note"


def _sessions(keys: Mapping[str, object]) -> list[str]:
    """Sessions that the page names as its origin, in its own words or as evidence."""
    found = [str(keys[key]) for key in ("session_id", "from_session") if keys.get(key)]
    evidence = keys.get("evidence")
    for one in evidence if isinstance(evidence, list) else []:
        if isinstance(one, Mapping) and one.get("session"):
            found.append(str(one["session"]))
    return list(dict.fromkeys(found))


def _makers(memory: "Memory", place: tuple[str, str] | None) -> dict[PageRef, str]:
    """Who last wrote each page: `human:<name>`, else the agent, else nothing."""
    from ai_memory.store import commits  # the git library comes with the call, not with help and schema

    found: dict[PageRef, str] = {}
    with memory.past() as wiki:
        for one in commits.checkpoints(wiki, place=place) if wiki is not None else ():
            by = one.mutation
            maker = f"human:{by.author}" if by.author else f"process:{by.agent}" if by.agent else ""
            for touched in one.touched:
                ref = page_ref(touched.git_path)
                if ref is not None:
                    found.setdefault(ref, maker)
    return found


def _index(pages: list[Page], files: Mapping[str, bytes], *, is_one: bool) -> str:
    """A page that names all the others, by folder."""
    return "".join(_index_lines(pages, files, is_one=is_one))


def _index_lines(pages: list[Page], files: Mapping[str, bytes], *, is_one: bool) -> Iterator[str]:
    yield "---\ntype: Index\ntitle: Index\n---\n# Index\n"
    folder = ""
    for page in sorted(pages, key=lambda page: _path(page.ref, is_one=is_one)):
        path = _path(page.ref, is_one=is_one)
        if path not in files:
            continue
        if path.rpartition("/")[0] != folder:
            folder = path.rpartition("/")[0]
            yield f"\n## {folder}\n\n"
        title = " ".join(page.title.split()).replace("[", "(").replace("]", ")")
        yield f"- [{title}](<{path}>)\n"


def exported_okf_text(result: ExportedOkf) -> str:
    """How much, where it lies, what was left out."""
    lines = [f"exported {result.pages} pages to {result.folder}"]
    lines += [f"left out {line}" for line in result.invalid[:SHOWN]]
    if len(result.invalid) > SHOWN:
        lines.append(f"and {len(result.invalid) - SHOWN} more: --json lists all")
    return "\n".join(lines)
