"""The drain: events a second, and the time from a session's end to a handoff that a start can claim.

Run by hand: `python tests/bench/bench_drain.py [--events N] [--waiting N]`. Events are made by the real hook code; the
drain is a process of its own, as hooks start it. Wall time.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import measure
from measure import Row

HOOK = Path(__file__).parents[2] / "ai_memory" / "hook.py"


class Desk:
    """A data dir, a checkout, and sessions that work in it."""

    def __init__(self, root: Path) -> None:
        self.memory = measure.memory(root)
        self.data = root / "data"
        self.checkout = root / "home" / "shop"
        (self.checkout / ".git").mkdir(parents=True)
        (self.checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.environ = measure.environment(root)
        self.run_hook("session-start", "SessionStart", "warm", source="startup")
        self.drain()  # compiles the capture policy: without it hooks keep no content

    def run_hook(self, event: str, native: str, session: str, **more: object) -> None:
        """The real hook; no drain starts, since the beat is fresh."""
        (self.data / "locks").mkdir(exist_ok=True)
        (self.data / "locks" / "drain.beat").touch()
        payload = {"session_id": session, "cwd": str(self.checkout), "hook_event_name": native} | more
        subprocess.run(
            [
                *(sys.executable, "-I", "-S", str(HOOK)),
                "--data-dir",
                str(self.data),
                "--agent",
                "claude-code",
                "--event",
                event,
            ],
            input=json.dumps(payload).encode(),
            env=self.environ,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        (self.data / "locks" / "drain.beat").unlink(missing_ok=True)

    def work(self, session: str) -> None:
        """A session that started, was asked something and edited a file; it still runs."""
        self.run_hook("session-start", "SessionStart", session, source="startup")
        self.run_hook("user-prompt", "UserPromptSubmit", session, prompt="Fix the rounding of invoice totals")
        edit = {"file_path": str(self.checkout / "a.py"), "old_string": "1", "new_string": "2"}
        self.run_hook(
            "post-tool-use", "PostToolUse", session, tool_name="Edit", tool_input=edit, tool_response={"ok": True}
        )

    def copy_events(self, count: int, *, session: str, sessions: int) -> None:
        """That many tool calls waiting in the spool, spread over sessions: copies of one that the hook wrote."""
        self.work(session)
        spool = self.data / "spool"
        newest = max(path for path in spool.glob("*.json") if json.loads(path.read_bytes())["event"] == "post-tool-use")
        event = json.loads(newest.read_bytes())
        for number in range(count):
            copied = event | {"session": f"{session}-{number % sessions}", "call_id": f"call-{number}"}
            name = f"{time.time_ns():019}-{os.getpid()}-{number:08x}.json"
            (spool / name).write_text(json.dumps(copied))

    def drain(self) -> None:
        subprocess.run(
            [sys.executable, "-m", "ai_memory", "drain", "--data-dir", str(self.data)], env=self.environ, check=True
        )

    def open_handoffs(self) -> int:
        return len(list((self.data / "outbox" / "open").glob("*.md")))

    def end_and_wait(self, session: str) -> float:
        """Seconds from the start of the session-end hook to a handoff in the outbox."""
        before = self.open_handoffs()
        started = time.perf_counter()
        self.run_hook("session-end", "SessionEnd", session, reason="exit")
        child = subprocess.Popen(
            [sys.executable, "-m", "ai_memory", "drain", "--data-dir", str(self.data)], env=self.environ
        )
        while self.open_handoffs() == before:
            if time.perf_counter() - started > 60:
                raise SystemExit("no handoff after 60 s")
            time.sleep(0.005)
        spent = time.perf_counter() - started
        child.wait()
        return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000, help="events of the measurement of throughput")
    parser.add_argument("--waiting", type=int, default=5_000, help="events that wait when the session ends")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with measure.scratch() as root:
        desk = Desk(root)
        idle = []
        for number in range(arguments.rounds):
            desk.work(f"idle-{number}")
            desk.drain()
            idle.append(desk.end_and_wait(f"idle-{number}"))
    with measure.scratch() as root:
        desk = Desk(root)
        desk.copy_events(arguments.waiting, session="other", sessions=20)
        desk.work("ends")
        behind = desk.end_and_wait("ends")
    with measure.scratch() as root:
        desk = Desk(root)
        desk.copy_events(arguments.events, session="many", sessions=20)
        spent = measure.seconds(desk.drain)
        left = sum(1 for _ in (desk.data / "spool").glob("*.json"))
        assert not left, f"{left} events are left"
    measure.report(
        [
            Row("session-end → claimable handoff, from idle, median", measure.share(idle, 0.5), "s", 1.0),
            Row(f"session-end → claimable handoff, {arguments.waiting:,} events waiting", behind, "s", 3.0),
            Row(f"drain of {arguments.events:,} events, whole process", spent, "s"),
            Row("events a second", arguments.events / spent, "/s", 2_000, at_least=True),
        ]
    )


if __name__ == "__main__":
    main()
