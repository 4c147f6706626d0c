"""What an agent is to be given, as edits of its files: hooks, our MCP server, instructions, skills."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from ai_memory.harnesses.edits import FileEdit, Member, Part, Requirement, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Machine, Place
from ai_memory.harnesses.record import Harness, HookFile, McpFile
from ai_memory.store.wired import Owner
from ai_memory.wiring.documents import Refused, opened, with_block
from ai_memory.wiring.files import look
from ai_memory.wiring.merge import Terms, with_ours
from ai_memory.wiring.texts import instruction_block, skill_files

WHATS = ("hooks", "mcp", "instructions", "skills")
"""All that an agent can be given, in the order in which it is written."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One edit, and for whom it is made."""

    owner: Owner
    edit: FileEdit


@dataclass(frozen=True, slots=True)
class Note:
    """What is not written for an agent: why, or what a person pastes."""

    agent: str
    what: str
    text: str
    snippet: str = ""
    """For the person to paste into `path`."""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Wishes:
    """All of one agent."""

    wishes: tuple[Wish, ...] = ()
    notes: tuple[Note, ...] = ()


def wishes_of(harness: Harness, what: str, launch: Launch, machine: Machine) -> Wishes:
    """What that agent is given; with a `machine.checkout` in the checkout's own files, else in the person's."""
    make: dict[str, Callable[[Harness, Launch, Machine], Wishes]] = {
        "hooks": _hooks,
        "mcp": _mcp,
        "instructions": _instructions,
        "skills": _skills,
    }
    return make[what](harness, launch, machine)


def _hooks(harness: Harness, launch: Launch, machine: Machine) -> Wishes:
    hooks = harness.hooks
    if hooks is None:
        return _nothing(harness, "hooks", "it has no hooks that could be wired")
    place = hooks.project if machine.checkout else hooks.place
    if place is None:
        return _nothing(harness, "hooks", "its hooks in a checkout would be shared with a team")
    if _needs_a_checkout(place, machine) and not hooks.is_printed:
        return _nothing(harness, "hooks", _CHECKOUT_ONLY)
    path = place.at(machine)
    if hooks.is_folder:
        files = sorted(one for one in Path(path).glob("*.json") if one.is_file())
        edits = [_hook_edit(harness, hooks, launch, one) for one in files]
        missing = _nothing(harness, "hooks", f"{path} holds no file in which hooks could stand")
        return _wanted(harness, "hooks", edits, machine) if edits else missing
    if hooks.files is not None:
        whole = [
            FileEdit(path / name, Syntax.WHOLE, text=text, is_executable=True)
            for name, text in hooks.files(harness, launch).items()
        ]
        none = _nothing(harness, "hooks", "its hooks cannot be written on this system")
        return _wanted(harness, "hooks", whole, machine) if whole else none
    edit = _hook_edit(harness, hooks, launch, path)
    if hooks.is_printed:
        return _printed(harness, "hooks", edit)
    beside = [FileEdit(path.with_name(name), Syntax.WHOLE, text=text(harness, launch)) for name, text in hooks.beside]
    return _wanted(harness, "hooks", [edit, *beside], machine)


_CHECKOUT_ONLY = "it reads only a checkout's own file: --scope project"


def _needs_a_checkout(place: Place, machine: Machine) -> bool:
    return place.path.startswith("{checkout}") and not machine.checkout


def _hook_edit(harness: Harness, hooks: HookFile, launch: Launch, path: PurePath) -> FileEdit:
    parts: tuple[Part, ...] = hooks.parts(harness, launch) if hooks.parts else ()
    text = hooks.text(harness, launch) if hooks.text else ""
    return FileEdit(path, hooks.syntax, parts, text, is_executable=text.startswith("#!"), must_exist=hooks.is_folder)


def _mcp(harness: Harness, launch: Launch, machine: Machine) -> Wishes:
    mcp = harness.mcp
    if mcp is None:
        return _nothing(harness, "mcp", "it takes no MCP server from a file")
    place = mcp.project if machine.checkout else mcp.place
    if place is None:
        return _nothing(harness, "mcp", "it reads no MCP server from a checkout")
    if _needs_a_checkout(place, machine) and not mcp.is_printed:
        return _nothing(harness, "mcp", _CHECKOUT_ONLY)
    if mcp.text is not None:
        return _printed(harness, "mcp", FileEdit(place.at(machine), Syntax.WHOLE, text=mcp.text(launch)))
    edit = FileEdit(place.at(machine), mcp.syntax, _mcp_parts(_as_converted(mcp, Path(place.at(machine))), launch))
    return _printed(harness, "mcp", edit) if mcp.is_printed else _wanted(harness, "mcp", [edit], machine)


