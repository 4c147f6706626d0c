"""From edits to a plan, file by file. Everything is read and parsed here; nothing is written."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from ai_memory.harnesses.edits import FileEdit, Json, Member, Part, Syntax
from ai_memory.store.wired import Owner, Wired, fingerprint
from ai_memory.wiring.documents import Refused, opened, with_block, without_block
from ai_memory.wiring.files import Seen, follow, look, missing_folders
from ai_memory.wiring.merge import Terms, with_ours, without_ours
from ai_memory.wiring.ours import is_our_text
from ai_memory.wiring.wishes import Wish, instruction_edit

EditsOf = Callable[[Owner], Sequence[FileEdit]]
"""What an owner wants now, in all its files."""


class State(StrEnum):
    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"
    SAME = "no change"
    LEFT_OUT = "left out"
    """It would have to be there already, and is not."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What becomes of one file."""

    path: Path
    owners: tuple[Owner, ...]
    """For whom this command touches it."""
    state: State
    seen: Seen | None = None
    after: bytes | None = None
    """None: no file."""
    record: Wired | None = None
    """How it is remembered afterwards; None: not any more."""
    former: Wired | None = None
    is_executable: bool = False
    reason: str = ""
    line: int = 0
    column: int = 0
    hint: str = ""
    is_recorded: bool = True
    """False: what a person does with the file, such as putting a copy back; no record tells of it."""
    may_hold_ours: bool = False
    """It could not be read as what it should be, but it names us."""

    @property
    def before(self) -> bytes | None:
        return self.seen.content if self.seen else None

    def diff(self) -> str:
        """What changes, as a unified diff; empty where nothing does."""
        if self.state not in (State.CREATE, State.CHANGE, State.DELETE):
            return ""
        old, new = ((one or b"").decode("utf-8", "replace").splitlines() for one in (self.before, self.after))
        was, will = (str(self.path) if one is not None else "/dev/null" for one in (self.before, self.after))
        return "\n".join(difflib.unified_diff(old, new, was, will, lineterm=""))


@dataclass(frozen=True, slots=True)
class Book:
    """What is remembered of earlier runs."""

    records: tuple[Wired, ...] = ()

    def of(self, target: Path) -> Wired | None:
        return next((one for one in self.records if one.target == str(target)), None)


def plan_install(wishes: Sequence[Wish], book: Book, edits_of: EditsOf, *, is_forced: bool = False) -> list[FilePlan]:
    """One plan a file, in the order of the wishes. What others had written there before is asked for again."""
    return [_installed(path, group, book, edits_of, is_forced=is_forced) for path, group in _by_file(wishes)]


def compared(wishes: Sequence[Wish]) -> list[FilePlan]:
    """The same for whoever only looks: what others wrote there plays no part, and nothing is to be remembered."""
    return [_installed(path, group, Book(), lambda _: (), is_remembered=False) for path, group in _by_file(wishes)]


def plan_uninstall(wishes: Sequence[Wish], gone: Iterable[Owner], book: Book, edits_of: EditsOf) -> list[FilePlan]:
    """One plan for each file that `gone` owners had written to, and for each in which something of `wishes` may stand.

    `wishes` are what these owners would write now: they find what no record knows of.
    """
    leaving = frozenset(gone)
    plans, done = [], set()
    for record in book.records:
        if leaving & frozenset(record.owners):
            plans.append(_uninstalled(Path(record.path), record, leaving, [], edits_of))
            done.add(record.target)
    for path, group in _by_file(wishes):
        if str(path) not in done and book.of(path) is None:
            owners = frozenset(one.owner for one in group)
            plans.append(_uninstalled(Path(group[0].edit.path), None, owners, [one.edit for one in group], edits_of))
    return plans


def _by_file(wishes: Sequence[Wish]) -> list[tuple[Path, list[Wish]]]:
    """Wishes by the file that they lead to, links followed."""
    groups: dict[Path, list[Wish]] = {}
    for wish in wishes:
        path = Path(wish.edit.path)
        with suppress(Refused, OSError):  # the look at it tells why
            path = follow(path)
        groups.setdefault(path, []).append(wish)
    return list(groups.items())


