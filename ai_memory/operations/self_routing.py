"""The instruction block and the skills as text, for an agent that writes its own files.

They are those that `install-instructions` and `install-skills` write.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ai_memory.harnesses.registry import HARNESSES
from ai_memory.operations.field import Field
from ai_memory.text.marked_block import END, START
from ai_memory.wiring.ours import MANAGED
from ai_memory.wiring.texts import instruction_block, skill_files

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory


@dataclass(frozen=True, slots=True)
class ManagedSkill:
    name: str
    description: str
    relative_path: str
    """Below a folder of skills."""
    content: str
    """Empty in a compact answer."""


@dataclass(frozen=True, slots=True)
class OverwriteGuidance:
    managed_marker: str
    safe_update: str
    unsafe_update: str


@dataclass(frozen=True, slots=True)
class SelfRouting:
    markered_block: str
    marker_start: str
    marker_end: str
    agent_filenames: Mapping[str, str]
    """Agent → name of the instruction file in a checkout."""
    managed_skills: tuple[ManagedSkill, ...]
    target_hints: Mapping[str, str]
    overwrite_guidance: OverwriteGuidance
    notes: tuple[str, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def self_routing(
    memory: "Memory",  # noqa: ARG001 (an operation's first parameter)
    *,
    compact: Annotated[bool, Field("without the texts of the skills")] = False,
) -> SelfRouting:
    """Give the text that routes an agent to this memory, for its rules file, and our skills. Writes nothing.
    Use it when the person asks you to set memory up in your own instructions.
    """
    return SelfRouting(
        markered_block=f"{START}\n{instruction_block()}\n{END}\n",
        marker_start=START,
        marker_end=END,
        agent_filenames={one.id: one.project_instructions for one in HARNESSES if one.project_instructions},
        managed_skills=tuple(_skill(name, text, is_compact=compact) for name, text in skill_files()),
        target_hints={
            "project": "the instruction file in the root of the checkout",
            "global": "your own instruction file, which is read in every checkout",
        },
        overwrite_guidance=OverwriteGuidance(
            managed_marker=MANAGED,
            safe_update="replace what stands from marker to marker, both included, or add the block at the end",
            unsafe_update=f"never touch other text of the file, nor a file of a skill that does not hold {MANAGED}",
        ),
        notes=(
            "`ai-memory install-instructions` and `ai-memory install-skills` write the same, and keep a backup",
            "show the person what you are about to write, and write only where they asked for it",
        ),
    )


def _skill(name: str, text: str, *, is_compact: bool) -> ManagedSkill:
    described = next(line for line in text.splitlines() if line.startswith("description: "))
    return ManagedSkill(name, described.removeprefix("description: "), f"{name}/SKILL.md", "" if is_compact else text)


def self_routing_text(result: SelfRouting) -> str:
    """The block, where it goes, how it may be replaced, and the skills."""
    files: dict[str, list[str]] = {}
    for agent, name in result.agent_filenames.items():
        files.setdefault(name, []).append(agent)
    guidance = result.overwrite_guidance
    lines = ["The block:", "", result.markered_block]
    lines += ["Instruction files:", *(f"- {name}: {', '.join(agents)}" for name, agents in files.items())]
    lines += [f"- {where}: {hint}" for where, hint in result.target_hints.items()]
    lines += ["", f"To update: {guidance.safe_update}; {guidance.unsafe_update}."]
    lines += [f"Note: {note}." for note in result.notes]
    for skill in result.managed_skills:
        lines += ["", f"Skill {skill.relative_path}: {skill.description}", *([skill.content] if skill.content else [])]
    return "\n".join(lines).rstrip("\n") + "\n"
