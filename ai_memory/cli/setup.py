"""`ai-memory setup`: shows what it would do, asks at a terminal, does it, and runs what it wrote once."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from ai_memory.cli.call import Call, say
from ai_memory.cli.display import shown
from ai_memory.cli.invoke import json_text, with_progress
from ai_memory.errors import MemoryFault
from ai_memory.operations.answer import answer_json, note_lines
from ai_memory.operations.field import Field
from ai_memory.operations.settings import config_get, config_set
from ai_memory.operations.setup_agents import SetUp, backfill_offer, bring_in, decline, set_up, set_up_text
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
    Offers what agents recorded of this folder before. Asks first at a terminal; elsewhere it acts with --yes.
    """
    memory = call.open_memory()
    is_asking = not yes and not dry_run and not call.is_json and _is_at_terminal()
    offer, gaps = backfill_offer(memory, agent)
    for gap in gaps:
        say(shown(f"note: {gap}"))
    planned = set_up(memory, agent, capture_prompts=capture_prompts, offer=offer)
    if dry_run or not (yes or is_asking):
        return _shown(call, planned, has_diffs=dry_run, hint="" if dry_run else "do it with --yes")
    if is_asking and planned.wiring.changes:
        print(shown(set_up_text(planned)))
        if not _agrees(f"Write {planned.wiring.changes} files?", is_usual=True):
            say("nothing was written")
            return 0
    done = set_up(memory, agent, capture_prompts=capture_prompts, is_applied=True, offer=offer)
    if is_asking and done.created:
        _ask_about_answers(memory)
    return _shown(call, _filled(call, memory, agent, done, is_asking=is_asking))


def _filled(call: Call, memory: "Memory", agents: Sequence[str], done: SetUp, *, is_asking: bool) -> SetUp:
    """What setup did, with the earlier sessions brought in if the person wants them; a no is remembered."""
    if not done.backfill:
        return done
    if is_asking and not _agrees(f"Earlier in this folder: {done.backfill}. Bring them in?", is_usual=True):
        decline(memory)
        say("none was brought in, and none will be by itself; `ai-memory backfill` does it whenever you want")
        return replace(done, backfill="")
    try:
        made = with_progress("Earlier sessions", call, partial(bring_in, memory, agents))
    except MemoryFault as fault:
        return replace(done, gaps=(*done.gaps, f"earlier sessions were not brought in: {fault.message}"))
    return replace(done, brought_in=len(made.sessions), gaps=(*done.gaps, *made.gaps))


def _is_at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


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
