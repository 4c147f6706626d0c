"""`ai-memory setup`: shows what it would do, asks at a terminal, does it, and runs what it wrote once."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

from ai_memory.cli.call import Call, say
from ai_memory.cli.display import shown
from ai_memory.cli.invoke import json_text
from ai_memory.operations.answer import answer_json, note_lines
from ai_memory.operations.field import Field
from ai_memory.operations.settings import config_get, config_set
from ai_memory.operations.setup_agents import SetUp, set_up, set_up_text
from ai_memory.operations.wiring import Agents

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

ASSISTANT = "capture.assistant"


def setup(
    call: Call,
    *,
    agent: Agents = (),
    capture_prompts: Annotated[bool | None, Field("whether prompts are captured; remembered by later installs")] = None,
    yes: Annotated[bool, Field("do it without asking")] = False,
    dry_run: Annotated[bool, Field("only show what would be done, with diffs")] = False,
) -> int:
    """Find the agents of this machine and wire them: hooks, MCP server, instructions, skills; then run each once.
    Asks first at a terminal; elsewhere it acts with --yes. A second run changes nothing.
    """
    memory = call.open_memory()
    is_asking = not yes and not dry_run and not call.is_json and sys.stdin is not None and sys.stdin.isatty()
    planned = set_up(memory, agent, capture_prompts=capture_prompts)
    if dry_run or not (yes or is_asking):
        return _shown(call, planned, has_diffs=dry_run, hint="" if dry_run else "do it with --yes")
    if is_asking and planned.wiring.changes:
        print(shown(set_up_text(planned)))
        if not _agrees(f"Write {planned.wiring.changes} files?", is_usual=True):
            say("nothing was written")
            return 0
    done = set_up(memory, agent, capture_prompts=capture_prompts, is_applied=True)
    if is_asking and done.created:
        _ask_about_answers(memory)
    return _shown(call, done)


def _shown(call: Call, result: SetUp, *, has_diffs: bool = False, hint: str = "") -> int:
    if call.is_json:
        document: dict[str, Any] = answer_json(result)
        print(json_text(document))
        return result.exit_code
    print(shown(set_up_text(result)))
    for row in result.wiring.files if has_diffs else ():
        if row.diff:
            print(shown(f"\n{row.diff}"))
    for line in note_lines(result):
        say(shown(line))
    if hint and result.wiring.changes:
        say(hint)
    return result.exit_code


def _ask_about_answers(memory: "Memory") -> None:
    """Once, when the data dir is new: excerpts of what the agent answers are kept only if the person says so."""
    (row,) = config_get(memory, key=ASSISTANT).settings
    if row.origin != "default":
        return
    if _agrees("Keep an excerpt of an agent's last answer of each turn, without secrets?", is_usual=False):
        config_set(memory, key=ASSISTANT, value="excerpt")


def _agrees(question: str, *, is_usual: bool) -> bool:
    """Whether the person says yes; an empty line means the usual answer, the end of the input means no."""
    print(f"{question} [{'Y/n' if is_usual else 'y/N'}] ", end="", flush=True)
    try:
        word = input().strip().lower()
    except EOFError:
        return False
    return word in ("y", "yes") or (not word and is_usual)
