"""Commits of a person's checkout, read through git's files. Nothing there is written, no program of it is run."""

from dataclasses import dataclass
from pathlib import Path

from dulwich.objects import Commit
from dulwich.repo import Repo


@dataclass(frozen=True, slots=True)
class CheckoutCommit:
    """One commit of a checkout."""

    id: str
    message: str
    at_us: int


def commit_of(root: str, name: str) -> CheckoutCommit | None:
    """The commit with that id, or the only one whose id begins so, or `HEAD`; None for none or more than one."""
    try:
        with Repo(str(Path(root))) as repo:
            found = {repo.head()} if name == "HEAD" else set(repo.object_store.iter_prefix(name.encode()))
            commits = [one for key in found if isinstance(one := repo.object_store[key], Commit)]
    except Exception:  # noqa: BLE001 (for a damaged or hostile repository the library raises kinds without a base)
        return None
    if len(commits) != 1:
        return None
    commit = commits[0]
    message = commit.message.decode("utf-8", "replace")
    return CheckoutCommit(commit.id.decode(), message, commit.commit_time * 1_000_000)
