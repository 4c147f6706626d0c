"""Off the record: hooks keep nothing while a pause holds, everywhere or in one checkout."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.clock import LATEST_US, rfc3339
from ai_memory.errors import MemoryFault, StoreFault, UsageFault
from ai_memory.hook_pause import END, MAX_PAUSES, Pause, Pauses, encode, keys_here, read_pauses
from ai_memory.operations.field import Field
from ai_memory.text.printable import shown
from ai_memory.text.sanitize import sanitize_line
from ai_memory.text.times import parse_duration

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class PauseRow:
    """One pause that is not over."""

    folder: str | None
    """The checkout or folder; None: everywhere."""
    since: str
    until: str | None
    """None: until it is ended by `resume`."""
    holds_here: bool


@dataclass(frozen=True, slots=True)
class Paused:
    pauses: tuple[PauseRow, ...]
    """All that hold now somewhere, the new one first."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def pause(
    memory: "Memory",
    *,
    duration: Annotated[
        str | None, Field("for so long, such as 30m, 1h or 2d", flags=("--for",), metavar="DURATION")
    ] = None,
    here: Annotated[bool, Field("this checkout alone, with its worktrees; outside one this folder and below")] = False,
) -> Paused:
    """Go off the record: hooks keep nothing, not even that something happened, until you resume.
    What was captured before stays. Pausing the same place again replaces its end.
    """
    _refuse_nowhere(memory)
    now_us = memory.clock()
    new = _new_pause(memory, duration, here=here, now_us=now_us)

    def with_new(present: Pauses) -> list[Pause]:
        if present.fault and here:
            raise StoreFault(f"{present.fault}, so everything is paused", hint="run `ai-memory resume` first")
        others = [one for one in present.found if not _is_same_place(one, new)]
        if len(others) >= MAX_PAUSES:
            raise MemoryFault(f"{len(others)} folders are paused already", hint="`ai-memory resume --all` ends them")
        return [new, *others]

    left = _replace(memory, with_new)
    gaps = memory.tell("pause", subject=new.span)
    return Paused(_rows(memory, left), gaps)


def _refuse_nowhere(memory: "Memory") -> None:
    """Errors: StoreFault where nothing is captured anyway."""
    if not memory.exists:
        raise StoreFault(
            f"there is no data dir at {memory.data_dir.root}, so nothing is captured",
            hint="name the right one with --data-dir, or make it with `ai-memory init`",
        )


def _new_pause(memory: "Memory", duration: str | None, *, here: bool, now_us: int) -> Pause:
    until_us = None
    if duration is not None:
        lasting_us = parse_duration(duration)
        if not lasting_us:
            raise UsageFault("a pause of no time", hint="write --for 30m, or leave it out: then it lasts until resumed")
        until_us = min(now_us + lasting_us, LATEST_US)
    if not here:
        return Pause([], "", now_us, until_us)
    if memory.caller.cwd is None:
        raise UsageFault("this folder does not exist any more", hint="go to another one, or leave --here out")
    keys, folder = keys_here(memory.caller.cwd, _home(memory))
    return Pause(keys, sanitize_line(shown(folder)), now_us, until_us)


def _home(memory: "Memory") -> str:
    return memory.caller.environ.get("AI_MEMORY_HOME") or memory.caller.home


def _is_same_place(one: Pause, other: Pause) -> bool:
    return one.is_everywhere == other.is_everywhere and one.keys[:1] == other.keys[:1]


def _replace(memory: "Memory", changed: Callable[[Pauses], list[Pause]]) -> list[Pause]:
    """Let `paused.json` hold what `changed` makes of it; no file where nothing is paused. Gives what holds now.

    Crash: whole or not at all, and durable on return. Errors: LockBusy, StoreFault.
    """
    from ai_memory.store.driver import refusal
    from ai_memory.store.filesystem import sync_folder, write_whole  # the writing side, not needed to show
    from ai_memory.store.writing import writer_lock

    path = memory.data_dir.paused
    try:
        with writer_lock(memory).held(memory.lock_timeout_s):
            left = changed(_present(memory))
            if left:
                write_whole(path, encode(left))
            else:
                path.unlink(missing_ok=True)
                sync_folder(path.parent)
    except OSError as fault:
        why, remedy = refusal(path.parent, fault)
        hint = "See that it is a file." if path.is_dir() else f"{remedy} Then try again."
        raise StoreFault(f"{path.name} cannot be changed: {why}", hint=hint) from fault
    return left


