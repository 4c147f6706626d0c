"""Running a generated plugin under node, in a host that stands for its harness, with the real hook."""

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hook_runs import Desk

import ai_memory
from ai_memory.harnesses import plugin_files, registry
from ai_memory.harnesses.launch import Launch

HOST = Path(__file__).with_name("plugin_host.mjs")
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

Step = Sequence[object]

TEXTS = {
    "opencode": plugin_files.opencode_plugin,
    "opencode2": plugin_files.opencode_plugin,
    "pi": plugin_files.pi_extension,
    "omp": plugin_files.omp_extension,
    "openclaw": plugin_files.openclaw_plugin,
}
KINDS = {"omp": "pi"}


PACKAGE = Path(ai_memory.__file__).parent
AT_ONCE = f"""
import sys
sys.path.append({str(PACKAGE.parent)!r})
from ai_memory import hook_outbox
from ai_memory.hook_front import main
hook_outbox.WAIT_S = 0.0
main(sys.argv[1:])
"""
"""The hook, but for the second and a half in which a start waits for the drain that `beating` makes it believe in."""


def launch_of(desk: Desk, **more: Any) -> Launch:
    package = desk.data.parent / "at once"
    package.mkdir(exist_ok=True)
    (package / "hook.py").write_text(AT_ONCE)
    return Launch(sys.executable, str(package), str(desk.data), sys.platform, **more)


def plugin_text(name: str, launch: Launch) -> str:
    harness = registry.get(name)
    return TEXTS[name](harness, launch)


@contextmanager
def beating(desk: Desk) -> Iterator[None]:
    """No drain starts inside the block, however long it takes: hooks believe that one is at work."""
    is_over = threading.Event()

    def beat() -> None:
        while not is_over.wait(0.5):
            desk.keep_drain_away()

    desk.keep_drain_away()
    thread = threading.Thread(target=beat)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


class PluginRun:
    """One life of a host with our plugin in it."""

    def __init__(self, desk: Desk, name: str, *, is_patient: bool = True, **about: Any) -> None:
        """`is_patient`: deadlines are ten times as long, so that a busy machine changes nothing."""
        self.desk = desk
        self.is_patient = is_patient
        self.name = name
        self.launch = launch_of(desk)
        self.about = {"cwd": str(desk.checkout)} | about

    def run(self, *steps: Step) -> list[dict[str, Any]]:
        """What came of each step. The program ends by itself after the last."""
        assert NODE is not None
        plugin = self.desk.data.parent / f"{self.name}.mjs"
        text = plugin_text(self.name, self.launch)
        if self.is_patient:
            text, found = re.subn(
                r"^const (PATIENCE|CHILD|ROOM_FOR_ENDS)_MS = \d+$", r"\g<0>0", text, flags=re.MULTILINE
            )
            assert found == 3
        plugin.write_text(text)
        kind = KINDS.get(self.name, self.name)
        told = {"plugin": str(plugin), "kind": kind, "steps": steps, "about": self.about}
        with beating(self.desk):
            done = subprocess.run(
                [NODE, str(HOST)],
                input=json.dumps(told),
                capture_output=True,
                encoding="utf-8",
                env=self.desk.environ,
                cwd=self.desk.checkout,
                timeout=60,
                check=False,
            )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert not [one for one in found if "raised" in one], found
        return found
