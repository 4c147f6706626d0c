"""Cost of the hook as ratios to a bare interpreter: `python tests/bench/bench_hook.py [rounds]`.

Budgets: capture of a 16 KB prompt with five kinds of secrets <= 3, with a marker <= 4, a session start that is
given a handoff, one that is given a brief too, and a prompt that is looked up <= 6 times `python -I -S -c pass`;
`ai-memory --version` <= 1.5 times `python -c pass`.
Minima of interleaved runs, CPU time of the child alone (the drain is kept from starting by a fresh beat). The
launcher of `--version` is that of today's pip; an older one imports `re`, which costs 8 ms and is not ours.
Beside them stand the least that a hook can be, a shell that writes its input down, and a node program that parses it.
"""

import json
import os
import random
import shutil
import string
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ai_memory.capture.lookup import Entry, entries_of, render
from ai_memory.hook_places import directory_key
from ai_memory.model import Page, PageRef
from ai_memory.text.sanitize import NO_PATTERNS

HOOK = Path(__file__).parents[2] / "ai_memory" / "hook.py"
ROUNDS = 25
ASKED = "Why does the rounding of invoice totals add word3 and word17 before word25 of the tax?"


NODE = (
    "let text = ''; process.stdin.on('data', part => text += part).on('end', () =>"
    " require('fs').writeFileSync(process.argv[1], JSON.stringify(JSON.parse(text))))"
)


