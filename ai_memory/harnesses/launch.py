"""The commands that are written into other programs' settings: an absolute interpreter, a file, a data dir (B11).

They name no shim and no `-m`, and they say nothing of a version, so that an upgrade in place leaves them as they are:
Codex asks its user again about every hook whose text changed.
"""

import shlex
from dataclasses import dataclass

from ai_memory.harnesses.edits import Json


@dataclass(frozen=True, slots=True)
class Launch:
    """How this installation is started by a harness."""

    python: str
    """Absolute path of the interpreter, by the name that survives upgrades of it."""
    package: str
    """Absolute path of the folder `ai_memory`."""
    data_dir: str
    platform: str
    capture_prompts: bool = True
    """False with `--no-capture-prompts`: the event that carries them is not wired, where another may inject. Elsewhere
    the hook knows by its policy that nothing of them may be kept."""

    def hook_argv(self, agent: str, event: str) -> tuple[str, ...]:
        """The hook as a list of arguments, for harnesses that start it without a shell."""
        separator = "\\" if self.platform == "win32" else "/"
        file = f"{self.package}{separator}hook.py"
        return (
            *(self.python, "-I", "-S", file),
            *("--data-dir", self.data_dir, "--agent", agent, "--event", event),
        )

    def hook_line(self, agent: str, event: str) -> str:
        """The hook as one line for a shell: with POSIX it costs nothing, and says nothing, once we are gone.

        The file is looked at, too: Python ends with 2 where it is missing, and 2 blocks an agent's tool.
        """
        argv = self.hook_argv(agent, event)
        if self.platform == "win32":
            from subprocess import list2cmdline  # 16 ms, and only there

            return list2cmdline(argv)
        python, *options, file = (shlex.quote(word) for word in argv[:4])
        rest = " ".join(shlex.quote(word) for word in argv[4:])
        run = f'exec "$P" {" ".join(options)} "$H" {rest}'
        return f'P={python} H={file}; [ -x "$P" ] && [ -r "$H" ] && {run} || exit 0'

    def bridge_argv(self, agent: str = "") -> tuple[str, ...]:
        """`mcp-bridge` as a list of arguments."""
        separator = "\\" if self.platform == "win32" else "/"
        file = f"{self.package}{separator}mcp_bridge.py"
        named = ("--agent", agent) if agent else ()
        return (self.python, "-I", file, "--data-dir", self.data_dir, *named)

    def is_ours(self, value: Json) -> bool:
        """Whether a hook's definition, in any form ever written, runs us: in a shell line, an argv, or nested."""
        if isinstance(value, str):
            return is_our_hook(value)
        if isinstance(value, (list, tuple)):
            words = [word for word in value if isinstance(word, str)]
            return is_our_hook(" ".join(words)) or any(self.is_ours(one) for one in value if not isinstance(one, str))
        if isinstance(value, dict):
            argv = [value.get("command"), *(value.get("args") or ())] if isinstance(value.get("args"), list) else []
            joined = " ".join(word for word in argv if isinstance(word, str))
            return is_our_hook(joined) or any(self.is_ours(one) for one in value.values())
        return False


def is_our_hook(line: str) -> bool:
    """Whether a command line runs our hook: by path (`…/ai_memory/hook.py`) or by name (`ai-memory hook`)."""
    plain = line.replace("\\", "/")
    has_target = "ai_memory/hook.py" in plain or "ai-memory hook" in plain or "ai_memory hook" in plain
    return has_target and "--event" in plain
