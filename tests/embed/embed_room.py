"""A memory with a stub for its encoder."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from stub_service import Stub
from typer.testing import CliRunner

from ai_memory.cli.app import app
from ai_memory.model import Caller
from ai_memory.operations.configured import configured
from ai_memory.paths import DataDir
from ai_memory.search.query_vectors import QueryVector, query_vector
from ai_memory.store.driver import Connection
from ai_memory.store.memory import Memory

T = TypeVar("T")
SCOPE = ("--workspace", "w", "--project", "p")


@dataclass(frozen=True)
class EmbedRoom:
    checkout: Path
    data: Path
    stub: Stub

    @property
    def data_dir(self) -> DataDir:
        return DataDir(self.data)

    def memory(self) -> Memory:
        caller = Caller(cwd=str(self.checkout), environ=dict(os.environ), home=os.environ["HOME"], face="cli")
        return Memory.open(self.data_dir, caller=caller, command="a test", lock_timeout_s=5)

    def json(self, *words: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, [*words, "--json"])
        assert result.exit_code == code, (words, result.exit_code, result.output, result.exception)
        return json.loads(result.stdout)

    def write(self, path: str, text: str, *, project: str = "p") -> None:
        self.json("write-page", "-p", path, "-b", text, "--workspace", "w", "--project", project)

    def embed(self, *words: str, code: int = 0) -> Any:
        return self.json("embed", *SCOPE, *words, code=code)

    def index(self, question: Callable[[Connection], T]) -> T:
        with self.memory().reading() as snapshot:
            return question(snapshot.index)

    def query(self, text: str) -> QueryVector:
        memory = self.memory()
        with memory.reading() as snapshot:
            return query_vector(memory, snapshot.index, text, configured(memory))

    def vectors(self) -> dict[str, int]:
        """How many vectors each page has."""
        sql = "SELECT p.path, count(*) FROM vectors AS v JOIN pages AS p ON p.id = v.page_id GROUP BY 1"
        return dict(self.index(lambda connection: connection.execute(sql).fetchall()))

    def process(self, *words: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "ai_memory", *words]
        return subprocess.Popen(command, cwd=self.checkout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
