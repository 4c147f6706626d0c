"""Taking a commit back: what each of its paths was before, joined with what was written there since."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ai_memory.errors import Conflict, NotFound
from ai_memory.store import commits
from ai_memory.store.addresses import is_ours, meta_project
from ai_memory.store.blobs import blob_id
from ai_memory.store.commits import PREFIX
from ai_memory.store.wiki import Difference, Wiki
from ai_memory.store.worktree import join

UNDOES = "Undoes"
"""Trailer of a commit that took another one back: its change id, since ids of commits change when text is purged."""

_NAMED = 3
"""Pages that a refusal names."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking a commit back makes of the wiki, and which of its files it leaves since they are no pages."""

    contents: Mapping[str, bytes | None]
    left: tuple[str, ...]


def named(wiki: Wiki, name: str) -> str:
    """The commit of that id, its beginning, or of that change id. Errors: NotFound."""
    for commit in wiki.first_parents(wiki.head()):
        if PREFIX.fullmatch(name) and commit.startswith(name):
            return commit
        if wiki.note(commit).trailers.get("Change-Id") == name:
            return commit
    raise NotFound(f"no commit {name} on main", hint="`ai-memory checkpoints` lists them")


def latest(wiki: Wiki, place: tuple[str, str] | None) -> str | None:
    """The newest commit that changed pages there, was not taken back and takes none back itself."""
    taken_back: set[str] = set()
    for commit in wiki.first_parents(wiki.head()):
        trailers = wiki.note(commit).trailers
        if taken_back & {commit, trailers.get("Change-Id", commit)}:
            continue
        if UNDOES in trailers:
            taken_back.add(trailers[UNDOES])
        elif commits.touched(wiki, commit, place):
            return commit
    return None


def plan(wiki: Wiki, commit: str, present: Callable[[str], bytes | None]) -> Undone:
    """What the paths of that commit become. `present` gives what stands at a path now.

    Errors: Conflict naming the pages whose changed lines were changed again since.
    """
    contents: dict[str, bytes | None] = {}
    left, changed = [], []
    for one in list(wiki.differences(wiki.parent(commit), commit)):
        if not is_ours(one.git_path):
            left.append(one.git_path)
            continue
        try:
            contents[one.git_path] = _before(wiki, one, present(one.git_path))
        except _Changed:
            changed.append(one.git_path)
    if changed:
        more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
        raise Conflict(
            f"{', '.join(changed[:_NAMED])}{more} changed since, in the same lines; nothing was taken back.",
            hint="Take the later change back first, or bring pages back one by one with `ai-memory restore-page`.",
        )
    return Undone({**contents, **dict(_kept_projects(wiki, contents, present))}, tuple(left))


class _Changed(Exception):
    """The path cannot be taken back without loss."""


def _before(wiki: Wiki, one: Difference, now: bytes | None) -> bytes | None:
    """Content of the path without that difference."""
    old = wiki.blob(one.old) if one.old is not None else None
    if now == old or (blob_id(now) if now is not None else None) == one.new:
        return old
    if old is None or now is None or one.new is None:
        raise _Changed
    joined = join(wiki.blob(one.new), now, old)
    if joined is None:
        raise _Changed
    return joined


def _kept_projects(
    wiki: Wiki, contents: Mapping[str, bytes | None], present: Callable[[str], bytes | None]
) -> Iterator[tuple[str, bytes | None]]:
    """`_meta.md` of projects that would go but hold other pages by now: they stay."""
    for path, content in contents.items():
        place = meta_project(path)
        if content is not None or place is None:
            continue
        others = set(wiki.files_below(wiki.head(), "/".join(place))) - {path}
        if any(contents.get(other, b"") is not None for other in others):
            yield path, present(path)
