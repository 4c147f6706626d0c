"""Directories as the hook sees them: the data dir, the checkout around a folder, the keys under which handoffs lie.

Part of the hook: stdlib only, light. What `platformdirs`, `ai_memory.scope` and `ai_memory.store.outbox` say with more
comfort is said here again; tests keep both equal.
"""

# ruff: noqa: PTH110, PTH112, PTH116, PTH118 (pathlib is not loaded in a hook)

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MARKER_NAME = ".ai-memory.toml"
MAX_LEVELS = 64
_POINTER_BYTES = 4096
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Opening a FIFO must not wait for a writer."""


def read_regular(path: str, limit_bytes: int) -> "bytes | None":
    """The file's first bytes; None when it is absent, unreadable, or no regular file. A hook opens files only here.

    A checkout may hold a FIFO, a socket or a device where a file is expected: to read one may take for ever.
    """
    try:
        handle = os.open(path, _READ)
    except (OSError, ValueError):  # a path may hold NUL or a lone surrogate
        return None
    try:
        status = os.fstat(handle)
        if status.st_mode & 0o170000 != 0o100000:
            return None
        left = min(limit_bytes, status.st_size)
        content = os.read(handle, left)
        while len(content) < left and (part := os.read(handle, left - len(content))):
            content += part
    except OSError:
        return None
    finally:
        os.close(handle)
    return content


def real_path(path: str) -> str:
    """The path without links, or nothing for a text that can be none: empty, with NUL, with a lone surrogate."""
    try:
        return os.path.realpath(path) if path else ""
    except (OSError, ValueError):
        return ""


def expanded(path: str) -> str:
    """The path with a leading `~` or `~name` replaced by that home folder, where there is one."""
    try:
        return os.path.expanduser(path)
    except ValueError:  # no account has a name with NUL or a lone surrogate
        return path


def default_data_dir(environ: "Mapping[str, str]", platform: str, home: str) -> str:
    """The user's data folder for `ai-memory`, as platformdirs 4 gives it.

    Linux and macOS obey an absolute XDG_DATA_HOME. Windows: the local (not roaming) application data.
    """
    if platform == "win32":
        base = environ.get("WIN_PD_OVERRIDE_LOCAL_APPDATA", "").strip() or _local_appdata(environ, home)
        return base.replace("/", "\\").rstrip("\\") + "\\ai-memory"
    base = environ.get("XDG_DATA_HOME", "")
    if not base.startswith("/"):
        base = home.rstrip("/") + ("/Library/Application Support" if platform == "darwin" else "/.local/share")
    return base + ("" if base.endswith("/") else "/") + "ai-memory"


def _local_appdata(environ: "Mapping[str, str]", home: str) -> str:
    return environ.get("LOCALAPPDATA") or home.rstrip("\\/") + "\\AppData\\Local"


def find_data_dir(named: str, environ: "Mapping[str, str]") -> str:
    """The data dir as an absolute path: what the command names, else AI_MEMORY_DATA_DIR, else the user's."""
    named = named or environ.get("AI_MEMORY_DATA_DIR", "")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    return default_data_dir(environ, sys.platform, user_home())


def is_initialised(data_dir: str) -> bool:
    """Whether events can be left there: a hook creates no data dir."""
    return os.path.isdir(os.path.join(data_dir, "wiki")) or os.path.isdir(os.path.join(data_dir, "spool"))


def user_home() -> str:
    """The home folder; a relative HOME counts as none, as in platformdirs."""
    home = os.environ.get("HOME", "")
    if sys.platform != "win32" and home and not home.startswith("/"):
        try:
            import pwd  # only for a broken HOME

            return pwd.getpwuid(os.getuid()).pw_dir
        except (ImportError, KeyError):
            return "/"
    return os.path.expanduser("~")