def _present(memory: "Memory") -> Pauses:
    return read_pauses(str(memory.data_dir.root), memory.clock())


def _rows(memory: "Memory", pauses: list[Pause]) -> tuple[PauseRow, ...]:
    return tuple(_row(memory, one) for one in pauses)


def _row(memory: "Memory", one: Pause) -> PauseRow:
    return PauseRow(
        folder=one.label if one.keys else None,
        since=_second(one.since_us),
        until=None if one.until_us is None else _second(one.until_us),
        holds_here=_holds_here(memory, one),
    )


def _second(at_us: int) -> str:
    return rfc3339(at_us // 1_000_000 * 1_000_000)


def _holds_here(memory: "Memory", one: Pause) -> bool:
    cwd = memory.caller.cwd
    return one.is_everywhere or bool(cwd and Pauses([one]).holding([cwd], _home(memory)))


def pause_text(result: Paused) -> str:
    """The new pause and how it ends, then the others."""
    new, *others = (pause_words(row) for row in result.pauses)
    return "\n".join([f"{new}: nothing is kept; {END}", *(f"also {words}" for words in others)])


def pause_words(row: PauseRow) -> str:
    """`paused everywhere until 2026-11-30T09:00:00Z`."""
    return f"paused {f'in {row.folder}' if row.folder else 'everywhere'} until {row.until or 'resumed'}"


@dataclass(frozen=True, slots=True)
class Resumed:
    outcome: Literal["resumed", "unchanged"]
    ended: tuple[PauseRow, ...]
    pauses: tuple[PauseRow, ...]
    """What still holds, elsewhere."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def resume(
    memory: "Memory",
    *,
    everything: Annotated[bool, Field("also pauses of other folders", flags=("--all",))] = False,
) -> Resumed:
    """Go back on the record: end the pause that holds here, that of everywhere too.
    What happened meanwhile is not made up for.
    """
    present = _present(memory)
    if not present.found and not present.fault:
        return Resumed("unchanged", (), ())
    ended: list[Pause] = []

    def without(now: Pauses) -> list[Pause]:
        ended.extend(one for one in now.found if everything or _holds_here(memory, one))
        return [one for one in now.found if one not in ended]

    left = _replace(memory, without)
    rows = _rows(memory, ended)
    gaps: tuple[str, ...] = ()
    if ended or present.fault:
        words = ", ".join(one.span for one in ended) or present.fault
        gaps = memory.tell("resume", subject=words)
    return Resumed("resumed" if ended or present.fault else "unchanged", rows, _rows(memory, left), gaps)


def resume_text(result: Resumed) -> str:
    """What ended, and what still holds elsewhere."""
    lines = [f"ended: {pause_words(row)}" for row in result.ended]
    if result.outcome == "resumed" and not lines:
        lines = ["ended: the file that said what is paused could not be read, it is gone"]
    lines += [f"still {_with_end(row)}" for row in result.pauses]
    return "\n".join(lines or ["nothing is paused here"])


@dataclass(frozen=True, slots=True)
class CaptureState:
    """Whether hooks keep what happens here."""

    paused: bool
    """A pause holds in this folder, or what is paused cannot be read."""
    pauses: tuple[PauseRow, ...]
    fault: str = ""


def capture_state(memory: "Memory") -> CaptureState:
    """For `status`: the pauses that are not over, those that hold here first."""
    present = _present(memory)
    rows = sorted(_rows(memory, present.found), key=lambda row: not row.holds_here)
    return CaptureState(bool(present.fault) or any(row.holds_here for row in rows), tuple(rows), present.fault)


def capture_words(state: CaptureState) -> str:
    """What `status` says of it."""
    if state.fault:
        return f"paused: {state.fault}; {END}"
    return "; ".join(map(_with_end, state.pauses)) or "on"


def _with_end(row: PauseRow) -> str:
    return f"{pause_words(row)}; {END if row.holds_here else '`ai-memory resume --all` ends it'}"