def prompt(size: int = 16 << 10) -> str:
    """A prompt of that many characters with five kinds of secrets, made up here."""
    pick = random.Random(7)
    signs = string.ascii_letters + string.digits

    def made(length: int) -> str:
        return "".join(pick.choice(signs) for _ in range(length))

    secrets = [
        f"ghp_{made(36)}",
        f"Authorization: Bearer {made(40)}",
        f"DB_PASSWORD={made(14)}",
        f"postgres://app:{made(12)}@db.local/shop",
        f"eyJ{made(30)}.{made(60)}.{made(43)}",
    ]
    words = ["fix", "the", "rounding", "of", "invoice", "totals", "when", "an", "order", "has", "many", "lines"]
    text = " ".join(pick.choice(words) for _ in range(size // 5))[: size - 400]
    return text + "\n" + "\n".join(secrets)


class World:
    """A data dir, a checkout, and the payloads of the cases."""

    def __init__(self, root: Path) -> None:
        self.data = root / "data"
        self.checkout = root / "home" / "shop"
        self.environ = {"HOME": str(root / "home"), "PATH": os.environ["PATH"]}
        for folder in ("spool", "locks", "outbox/open", "outbox/claimed", "outbox/by-dir", "wiki"):
            (self.data / folder).mkdir(parents=True)
        (self.checkout / ".git").mkdir(parents=True)
        (self.checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.runs = 0

    def beat(self) -> None:
        (self.data / "locks" / "drain.beat").touch()

    def marker(self, *, is_there: bool) -> None:
        path = self.checkout / ".ai-memory.toml"
        path.unlink(missing_ok=True)
        markers = {}
        if is_there:
            path.write_text('workspace = "w"\n[capture]\nignore_paths = ["secret/**", "*.pem"]\n')
            status = path.stat()
            known = {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "ignore_paths": ["secret/**", "*.pem"]}
            markers = {str(path): known | {"valid": True, "drop_subagents": False}}
        policy = {"v": 1, "settings": {}, "config": None, "markers": markers}
        (self.data / "hook-policy.json").write_text(json.dumps(policy))

    def brief(self) -> None:
        """A start of the checkout is told of 34 pages, packed in four sizes."""
        marker = self.checkout / ".ai-memory.toml"
        status = marker.stat()
        shows = []
        for number in range(34):
            page = self.data / "wiki" / "w" / "shop" / f"{number}.md"
            page.parent.mkdir(parents=True, exist_ok=True)
            if not page.exists():
                page.write_text("x")
            shows.append([f"w/shop/{number}.md", 1, page.stat().st_mtime_ns])
        briefs = {str(size): "y" * size for size in (1500, 2500, 4000, 8000)}
        entry = {"v": 1, "base": str(self.checkout), "told": "p.brief.json", "chars": 8000}
        entry["markers"] = [[str(marker), status.st_size, status.st_mtime_ns]]
        told = {"v": 1, "status": "3 rules", "briefs": briefs, "shows": shows, "until_us": 0, "open": None}
        starts = self.data / "outbox" / "starts"
        starts.mkdir(exist_ok=True)
        (starts / f"{directory_key(str(self.checkout))}.json").write_text(json.dumps(entry))
        (starts / "p.brief.json").write_text(json.dumps(told))

    def lookup(self) -> None:
        """A prompt of the checkout is looked up among 2,000 passages, and finds four."""
        self.marker(is_there=False)
        (self.checkout / ".ai-memory.toml").unlink(missing_ok=True)
        policy = {"v": 1, "settings": {"on_prompt": "on"}, "config": None, "markers": {}}
        (self.data / "hook-policy.json").write_text(json.dumps(policy))
        self.runs += 1
        starts, lookups = self.data / "outbox" / "starts", self.data / "outbox" / "lookup"
        entry = {"v": 1, "base": "", "told": "p.brief.json", "chars": 0, "markers": []}
        starts.mkdir(exist_ok=True)
        (starts / f"{directory_key(str(self.checkout))}.json").write_text(json.dumps(entry))
        if lookups.exists():
            return
        lookups.mkdir()
        pick = random.Random(7)
        entries: list[Entry] = []
        for number in range(1_000):
            path = self.data / "wiki" / "w" / "shop" / f"p{number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = " ".join(f"word{int(pick.paretovariate(0.3)) % 9_000}" for _ in range(320))
            text += f"\n\n{ASKED}" if number % 250 == 0 else ""
            path.write_text(text)
            status = path.stat()
            page = Page(PageRef("w", "shop", path.name), "0" * 40, text, "A page", "note", "semantic", body=text)
            entries += entries_of(page, (status.st_size, status.st_mtime_ns), NO_PATTERNS)
        (lookups / "p.txt").write_text(render({"v": 1, "place": "w/shop"}, entries, left_out=0))

    def handoff(self) -> None:
        self.runs += 1
        name = f"{time.time_ns():032x}"
        key = self.data / "outbox" / "by-dir" / directory_key(str(self.checkout))
        key.mkdir(exist_ok=True)
        (self.data / "outbox" / "open" / f"{name}.md").write_text("Handoff from Claude Code\n" + "x" * 4000)
        (key / name).touch()

    def payload(self, event: str, **more: object) -> bytes:
        head = {"session_id": f"bench-{self.runs}", "cwd": str(self.checkout), "hook_event_name": event}
        return json.dumps(head | more).encode()


def cpu_ms(words: list[str], content: bytes, environ: dict[str, str]) -> float:
    """CPU milliseconds of one child process alone."""
    reader, writer = os.pipe()
    os.write(writer, content)  # 16 KB fit into a pipe
    os.close(writer)
    actions = [(os.POSIX_SPAWN_DUP2, reader, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(words[0], words, environ, file_actions=actions)
    os.close(reader)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{words} ended with {status}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def main(rounds: int = ROUNDS) -> None:
    """Run every case in turn, print minima and ratios."""
    python = sys.executable
    root = Path(tempfile.mkdtemp())
    world = World(root)
    hook = [python, "-I", "-S", str(HOOK), "--data-dir", str(world.data), "--agent", "claude-code", "--event"]
    text = prompt()

    def bare() -> float:
        return cpu_ms([python, "-I", "-S", "-c", "pass"], b"", world.environ)

    def capture() -> float:
        world.marker(is_there=False)
        return cpu_ms([*hook, "user-prompt"], world.payload("UserPromptSubmit", prompt=text), world.environ)

    def capture_with_marker() -> float:
        world.marker(is_there=True)
        return cpu_ms([*hook, "user-prompt"], world.payload("UserPromptSubmit", prompt=text), world.environ)

    def tool() -> float:
        world.marker(is_there=False)
        given = {"file_path": str(world.checkout / "a.py"), "old_string": text[:2000], "new_string": text[:2000]}
        content = world.payload("PostToolUse", tool_name="Edit", tool_input=given, tool_response={"ok": True})
        return cpu_ms([*hook, "post-tool-use"], content, world.environ)

    def start() -> float:
        world.marker(is_there=False)
        world.handoff()
        return cpu_ms([*hook, "session-start"], world.payload("SessionStart", source="startup"), world.environ)

    def start_with_brief() -> float:
        world.marker(is_there=True)
        world.brief()
        world.handoff()
        return cpu_ms([*hook, "session-start"], world.payload("SessionStart", source="startup"), world.environ)

    def looked_up() -> float:
        world.lookup()
        asked = world.payload("UserPromptSubmit", prompt=ASKED)
        return cpu_ms([*hook, "user-prompt"], asked, world.environ)

    def shell() -> float:
        words = ["/bin/sh", "-c", 'cat > "$1"', "sh", str(world.data / "plain")]
        return cpu_ms(words, world.payload("UserPromptSubmit", prompt=text), world.environ)

    def node() -> float:
        words = [shutil.which("node") or "", "-e", NODE, str(world.data / "plain")]
        return cpu_ms(words, world.payload("UserPromptSubmit", prompt=text), world.environ)

    def version() -> float:
        launcher = "import sys; from ai_memory.__main__ import main; sys.exit(main())"
        return cpu_ms([python, "-c", launcher, "--version"], b"", world.environ)

    def plain() -> float:
        return cpu_ms([python, "-c", "pass"], b"", world.environ)

    cases: dict[str, tuple[Callable[[], float], str, float]] = {
        "python -I -S -c pass": (bare, "", 1.0),
        "capture, 16 KB prompt, five kinds": (capture, "python -I -S -c pass", 3.0),
        "the same, with a marker": (capture_with_marker, "python -I -S -c pass", 4.0),
        "capture, an edit": (tool, "python -I -S -c pass", 3.0),
        "session start with a handoff": (start, "python -I -S -c pass", 6.0),
        "the same, with a marker and a brief": (start_with_brief, "python -I -S -c pass", 6.0),
        "a prompt that is looked up": (looked_up, "python -I -S -c pass", 6.0),
        "sh with cat": (shell, "", 1.0),
        "python -c pass": (plain, "", 1.0),
        "ai-memory --version": (version, "python -c pass", 1.5),
    }
    if shutil.which("node"):
        cases["a node hook that parses and writes"] = (node, "", 1.0)
    best = dict.fromkeys(cases, float("inf"))
    try:
        for _ in range(rounds):
            for name, (run, _, _) in cases.items():
                world.beat()
                best[name] = min(best[name], run())
    finally:
        shutil.rmtree(root)
    for name, (_, base, budget) in cases.items():
        ratio = f"{best[name] / best[base]:5.2f} x, budget {budget:.1f}" if base else ""
        print(f"{name:36} {best[name]:7.1f} ms  {ratio}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
