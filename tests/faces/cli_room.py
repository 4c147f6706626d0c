"""A checkout and a data dir of their own, and the command line run inside this process."""

import json
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forked
from typer.testing import CliRunner, Result

from ai_memory.capture import drain
from ai_memory.cli.app import app

SESSION = "7d3f0a5e-1111-4222-8333-444455556666"
"""The session that the examples of the help name by its beginning."""


@dataclass(frozen=True)
class Room:
    """Where a test stands."""

    checkout: Path
    data_dir: Path

    def run(self, *words: str, stdin: str | bytes | None = None) -> Result:
        """The command in this process."""
        return CliRunner().invoke(app, list(words), input=stdin)

    def ok(self, *words: str, stdin: str | bytes | None = None) -> str:
        """stdout of a command that must succeed."""
        result = self.run(*words, stdin=stdin)
        assert result.exit_code == 0, (words, result.exit_code, result.output, result.exception)
        return result.stdout

    def json(self, *words: str, code: int = 0, stdin: str | bytes | None = None) -> Any:
        """The one JSON object that a command prints."""
        result = self.run(*words, "--json", stdin=stdin)
        assert result.exit_code == code, (words, result.exit_code, result.output)
        return json.loads(result.stdout)

    def process(self, *words: str, env: Mapping[str, str] | None = None) -> forked.Done:
        """The command in a process of its own, forked from this one."""
        return forked.run(list(words), cwd=self.checkout, env={**os.environ, **(env or {})})

    def git(self, *words: str) -> str:
        """Real git inside the wiki."""
        done = subprocess.run(
            ["git", "-C", str(self.data_dir / "wiki"), *words], capture_output=True, text=True, check=True
        )
        return done.stdout

    def tell(self, event: str, *, session: str = SESSION, at_us: int | None = None, **more: object) -> None:
        """Spool one event of a session in this checkout, as a hook writes it."""
        at_us = at_us or time.time_ns() // 1000
        record = {"v": 1, "agent": "codex", "event": event, "at_us": at_us, "session": session, **more}
        spool = self.data_dir / "spool"
        spool.mkdir(parents=True, exist_ok=True)
        name = f"{at_us * 1000:019d}-77-{len(list(spool.iterdir())):08x}.json"
        (spool / name).write_text(json.dumps({"cwd": str(self.checkout), **record}))

    def drain(self) -> None:
        """Apply what was told."""
        assert drain.main(["--wait", "--data-dir", str(self.data_dir)]) == 0

    def work(self, *, session: str = SESSION, **more: object) -> None:
        """A session of one prompt that never ends, applied."""
        self.tell("user-prompt", session=session, text="Mend the retry budget.", **more)
        self.drain()

    def file(self, path: str) -> Path:
        """The file of a page of this project."""
        return self.data_dir / "wiki" / "default" / "shop" / path
