"""Taking files out of every commit of the wiki, and every old object off the disk.

Crash: safe at any point. New commits are written first, then refs are moved, `main` last, then what nothing leads to
any more is removed; said again, it goes on where it stopped.
"""

import re
import shutil
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ai_memory.errors import StoreFault
from ai_memory.store.filesystem import make_folder, write_whole
from ai_memory.store.head import BRANCH
from ai_memory.store.objects import ObjectWriter
from ai_memory.store.packing import pack_only
from ai_memory.store.wiki import Wiki

PURGED = "a purged page"
"""What stands in messages of commits where they named the file."""

SUBJECT = b"Change a page that was purged"

_REF_LINE = re.compile(r"([0-9a-f]{40}) (refs/\S+)")


@dataclass(slots=True)
class Rewritten:
    """What was done: commits written anew, refs moved, objects that went."""

    commits: int = 0
    refs: int = 0
    removed: int = 0
    new_ids: dict[str, str] = field(default_factory=dict)


def rewrite(git: Path, paths: Iterable[str], *, step: Callable[[str], None]) -> Rewritten:
    """Let no commit that a ref leads to hold those files. Call under the writer lock.

    Errors: StoreFault where other work trees would be left behind.
    """
    if (git / "worktrees").is_dir() and any((git / "worktrees").iterdir()):
        raise StoreFault(
            "The wiki has further work trees, whose history would not be rewritten.",
            hint=f"Remove them: `git -C {git.parent} worktree list`.",
        )
    gone = frozenset(paths)
    done = Rewritten()
    with closing(Wiki(git)) as wiki:
        refs = _refs(git)
        _refuse_tags(wiki, refs)
        writer = ObjectWriter(git / "objects", is_stored=wiki.has)
        trees: dict[str, str | None] = {}
        for commit in _parents_first(wiki, refs.values()):
            new = wiki.without(commit, gone, done.new_ids, trees, writer, words=partial(_unnamed, gone))
            if new != commit:
                done.new_ids[commit] = new
                done.commits += 1
        writer.publish()
        step("rewrite-objects")
        for name in sorted(refs, key=lambda name: (name == BRANCH, name)):
            moved = done.new_ids.get(refs[name])
            if moved is not None:
                make_folder((git / name).parent)
                write_whole(git / name, f"{moved}\n".encode())
                done.refs += 1
                step("rewrite-ref")
        _forget_places(git)
        step("rewrite-logs")
    with closing(Wiki(git)) as wiki:
        done.removed = pack_only(wiki.store, git / "objects", wiki.reachable(_refs(git).values()))
        step("rewrite-packed")
    return done


def _refuse_tags(wiki: Wiki, refs: dict[str, str]) -> None:
    """A tag with a message of its own is no commit: it would go on leading to the old one."""
    for name, made in refs.items():
        if not wiki.is_commit(made):
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


def _unnamed(gone: frozenset[str], message: bytes, is_about: bool) -> bytes:
    """The message without paths of the files; of a commit that changed one, without its subject, which may quote it."""
    if is_about:
        message = SUBJECT + message[message.find(b"\n") :] if b"\n" in message else SUBJECT
    for path in sorted(gone, key=len, reverse=True):
        for name in (path, path.split("/", 2)[-1]):
            message = message.replace(name.encode("utf-8", "surrogateescape"), PURGED.encode())
    return message


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