class Surroundings:
    """A folder, its parents up to where memory looks, and the checkout that holds it. Paths are real.

    `folders`: nearest first, up to the checkout root; outside a checkout below the home folder (or root), which is
    never among them unless it is the folder itself. None where the text can name no folder.
    """

    __slots__ = ("common", "folders", "home", "root", "within")

    def __init__(self, cwd: str, home: str) -> None:
        self.home = os.path.realpath(home)
        here = real_path(cwd)
        self.folders: list[str] = []
        self.root = ""
        self.common = ""
        self.within = False
        """Below the home folder."""
        for _ in range(MAX_LEVELS if here else 0):
            is_home = here == self.home
            above = os.path.dirname(here)
            self.within = self.within or is_home
            if self.folders and (is_home or above == here) and not self.root:
                break
            self.folders.append(here)
            holds_home = is_home or self.home.startswith(here.rstrip("/\\") + os.sep)  # dotfiles kept in git
            if not holds_home and self._is_checkout(here):
                self.root = here
                self.within = here.startswith(self.home.rstrip("/\\") + os.sep)
                break
            if is_home or above == here:
                break
            here = above

    def _is_checkout(self, folder: str) -> bool:
        git = os.path.join(folder, ".git")
        try:
            mode = os.stat(git).st_mode
        except (OSError, ValueError):
            return False
        if mode & 0o170000 == 0o040000:
            if not os.path.exists(os.path.join(git, "HEAD")):
                return False
            self.common = os.path.realpath(git)
            return True
        if mode & 0o170000 != 0o100000:
            return False
        lead = _first_line(git)
        if not lead.startswith("gitdir:"):
            return True
        git_dir = os.path.join(folder, lead[7:].strip())
        common = _first_line(os.path.join(git_dir, "commondir"))
        self.common = os.path.realpath(os.path.join(git_dir, common) if common else git_dir)
        return True

    @property
    def main_root(self) -> str:
        """The main checkout of a linked worktree, else nothing."""
        if not self.common or os.path.basename(self.common) != ".git":
            return ""
        main = os.path.dirname(self.common)
        return main if main != self.root else ""

    def markers(self) -> "list[str]":
        """Where a marker may lie, nearest first, the home marker last."""
        if self.root:
            folders = list(self.folders)
            start = self.main_root
            folders += [start] if start else []
            folders += _between(os.path.dirname(start or self.root), self.home)
        elif self.within:
            folders = list(self.folders)
        else:
            folders = self.folders[:1]
        known = dict.fromkeys(folder for folder in folders if folder != self.home)
        return [os.path.join(folder, MARKER_NAME) for folder in (*known, self.home)]

    def keys(self) -> "list[str]":
        """Keys of the outbox to try, most specific first: the folder, its parents, the common git directory."""
        places = list(self.folders)
        if self.common:
            places.append(self.common)
        return [directory_key(place) for place in places]


def _between(folder: str, home: str) -> "list[str]":
    """The folder and its parents below the home folder; none outside it."""
    found: list[str] = []
    while folder.startswith(home.rstrip("/\\") + os.sep) and len(found) < MAX_LEVELS:
        found.append(folder)
        folder = os.path.dirname(folder)
    return found


def _first_line(path: str) -> str:
    content = read_regular(path, _POINTER_BYTES) or b""
    return content.decode("utf-8", "replace").partition("\n")[0].strip()


def directory_key(real: str) -> str:
    """Name of a real directory under `outbox/by-dir/`: see `ai_memory.store.outbox.directory_key`."""
    if not real.isascii():
        import unicodedata  # only for such a path

        real = unicodedata.normalize("NFC", real)
    if sys.platform in ("win32", "darwin"):
        real = real.lower()
    return _sha256(real.encode("utf-8", "surrogatepass"))[:32]


def _sha256(content: bytes) -> str:
    try:
        from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]  # 3.12 and newer
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found,no-redef,unused-ignore]  # 3.11
        except ImportError:
            from hashlib import sha256  # 4 ms more (2026-11-30)
    return str(sha256(content).hexdigest())


_NAMED_ALIKE = {"kiro-cli-v3": "kiro-cli"}
"""Harness → the one whose hooks it runs, too, with ids that are no UUIDs: one session, whichever hook tells it."""


def session_uuid(agent: str, raw: str) -> str:
    """The session's id: the harness's own if it is a UUID, else a UUIDv5 of agent and id (decision B2).

    A UUID is 32 hex digits, or these with dashes where they belong. Other spellings of one are ids like any: no two
    ids of a harness may become one session.
    """
    raw = raw.strip().replace("\0", "\ufffd")  # as they lie in `state.db`
    plain = raw.replace("-", "").lower()
    if len(plain) == 32 and not plain.strip("0123456789abcdef") and raw.lower() in (plain, _dashed(plain)):
        return _dashed(plain)
    try:
        from _sha1 import sha1  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from hashlib import sha1
    namespace = bytes.fromhex("6ba7b8129dad11d180b400c04fd430c8")  # RFC 9562: the OID name space
    digest = bytearray(
        sha1(namespace + f"{_NAMED_ALIKE.get(agent, agent)}:{raw}".encode("utf-8", "replace")).digest()[:16]
    )
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    return _dashed(digest.hex())


def _dashed(plain: str) -> str:
    return f"{plain[:8]}-{plain[8:12]}-{plain[12:16]}-{plain[16:20]}-{plain[20:]}"
