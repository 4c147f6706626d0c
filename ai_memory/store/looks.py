"""What a look at the work tree leaves for the next one: files that were missing, and folders that nobody changed since.

A folder's own time moves when a file in it is made, removed, renamed or replaced, as most editors save. A write in a
large folder that stands as it was left looks at its own file alone; an edit of a neighbour that was saved in place is
found by the looks at everything (decision A6). Reading 10,000 stat figures cost 250 ms a write (2026-11-30).
"""

from collections.abc import Iterable, Mapping

from ai_memory.paths import DataDir
from ai_memory.store import index
from ai_memory.store.driver import Connection, transaction
from ai_memory.store.indexing import WriterIndex
from ai_memory.store.stamps import Stamps, changed_ns, settled_ns


class Looks:
    """Kept in the index, which may be lost: then everything is looked at again. Call under the writer lock."""

    def __init__(self, data_dir: DataDir, opened: WriterIndex) -> None:
        self._data_dir = data_dir
        self._index = opened
        self._seen: dict[str, int] = {}
        """Folders looked at by this writer, with their time."""

    def close(self) -> None:
        """Write down what was seen, and let go of the index. A folder is forgotten rather than a command failed."""
        if self._seen:
            self._index.ask(self._write_down, otherwise=None)
        self._index.close()

    def _write_down(self, connection: Connection) -> None:
        with transaction(connection):
            connection.executemany(
                "INSERT OR REPLACE INTO looks (folder, changed_ns) VALUES (?, ?)", sorted(self._seen.items())
            )

    # --- folders ---

    def is_unchanged(self, folder: str) -> bool:
        """Whether no name in the folder came, went or was replaced since it was last found in order."""
        now_ns = changed_ns(self._data_dir.wiki / folder)
        return now_ns is not None and now_ns == self._known(folder)

    def begin(self, folder: str) -> int | None:
        """The folder's time before a look at it: whatever comes from now on moves it."""
        return settled_ns(self._data_dir.wiki / folder)

    def stamps(self, folders: Iterable[str]) -> Stamps:
        """What is known of these folders, for whoever changes names in them."""
        known = {self._data_dir.wiki / folder: self._known(folder) for folder in folders}
        return Stamps({folder: time_ns for folder, time_ns in known.items() if time_ns is not None})

    def _known(self, folder: str) -> int | None:
        return self._seen.get(folder) or self._stored(folder)

    def found_in_order(self, folder: str, changed_ns: int | None) -> None:
        """The folder, as it was at that time, holds what the branch holds."""
        if changed_ns is not None:
            self._seen[folder] = changed_ns

    def _stored(self, folder: str) -> int | None:
        sql = "SELECT changed_ns FROM looks WHERE folder = ?"
        row = self._index.ask(lambda connection: connection.execute(sql, (folder,)).fetchone(), otherwise=None)
        return row[0] if row and isinstance(row[0], int) else None

    # --- missing files ---

    def vanished(self) -> dict[str, int]:
        """Files that were missing at the last look, with the time (µs) of the first one."""
        return self._index.ask(index.vanished, otherwise={})

    def set_vanished(self, seen: Mapping[str, int]) -> None:
        self._index.ask(lambda connection: index.write_vanished(connection, seen), otherwise=None)
