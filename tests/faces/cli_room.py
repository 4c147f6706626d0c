"""A checkout and a data dir of their own, and the command line run inside this process."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from ai_memory.cli.app import app


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

    def process(self, *words: str, **settings: Any) -> "subprocess.CompletedProcess[str]":
        """The command in a process of its own."""
        command = [sys.executable, "-m", "ai_memory", *words]
        environment = {**os.environ, **settings.pop("env", {})}
        return subprocess.run(
            command, cwd=self.checkout, env=environment, capture_output=True, text=True, timeout=60, **settings
        )

    def git(self, *words: str) -> str:
        """Real git inside the wiki."""
        done = subprocess.run(
            ["git", "-C", str(self.data_dir / "wiki"), *words], capture_output=True, text=True, check=True
        )
        return done.stdout

    def file(self, path: str) -> Path:
        """The file of a page of this project."""
        return self.data_dir / "wiki" / "default" / "shop" / path
