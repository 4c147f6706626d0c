"""Every harness by id or alias. Each record stands in a module of its own."""

import difflib
from collections.abc import Mapping

from ai_memory.errors import NotFound, echo
from ai_memory.harnesses.amp import AMP
from ai_memory.harnesses.antigravity_cli import ANTIGRAVITY_CLI
from ai_memory.harnesses.claude_code import CLAUDE_CODE
from ai_memory.harnesses.claude_desktop import CLAUDE_DESKTOP
from ai_memory.harnesses.cline import CLINE
from ai_memory.harnesses.codex import CODEX
from ai_memory.harnesses.command_code import COMMAND_CODE
from ai_memory.harnesses.copilot import COPILOT_CLI, VSCODE
from ai_memory.harnesses.crush import CRUSH
from ai_memory.harnesses.cursor import CURSOR
from ai_memory.harnesses.devin import DEVIN
from ai_memory.harnesses.dsh import DSH
from ai_memory.harnesses.factory import FACTORY
from ai_memory.harnesses.gemini_cli import GEMINI_CLI
from ai_memory.harnesses.grok import GROK
from ai_memory.harnesses.hermes import HERMES
from ai_memory.harnesses.kimi_code import KIMI_CODE
from ai_memory.harnesses.kiro import KIRO_CLI, KIRO_CLI_V3
from ai_memory.harnesses.muse import MUSE
from ai_memory.harnesses.openclaw import OPENCLAW
from ai_memory.harnesses.opencode import OPENCODE
from ai_memory.harnesses.pi import OMP, PI
from ai_memory.harnesses.pool import POOL
from ai_memory.harnesses.prime import PRIME
from ai_memory.harnesses.qwen_code import QWEN_CODE
from ai_memory.harnesses.record import Harness
from ai_memory.harnesses.roo import ROO
from ai_memory.harnesses.swival import SWIVAL
from ai_memory.harnesses.windsurf import WINDSURF
from ai_memory.harnesses.zcode import ZCODE
from ai_memory.harnesses.zed import ZED
from ai_memory.harnesses.zero import ZERO

HARNESSES: tuple[Harness, ...] = (
    *(CLAUDE_CODE, CODEX, OPENCODE, CURSOR, GEMINI_CLI, ANTIGRAVITY_CLI, PI, OMP, OPENCLAW, HERMES, GROK, CRUSH, ZERO),
    *(ZCODE, KIMI_CODE, KIRO_CLI, KIRO_CLI_V3, COMMAND_CODE, DEVIN, POOL, COPILOT_CLI, VSCODE, CLAUDE_DESKTOP, ZED),
    *(MUSE, FACTORY, PRIME, SWIVAL, DSH, QWEN_CODE, WINDSURF, CLINE, AMP, ROO),
)
"""In the order of decision C8."""

BY_ID: Mapping[str, Harness] = {one.id: one for one in HARNESSES}
_BY_NAME: Mapping[str, Harness] = {name: one for one in HARNESSES for name in (one.id, *one.aliases)}


def find(name: str) -> Harness | None:
    """The harness of that id or alias, in any case, or None."""
    return _BY_NAME.get(name.strip().lower().replace("_", "-"))


def get(name: str) -> Harness:
    """The harness of that id or alias. *Errors*: NotFound naming the nearest one."""
    found = find(name)
    if found is None:
        near = difflib.get_close_matches(name.lower(), list(_BY_NAME), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(BY_ID)}"
        raise NotFound(f"no harness is called {echo(name)}", hint=hint)
    return found
