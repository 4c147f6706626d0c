"""Taking files out of every commit of the wiki, and every old object off the disk.

Crash: safe at any point. New commits are written first, then refs are moved, `main` last, then what nothing leads to
any more is removed; said again, it goes on where it stopped.
"""

import re
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from dulwich.objects import S_ISGITLINK, Commit, ObjectID

from ai_memory.errors import StoreFault
from ai_memory.store.filesystem import make_folder, sync_folder, write_whole
from ai_memory.store.head import BRANCH
from ai_memory.store.objects import ObjectWriter, spliced_tree
from ai_memory.store.packing import pack_only
from ai_memory.store.wiki import Difference, Wiki

PURGED = b"a purged page"
"""What stands in messages of commits where they named the file."""

SUBJECT = b"Change a page that was purged"

_REF_LINE = re.compile(r"([0-9a-f]{40}) (refs/\S+)")


@dataclass(slots=True)
class Rewritten:
    """What was done: commits written anew, refs moved, objects that went."""

    commits: int = 0
    refs: int = 0
    removed: int = 0


def rewrite(
    git: Path, paths: Iterable[str], *, shared: Mapping[str, Collection[str]], step: Callable[[str], None]
) -> Rewritten:
    """Let no commit that a ref leads to hold those files. Call under the writer lock.

    `shared`: paths where another file is now, each with the blobs that shall go from there; all else there stays.
    Errors: StoreFault where other work trees would be left behind.
    """
    if (git / "worktrees").is_dir() and any((git / "worktrees").iterdir()):
        raise StoreFault(
            "The wiki has further work trees, whose history would not be rewritten.",
            hint=f"Remove them: `git -C {git.parent} worktree list`.",
        )
    gone: dict[str, Collection[str] | None] = {**shared, **dict.fromkeys(paths)}
    done = Rewritten()
    with closing(Wiki(git)) as wiki:
        refs = _refs(git)
        _refuse_tags(wiki, refs)
        writer = _Writer(wiki, ObjectWriter(git / "objects", is_stored=wiki.has), gone)
        for commit in _parents_first(wiki, refs.values()):
            writer.write(commit)
        writer.publish()
        done.commits = len(writer.new_ids)
        step("rewrite-objects")
        for name in sorted(refs, key=lambda name: (name == BRANCH, name)):
            moved = writer.new_ids.get(refs[name])
            if moved is not None:
                make_folder((git / name).parent)
                write_whole(git / name, f"{moved}\n".encode())
                done.refs += 1
                step("rewrite-ref")
        _forget_places(git)
        step("rewrite-logs")
    with closing(Wiki(git)) as wiki:
        done.removed = pack_only(wiki.store, git / "objects", _reachable(wiki, _refs(git).values()))
        step("rewrite-packed")
    return done


class _Writer:
    """Commits without some files, each on the new ids of its parents."""

    def __init__(self, wiki: Wiki, objects: ObjectWriter, gone: Mapping[str, Collection[str] | None]) -> None:
        self._wiki = wiki
        self._objects = objects
        self._gone = gone
        self._folders = {path[:at] for path in gone for at, letter in enumerate(path) if letter == "/"}
        self._names = _names_of(path for path, blobs in gone.items() if blobs is None)
        self._trees: dict[str, str | None] = {}
        self.new_ids: dict[str, str] = {}

    def write(self, commit: str) -> None:
        """The commit anew, if it or one before it held one of the files. A signature goes: it would no longer hold."""
        content = self._wiki.commit_bytes(commit)
        assert content is not None
        made = Commit.from_raw_string(Commit.type_num, content)
        assert isinstance(made, Commit)
        tree = self._without(self._wiki.tree_of(commit), "") or self._objects.add(b"tree", b"")
        parents = [self.new_ids.get(parent, parent) for parent in self._wiki.parents(commit)]
        differences = self._wiki.differences(self._wiki.parent(commit), commit)
        message = self._message(made.message, is_about=any(map(self._is_about, differences)))
        same = (self._wiki.tree_of(commit), self._wiki.parents(commit), made.message)
        if (tree, parents, message) == same:
            return
        made.tree = ObjectID(tree.encode())
        made.parents = [ObjectID(parent.encode()) for parent in parents]
        made.message = message
        made.gpgsig = None
        self.new_ids[commit] = self._objects.add(b"commit", made.as_raw_string())

    def publish(self) -> None:
        """Give the new objects their names; from then on they are there, durable."""
        self._objects.publish()

    def _without(self, tree: str, prefix: str) -> str | None:
        """The folder without the files; None when nothing is left in it. Each is looked at once."""
        key = f"{prefix}{tree}"
        if key not in self._trees:
            changes: dict[bytes, tuple[int, str] | None] = {}
            raw, rows = self._wiki.raw_tree(tree)
            for name, mode, object_id in rows:
                path, made = prefix + name.decode("utf-8", "surrogateescape"), object_id.decode()
                if not stat.S_ISDIR(mode):
                    if self._goes(path, made):
                        changes[name] = None
                elif path in self._folders:
                    kept = self._without(made, f"{path}/")
                    if kept != made:
                        changes[name] = (mode, kept) if kept is not None else None
            edited = spliced_tree(raw, rows, changes) if changes else raw
            self._trees[key] = (self._objects.add(b"tree", edited) if changes else tree) if edited else None
        return self._trees[key]

    def _goes(self, path: str, blob: str | None) -> bool:
        if path not in self._gone:
            return False
        blobs = self._gone[path]
        return blobs is None or blob in blobs

    def _is_about(self, one: Difference) -> bool:
        return self._goes(one.git_path, one.old) or self._goes(one.git_path, one.new)

    def _message(self, message: bytes, *, is_about: bool) -> bytes:
        """Without paths of the files; of a commit that changed one, without its subject, which may quote it."""
        if is_about:
            message = SUBJECT + message[message.find(b"\n") :] if b"\n" in message else SUBJECT
        return self._names.sub(PURGED, message)


