"""What takes room on the disk, as a tree, and what each way to make room would free."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.operations.field import Field
from ai_memory.operations.setup import no_progress

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.sizes import Sizes

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
BAR_CELLS = 20
MOST_BRANCHES = 8
"""Branches of one part that a person sees; --json lists all."""
How = Literal["counted", "at_least"]


@dataclass(frozen=True, slots=True)
class SizeRow:
    """One part; `/` leads from a part to what it is made of."""

    name: str
    bytes: int
    """As the disk holds files: whole blocks. Inside a database: of what stands in the rows."""
    count: int
    """Files, or rows of a database."""


@dataclass(frozen=True, slots=True)
class ProjectSize:
    workspace: str
    project: str
    pages: int
    pages_bytes: int
    sessions: int
    observations: int
    observations_bytes: int


@dataclass(frozen=True, slots=True)
class Remedy:
    """A way to make room."""

    remedy: str
    """A command, or what to remove."""
    frees_bytes: int
    how: How
    """`counted`: the room of the files that go. `at_least`: what is known to be free; more may come of it."""
    what: str


@dataclass(frozen=True, slots=True)
class Size:
    data_dir: str
    bytes: int
    parts: tuple[SizeRow, ...]
    projects: tuple[ProjectSize, ...]
    remedies: tuple[Remedy, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def size(
    memory: "Memory",
    *,
    least: Annotated[int, Field("leave out ways that free fewer bytes", ge=0, metavar="BYTES")] = 4096,
    progress: Callable[[int, int], None] = no_progress,
) -> Size:
    """Show what takes room in the data dir: pages, history, observations, vectors, backups and the rest.
    With what each way to make room would free, counted or measured. Changes nothing.
    """
    from ai_memory.store.sizes import measure  # the git library comes with the call

    found = measure(memory.data_dir, progress)
    ways = sorted(_remedies(memory, found), key=lambda one: (-one.frees_bytes, one.remedy))
    kept = tuple(one for one in ways if one.frees_bytes >= max(1, least))
    return Size(
        data_dir=str(memory.data_dir.root),
        bytes=found.whole.size_bytes,
        parts=tuple(_in_order(found)),
        projects=tuple(_projects(found)),
        remedies=kept,
        gaps=tuple(found.gaps),
    )


def _in_order(found: "Sizes") -> Iterator[SizeRow]:
    """Each part before what it is made of, the largest first."""
    below: dict[str, list[str]] = {}
    for name in found.parts:
        below.setdefault(_above(name, found.parts), []).append(name)

    def walk(above: str) -> Iterator[SizeRow]:
        for name in sorted(below.get(above, ()), key=lambda one: (-found.parts[one].size_bytes, one)):
            amount = found.parts[name]
            yield SizeRow(name, amount.size_bytes, amount.count)
            yield from walk(name)

    return walk("")


def _above(name: str, names: Collection[str]) -> str:
    """The part that this one belongs to; "" for the whole."""
    above = name.rpartition("/")[0]
    while above and above not in names:
        above = above.rpartition("/")[0]
    return above


def _projects(found: "Sizes") -> Iterator[ProjectSize]:
    rows = [
        ProjectSize(
            *(workspace, project, held.pages.count, held.pages.size_bytes),
            *(held.sessions, held.observations.count, held.observations.size_bytes),
        )
        for (workspace, project), held in found.projects.items()
    ]
    rows.sort(key=lambda row: (-row.pages_bytes - row.observations_bytes, row.workspace, row.project))
    return iter(rows)


def _remedies(memory: "Memory", found: "Sizes") -> Iterator[Remedy]:
    from ai_memory.store.wiki import PACK_ABOVE

    in_databases = sum(found.free.values())
    by_git = found.saved_by_repacking
    packed = found.least_saved_by_packing if by_git is None else by_git
    yield Remedy(
        "ai-memory compact --confirm",
        in_databases + packed,
        "at_least",
        f"free room in databases {_shown(in_databases)}, git's objects as one pack {_shown(packed)}",
    )
    many = found.loose.count > PACK_ABOVE
    yield Remedy(
        "ai-memory maintain --only tidy --force",
        found.left.size_bytes + (found.least_saved_by_packing if many else 0),
        "at_least" if many else "counted",
        f"{found.left.count} files of killed processes"
        + (f", {found.loose.count} loose objects of git into a pack" if many else ""),
    )
    for name, size_bytes in sorted(found.old_indexes.items()):
        yield Remedy(f"remove {name}", size_bytes, "counted", "an index of another version; goes by itself in a week")
    older = found.backups[1:]
    yield Remedy(
        "ai-memory backup --keep 1",
        sum(size_bytes for _, size_bytes in older),
        "counted",
        f"{len(older)} archives older than the newest; it makes a new one first",
    )
    yield from _by_removing(memory, found)


def _by_removing(memory: "Memory", found: "Sizes") -> Iterator[Remedy]:
    """What may go as it is."""
    data_dir = memory.data_dir
    known = {name for name, _ in found.backups}
    for name, amount in found.parts.items():
        if name.startswith("backups/state-damaged-") and name.removeprefix("backups/") not in known:
            yield Remedy(f"remove {name}", amount.size_bytes, "counted", "what a damaged state.db held before salvage")
    vectors = found.parts.get(f"{data_dir.cache.name}/vectors")
    for path, what in (
        (data_dir.cache, f"{vectors.count if vectors else 0} vectors, made again when they are wanted: costs time"),
        (data_dir.models, "models, fetched again when they are wanted"),
        (data_dir.logs, "logs of what ran in the background"),
    ):
        if path.name in found.parts:
            yield Remedy(f"remove {path.name}", found.parts[path.name].size_bytes, "counted", what)
    quarantine = found.parts.get("spool/quarantine")
    if quarantine is not None:
        what = f"{quarantine.count} events that could not be applied, for good"
        yield Remedy("ai-memory quarantine drop --all --confirm", quarantine.size_bytes, "counted", what)


# --- telling ---


Branch = tuple[int, str, str, str, float]
_DATABASES = ("state.db/", "cache.db/", "index-")


def size_tree(result: Size) -> list[Branch]:
    """The whole, its parts, and what they are made of: depth, name, size, count, share of the whole."""
    below: dict[str, list[SizeRow]] = {}
    names = {row.name for row in result.parts}
    for row in result.parts:
        below.setdefault(_above(row.name, names), []).append(row)
    branches: list[Branch] = [(0, result.data_dir, _shown(result.bytes), "", 1.0)]

    def grow(above: str, depth: int) -> None:
        rows = below.get(above, [])
        most = MOST_BRANCHES if above else len(rows)
        for row in rows[:most]:
            name = " ".join(row.name.removeprefix(f"{above}/").split())
            branches.append((depth, name, _shown(row.bytes), _counted(row), row.bytes / max(1, result.bytes)))
            grow(row.name, depth + 1)
        if rest := rows[most:]:
            size_bytes = sum(row.bytes for row in rest)
            said = f"{len(rest)} more: --json lists all"
            branches.append((depth, "…", _shown(size_bytes), said, size_bytes / max(1, result.bytes)))

    grow("", 1)
    return branches


def _counted(row: SizeRow) -> str:
    if not row.count:
        return ""
    unit = "row" if "/" in row.name and row.name.startswith(_DATABASES) else "file"
    return f"{row.count:,} {unit}{'' if row.count == 1 else 's'}"


def size_text(result: Size) -> str:
    """The tree with bars, the projects, and the ways to make room."""
    branches = size_tree(result)
    names = max(len(f"{'  ' * depth}{name}") for depth, name, *_ in branches)
    lines = []
    for depth, name, figure, more, share in branches:
        bar = "#" * round(share * BAR_CELLS)
        lines.append(f"{'  ' * depth + name:<{names}}  {figure:>10}  {bar:<{BAR_CELLS}}  {more}".rstrip())
    return "\n".join([*lines, size_remedies(result)])


def size_remedies(result: Size) -> str:
    """What projects hold, and what frees how much."""
    lines = []
    if result.projects:
        lines += ["", "projects:"]
    for row in result.projects[:MOST_BRANCHES]:
        lines.append(
            f"  {row.workspace}/{row.project} · {row.pages:,} pages, {_shown(row.pages_bytes)}"
            f" · {row.sessions:,} sessions, {row.observations:,} observations, {_shown(row.observations_bytes)}"
        )
    if len(result.projects) > MOST_BRANCHES:
        lines.append(f"  and {len(result.projects) - MOST_BRANCHES} more: --json lists all")
    lines += ["", "to make room:" if result.remedies else "nothing to gain that is worth it"]
    for one in result.remedies:
        least = "at least " if one.how == "at_least" else ""
        lines.append(f"  {one.remedy} · frees {least}{_shown(one.frees_bytes)} · {one.what}")
    return "\n".join(lines)


def _shown(size_bytes: int) -> str:
    number, unit = float(size_bytes), 0
    while number >= 1024 and unit < len(UNITS) - 1:
        number, unit = number / 1024, unit + 1
    return f"{number:.1f} {UNITS[unit]}" if unit else f"{size_bytes} B"
