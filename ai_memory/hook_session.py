"""The id of a session whose harness names none: minted at its start, remembered under the data dir. Stdlib only, light.

Part of the hook, loaded only for such an event. Two files hold the id: one named after the harness's process, one after
the folder. The process is the surer of the two, but a shell between the harness and its hook hides it.
"""

# ruff: noqa: PTH103, PTH105, PTH118, PTH208 (pathlib, contextlib: not loaded in a hook)

import os

from ai_memory import hook_process, hook_spool
from ai_memory.hook_places import directory_key, read_regular

DOUBLE_S = 2.0
"""A second start of one process within this time is another hook's telling of the same (decision B9)."""
KEPT_S = 172_800.0
_ID_BYTES = 64


class Unnamed:
    """The session of one event that names none. `process`: the harness's."""

    __slots__ = ("_folder", "_is_known", "_names", "id")

    def __init__(self, data_dir: str, agent: str, *, folder: str, process: int, is_start: bool) -> None:
        self._folder = os.path.join(data_dir, "locks", "unnamed")
        by_process = f"{agent}.{process}-{hook_process.started(process)}"
        here = os.path.normpath(folder) if folder else ""  # as it is told: a look at it may take for ever
        self._names = [by_process, f"{agent}.{directory_key(here)}"] if here else [by_process]
        known = "" if is_start and not self._is_double() else self._remembered()
        self._is_known = bool(known)
        self.id = known or os.urandom(16).hex()

    def _is_double(self) -> bool:
        return hook_spool.age_s(os.path.join(self._folder, self._names[0])) <= DOUBLE_S

    def _remembered(self) -> str:
        for name in self._names:
            content = read_regular(os.path.join(self._folder, name), _ID_BYTES) or b""
            if content:
                return content.decode("ascii", "ignore")
        return ""

    def keep(self) -> None:
        """Remember the id. Call once the event is kept: of one that is not, nothing stays behind. Never raises."""
        if self._is_known:
            return
        try:
            os.makedirs(self._folder, 0o700, exist_ok=True)
            for name in self._names:
                self._write(os.path.join(self._folder, name))
            self._forget_old()
        except OSError:
            pass

    def forget(self) -> None:
        """The session ended: the next one of this process or folder is another."""
        for name in self._names:
            path = os.path.join(self._folder, name)
            if (read_regular(path, _ID_BYTES) or b"").decode("ascii", "ignore") == self.id:
                hook_spool.remove(path)

    def _write(self, path: str) -> None:
        temporary = f"{path}.{os.getpid()}.tmp"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(handle, self.id.encode())
        finally:
            os.close(handle)
        os.replace(temporary, path)

    def _forget_old(self) -> None:
        for name in os.listdir(self._folder):
            path = os.path.join(self._folder, name)
            if hook_spool.age_s(path) > KEPT_S:
                hook_spool.remove(path)