def _as_converted(mcp: McpFile, path: Path) -> McpFile:
    """The shape that the file has: that of a newer version of the program where somebody converted it."""
    if mcp.newer is None:
        return mcp
    keys, entry = mcp.newer
    try:
        servers = opened(look(path).text, mcp.syntax).value(keys[:-1])
    except Refused:
        return mcp  # the plan says what is wrong with the file
    is_converted = isinstance(servers, Mapping) and not {"type", "command", "enabled"} & servers.keys()
    return replace(mcp, keys=keys, entry=entry) if is_converted else mcp


def _mcp_parts(mcp: McpFile, launch: Launch) -> tuple[Part, ...]:
    required = tuple(Requirement(keys, value) for keys, value in mcp.requires)
    return (*required, Member(mcp.keys, mcp.entry(launch)))


def _instructions(harness: Harness, launch: Launch, machine: Machine) -> Wishes:
    del launch
    if machine.checkout:
        name = harness.project_instructions
        path = machine.path(machine.checkout) / _imported(Path(machine.checkout), name) if name else None
    else:
        path = harness.instructions.at(machine) if harness.instructions else None
    if path is None:
        return _nothing(harness, "instructions", "no instruction file of it is known")
    return _wanted(harness, "instructions", [instruction_edit(path)], machine)


def instruction_edit(path: PurePath) -> FileEdit:
    """Our block in an instruction file."""
    return FileEdit(path, Syntax.MARKDOWN, text=instruction_block())


def _imported(checkout: Path, name: str) -> str:
    """The file that holds an agent's instructions: AGENTS.md where its own file imports that one."""
    try:
        lines = (checkout / name).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return name
    return "AGENTS.md" if "@AGENTS.md" in (line.strip() for line in lines) else name


def checkout_targets(checkout: Path) -> tuple[str, ...]:
    """Where instructions of a checkout go if no agent is named: CLAUDE.md and AGENTS.md as far as they are there.

    Where neither is, CLAUDE.md: Claude Code does not read AGENTS.md, and others read both or can be told by name.
    """
    there = [name for name in ("CLAUDE.md", "AGENTS.md") if os.path.lexists(checkout / name)]
    return tuple(dict.fromkeys(_imported(checkout, name) for name in there or ["CLAUDE.md"]))


def _skills(harness: Harness, launch: Launch, machine: Machine) -> Wishes:
    del launch
    place: Place | None = harness.project_skills if machine.checkout else harness.skills
    if place is None:
        return _nothing(harness, "skills", "no folder of skills is known")
    folder = place.at(machine)
    edits = [FileEdit(folder / name / "SKILL.md", Syntax.WHOLE, text=text) for name, text in skill_files()]
    return _wanted(harness, "skills", edits, machine)


def _wanted(harness: Harness, what: str, edits: Iterable[FileEdit], machine: Machine) -> Wishes:
    owner = Owner(harness.id, what, machine.checkout)
    return Wishes(tuple(Wish(owner, edit) for edit in edits))


def _nothing(harness: Harness, what: str, why: str) -> Wishes:
    return Wishes(notes=(Note(harness.id, what, why),))


def _printed(harness: Harness, what: str, edit: FileEdit) -> Wishes:
    """What a person pastes, as it would stand in an empty file."""
    why = next(iter(harness.refuses), "it is not written for you")
    return Wishes(notes=(Note(harness.id, what, why, _snippet(edit), str(edit.path)),))


def _snippet(edit: FileEdit) -> str:
    match edit.syntax:
        case Syntax.JSON | Syntax.TOML:
            return with_ours(opened("", edit.syntax), edit.parts, Terms()).text
        case Syntax.MARKDOWN:
            return with_block("", edit.text)
        case Syntax.WHOLE:
            return edit.text


def as_pasted(wishes: Iterable[Wish]) -> list[Note]:
    """What is ours in each file, as it would stand in an empty one."""
    return [
        Note(one.owner.agent, one.owner.what, "what is ours in it", _snippet(one.edit), str(one.edit.path))
        for one in wishes
    ]
