"""The bridge with tools that print, wait, fail and tell who calls them. Run as a process by the tests, or forked."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated

from ai_memory.bridge import front
from ai_memory.errors import StoreFault
from ai_memory.operations import table
from ai_memory.operations.field import Field


@dataclass(frozen=True)
class Told:
    words: str


def noisy(_memory: object) -> Told:
    """Prints on every way to stdout that there is."""
    sys.stdout.write("stray text\n")
    print("stray print", flush=True)
    os.write(1, b"stray bytes\n")
    subprocess.run(["sh", "-c", "echo stray child; cat"], check=True)
    return Told("quiet")


def waits(
    _memory: object, *, until: Annotated[str, Field("file that ends it")], started: Annotated[str, Field("file")]
) -> Told:
    """Runs until a file is there."""
    Path(started).touch()
    while not Path(until).exists():
        time.sleep(0.01)
    Path(until + ".seen").touch()
    return Told(f"saw {Path(until).name}")


def fails(_memory: object, *, path: Annotated[str, Field("a path")] = "") -> Told:
    """Fails in the way that nobody expected, or with a path in its fault."""
    if path:
        raise StoreFault(f"cannot read {path}", hint=f"look at {path}")
    raise ZeroDivisionError("secret detail")


def caller(memory: object) -> Told:
    """Tells from where it is called."""
    found = memory.caller
    return Told(f"face={found.face} cwd={found.cwd} roots={','.join(found.roots)} data_dir={memory.data_dir.root}")


def told_text(result: Told) -> str:
    return result.words


def main(words: list[str]) -> int:
    module = ModuleType("ai_memory.operations.trial")
    module.__dict__.update(noisy=noisy, waits=waits, fails=fails, caller=caller, told_text=told_text)
    sys.modules[module.__name__] = module
    manifest = front.load_manifest()
    assert manifest is not None
    for name in ("noisy", "waits", "fails", "caller"):
        tool = f"trial_{name}"
        table.OPERATION_BY_TOOL[tool] = table.Operation(
            name=name, module="trial", function=name, title=name, examples=(), text="told_text", tool=tool
        )
        manifest["tools"].append({"profile": "full", "tool": {"name": tool, "inputSchema": {"type": "object"}}})
    front.GRACE_S = float(os.environ.get("BRIDGE_TRIAL_GRACE_S", front.GRACE_S))
    is_plain = bool(os.environ.get("BRIDGE_TRIAL_PLAIN"))
    front.load_manifest = lambda: None if is_plain else manifest
    return front.main(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
