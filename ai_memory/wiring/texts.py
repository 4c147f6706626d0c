"""The instruction block and the skills, as they lie beside this file in markdown."""

from functools import cache
from importlib.resources import files

from ai_memory.wiring.ours import MANAGED

_FOLDER = files("ai_memory.wiring") / "markdown"
SKILLS = ("retrieval", "handoff", "pages", "upkeep", "routing")


@cache
def instruction_block() -> str:
    """What stands between our markers in an instruction file."""
    return (_FOLDER / "instructions.md").read_text(encoding="utf-8").strip()


@cache
def skill_files() -> tuple[tuple[str, str], ...]:
    """(name of its folder, text) of each skill."""
    found = []
    for name in SKILLS:
        text = (_FOLDER / f"skill-{name}.md").read_text(encoding="utf-8")
        assert MANAGED in text, name
        found.append((f"ai-memory-{name}", text))
    return tuple(found)
