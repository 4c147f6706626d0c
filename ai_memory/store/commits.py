"""What the wiki's commits tell of who changed what (decision A15)."""

from collections.abc import Iterator
from dataclasses import dataclass

from ai_memory.model import MACHINE, Author
from ai_memory.store.addresses import is_ours
from ai_memory.store.audit import Mutation, Touched, verb_of, with_paths, with_trailers
from ai_memory.store.change_ids import exact_us
from ai_memory.store.span import Span
from ai_memory.store.wiki import CommitNote, Wiki

MAX_LOOKED_AT = 5_000
"""Commits that one question reads: the rest is told as left out."""

_MACHINE = f"{MACHINE.name} <{MACHINE.email}>"


@dataclass(frozen=True, slots=True)
class Told:
    """Mutations, newest first; `is_whole` is false where older commits were not looked at."""

    mutations: list[Mutation]
    is_whole: bool


def newest(wiki: Wiki, span: Span) -> Told:
    """What first parents tell of pages in that span, newest first."""
    found: list[Mutation] = []
    looked_at = 0
    for commit, note, mutation in _notes(wiki):
        if mutation.at_us < span.since_us or len(found) >= span.limit:
            break
        is_of_session = span.session is None or mutation.session == span.session
        if (mutation.at_us, mutation.id) >= span.before or not is_of_session:
            continue
        if looked_at >= MAX_LOOKED_AT:
            return Told(found, is_whole=False)
        looked_at += 1
        touched = _touched(wiki, commit, span.place)
        if touched:
            found.append(with_paths(mutation, touched, moved_from=note.trailers.get("Moved-From", "")))
    return Told(found, is_whole=True)


def _notes(wiki: Wiki) -> Iterator[tuple[str, CommitNote, Mutation]]:
    for commit in wiki.first_parents(wiki.head()):
        note = wiki.note(commit)
        change_id = note.trailers.get("Change-Id", "")
        is_ours_made = bool(change_id) or note.author == _MACHINE
        verb = verb_of(note.message, note.trailers) if is_ours_made else "commit"
        by = Mutation(change_id or commit, exact_us(change_id, note.at_us), verb, commit=commit)
        yield commit, note, with_trailers(by, note.trailers, _author(note))


def _author(note: CommitNote) -> Author:
    name, _, email = note.author.rpartition(" <")
    return Author(name, email.rstrip(">"))


def _touched(wiki: Wiki, commit: str, place: tuple[str, str] | None) -> list[Touched]:
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
