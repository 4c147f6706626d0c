"""How this program was installed, and the command that upgrades it. Nothing is asked over the network."""

import json
import os
import shlex
import site
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from subprocess import list2cmdline
from urllib.parse import unquote

import ai_memory

NAME = "ai-memory"
APP = "ai-memory-app"
"""Folder of our installer, below the user's data folder."""
_EXTRA_OF = {"fastembed": "embed", "litellm": "llm"}
"""Extra by a package that only it brings."""


class Way(StrEnum):
    """How a program can have come here."""

    INSTALLER = "installer"
    PIPX = "pipx"
    UV_TOOL = "uv-tool"
    UVX = "uvx"
    VENV = "venv"
    USER = "pip-user"
    SYSTEM = "pip-system"
    EDITABLE = "editable"
    CHECKOUT = "checkout"


TITLES = {
    Way.INSTALLER: "by our installer",
    Way.PIPX: "by pipx",
    Way.UV_TOOL: "by `uv tool install`",
    Way.UVX: "by uvx, for each run",
    Way.VENV: "by pip, in an environment of its own",
    Way.USER: "by pip, for this user",
    Way.SYSTEM: "by pip, for the whole Python",
    Way.EDITABLE: "from a checkout that is run as it stands",
    Way.CHECKOUT: "not at all: it runs from a checkout",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What an installation tells of itself."""

    platform: str
    python: str
    prefix: str
    base_prefix: str
    package: str
    """Folder `ai_memory`."""
    names: frozenset[str] = frozenset()
    """What lies in `prefix`."""
    origin: Mapping[str, object] | None = None
    """`direct_url.json`: where it came from, when not from the package index (PEP 610)."""
    installer: str = ""
    """Which program installed it; empty: none did."""
    extras: tuple[str, ...] = ()
    user_site: str = ""
    is_managed: bool = False
    """The system keeps this Python itself and refuses pip (PEP 668)."""


@dataclass(frozen=True, slots=True)
class Installation:
    way: Way
    command: str
    """One line for a shell."""
    source: str = ""
    """Checkout that it came from; empty: the package index, or another address."""


def facts_here() -> Facts:
    """Those of the program that runs."""
    try:
        record = metadata.distribution(NAME)
        origin = json.loads(record.read_text("direct_url.json") or "null")
        installer = (record.read_text("INSTALLER") or "").strip()
    except (metadata.PackageNotFoundError, ValueError):
        origin, installer = None, ""
    folder = Path(sys.prefix)
    return Facts(
        platform=sys.platform,
        python=sys.executable,
        prefix=sys.prefix,
        base_prefix=sys.base_prefix,
        package=str(Path(ai_memory.__file__).parent),
        names=frozenset(one.name for one in folder.iterdir()) if folder.is_dir() else frozenset(),
        origin=origin if isinstance(origin, dict) else None,
        installer=installer,
        extras=tuple(extra for package, extra in _EXTRA_OF.items() if find_spec(package) is not None),
        user_site=site.getusersitepackages() or "",
        is_managed=os.path.exists(Path(os.__file__).parent / "EXTERNALLY-MANAGED"),  # noqa: PTH110
    )


def installation(facts: Facts) -> Installation:
    """The way, and the command of that way."""
    source = _folder_of(facts)
    extras = f"[{','.join(facts.extras)}]" if facts.extras else ""
    address = _address(facts)
    package = f"{NAME}{extras} @ {address}" if address else f"{source or NAME}{extras}"
    pip: tuple[str, ...] = (facts.python, "-m", "pip", "install", "--upgrade")
    if facts.installer == "uv":
        pip = ("uv", "pip", "install", "--python", facts.python, "--upgrade")
    way = _way(facts)
    match way:
        case Way.INSTALLER:
            return Installation(way, _installers_line(facts, source), source)
        case Way.PIPX:
            return Installation(way, f"pipx upgrade {NAME}", source)
        case Way.UV_TOOL:
            return Installation(way, f"uv tool upgrade {NAME}", source)
        case Way.UVX:
            return Installation(way, f"uvx {NAME}@latest", source)
        case Way.EDITABLE:
            install = _line(facts, *pip[:-1], "--editable", package)
            return Installation(way, f"{_pull(facts, source)} && {install}", source)
        case Way.CHECKOUT:
            checkout = str(_path(facts, facts.package).parent)
            return Installation(way, _pull(facts, checkout), checkout)
        case Way.SYSTEM if facts.is_managed:
            return Installation(way, _line(facts, "pipx", "install", package), source)
        case Way.USER:
            return Installation(way, _line(facts, *pip, "--user", package), source)
        case Way.VENV | Way.SYSTEM:
            return Installation(way, _line(facts, *pip, package), source)


def _way(facts: Facts) -> Way:
    prefix = _path(facts, facts.prefix)
    is_editable = isinstance(about := (facts.origin or {}).get("dir_info"), dict) and about.get("editable") is True
    if is_editable:
        return Way.EDITABLE
    if not facts.installer:
        return Way.CHECKOUT
    if prefix.parent.name == APP:
        return Way.INSTALLER
    if "pipx_metadata.json" in facts.names:
        return Way.PIPX
    if "uv-receipt.toml" in facts.names:
        return Way.UV_TOOL
    if "archive-v0" in prefix.parts:
        return Way.UVX
    if facts.user_site and _path(facts, facts.package).is_relative_to(_path(facts, facts.user_site)):
        return Way.USER
    return Way.SYSTEM if facts.prefix == facts.base_prefix else Way.VENV


def installer_script(facts: Facts) -> str:
    """Our installer: that of the checkout which this came from, if it came from one, else the one that came along."""
    name = "install.ps1" if facts.platform == "win32" else "install.sh"
    return str(_path(facts, _folder_of(facts) or facts.package) / name)


def _installers_line(facts: Facts, source: str) -> str:
    extras = ",".join(facts.extras)
    script = installer_script(facts)
    pull = f"{_pull(facts, source)} && " if source else ""
    if facts.platform == "win32":
        words = ("powershell", "-ExecutionPolicy", "Bypass", "-File", script, *(("-Extras", extras) if extras else ()))
    else:
        words = ("sh", script, *(("--extras", extras) if extras else ()))
    return pull + _line(facts, *words)


def _pull(facts: Facts, checkout: str) -> str:
    return _line(facts, "git", "-C", checkout, "pull")


def _folder_of(facts: Facts) -> str:
    """The folder that it was installed from, or ""."""
    url = str((facts.origin or {}).get("url", ""))
    if not url.startswith("file://") or "dir_info" not in (facts.origin or {}):
        return ""
    path = unquote(url.removeprefix("file://"))
    return str(PureWindowsPath(path.removeprefix("/"))) if facts.platform == "win32" else path


def _address(facts: Facts) -> str:
    """The repository that it was installed from, as pip takes it, or ""."""
    origin = facts.origin or {}
    about = origin.get("vcs_info")
    return f"{about.get('vcs', 'git')}+{origin.get('url')}" if isinstance(about, dict) else ""


def _path(facts: Facts, path: str) -> PurePath:
    return PureWindowsPath(path) if facts.platform == "win32" else PurePosixPath(path)


def _line(facts: Facts, *words: str) -> str:
    return list2cmdline(words) if facts.platform == "win32" else shlex.join(words)
