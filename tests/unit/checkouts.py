"""Real checkouts made with real git."""

import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    """What git prints for the command, run in the folder."""
    settings = ["user.name=A", "user.email=a@example.org", "init.defaultBranch=main", "protocol.file.allow=always"]
    options = [part for setting in settings for part in ("-c", setting)]
    done = subprocess.run(["git", *options, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def checkout(folder: Path, *, origin: str | None = None, upstream: str | None = None, commit: bool = True) -> Path:
    """A checkout in that folder."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    for name, url in (("origin", origin), ("upstream", upstream)):
        if url:
            git(folder, "remote", "add", name, url)
    if commit:
        git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder
