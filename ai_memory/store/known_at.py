"""The pages as the memory knew them at an earlier instant: the index of today, with what changed since taken back."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

from ai_memory.clock import rfc3339
from ai_memory.paths import DataDir
from ai_memory.store import driver, index
from ai_memory.store.snapshot import Snapshot
from ai_memory.store.wiki import Wiki

MOST_COMMITS = 5_000
"""How far back it is looked when a page was last changed; beyond, the instant that was asked about stands for it."""


@contextmanager
def as_known(data_dir: DataDir, today: Snapshot, at_us: int) -> Iterator[Snapshot]:
    """A view of the pages of the last commit that is not younger than `at_us`.

    It is a copy in memory of `today`, in which only the pages are replaced that differ. No page of before the memory
    began: the view is empty then. Raises StoreFault where git's objects are damaged.
    """
    head = today.head
    with closing(driver.in_memory()) as copy:
        today.index.backup(copy)
        gaps = list(today.gaps)
        if head is not None:
            with closing(Wiki(data_dir.git)) as wiki:
                commit = _commit_at(wiki, head, at_us)
                _go_back(copy, wiki, head, commit, at_us)
            if commit is None:
                gaps.append(f"the memory had no page on {rfc3339(at_us)}")
        yield Snapshot(copy, gaps)


def _commit_at(wiki: Wiki, head: str, at_us: int) -> str | None:
    """The newest commit on the branch that was there at that instant."""
    return next((one for one in wiki.first_parents(head) if wiki.note(one).at_us <= at_us), None)


def _go_back(copy: driver.Connection, wiki: Wiki, head: str, commit: str | None, at_us: int) -> None:
    then = {one.git_path: one.new for one in wiki.differences(head, commit)}
    times = _times(wiki, commit, set(then), otherwise_us=at_us)
    files = index.files_to_index(sorted(then.items()), read=wiki.blob, times=times)
    with driver.transaction(copy):
        index.put_files(copy, files)
        index.set_head(copy, commit)


def _times(wiki: Wiki, commit: str | None, missing: set[str], *, otherwise_us: int) -> Mapping[str, int]:
    """When each of the paths was last changed, seen from that commit."""
    times = dict.fromkeys(missing, otherwise_us)
    for _, one in zip(range(MOST_COMMITS), wiki.first_parents(commit), strict=False):
        if not missing:
            break
        touched = {difference.git_path for difference in wiki.differences(wiki.parent(one), one)} & missing
        times.update(dict.fromkeys(touched, wiki.note(one).at_us))
        missing = missing - touched
    return times