def _installed(
    target: Path,
    group: list[Wish],
    book: Book,
    edits_of: EditsOf,
    *,
    is_forced: bool = False,
    is_remembered: bool = True,
) -> FilePlan:
    first = group[0].edit
    path = Path(first.path)
    asking = tuple(dict.fromkeys(one.owner for one in group))
    former = book.of(target)
    edits = {(one.owner, one.edit.syntax): one.edit for one in group}
    for owner in former.owners if former else ():
        for edit in _own_edits(edits_of, owner, target) if owner not in asking else ():
            if _leads_to(edit, target):
                edits[owner, edit.syntax] = edit
    owners = tuple(sorted({owner for owner, _ in edits}))
    wanted = [edits[key] for key in sorted(edits, key=lambda key: key[0])]
    try:
        seen = look(path)
        if seen.content is None and first.must_exist:
            return FilePlan(path, asking, State.LEFT_OUT, seen, reason="there is no such file, and none is made")
        known = frozenset(former.owners) if former else frozenset()
        recorded = [edit for (owner, _), edit in edits.items() if owner in known]
        after = _with(seen, wanted, recorded, is_forced=is_forced)
        record = _remembered(seen, path, owners, wanted, recorded, former, after) if is_remembered else None
        plan = FilePlan(path, asking, State.SAME, seen, after, record, former, is_executable=first.is_executable)
        if after == seen.content:
            return plan
        if seen.hindrance:
            raise Refused(seen.hindrance)
        return replace(plan, state=State.CHANGE if seen.content is not None else State.CREATE)
    except Refused as fault:
        return _refused(path, asking, fault)


def _with(seen: Seen, edits: Sequence[FileEdit], recorded: Sequence[FileEdit], *, is_forced: bool) -> bytes:
    """The file with all that is ours. *Errors*: Refused."""
    text, syntax = seen.text, edits[0].syntax
    match syntax:
        case Syntax.JSON | Syntax.TOML:
            terms = Terms(_member_ways(recorded), is_forced)
            return with_ours(opened(text, syntax), _parts(edits), terms).text.encode()
        case Syntax.MARKDOWN:
            return with_block(text, edits[0].text).encode()
        case Syntax.WHOLE:
            is_free = seen.content is None or is_forced or is_our_text(text)
            if not is_free and text != edits[0].text:
                raise Refused("a file of that name is there, and not ours", hint="rename it, or replace it by --force")
            return edits[0].text.encode()


def _without(
    seen: Seen, edits: Sequence[FileEdit], recorded: Sequence[FileEdit], original: bytes | None
) -> bytes | None:
    """The file without what is ours by its structure; None: no file. *Errors*: Refused."""
    text, syntax = seen.text, edits[0].syntax
    match syntax:
        case Syntax.JSON | Syntax.TOML:
            known = _meaning(original, syntax) if recorded else None
            terms = Terms(_member_ways(recorded))
            left = without_ours(opened(text, syntax), _parts(edits), terms, known).text
        case Syntax.MARKDOWN:
            left = without_block(text)
        case Syntax.WHOLE:
            return original if is_our_text(text) else seen.content
    is_bare = not left.strip("\ufeff \t\r\n") or (syntax is Syntax.JSON and left.split() in (["{}"], ["{", "}"]))
    was_made = original is None and (bool(recorded) or "ai-memory" in seen.path.name)
    return None if is_bare and was_made and left != text else left.encode()


def _remembered(
    seen: Seen,
    path: Path,
    owners: tuple[Owner, ...],
    edits: Sequence[FileEdit],
    recorded: Sequence[FileEdit],
    former: Wired | None,
    after: bytes | None,
) -> Wired:
    """The record of a file that is written: its original as recorded, or as it would be without us."""
    if former and former.is_as_left(seen.content):
        original, folders = former.original, former.folders
    elif seen.content is None:
        original = None
        folders = tuple(map(str, missing_folders(seen.target.parent)))
    else:
        original = _without(seen, edits, recorded, former.original if former else None)
        folders = former.folders if former else ()
    return Wired(str(seen.target), str(path), owners, original, (fingerprint(after),), folders)


