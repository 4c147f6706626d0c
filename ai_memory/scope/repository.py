"""Facts about the git repository around a folder, read from its files: git is never started."""

# Paths stay strings here: they are compared, hashed and shown as strings, and a hostile one may hold anything.
# ruff: noqa: PTH112, PTH113, PTH118

import os
import re
import sys
from collections.abc import Collection
from dataclasses import dataclass, field

from ai_memory.scope import gitconfig
from ai_memory.scope.places import ancestry, key
from ai_memory.scope.remotes import normalise_remote
from ai_memory.scope.smallfiles import text_of

MAX_POINTER_BYTES = 4096
"""`.git` files, `commondir`, `HEAD` and loose refs hold one line."""
MAX_CONFIG_BYTES = 1 << 20
MAX_PACKED_REFS_BYTES = 4 << 20
"""About 50,000 refs. A larger file gives no HEAD commit; nothing else needs it."""

_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository as seen from a folder. All paths are absolute and real."""

    root: str
    """The checkout that holds the folder (a linked worktree's own root); of a bare repository its directory."""
    git_dir: str
    common_dir: str
    """Shared by all worktrees; `git_dir` itself outside a linked worktree."""
    main_root: str | None
    """The main checkout, None when there is none (bare) or when git does not record where it is."""
    place: str
    """One path for all worktrees of the repository: the main checkout, else the common git directory."""
    settings: gitconfig.Settings = field(repr=False, compare=False)
    """The config file; never shown, a URL in it may hold a password."""

    @property
    def is_linked(self) -> bool:
        return self.git_dir != self.common_dir

    @property
    def folder_name(self) -> str:
        """Name of the folder that people know the repository by."""
        named = self.main_root or (self.place if self.is_linked else self.root)
        name = os.path.basename(named)
        if self.main_root is None and name in (".git", ".bare"):
            name = os.path.basename(os.path.dirname(named))
        return name.removesuffix(".git") or name


@dataclass(frozen=True, slots=True)
class Remote:
    """The remote that gives a repository its identity."""

    name: str
    identity: str
    """Normalised: `host/owner/repo`, never with credentials."""


@dataclass(frozen=True, slots=True)
class Head:
    """What is checked out. Both None when it cannot be told (reftable, a broken file)."""

    branch: str | None
    commit: str | None


def find_repository(folder: str, *, never: Collection[str] = ()) -> Repository | None:
    """The repository around the folder, at most 64 levels up; None when there is none.

    `never`: folders that are no checkout even if they hold one, from `never_checkouts`. A `.git` file that leads
    nowhere ends the search, so that what was a worktree or submodule does not become part of an outer repository.
    """
    for here in ancestry(os.path.realpath(folder), sys.platform):
        if key(here, sys.platform) in never:
            return None
        dot_git = os.path.join(here, ".git")
        if os.path.isdir(dot_git) and _is_git_dir(dot_git):
            return _checkout(here, os.path.realpath(dot_git))
        if os.path.isfile(dot_git):
            git_dir = _pointed_to(dot_git)
            return _checkout(here, git_dir) if git_dir else None
        if _is_git_dir(here):
            return _inside_git_dir(here)
    return None


def never_checkouts(*homes: str) -> frozenset[str]:
    """The home folders and all above: dotfiles kept in git there would swallow everything below."""
    return frozenset(key(up, sys.platform) for home in homes for up in ancestry(os.path.realpath(home), sys.platform))


def remote_of(repository: Repository) -> Remote | None:
    """The remote `upstream`, else `origin`, if its URL is a remote one; a local path gives no identity."""
    for name in ("upstream", "origin"):
        url = gitconfig.first(repository.settings, "remote", name, "url")
        identity = normalise_remote(url) if url else None
        if identity:
            return Remote(name, identity)
    return None


def head_of(repository: Repository) -> Head:
    """Branch and commit of HEAD, from loose and packed refs."""
    target = _line(os.path.join(repository.git_dir, "HEAD"))
    branch: str | None = None
    for _ in range(5):  # git's own depth for symbolic refs
        if target is None or _OBJECT_ID.fullmatch(target):
            return Head(branch, target)
        name = target.removeprefix("ref:").strip()
        if not target.startswith("ref:") or not _is_ref_name(name):
            return Head(None, None)
        branch = name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else branch
        target = _line(os.path.join(repository.common_dir, *name.split("/"))) or _packed(repository.common_dir, name)
    return Head(branch, None)


def _checkout(root: str, git_dir: str) -> Repository:
    common_dir = _common_dir(git_dir)
    settings = _settings(common_dir)
    recorded = _recorded_main_root(common_dir, settings)
    is_linked = common_dir != git_dir
    is_bare = gitconfig.is_true(settings, "core", "bare")
    main_root = (None if is_bare else recorded) if is_linked else recorded or root
    return Repository(root, git_dir, common_dir, main_root, recorded or common_dir, settings)


def _inside_git_dir(git_dir: str) -> Repository:
    """The folder is a git directory, or lies in one: bare, or the inside of a checkout's `.git`."""
    common_dir = _common_dir(git_dir)
    settings = _settings(common_dir)
    recorded = _recorded_main_root(common_dir, settings)
    main_root = None if gitconfig.is_true(settings, "core", "bare") else recorded
    return Repository(main_root or git_dir, git_dir, common_dir, main_root, recorded or common_dir, settings)


def _recorded_main_root(common_dir: str, settings: gitconfig.Settings) -> str | None:
    """Where the main checkout lies: beside a `.git`, or where `core.worktree` says (submodules)."""
    if os.path.basename(common_dir) == ".git":
        return os.path.dirname(common_dir)
    worktree = gitconfig.first(settings, "core", "", "worktree")
    if not worktree or "\0" in worktree:
        return None
    root = os.path.realpath(os.path.join(common_dir, worktree))
    return root if os.path.isdir(root) else None


def _settings(common_dir: str) -> gitconfig.Settings:
    settings = gitconfig.read_settings(text_of(os.path.join(common_dir, "config"), MAX_CONFIG_BYTES) or "")
    if gitconfig.is_true(settings, "extensions", "worktreeconfig"):
        # git moves core.bare and core.worktree of the main checkout there when the extension is turned on
        own = text_of(os.path.join(common_dir, "config.worktree"), MAX_CONFIG_BYTES) or ""
        settings.update(gitconfig.read_settings(own))
    return settings


def _common_dir(git_dir: str) -> str:
    named = _line(os.path.join(git_dir, "commondir"))
    if not named or "\0" in named:
        return git_dir
    common_dir = os.path.realpath(os.path.join(git_dir, named))
    return common_dir if os.path.isdir(common_dir) else git_dir


def _pointed_to(dot_git: str) -> str | None:
    """The git directory that a `.git` file names; None when it is not one."""
    line = _line(dot_git)
    if not line or not line.startswith("gitdir:") or "\0" in line:
        return None
    git_dir = os.path.realpath(os.path.join(os.path.dirname(dot_git), line.removeprefix("gitdir:").strip()))
    return git_dir if _is_git_dir(git_dir) else None


def _is_git_dir(folder: str) -> bool:
    """git's own test: a HEAD, and objects and refs of its own or of the common directory."""
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return False
    if os.path.isfile(os.path.join(folder, "commondir")):
        return True
    return os.path.isdir(os.path.join(folder, "objects")) and os.path.isdir(os.path.join(folder, "refs"))


def _is_ref_name(name: str) -> bool:
    parts = name.split("/")
    return name.startswith("refs/") and "\0" not in name and not any(p.startswith(".") or not p for p in parts)


def _packed(common_dir: str, name: str) -> str | None:
    text = text_of(os.path.join(common_dir, "packed-refs"), MAX_PACKED_REFS_BYTES) or ""
    found = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(name)}$", text, re.MULTILINE)
    return found[1] if found else None


def _line(path: str) -> str | None:
    text = text_of(path, MAX_POINTER_BYTES)
    return text.strip() if text else None
