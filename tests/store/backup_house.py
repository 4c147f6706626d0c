"""A data dir with a bit of everything that a backup must keep, and what one finds in another after a restore."""

import json
import os
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from crash_driver import memory_at, page, ref, start

from ai_memory.model import Sanitized
from ai_memory.paths import DataDir
from ai_memory.store import backup, driver
from ai_memory.store.memory import no_step
from ai_memory.store.restore import restore

EVENT = "1764000000000000000-1-0a0b0c0d"
HANDOFF = "0" * 31 + "7"
Step = Callable[[str], None]


def no_progress(done: int, total: int) -> None:
    """Nobody watches."""


def furnish(root: Path) -> DataDir:
    """Pages with history, a bare file, an edit that nobody took yet, an event, a handoff, settings."""
    start(root)
    data_dir = DataDir(root)
    with memory_at(root).writing("Change a page") as change:
        change.put(ref("a.md"), page("a", "anew\n"))
        change.outbox_put(f"open/{HANDOFF}.md", Sanitized("take over\n"))
        change.outbox_put(f"by-dir/{'a' * 32}/{HANDOFF}", Sanitized("auto"))
    git(root, "repack", "-adq")  # few files to copy and to sync
    project = data_dir.wiki / "default" / "crash"
    (project / "picture.png").write_bytes(b"\x89PNG\x00\xff" * 100)
    (data_dir.wiki / ".obsidian").mkdir()
    (data_dir.wiki / ".obsidian" / "app.json").write_text("{}")
    data_dir.spool.mkdir(exist_ok=True)
    (data_dir.spool / f"{EVENT}.json").write_text(json.dumps({"v": 1, "event": "user-prompt"}))
    data_dir.config.write_text("[capture]\nprompts = false\n")
    return data_dir


def make(root: Path, name: str = "kept.zip", *, step: Step = no_step) -> Path:
    """An archive beside the data dir."""
    path = root.with_name(name)
    path.unlink(missing_ok=True)
    backup.make(memory_at(root, step), path, no_progress)
    return path


def put_back(root: Path, archive: Path, *, is_forced: bool = False, step: Step = no_step) -> tuple[str, ...]:
    memory = memory_at(root, step)
    told = memory.mutation("restore", subject=archive.name)
    return restore(memory, archive, told, is_forced=is_forced, progress=no_progress).gaps


def found(root: Path) -> dict[str, object]:
    """All that a memory holds and a backup keeps: files of the wiki, its history, rows, what waits."""
    data_dir = DataDir(root)
    memory = memory_at(root)
    with memory.reading() as snapshot:
        assert snapshot.gaps == []
        pages = {one.ref.git_path: one.text for one in snapshot.pages(limit=10_000).pages}
    return {
        "pages": pages,
        "history": git(root, "log", "--all", "--format=%H %an %at %B"),
        "files": files_below(data_dir.wiki),
        "rows": rows(data_dir.state),
        "spool": files_below(data_dir.spool),
        "outbox": {name: kept for name, kept in files_below(data_dir.outbox).items() if not name.startswith("starts")},
        "config": data_dir.config.read_bytes() if data_dir.config.exists() else None,
        "born": data_dir.born.read_bytes(),
    }


def rows(state: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Tables of `state.db` but who changed what: a restore is told there."""
    with closing(driver.connect(state)) as connection:
        names = ["sessions", "observations", "applied_events", "applied_changes", "evidence", "page_sessions", "purged"]
        return {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in names}


def files_below(folder: Path) -> dict[str, bytes]:
    found = {}
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(here) / name
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root / "wiki"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def is_sound(root: Path) -> bool:
    """Git finds nothing amiss and nothing changed but what lies there on purpose; nothing of a restore is left."""
    fsck = subprocess.run(["git", "-C", str(root / "wiki"), "fsck", "--strict", "--no-dangling"], capture_output=True)
    status = [line for line in git(root, "status", "--porcelain").splitlines() if "picture.png" not in line]
    left = [path.name for path in root.iterdir() if path.name.startswith(".restore") or path.name == "restoring"]
    return (fsck.returncode, status, left) == (0, [], [])


def rewritten(
    archive: Path,
    *,
    change: Mapping[str, bytes | None] | None = None,
    manifest: Callable[[dict[str, Any]], None] | None = None,
    entry: Callable[[zipfile.ZipInfo], None] | None = None,
) -> Path:
    """The archive with other bytes, further files, another manifest or other headers, as an attacker makes it."""
    target = archive.with_name("evil.zip")
    target.unlink(missing_ok=True)
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(target, "w") as out:
        contents: dict[str, bytes | None] = {one.filename: source.read(one) for one in source.infolist()}
        contents |= change or {}
        record = json.loads(contents["manifest.json"] or b"{}")
        if manifest is not None:
            manifest(record)
            contents["manifest.json"] = json.dumps(record).encode()
        for name, content in contents.items():
            if content is not None:
                info = zipfile.ZipInfo(name)
                info.external_attr = 0o100600 << 16
                if entry is not None:
                    entry(info)
                out.writestr(info, content)
    return target