def _names_of(gone: Iterable[str]) -> re.Pattern[bytes]:
    """How a message may name one of the files: by its path in the wiki or in its project, never as a part of a name."""
    names = {name for path in gone for name in (path, path.split("/", 2)[-1])}
    if not names:
        return re.compile(rb"(?!)")  # matches nothing
    longest_first = sorted((name.encode("utf-8", "surrogateescape") for name in names), key=len, reverse=True)
    return re.compile(rb"(?<![\w./-])(?:%s)(?![\w-])" % b"|".join(map(re.escape, longest_first)))


def _reachable(wiki: Wiki, heads: Iterable[str]) -> list[str]:
    """Every object that these commits lead to, the oldest commits first."""
    found: dict[str, None] = {}
    commits = sorted(set(heads))
    while commits:
        commit = commits.pop()
        if commit in found:
            continue
        found[commit] = None
        commits += wiki.parents(commit)
        trees = [wiki.tree_of(commit)]
        while trees:
            tree = trees.pop()
            if tree in found:
                continue
            found[tree] = None
            for _, mode, made in wiki.raw_tree(tree)[1]:
                if stat.S_ISDIR(mode):
                    trees.append(made.decode())
                elif not S_ISGITLINK(mode):
                    found[made.decode()] = None
    return list(reversed(found))


def _refuse_tags(wiki: Wiki, refs: dict[str, str]) -> None:
    """A tag with a message of its own is no commit: it would go on leading to the old one."""
    for name, made in refs.items():
        if wiki.commit_bytes(made) is None:
            raise StoreFault(
                f"{name} is a tag with a message of its own: it would keep the old history.",
                hint="Delete it in the wiki with `git tag -d`, and make it again afterwards.",
            )


def _refs(git: Path) -> dict[str, str]:
    """What refs lead to."""
    found: dict[str, str] = {}
    packed = git / "packed-refs"
    if packed.exists():
        for line in packed.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            match = _REF_LINE.fullmatch(line)
            if match:
                found[match[2]] = match[1]
    for file in sorted((git / "refs").rglob("*")):
        if file.is_file() and not file.name.endswith(".lock"):
            commit = file.read_text(encoding="utf-8").strip()
            if re.fullmatch(r"[0-9a-f]{40}", commit):
                found[file.relative_to(git).as_posix()] = commit
    return found


def _parents_first(wiki: Wiki, heads: Iterable[str]) -> list[str]:
    """Every commit that these lead to, none before its parents."""
    ordered: list[str] = []
    seen: set[str] = set()
    waiting = [(head, False) for head in sorted(set(heads))]
    while waiting:
        commit, is_done = waiting.pop()
        if is_done:
            ordered.append(commit)
        elif commit not in seen:
            seen.add(commit)
            waiting.append((commit, True))
            waiting += [(parent, False) for parent in wiki.parents(commit) if parent not in seen]
    return ordered


def _forget_places(git: Path) -> None:
    """Remove what git remembers of where refs and HEAD were: it would keep old commits alive, and old messages.

    Of `packed-refs` those lines that a ref of its own file stands before.
    """
    packed = git / "packed-refs"
    if packed.exists():
        lines = packed.read_bytes().splitlines(keepends=True)
        names = [line.partition(b" ")[2].strip().decode("utf-8", "surrogateescape") for line in lines]
        kept = [line for line, name in zip(lines, names, strict=True) if not (name and (git / name).is_file())]
        write_whole(packed, b"".join(kept))
    shutil.rmtree(git / "logs", ignore_errors=True)
    for name in ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG"):
        (git / name).unlink(missing_ok=True)
    sync_folder(git)
