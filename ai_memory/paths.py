"""Where everything lies in the data dir, and how the data dir itself is found."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

INDEX_SCHEMA = 7
"""Number in the index's file name. No migration runs on the index: another number means a rebuild."""


@dataclass(frozen=True)
class DataDir:
    """Names of the files and folders below one data dir; touches no disk. Each is made once: a write asks 60 times."""

    root: Path

    @cached_property
    def config(self) -> Path:
        return self.root / "config.toml"

    @cached_property
    def wiki(self) -> Path:
        return self.root / "wiki"

    @cached_property
    def git(self) -> Path:
        return self.wiki / ".git"

    @cached_property
    def pending(self) -> Path:
        return self.root / "pending"

    @cached_property
    def restoring(self) -> Path:
        return self.root / "restoring"

    @cached_property
    def born(self) -> Path:
        return self.root / "born.json"

    @cached_property
    def state(self) -> Path:
        return self.root / "state.db"

    @cached_property
    def index(self) -> Path:
        return self.root / f"index-{INDEX_SCHEMA}.db"

    @cached_property
    def cache(self) -> Path:
        return self.root / "cache.db"

    @cached_property
    def models(self) -> Path:
        return self.root / "models"

    @cached_property
    def spool(self) -> Path:
        return self.root / "spool"

    @cached_property
    def quarantine(self) -> Path:
        return self.spool / "quarantine"

    @cached_property
    def usage(self) -> Path:
        return self.spool / "usage"

    @cached_property
    def outbox(self) -> Path:
        return self.root / "outbox"

    @cached_property
    def hook_policy(self) -> Path:
        return self.root / "hook-policy.json"

    @cached_property
    def paused(self) -> Path:
        return self.root / "paused.json"

    @cached_property
    def locks(self) -> Path:
        return self.root / "locks"

    @cached_property
    def wiring(self) -> Path:
        return self.root / "wiring"

    @cached_property
    def backups(self) -> Path:
        return self.root / "backups"

    @cached_property
    def logs(self) -> Path:
        return self.root / "logs"


def find_data_dir(flag: str | None, environ: Mapping[str, str]) -> DataDir:
    """The data dir: `--data-dir`, else `AI_MEMORY_DATA_DIR`, else the user's data folder of the platform."""
    named = flag or environ.get("AI_MEMORY_DATA_DIR")
    if named:
        return DataDir(Path(os.path.abspath(os.path.expanduser(named))))
    import platformdirs  # 25 ms CPU, needed only when nothing names the dir (2026-11-30)

    return DataDir(Path(platformdirs.user_data_dir("ai-memory", appauthor=False)))
