"""A change being filled in under the writer lock: pages put, deleted and moved, and the state rows that belong."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, MemoryFault, NotFound, echo
from ai_memory.model import Page, PageRef, Project, Sanitized, Scope
from ai_memory.store import state, undoing
from ai_memory.store.addresses import META_NAME, folder_of, former_names, meta_path, page_ref
from ai_memory.store.blobs import blob_id
from ai_memory.store.change_ids import new_change_id
from ai_memory.store.index import read_project
from ai_memory.store.pages import page_of
from ai_memory.store.pending import OutboxChange, PathChange
from ai_memory.store.wiki import Wiki
from ai_memory.text import limits, names
from ai_memory.text.foreign_bytes import as_bytes
from ai_memory.text.page import compose, parse, splice
from ai_memory.text.sanitize import sanitize

SHORTEST_VERSION = 7
LONGEST_VERSION = 40
StateValue = Sanitized | int
"""What a row of `state.db` may hold that a change brings along."""


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of a change. `commit` is None when nothing had to change."""

    change_id: str
    commit: str | None
    changed: tuple[PageRef, ...] = ()
    versions: Mapping[PageRef, str] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    """What a person must decide about the folders of the change, a sentence each."""


class Change:
    """Filled in by the caller of `Memory.writing`; committed whole when its block ends, or not at all."""

    def __init__(self, wiki: Wiki, *, look_at: Callable[[str], bool], now_us: int) -> None:
        self._wiki = wiki
        self._look_at = look_at
        self._looked: set[str] = set()
        """Folders that were read whole for this change."""
        self._drafts: dict[str, bytes | None] = {}
        self._keys: dict[str, dict[str, str]] = {}
        self._state: list[tuple[str, Mapping[str, StateValue]]] = []
        self._outbox: list[OutboxChange] = []
        self.now_us = now_us
        self.change_id = new_change_id(now_us)
        self.committed: Committed | None = None

    # --- reading ---

    def page(self, ref: PageRef) -> Page | None:
        """The page as it stands now, edits by hand and this change's own drafts included."""
        content = self._present(ref.git_path)
        return None if content is None else page_of(ref, content, updated_at_us=self.now_us)

    def is_utf8(self, ref: PageRef) -> bool:
        """Whether the page can be changed by its text; one that is not there can."""
        return _is_utf8(self._present(ref.git_path) or b"")

    def project(self, workspace: str, project: str) -> Project | None:
        content = self._present(meta_path(workspace, project))
        return None if content is None else read_project((workspace, project), content)

    # --- writing ---

    def ensure_project(self, scope: Scope) -> Project:
        """The project of the scope; its `_meta.md` is written with this change when it is new."""
        return self.ensure_project_named(
            scope.workspace,
            scope.project,
            identity=scope.identity,
            identity_source=scope.identity_source,
            aliases=scope.aliases,
            private=scope.private,
        )

    def ensure_project_named(
        self,
        workspace: str,
        project: str,
        *,
        identity: str | None = None,
        identity_source: str | None = None,
        aliases: tuple[str, ...] = (),
        private: bool | None = None,
    ) -> Project:
        """The project of that name; a new one gets an id and what is given here, a known one what changed of it."""
        names.check_name(workspace, what="workspace")
        names.check_name(project)
        known = self.project(workspace, project)
        if known is not None:
            return self._with_privacy(self._with_identity(known, identity, identity_source), private)
        meta = {
            "id": uuid.uuid4().hex,
            "workspace": workspace,
            "project": project,
            "identity": identity,
            "identity_source": identity_source,
            "aliases": list(aliases),
            "former_names": [],
            "created_at": rfc3339(self.now_us),
            "private": private or None,
        }
        content = compose({key: value for key, value in meta.items() if value is not None}, "").encode("utf-8")
        self._drafts[meta_path(workspace, project)] = content
        return read_project((workspace, project), content)

    def _with_identity(self, known: Project, identity: str | None, source: str | None) -> Project:
        """A project that was only a folder takes the repository identity that it got later.

        Else a second clone, which knows the remote alone, would begin a twin.
        """
        was_folder = known.identity is None or known.identity_source in ("directory", "git-root")
        if identity is None or identity == known.identity or source in ("directory", "git-root") or not was_folder:
            return known
        return self._with_meta(known, {"identity": identity, "identity_source": source})

    def _with_privacy(self, known: Project, private: bool | None) -> Project:
        """A project whose marker was given, or lost, its word about privacy."""
        if private is None or private == known.private:
            return known
        return self._with_meta(known, {"private": private or None})

    def _with_meta(self, known: Project, changed: Mapping[str, object]) -> Project:
        path = meta_path(known.workspace, known.name)
        text = (self._present(path) or b"").decode("utf-8", "replace")
        content = splice(text, changed, path=META_NAME).encode("utf-8")
        self._drafts[path] = content
        return read_project((known.workspace, known.name), content)

    def put(
        self, ref: PageRef, text: Sanitized, *, expected_version: str | None = None, create_only: bool = False
    ) -> PageRef:
        """Let the page be `text`; gives its address in normal form. The same text changes nothing.

        Raises Conflict when the page is not as expected, MemoryFault for a text or path that no page may have.
        """
        ref = _checked(ref)
        _check_text(ref, text)
        present = self._present(ref.git_path)
        if create_only and present is not None:
            raise Conflict(
                f"{ref.path} exists already, version {blob_id(present)[:12]}.",
                hint="Choose another path, or leave --create-only out to replace it.",
            )
        _expect(ref, present, expected_version)
        if present is None:
            self._refuse_collision(ref)
        else:
            _refuse_other_encoding(ref, present)
        self._drafts[ref.git_path] = text.encode("utf-8")
        return ref

    def delete(self, ref: PageRef, *, expected_version: str | None = None) -> bool:
        """Take the page away; False when there was none. Its history stays."""
        present = self._present(ref.git_path)
        if present is None:
            return False
        _expect(ref, present, expected_version)
        self._drafts[ref.git_path] = None
        return True

    def move(self, ref: PageRef, new: PageRef, *, text: Sanitized | None = None) -> PageRef:
        """Let the page stand at `new`, with `text` or as it is; one that is not UTF-8 stays as it is.

        Raises NotFound or Conflict.
        """
        present = self._present(ref.git_path)
        if present is None:
            raise NotFound(f"There is no page {ref}.", hint="List the pages with `ai-memory pages`.")
        new = _checked(new)
        self._drafts[ref.git_path] = None  # first, so that a move that only changes case collides with nothing
        if self._present(new.git_path) is not None:
            raise Conflict(f"{new.path} exists already.", hint="Choose another path, or delete that page first.")
        self._refuse_collision(new)
        self._drafts[new.git_path] = present if text is None or not _is_utf8(present) else text.encode("utf-8")
        return new

    def put_back(self, ref: PageRef, version: str, *, expected_version: str | None = None) -> PageRef:
        """Let the page be an earlier version of its own, byte for byte. Raises Conflict, StoreFault."""
        ref = _checked(ref)
        present = self._present(ref.git_path)
        _expect(ref, present, expected_version)
        if present is None:
            self._refuse_collision(ref)
        self._drafts[ref.git_path] = self._wiki.blob(version)
        return ref

    def bring_in(
        self, ref: PageRef, text: Sanitized, *, is_utf8: bool = True, expected_version: str | None = None
    ) -> PageRef:
        """Let the page be a file that a person kept elsewhere: also one whose frontmatter cannot be read, or no UTF-8.

        Without `expected_version` there must be none. Raises Conflict, MemoryFault for a path that no page may have.
        """
        ref = _checked(ref)
        present = self._present(ref.git_path)
        if present is None:
            self._refuse_collision(ref)
        elif expected_version is None:
            raise Conflict(f"{ref} was written meanwhile.", hint="Run it again: it looks anew.")
        _expect(ref, present, expected_version)
        self._drafts[ref.git_path] = as_bytes(text, is_utf8=is_utf8)
        return ref

    def bring_in_project(self, workspace: str, project: str, meta: Sanitized) -> bool:
        """Begin a project with the `_meta.md` that it had elsewhere; False where one of that name is there."""
        names.check_name(workspace, what="workspace")
        names.check_name(project)
        if self.project(workspace, project) is not None:
            return False
        self._drafts[meta_path(workspace, project)] = meta.encode("utf-8")
        return True

    def move_project(
        self, old: tuple[str, str], new: tuple[str, str], *, identity: tuple[str, str] | None = None
    ) -> Project:
        """Let the project be called `new` and keep its id, with `old` as a former name; its pages are moved one by one.

        A project of that name that is there already keeps its own id and learns the former names.
        """
        known, there = self.project(*old), self.project(*new)
        former = former_names(known, old, new)
        told = {} if identity is None else {"identity": identity[0], "identity_source": identity[1]}
        if there is not None or known is None:
            there = there or self.ensure_project_named(*new)
            names_once = [*dict.fromkeys((*there.former_names, *former))]
            project = self._with_meta(there, {"former_names": names_once, **told})
        else:
            text = (self._present(meta_path(*old)) or b"").decode("utf-8", "replace")
            renamed = {"workspace": new[0], "project": new[1], "former_names": former, **told}
            content = splice(text, renamed, path=META_NAME).encode("utf-8")
            self._drafts[meta_path(*new)] = content
            project = read_project(new, content)
        if old != new:
            self.drop_project(*old)
        return project

    def pages_of(self, workspace: str, project: str) -> set[PageRef]:
        """Every page of a project as it is committed."""
        found = self._wiki.files_below(self._wiki.head(), f"{workspace}/{project}")
        return {ref for path in found if (ref := page_ref(path)) is not None}

    def drop_project(self, workspace: str, project: str) -> None:
        """Take the project's `_meta.md` away: with its last page the project is gone."""
        if self._present(meta_path(workspace, project)) is not None:
            self._drafts[meta_path(workspace, project)] = None

    def take_back(self, commit: str) -> tuple[str, ...]:
        """Let the pages of that commit be what they were before it; gives those of its files that are no pages.

        Raises Conflict where what it wrote was changed since.
        """
        undone = undoing.plan(self._wiki, commit, self._present)
        gone = [path for path, content in undone.contents.items() if content is None]
        self._drafts.update(dict.fromkeys(gone))  # first, so that a move that only changed case collides with nothing
        for path, content in undone.contents.items():
            ref = page_ref(path)
            if content is not None and ref is not None and self._present(path) is None:
                self._refuse_collision(ref)
            self._drafts[path] = content
        return undone.left

    def state(self, statement: str, **parameters: str | int) -> None:
        """A row of `state.db` that belongs to this change; `statement` is a name in `state.STATEMENTS`.

        Texts are sanitised here: most are names, and a name comes from outside.
        """
        if statement not in state.STATEMENTS:
            raise KeyError(statement)
        row = {key: sanitize(value) if isinstance(value, str) else value for key, value in parameters.items()}
        self._state.append((statement, row))

    def outbox_put(self, name: str, text: Sanitized) -> None:
        """A file of the outbox, written after the pages."""
        self._outbox.append(OutboxChange(name, text))

    def outbox_remove(self, name: str) -> None:
        self._outbox.append(OutboxChange(name, None))

    # --- for the store ---

    def paths(self, head: str | None) -> dict[str, PathChange]:
        """What differs from `head`."""
        found: dict[str, PathChange] = {}
        for git_path, content in self._drafts.items():
            old = self._wiki.blob_at(head, git_path)
            if old != (blob_id(content) if content is not None else None):
                found[git_path] = PathChange(old, content)
        return found

    @property
    def state_rows(self) -> tuple[tuple[str, Mapping[str, StateValue]], ...]:
        return tuple(self._state)

    @property
    def outbox(self) -> tuple[OutboxChange, ...]:
        return tuple(self._outbox)

    # --- inside ---

    def _present(self, git_path: str) -> bytes | None:
        if git_path in self._drafts:
            return self._drafts[git_path]
        folder = folder_of(git_path)
        if folder not in self._looked and self._look_at(git_path):
            self._looked.add(folder)
        blob = self._wiki.blob_at(self._wiki.head(), git_path)
        return None if blob is None else self._wiki.blob(blob)

    def _refuse_collision(self, ref: PageRef) -> None:
        """Refuse a path that differs from a live one only by case or Unicode form, or that is a folder or in a page."""
        head = self._wiki.head()
        folder = ""
        for part in ref.git_path.split("/"):
            key = names.path_key(part)
            other = self._names(head, folder).setdefault(key, part)
            if other != part and self._is_live(head, f"{folder}/{other}".lstrip("/")):
                raise Conflict(
                    f"{ref.path} differs from {f'{folder}/{other}'.lstrip('/')} only by case or Unicode form.",
                    hint="Use that spelling: many disks hold only one of the two.",
                )
            self._names(head, folder)[key] = part
            folder = f"{folder}/{part}" if folder else part
        self._refuse_folder_and_file(head, ref)

    def _names(self, head: str | None, folder: str) -> dict[str, str]:
        """Names that stand in a folder or were put there, by their key. Kept for the next page of the folder."""
        if folder not in self._keys:
            found = b"/".join(name for name, _, _ in self._wiki.folder_rows(head, folder))
            self._keys[folder] = names.by_key(found.decode("utf-8", "surrogateescape"))
        return self._keys[folder]

    def _is_live(self, head: str | None, git_path: str) -> bool:
        """Whether a file or a folder with files stands there once this change is made."""
        if git_path in self._drafts:
            return self._drafts[git_path] is not None
        below = f"{git_path}/"
        if any(content is not None and path.startswith(below) for path, content in self._drafts.items()):
            return True
        if not self._wiki.folder(head, git_path):
            return self._wiki.entry_at(head, git_path) is not None
        gone = {path for path, content in self._drafts.items() if content is None and path.startswith(below)}
        tree = self._wiki.files_below(head, git_path)
        return any(path not in gone for path in tree)

    def _refuse_folder_and_file(self, head: str | None, ref: PageRef) -> None:
        segments = ref.git_path.split("/")
        for end in range(3, len(segments)):
            if self._wiki.blob_at(head, "/".join(segments[:end])) is not None:
                raise Conflict(f"{segments[end - 1]} is a page, not a folder.", hint="Choose another path.")
        if self._wiki.folder(head, ref.git_path):
            raise Conflict(f"{ref.path} is a folder with pages in it.", hint="Choose another path.")