def _uninstalled(
    path: Path, former: Wired | None, leaving: frozenset[Owner], edits: list[FileEdit], edits_of: EditsOf
) -> FilePlan:
    asking = tuple(sorted(leaving & frozenset(former.owners))) if former else tuple(sorted(leaving))
    staying = tuple(one for one in former.owners if one not in leaving) if former else ()
    try:
        seen = look(path)
        kept: list[FileEdit] = []
        if former:
            edits = [edit for owner in asking for edit in _own_edits(edits_of, owner, seen.target)]
            kept = [edit for owner in staying for edit in _own_edits(edits_of, owner, seen.target)]
        after, record = _given_back(seen, path, former, edits, kept, staying)
        plan = FilePlan(path, asking, State.SAME, seen, after, record, former)
        if after == seen.content:
            return plan
        if seen.hindrance:
            raise Refused(seen.hindrance)
        return replace(plan, state=State.CHANGE if after is not None else State.DELETE)
    except Refused as fault:
        return replace(_refused(path, asking, fault), former=former, may_hold_ours=_names_us(path))


def _given_back(
    seen: Seen,
    path: Path,
    former: Wired | None,
    edits: list[FileEdit],
    kept: list[FileEdit],
    staying: tuple[Owner, ...],
) -> tuple[bytes | None, Wired | None]:
    """The file without what leaves, and how it is remembered. *Errors*: Refused."""
    original = former.original if former else None
    recorded = edits if former else []
    if seen.content is None:
        return None, None
    if former and former.is_as_left(seen.content) and not kept:
        return original, None
    if not edits:
        raise Refused("it was changed since, and what is ours in it is not known any more", hint="edit it by hand")
    after = _without(seen, edits, recorded, original)
    if not kept:
        return after, None
    assert former is not None  # only a record knows who stays
    rest = replace(seen, content=after)
    after = _with(rest, kept, kept, is_forced=False)
    return after, _remembered(seen, path, staying, kept, [*edits, *kept], former, after)


def _own_edits(edits_of: EditsOf, owner: Owner, target: Path) -> list[FileEdit]:
    """What an owner wants in that file; where its settings lie elsewhere by now, what it wants there."""
    if owner.what == "instructions":  # one block for all, wherever a person wanted it
        return [instruction_edit(target)]
    edits = list(edits_of(owner))
    here = [edit for edit in edits if _leads_to(edit, target)]
    return here or [edit for edit in edits if Path(edit.path).name == target.name] or edits[:1]


def _leads_to(edit: FileEdit, target: Path) -> bool:
    try:
        return follow(Path(edit.path)) == target
    except (Refused, OSError):
        return False


def _names_us(path: Path) -> bool:
    try:
        content = look(path).content or b""
    except Refused:
        return False
    return b"ai_memory" in content or b"ai-memory" in content


def _refused(path: Path, owners: tuple[Owner, ...], fault: Refused) -> FilePlan:
    return FilePlan(
        path, owners, State.REFUSED, reason=fault.reason, line=fault.line, column=fault.column, hint=fault.hint
    )


def _parts(edits: Sequence[FileEdit]) -> list[Part]:
    return [part for edit in edits for part in edit.parts]


def _member_ways(edits: Sequence[FileEdit]) -> frozenset[tuple[str, ...]]:
    return frozenset(part.keys for part in _parts(edits) if isinstance(part, Member))


def _meaning(original: bytes | None, syntax: Syntax) -> Json:
    """What the original said; an empty object where there was none or it cannot be read."""
    try:
        return opened((original or b"").decode("utf-8", "replace"), syntax).value() or {}
    except Refused:
        return {}
