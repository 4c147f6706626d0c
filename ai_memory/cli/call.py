"""One call of the command line: what the global flags said, and the memory that they open."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ai_memory.errors import UsageFault, echo
from ai_memory.model import Caller
from ai_memory.paths import DataDir, find_data_dir

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

LOCK_TIMEOUT_S = 10.0
"""How long a command waits for another one that writes (decision A12)."""
FORMATS = ("md", "json", "toon", "table")
"""Forms of rows that `--format` takes."""


@dataclass(frozen=True, slots=True)
class Call:
    """The global flags, given before or after the command."""

    command: str = ""
    data_dir: str | None = None
    lock_timeout_s: float = LOCK_TIMEOUT_S
    is_json: bool = False
    format: str | None = None
    """One of FORMATS; None is what fits where stdout goes."""

    def with_flags(self, flags: Mapping[str, Any]) -> "Call":
        """The same call after more flags; a flag that was not given changes nothing."""
        timeout = flags.get("lock_timeout")
        return replace(
            self,
            data_dir=flags.get("data_dir") or self.data_dir,
            lock_timeout_s=self.lock_timeout_s if timeout is None else _seconds(timeout),
            is_json=self.is_json or bool(flags.get("json")) or flags.get("format") == "json",
            format=_format(flags.get("format")) or self.format,
        )

    def find_data_dir(self) -> DataDir:
        return find_data_dir(self.data_dir, os.environ)

    def open_memory(self) -> "Memory":
        """The memory of this call. Errors: UsageFault where its place is no folder: it would pass for an empty one."""
        from ai_memory.store.memory import Memory  # help, completions and usage faults need no store

        data_dir = self.find_data_dir()
        if data_dir.root.exists() and not data_dir.root.is_dir():
            raise UsageFault(f"{data_dir.root} is no folder", hint="name one: --data-dir DIR or AI_MEMORY_DATA_DIR")
        return Memory.open(
            data_dir,
            caller=Caller(cwd=_cwd(), environ=os.environ, home=os.path.expanduser("~"), confirms=_confirms),
            lock_timeout_s=self.lock_timeout_s,
            command=f"ai-memory {self.command}",
        )


def _confirms(question: str) -> bool:
    from ai_memory.cli.asking import confirms  # few calls ask

    return confirms(question)


def say(line: str) -> None:
    """One line to a person, on stderr: stdout holds the answer alone."""
    print(line, file=sys.stderr)


def _cwd() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # the folder was deleted under us
        return None


def _seconds(word: str) -> float:
    try:
        seconds = float(word)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise UsageFault(f"--lock-timeout is a number of seconds, not {echo(word)}", hint="write it like 10 or 0.5")
    return seconds


def _format(word: str | None) -> str | None:
    if word is not None and word not in FORMATS:
        raise UsageFault(
            f"--format is one of {', '.join(FORMATS)}, not {echo(word)}", hint="write one of them as it stands"
        )
    return word
