"""Wiring agents: hooks, our MCP server, instructions and skills into the files where each of them looks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import UsageFault
from ai_memory.operations.cleaning import refuse_secrets
from ai_memory.operations.field import Field
from ai_memory.operations.named_paths import named_path
from ai_memory.operations.setup import init
from ai_memory.operations.wiring_rows import Wiring, done_rows, file_row, note_rows, wiring_text
from ai_memory.store import wired
from ai_memory.wiring.agents import Desk, checkout_wishes, compile_package
from ai_memory.wiring.apply import Done, apply
from ai_memory.wiring.here import checkout_here
from ai_memory.wiring.plan import Book, FilePlan, State, plan_install
from ai_memory.wiring.wishes import Note, Wish, as_pasted

if TYPE_CHECKING:
    from ai_memory.harnesses.record import Harness
    from ai_memory.store.memory import Memory

Agents = Annotated[tuple[str, ...], Field("agent, by id or alias [all that are found here]", flags=("--agent",))]
Place = Annotated[Literal["user", "project"], Field("your own files, or those of this checkout")]
Apply = Annotated[bool, Field("write it; else it is only shown")]
Printed = Annotated[bool, Field("print what is ours, to paste by hand", flags=("--print",))]
Force = Annotated[bool, Field("also replace what stands under our name and is not ours")]


def install_hooks(
    memory: "Memory",
    *,
    agent: Agents = (),
    scope: Place = "user",
    capture_prompts: Annotated[bool | None, Field("whether prompts are captured; remembered by later installs")] = None,
    printed: Printed = False,
    apply: Apply = False,
) -> Wiring:
    """Wire agents' hooks, so that their sessions become memory. Shows a diff; `--apply` writes.
    Hooks of others stay, comments too. A second run changes nothing.
    """
    return install(
        memory, ("hooks",), agent, scope, capture_prompts=capture_prompts, is_printed=printed, is_applied=apply
    )


def install_mcp(
    memory: "Memory",
    *,
    agent: Agents = (),
    scope: Place = "user",
    force: Force = False,
    printed: Printed = False,
    apply: Apply = False,
) -> Wiring:
    """Name our MCP server in agents' settings. Shows a diff; `--apply` writes.
    Other servers stay, comments too. A second run changes nothing.
    """
    return install(memory, ("mcp",), agent, scope, is_forced=force, is_printed=printed, is_applied=apply)


def install_instructions(
    memory: "Memory",
    *,
    agent: Agents = (),
    scope: Place = "user",
    target: Annotated[str | None, Field("instruction file to write to instead", metavar="FILE")] = None,
    printed: Printed = False,
    apply: Apply = False,
) -> Wiring:
    """Put a short block on memory into agents' instruction files, between two markers. `--apply` writes.
    With `--scope project`: CLAUDE.md and AGENTS.md as far as they are there, else CLAUDE.md.
    """
    return install(memory, ("instructions",), agent, scope, target=target or "", is_printed=printed, is_applied=apply)


def install_skills(
    memory: "Memory",
    *,
    agent: Agents = (),
    scope: Place = "user",
    force: Force = False,
    printed: Printed = False,
    apply: Apply = False,
) -> Wiring:
    """Put our skills into agents' folders of skills. Shows a diff; `--apply` writes.
    A file of that name that is not ours is refused, and then none is written.
    """
    return install(memory, ("skills",), agent, scope, is_forced=force, is_printed=printed, is_applied=apply)


def install(
    memory: "Memory",
    whats: Sequence[str],
    names: Sequence[str],
    scope: str,
    *,
    target: str = "",
    capture_prompts: bool | None = None,
    is_forced: bool = False,
    is_printed: bool = False,
    is_applied: bool = False,
) -> Wiring:
    """Plan all of it and, if it is to be applied, write it. *Errors*: NotFound, UsageFault, LockBusy, StoreFault."""
    refuse_secrets(memory, target=target)
    checkout = _checkout(memory, scope)
    without = wired.without_prompts(memory.data_dir)
    desk = Desk(memory.caller, memory.data_dir.root, without)
    chosen = desk.chosen(names) if names else desk.present()
    if capture_prompts is not None:
        ids = frozenset(one.id for one in chosen)
        without = without - ids if capture_prompts else without | ids
        desk = replace(desk, without_prompts=without)
    wishes, notes = _wishes(memory, desk, chosen, whats, checkout, names, target)
    ids_of = tuple(one.id for one in chosen)
    if is_printed:
        return Wiring((), note_rows([*as_pasted(wishes), *notes]), ids_of, applied=False)
    if not is_applied:
        plans, gaps = _planned(memory, desk, wishes, is_forced=is_forced)
        return Wiring(tuple(map(file_row, plans)), note_rows(notes), ids_of, applied=False, gaps=gaps)
    begun = init(memory)
    with wired.wiring_lock(memory.data_dir, timeout_s=memory.lock_timeout_s):
        wired.put_without_prompts(memory.data_dir, without)
        if capture_prompts is not None:
            begun = init(memory)  # tells the hooks that are written already, too
        plans, gaps = _planned(memory, desk, wishes, is_forced=is_forced)
        done = apply(plans, memory.data_dir, clock=memory.clock, step=memory.step)
    compile_package()
    written = changed_agents(done)
    gaps = (*begun.gaps, *gaps)
    if written:
        verb = f"install-{whats[0]}" if len(whats) == 1 else "setup"
        gaps += memory.tell(verb, subject=", ".join(written), count=len(written))
    return Wiring(
        done_rows(done), note_rows(notes), ids_of, applied=True, restart=restart_lines(chosen, written), gaps=gaps
    )


def installed_text(result: Wiring) -> str:
    """A diff of each file that changes; applied, one line a file."""
    return wiring_text(result)


def _checkout(memory: "Memory", scope: str) -> str:
    """Where a checkout's own files lie, empty for the person's. *Errors*: UsageFault outside any checkout."""
    checkout = checkout_here(memory.caller) if scope == "project" else ""
    if scope == "project" and not checkout:
        raise UsageFault("--scope project is for a checkout, and here is none", hint="go into one, or leave it out")
    return checkout


def _wishes(
    memory: "Memory",
    desk: Desk,
    chosen: "Sequence[Harness]",
    whats: Sequence[str],
    checkout: str,
    names: Sequence[str],
    target: str,
) -> tuple[list[Wish], list[Note]]:
    if target:
        path = named_path(memory, target)
        return checkout_wishes(str(path.parent), (path.name,)), []
    wishes: list[Wish] = []
    notes: list[Note] = []
    for what in whats:
        if what == "instructions" and checkout and not names:
            wishes += checkout_wishes(checkout)
            continue
        more, left = desk.wishes(chosen, what, checkout=checkout)
        wishes += more
        notes += left
    return wishes, notes


def _planned(
    memory: "Memory", desk: Desk, wishes: Sequence[Wish], *, is_forced: bool
) -> tuple[list[FilePlan], tuple[str, ...]]:
    records, gaps = wired.all_wired(memory.data_dir)
    return plan_install(wishes, Book(tuple(records)), desk.edits_of, is_forced=is_forced), gaps


def changed_agents(done: Sequence[Done]) -> tuple[str, ...]:
    """Agents of whom a file was written, in order."""
    written = [
        one.plan for one in done if not one.fault and one.plan.state in (State.CREATE, State.CHANGE, State.DELETE)
    ]
    return tuple(dict.fromkeys(owner.agent for plan in written for owner in plan.owners))


def restart_lines(chosen: "Sequence[Harness]", written: Sequence[str]) -> tuple[str, ...]:
    """What a person does for the change to count, an agent a line."""
    return tuple(f"{one.title}: {one.restart}" for one in chosen if one.id in written and one.restart)
