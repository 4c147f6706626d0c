"""Whether a person typed a prompt, as far as the surroundings of its hook give it away. Part of the hook: light.

Only for prompts, since only these may declare what holds. What cannot be told counts as typed: an agent that runs
another one of its own kind without a terminal, on a system without `/proc`, is such a case.
"""

# ruff: noqa: PTH115 (pathlib is not loaded in a hook)

import os

from ai_memory import hook_harnesses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_ENTRANCE = "CLAUDE_CODE_ENTRYPOINT"
_BY_PROGRAM = ("sdk", "mcp", "claude-code-github-action")
"""How values of that variable begin where no person types: `claude -p` is `sdk-cli`."""
_TERMINALS = ("/dev/pts/", "/dev/tty", "/dev/console")


def is_unattended(agent: str, environ: "Mapping[str, str]", *, process: int) -> bool:
    """Whether a program gave the prompt. `process`: the agent's, by the system's own number; 0 is not known."""
    entrance = environ.get(_ENTRANCE, "") if agent == "claude-code" else ""
    if entrance.startswith(_BY_PROGRAM) or _runs_in_another(agent, environ):
        return True
    return entrance == "cli" and process > 0 and not _has_terminal(process)


def _runs_in_another(agent: str, environ: "Mapping[str, str]") -> bool:
    """Whether an agent of another kind started this one: it names its session to all that it starts."""
    return any(environ.get(name) for other, name in hook_harnesses.SESSION_VARIABLES.items() if other != agent)


def _has_terminal(process: int) -> bool:
    """Whether its input is a terminal; true also where that cannot be seen."""
    try:
        return os.readlink(f"/proc/{process}/fd/0").startswith(_TERMINALS)
    except OSError:
        return True
