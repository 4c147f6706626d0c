"""A throw-away git checkout for the demo: a small shop with one commit, made without git."""

import hashlib
import zlib
from pathlib import Path

FILES = {
    "README.md": "# Corner shop\n\nInvoices and refunds of a small shop.\n",
    "shop/invoice.py": (
        "from dataclasses import dataclass\n\n\n"
        "@dataclass(frozen=True)\nclass Line:\n    price: str\n    count: int\n\n\n"
        "def total(lines: list[Line]) -> float:\n"
        "    return round(sum(float(line.price) * line.count for line in lines), 2)\n"
    ),
    "shop/refund.py": (
        'def refund(price: str, share: float) -> float:\n    """Part of a price."""\n'
        "    return round(float(price) * share, 2)\n"
    ),
}
REMOTE = "https://github.com/example/corner-shop.git"
CONFIG = f"""[core]
\trepositoryformatversion = 0
\tbare = false
[remote "origin"]
\turl = {REMOTE}
\tfetch = +refs/heads/*:refs/remotes/origin/*
"""
COMMITTED = "Demo <demo@localhost> 1796000000 +0000"


def make_checkout(root: Path) -> str:
    """A repository at `root` with `FILES` in one commit on main and a remote that is never asked. Gives the commit."""
    git = root / ".git"
    for folder in ("objects", "refs/heads"):
        (git / folder).mkdir(parents=True)
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    commit = _write_object(
        git,
        "commit",
        f"tree {_write_tree(git, root)}\nauthor {COMMITTED}\ncommitter {COMMITTED}\n\nInvoices and refunds\n".encode(),
    )
    (git / "config").write_text(CONFIG, encoding="utf-8", newline="\n")
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8", newline="\n")
    (git / "refs/heads/main").write_text(f"{commit}\n", encoding="utf-8", newline="\n")
    return commit


def _write_tree(git: Path, folder: Path) -> str:
    rows = b""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name + "/" * entry.is_dir()):
        if entry.name == ".git":
            continue
        mode, oid = (
            ("40000", _write_tree(git, entry))
            if entry.is_dir()
            else ("100644", _write_object(git, "blob", entry.read_bytes()))
        )
        rows += f"{mode} {entry.name}\0".encode() + bytes.fromhex(oid)
    return _write_object(git, "tree", rows)


def _write_object(git: Path, kind: str, content: bytes) -> str:
    whole = f"{kind} {len(content)}\0".encode() + content
    oid = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    file = git / "objects" / oid[:2] / oid[2:]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(zlib.compress(whole))
    return oid