def _checked(ref: PageRef) -> PageRef:
    names.check_name(ref.workspace, what="workspace")
    names.check_name(ref.project)
    return PageRef(ref.workspace, ref.project, names.check_page_path(ref.path))


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _refuse_other_encoding(ref: PageRef, present: bytes) -> None:
    """A text that was read from such bytes lacks what could not be read: written back, that would be gone."""
    try:
        present.decode("utf-8")
    except UnicodeDecodeError as fault:
        line = present.count(b"\n", 0, fault.start) + 1
        raise Conflict(
            f"{ref.path} is not UTF-8: byte 0x{present[fault.start]:02x} in line {line}.",
            hint="Save its file as UTF-8 (with iconv, say), or delete the page and write it anew.",
        ) from fault


def _check_text(ref: PageRef, text: str) -> None:
    parsed = parse(text, path=ref.path)
    limits.check_page(
        title=parsed.title,
        tags=parsed.tags,
        entities=parsed.entities,
        aliases=parsed.aliases,
        kind=parsed.kind,
        body=parsed.body,
    )


def _expect(ref: PageRef, present: bytes | None, expected: str | None) -> None:
    if expected is None:
        return
    wanted = expected.strip().lower()
    if not SHORTEST_VERSION <= len(wanted) <= LONGEST_VERSION or any(c not in "0123456789abcdef" for c in wanted):
        raise MemoryFault(
            f"{echo(expected)} is no version.",
            hint=f"A version is {SHORTEST_VERSION} to {LONGEST_VERSION} hex digits, as every read shows.",
        )
    version = blob_id(present) if present is not None else ""
    if not version.startswith(wanted):
        now = f"is at version {version[:12]} now" if version else "does not exist"
        raise Conflict(
            f"{ref.path} {now}, not at {wanted[:12]}.", hint="Read it again, make your change on that text, then write."
        )
