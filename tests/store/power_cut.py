"""What a disk may hold after a power cut: a model of files, names and syncs, fed by the calls that a write makes.

`Recorder` stands in a doomed process in place of the functions that change files; each call is one row of a log.
`Disk` replays rows and tells two worlds: in the strict one only what was synced is there; in the lazy one every name
is there, but bytes that were not synced are not. SQLite's files are taken as they were at that moment: its own
promise is a commit whole or not at all (the index may lose its last commits, so the strict world takes none).
"""

import builtins
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One call. `content` is the file's bytes at a sync; `databases` are SQLite's files when they changed."""

    call: str
    path: str
    to: str = ""
    content: bytes = b""
    databases: dict[str, bytes] | None = None


class Recorder:
    """Logs calls below `root` for as long as the block lasts."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._seen: dict[str, bytes] = {}
        self.rows: list[Row] = []

    def note(
        self, call: str, path: object, to: object = "", content: bytes = b"", *, dir_fd: int | None = None
    ) -> None:
        if dir_fd is not None:
            path = Path(f"/proc/self/fd/{dir_fd}").readlink() / os.fsdecode(path)  # type: ignore[arg-type]
        name, target = self._name(path), self._name(to) if to else ""
        if name is not None and target is not None:
            self.rows.append(Row(call, name, target, content, self._databases()))

    def _name(self, path: object) -> str | None:
        text = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]
        if text == self._root:
            return "."
        name = text.removeprefix(self._root + os.sep)
        return None if name == text or is_database(name) else name

    def _databases(self) -> dict[str, bytes] | None:
        now = {path.name: path.read_bytes() for path in Path(self._root).glob("*.db*")}
        if now == self._seen:
            return None
        self._seen = now
        return now

    def __enter__(self) -> "Recorder":
        self._seen = {path.name: path.read_bytes() for path in Path(self._root).glob("*.db*")}
        for module, name, made in self._stand_ins():
            setattr(module, name, made(getattr(module, name)))
        return self

    def __exit__(self, *_: object) -> None:
        """The process dies soon: nothing is put back."""

    def _stand_ins(self) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
        for call in ("unlink", "remove", "rmdir", "mkdir"):
            yield os, call, self._one_path("unlink" if call == "remove" else call)
        for call in ("rename", "replace", "link"):
            yield os, call, self._two_paths("rename" if call == "replace" else call)
        yield os, "open", self._os_open
        yield os, "fsync", self._fsync
        yield io, "open", self._io_open
        yield builtins, "open", self._io_open

    def _one_path(self, call: str) -> Callable[[Any], Any]:
        def stand_in(real: Any) -> Any:
            def run(path: Any, *args: Any, **kwargs: Any) -> Any:
                done = real(path, *args, **kwargs)
                self.note(call, path, dir_fd=kwargs.get("dir_fd"))
                return done

            return run

        return stand_in

    def _two_paths(self, call: str) -> Callable[[Any], Any]:
        def stand_in(real: Any) -> Any:
            def run(path: Any, to: Any, **kwargs: Any) -> Any:
                # Below the data dir SQLite makes copies in full, and syncs them before it closes them.
                whole = Path(path).read_bytes() if ".db" in os.fsdecode(path) and Path(path).is_file() else b""
                done = real(path, to, **kwargs)
                self.note(call, path, to, whole)
                return done

            return run

        return stand_in

    def _os_open(self, real: Any) -> Any:
        def run(path: Any, flags: int, *args: Any, **kwargs: Any) -> Any:
            done = real(path, flags, *args, **kwargs)
            if flags & os.O_CREAT:
                self.note("create", path)
            return done

        return run

    def _io_open(self, real: Any) -> Any:
        def run(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            done = real(file, mode, *args, **kwargs)
            if not isinstance(file, int) and mode[0] in "wax":
                self.note("create", file)
            return done

        return run

    def _fsync(self, real: Any) -> Any:
        def run(descriptor: int) -> None:
            real(descriptor)
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            if path.is_dir():
                self.note("sync-folder", path)
            elif path.exists():
                self.note("sync", path, content=path.read_bytes())

        return run


def is_database(name: str) -> bool:
    return os.sep not in name and ".db" in name


@dataclass(eq=False)
class File:
    synced: bytes = b""


State = dict[str, "File | None"]


@dataclass(eq=False)
class Folder:
    names: "dict[str, File | Folder]" = field(default_factory=dict)
    synced: "dict[str, File | Folder]" = field(default_factory=dict)


class Disk:
    """A disk that starts with all of `base` synced."""

    def __init__(self, base: Path) -> None:
        self._root = _load(base) if base.exists() else Folder()
        self._old = {path.name: path.read_bytes() for path in base.glob("*.db*")}
        self._databases = self._old

    def play(self, row: Row) -> None:
        """One call happened."""
        if row.databases is not None:
            self._databases = row.databases
        if row.path == ".":
            if row.call == "sync-folder":
                self._root.synced = dict(self._root.names)
            return
        folder, name = self._at(row.path)
        match row.call:
            case "create":
                folder.names.setdefault(name, File())
            case "mkdir":
                folder.names.setdefault(name, Folder())
            case "unlink" | "rmdir":
                folder.names.pop(name, None)
            case "rename" | "link":
                moved = folder.names.get(name) or File(row.content)
                if row.call == "rename":
                    folder.names.pop(name, None)
                target, new = self._at(row.to)
                target.names[new] = moved
            case "sync":
                file = folder.names[name]
                assert isinstance(file, File)
                file.synced = row.content
            case "sync-folder":
                found = folder.names[name]
                assert isinstance(found, Folder)
                found.synced = dict(found.names)
            case other:
                raise AssertionError(other)

    def _at(self, path: str) -> tuple[Folder, str]:
        *folders, name = Path(path).parts
        here = self._root
        for part in folders:
            found = here.names[part]
            assert isinstance(found, Folder)
            here = found
        return here, name

    def state(self, *, is_strict: bool) -> "State":
        """Files, and folders with None. Two names of one file give the same file."""
        found: State = {}
        _tell(self._root, "", found, is_strict=is_strict)
        for name, content in self._databases.items():
            if not is_strict or name.startswith("state"):
                found[name] = File(content)
        if is_strict:
            found |= {name: File(content) for name, content in self._old.items() if not name.startswith("state")}
        return found


def _load(folder: Path) -> Folder:
    made = Folder()
    for path in folder.iterdir():
        if not (path.is_file() and is_database(path.name)):
            made.names[path.name] = _load(path) if path.is_dir() else File(path.read_bytes())
    made.synced = dict(made.names)
    return made


def _tell(folder: Folder, prefix: str, found: State, *, is_strict: bool) -> None:
    for name, entry in (folder.synced if is_strict else folder.names).items():
        if isinstance(entry, Folder):
            found[prefix + name] = None
            _tell(entry, f"{prefix}{name}/", found, is_strict=is_strict)
        else:
            found[prefix + name] = entry


def build(root: Path, state: State) -> None:
    """Make that disk at `root`."""
    root.mkdir()
    made: dict[File, Path] = {}
    for name, entry in sorted(state.items()):
        if entry is None:
            (root / name).mkdir()
        elif entry in made:
            (root / name).hardlink_to(made[entry])
        else:
            (root / name).write_bytes(entry.synced)
            made[entry] = root / name
