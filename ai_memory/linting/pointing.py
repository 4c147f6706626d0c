"""Where links lead: nowhere, into another project that is not there; and pages that no link touches."""

import json
from collections.abc import Iterator, Mapping

from ai_memory.linting.finding import Finding, Mend, Severity, command
from ai_memory.linting.ground import PAST_KINDS, Ground, is_rule, is_slot
from ai_memory.model import PageRef
from ai_memory.store.addresses import NO_REPORT
from ai_memory.text.names import is_page_path, slug

_BROKEN = """
    SELECT p.workspace, p.project, p.path, l.workspace, l.project, l.path FROM links AS l
    JOIN pages AS p ON p.id = l.source_id
    LEFT JOIN pages AS t ON t.workspace = l.workspace AND t.project = l.project AND t.path = l.path
    WHERE t.id IS NULL AND NOT p.superseded AND p.kind NOT IN ('session', 'handoff') AND {wanted}
    ORDER BY p.workspace, p.project, p.path, l.workspace, l.project, l.path
"""
_NAMES = f"""
    SELECT p.path, p.title, json_extract(p.frontmatter, '$.aliases') FROM pages AS p
    WHERE p.workspace = ? AND p.project = ? AND NOT p.superseded AND {NO_REPORT} ORDER BY p.path
"""
_SAYS_LITTLE = frozenset({"index", "readme", "page", "note", "notes", "todo", "overview", "summary", "log"})
"""Names that many folders have: two pages called so have nothing to do with each other."""
_ALONE = frozenset({*PAST_KINDS, "fact", "rule", "slot", "preference"})
"""They are found by what they are; nobody is to link them."""


def broken(ground: Ground) -> Iterator[Finding]:
    """Links to pages that are not there. One that is meant without doubt is named, and `--fix` lets them lead there."""
    names = _Names(ground)
    for source, targets in _dangling(ground).items():
        for target in targets:
            is_here = (source.workspace, source.project) == (target.workspace, target.project)
            meant = names.meant(source, target)
            can_mend = meant is not None and not ground.heads[source].pinned
            place = ("--project", source.project, "--workspace", source.workspace)
            kind = "broken_link" if is_here else "dangling_cross_project_link"
            told = target.path if is_here else str(target)
            hint = f"; {meant.path if is_here else meant} is meant" if meant is not None else ""
            yield Finding(
                kind,
                Severity.WARNING,
                f"links to {told}, which is not there{hint}",
                (source,),
                command("lint", "--kind", kind, *place, "--fix") if can_mend else command("edit", str(source)),
                key=target.git_path,
                mend=Mend.RELINK if can_mend else None,
                onto={target: meant} if meant is not None else {},
            )


def _dangling(ground: Ground) -> Mapping[PageRef, list[PageRef]]:
    found: dict[PageRef, list[PageRef]] = {}
    conditions, parameters = ground.wanted.sql()
    for row in ground.snapshot.index.execute(_BROKEN.format(wanted=conditions), parameters):
        source, target = PageRef(*row[:3]), PageRef(*row[3:])
        if source in ground.heads and is_page_path(target.path):
            found.setdefault(source, []).append(target)
    return {source: list(dict.fromkeys(targets)) for source, targets in found.items()}


class _Names:
    """What pages are called, and projects were."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._known: dict[tuple[str, str], Mapping[str, set[PageRef]]] = {}

    def meant(self, source: PageRef, target: PageRef) -> PageRef | None:
        """The one page that a link to that address must mean, by a project's former name or by its own name."""
        place = (target.workspace, target.project)
        projects = self._ground.projects
        if any((one.workspace, one.name) == place for one in projects):
            return self._allowed(source, self._called(target) - {source})
        now = [one for one in projects if one.was_called(*place)]
        moved = {PageRef(one.workspace, one.name, target.path) for one in now}
        there = {ref for ref in moved if any(ref in refs for refs in self._of(ref.workspace, ref.project).values())}
        return self._allowed(source, there)

    def _called(self, target: PageRef) -> set[PageRef]:
        stem = stem_of(target.path)
        return set() if stem in _SAYS_LITTLE else self._of(target.workspace, target.project).get(stem, set())

    def _allowed(self, source: PageRef, found: set[PageRef]) -> PageRef | None:
        """The one that was found; none of another project that answers only those who stand in it."""
        if len(found) != 1:
            return None
        (meant,) = found
        place = (meant.workspace, meant.project)
        is_foreign = place != (source.workspace, source.project)
        return None if is_foreign and place in self._ground.snapshot.private_projects() else meant

    def _of(self, workspace: str, project: str) -> Mapping[str, set[PageRef]]:
        """Name → pages of that file name, of that title, or with that alias."""
        place = (workspace, project)
        if place not in self._known:
            self._known[place] = _names_of(self._ground, *place)
        return self._known[place]


def _names_of(ground: Ground, workspace: str, project: str) -> Mapping[str, set[PageRef]]:
    found: dict[str, set[PageRef]] = {}
    for path, title, aliases in ground.snapshot.index.execute(_NAMES, (workspace, project)):
        for name in {stem_of(path), slug(title), *map(slug, _texts(aliases))}:
            found.setdefault(name, set()).add(PageRef(workspace, project, path))
    return found


def stem_of(path: str) -> str:
    """The file's name without its ending, in one case."""
    return path.rpartition("/")[2].removesuffix(".md").casefold()


def _texts(aliases: object) -> list[str]:
    """What `json_extract` gave: one text, a list as JSON, or something else."""
    if not isinstance(aliases, str):
        return []
    if not aliases.startswith("["):
        return [aliases]
    try:
        found = json.loads(aliases)
    except ValueError:
        return [aliases]
    return [one for one in found if isinstance(one, str)]


def orphans(ground: Ground) -> Iterator[Finding]:
    """Pages that link nowhere and that no page links to."""
    touched = ground.linked | ground.linking
    for head in ground.lasting:
        if head.kind not in _ALONE and not (is_rule(head) or is_slot(head) or head.ref in touched):
            yield Finding(
                "orphan",
                Severity.INFO,
                "has no link, and none leads to it",
                (head.ref,),
                command("related", str(head.ref)),
            )
