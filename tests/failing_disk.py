"""A disk that refuses: a shim below `os`, `open` and SQLite that lets the n-th call which changes files fail.

A full disk (`ENOSPC`) stays full: from the n-th call on that needs room, each one fails; what takes names away goes on.
A disk with a bad place (`EIO`) refuses the n-th call of any kind, once, syncs too.
SQLite's own writes are out of reach, so each statement that writes counts as one call.
"""

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ai_memory.store import driver

_WRITING = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER", "VACUUM", "COMMIT")
_FROM_FULL = ("DELETE", "DROP")
"""Statements of SQLite that need no room that they have not got."""


class FailingDisk:
    """Counts calls below `root`; `fail_at` (from 0) is the one that fails. `calls` tells those that were counted."""

    def __init__(self, root: Path, number: int, *, fail_at: int | None = None) -> None:
        self._root = str(root)
        self._number = number
        self._fail_at = fail_at
        self.calls: list[str] = []

    @property
    def has_failed(self) -> bool:
        return self._fail_at is not None and len(self.calls) > self._fail_at

    @contextmanager
    def in_use(self) -> Iterator["FailingDisk"]:
        """Within the block."""
        stand_ins: list[tuple[Any, str, Any]] = [
            (os, "open", self._os_open(os.open)),
            (os, "write", self._on_descriptor("write", os.write, grows=True)),
            (os, "fsync", self._on_descriptor("fsync", os.fsync, grows=False)),
            (io, "open", self._io_open(io.open)),
            (builtins, "open", self._io_open(io.open)),
            (driver, "_open", self._database(driver._open)),
        ]
        for name, grows in (("mkdir", True), ("unlink", False), ("remove", False), ("rmdir", False)):
            stand_ins.append((os, name, self._on_path(name, getattr(os, name), grows=grows)))
        for name, grows in (("rename", False), ("replace", False), ("link", True)):
            stand_ins.append((os, name, self._on_path(name, getattr(os, name), grows=grows)))
        patches = [patch.object(module, name, stand_in) for module, name, stand_in in stand_ins]
        for one in patches:
            one.start()
        try:
            yield self
        finally:
            for one in reversed(patches):
                one.stop()

    def call(self, name: str, path: str, *, grows: bool) -> None:
        """One call that changes files; raises when it is its turn."""
        if self._is_refused(name, path, grows=grows):
            raise OSError(self._number, os.strerror(self._number), path)

    def statement(self, sql: str, path: str) -> None:
        """One statement that writes; raises as SQLite does."""
        word = sql.lstrip().partition(" ")[0].upper()
        if word not in _WRITING:
            return
        if self._is_refused(f"sql {word}", path, grows=word not in _FROM_FULL):
            words = "database or disk is full" if self._number == errno.ENOSPC else "disk I/O error"
            raise driver.OperationalError(words)

    def _is_refused(self, name: str, path: str, *, grows: bool) -> bool:
        if self._number == errno.ENOSPC:
            if not grows:
                return False
            self.calls.append(f"{name} {self._short(path)}")
            return self.has_failed
        self.calls.append(f"{name} {self._short(path)}")
        return self._fail_at is not None and len(self.calls) == self._fail_at + 1

    def _short(self, path: str) -> str:
        return path.removeprefix(self._root + os.sep)

    def below(self, path: object, dir_fd: int | None = None) -> str | None:
        """The path where it lies on this disk, or None."""
        try:
            if isinstance(path, int):
                text = str(Path(f"/proc/self/fd/{path}").readlink())
            else:
                text = os.fsdecode(path)  # type: ignore[arg-type]
                if dir_fd is not None:
                    text = str(Path(f"/proc/self/fd/{dir_fd}").readlink() / text)
                text = os.path.abspath(text)
        except (OSError, TypeError):
            return None
        return text if text.startswith(self._root + os.sep) else None

    # --- what stands in ---

    def _os_open(self, real: Callable[..., int]) -> Callable[..., int]:
        def run(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
            found = self.below(path, kwargs.get("dir_fd"))
            if flags & os.O_CREAT and found is not None:
                self.call("create", found, grows=not os.path.lexists(found))
            return real(path, flags, *args, **kwargs)

        return run

    def _on_path(self, name: str, real: Callable[..., Any], *, grows: bool) -> Callable[..., Any]:
        def run(path: Any, *args: Any, **kwargs: Any) -> Any:
            found = self.below(path, kwargs.get("dir_fd", kwargs.get("src_dir_fd")))
            if found is not None and (name == "mkdir") != os.path.lexists(found):  # what fails anyway is no write
                self.call(name, found, grows=grows)
            return real(path, *args, **kwargs)

        return run

    def _on_descriptor(self, name: str, real: Callable[..., Any], *, grows: bool) -> Callable[..., Any]:
        def run(descriptor: int, *args: Any) -> Any:
            found = self.below(descriptor)
            if found is not None:
                self.call(name, found, grows=grows)
            return real(descriptor, *args)

        return run

    def _io_open(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def run(
            file: Any,
            mode: str = "r",
            buffering: int = -1,
            encoding: str | None = None,
            errors: str | None = None,
            newline: str | None = None,
            closefd: bool = True,
            opener: Any = None,
        ) -> Any:
            found = self.below(file) if set(mode) & set("wax+") else None
            if found is None:
                return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
            if not isinstance(file, int):
                self.call("create", found, grows=not os.path.lexists(found))
            raw = _Raw(file, mode.replace("b", "").replace("t", ""), closefd=closefd, opener=opener)
            raw.tell_of = lambda: self.call("write", found, grows=True)
            buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)

        return run

    def _database(self, real: Callable[[str], Any]) -> Callable[[str], Any]:
        disk = self

        class Connection(driver._sqlite.Connection):  # type: ignore[misc,name-defined]
            path = ""

            def execute(self, sql: str, *args: Any) -> Any:
                disk.statement(sql, self.path)
                return super().execute(sql, *args)

            def executemany(self, sql: str, *args: Any) -> Any:
                disk.statement(sql, self.path)
                return super().executemany(sql, *args)

            def executescript(self, sql: str) -> Any:
                disk.statement("CREATE", self.path)
                return super().executescript(sql)

            def backup(self, target: Any, **how: Any) -> Any:
                disk.statement("INSERT", getattr(target, "path", ""))
                return super().backup(target, **how)

        def connect(uri: str) -> Any:
            found = self.below(uri.removeprefix("file:").partition("?")[0])
            if found is None:
                return real(uri)
            if "mode=rwc" in uri and not Path(found).exists():
                try:
                    self.call("create", found, grows=True)
                except OSError as fault:
                    raise driver.OperationalError("unable to open database file") from fault
            made = driver._sqlite.connect(
                uri, uri=True, isolation_level=None, check_same_thread=False, factory=Connection
            )
            made.path = found
            return made

        return connect


class _Raw(io.FileIO):
    """A file whose writes are told first."""

    def tell_of(self) -> None:
        raise NotImplementedError

    def write(self, content: Any) -> int:
        self.tell_of()
        return super().write(content)
