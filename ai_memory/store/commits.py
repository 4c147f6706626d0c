"""What the wiki's commits tell of who changed what (decision A15)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ai_memory.model import MACHINE, Author
from ai_memory.store.addresses import is_ours
from ai_memory.store.audit import Mutation, Touched, verb_of, with_paths, with_trailers
from ai_memory.store.change_ids import exact_us
from ai_memory.store.span import Span
from ai_memory.store.wiki import CommitNote, Wiki

MAX_LOOKED_AT = 5_000
"""Commits that one question reads: the rest is told as left out."""

PREFIX = re.compile(r"[0-9a-f]{7,40}")
"""What names a commit or a version: its id or the beginning of it."""

_MACHINE = f"{MACHINE.name} <{MACHINE.email}>"


@dataclass(frozen=True, slots=True)
class Told:
    """Mutations, newest first; `is_whole` is false where older commits were not looked at."""

    mutations: list[Mutation]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One commit: what it says of itself, who made it, and the pages that it changed."""

    note: CommitNote
    mutation: Mutation
    touched: tuple[Touched, ...]


def newest(wiki: Wiki, span: Span) -> Told:
    """What first parents tell of pages in that span, newest first."""
    found: list[Mutation] = []
    looked_at = 0
    for commit, note, mutation in _notes(wiki):
        if mutation.at_us < span.since_us or len(found) >= span.limit:
            break
        is_of_session = span.session is None or span.session in mutation.session.split()
        if (mutation.at_us, mutation.id) >= span.before or not is_of_session:
            continue
        if looked_at >= MAX_LOOKED_AT:
            return Told(found, is_whole=False)
        looked_at += 1
        paths = touched(wiki, commit, span.place)
        if paths:
            found.append(with_paths(mutation, paths, moved_from=note.trailers.get("Moved-From", "")))
    return Told(found, is_whole=True)


def checkpoints(
    wiki: Wiki, *, place: tuple[str, str] | None = None, only: Iterable[str] | None = None
) -> Iterator[Checkpoint]:
    """Commits that changed pages there, newest first; of those alone that are named in `only`, in its order."""
    for commit in wiki.first_parents(wiki.head()) if only is None else only:
        paths = touched(wiki, commit, place)
        if paths:
            yield checkpoint(wiki, commit, paths)


def checkpoint(wiki: Wiki, commit: str, paths: list[Touched]) -> Checkpoint:
    """That commit, with the pages of it that one asks about."""
    note = wiki.note(commit)
    by = with_paths(made_by(note), paths, moved_from=note.trailers.get("Moved-From", ""))
    return Checkpoint(note, by, tuple(paths))


def _notes(wiki: Wiki) -> Iterator[tuple[str, CommitNote, Mutation]]:
    for commit in wiki.first_parents(wiki.head()):
        note = wiki.note(commit)
        yield commit, note, made_by(note)


def made_by(note: CommitNote) -> Mutation:
    """Who made the commit, as it tells itself; its pages are not looked at."""
    change_id = note.trailers.get("Change-Id", "")
    is_ours_made = bool(change_id) or note.author == _MACHINE
    verb = verb_of(note.message, note.trailers) if is_ours_made else "commit"
    by = Mutation(change_id or note.id, exact_us(change_id, note.at_us), verb, commit=note.id)
    return with_trailers(by, note.trailers, _author(note))


def _author(note: CommitNote) -> Author:
    name, _, email = note.author.rpartition(" <")
    return Author(name, email.rstrip(">"))


def touched(wiki: Wiki, commit: str, place: tuple[str, str] | None) -> list[Touched]:
    """Pages that the commit changed, of one project alone where a place is given: its tree is compared first."""
    parent = wiki.parent(commit)
    below = "" if place is None else f"{place[0]}/{place[1]}"
    if below and wiki.entry_at(commit, below) == wiki.entry_at(parent, below):
        return []
    return [
        Touched(one.git_path, one.old is not None, one.new is not None)
        for one in wiki.differences(parent, commit)
        if is_ours(one.git_path) and (not below or one.git_path.startswith(f"{below}/"))
    ]
