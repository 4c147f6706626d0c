"""The YAML block at the start of a page: where it is, and what it says.

Two readers give the same answer, proven by test: `simple` for blocks of plain `key: value` lines, PyYAML for the rest.
"""

import re
from dataclasses import dataclass

from ai_memory.text.faults import BadPage
from ai_memory.text.limits import LIMITS
from ai_memory.text.simple_yaml import read_simple

BOM = "\ufeff"
_OPEN = re.compile(r"---[ \t]*\r?\n")
_CLOSE = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parts:
    """A page cut in two; the offsets count characters of the whole text."""

    has_block: bool
    block_start: int
    """Behind the opening line."""
    block_end: int
    """Before the closing line."""
    body_start: int
    body_line: int
    """1-based line of the file on which the body begins."""


def split(text: str) -> Parts:
    """Where the block and the body are. A block needs `---` as first line and a later `---` line; else all is body."""
    start = 1 if text.startswith(BOM) else 0
    opening = _OPEN.match(text, start)
    closing = _CLOSE.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Parts(has_block=False, block_start=start, block_end=start, body_start=start, body_line=1)
    return Parts(
        has_block=True,
        block_start=opening.end(),
        block_end=closing.start(),
        body_start=closing.end(),
        body_line=text.count("\n", 0, closing.start()) + 2,
    )


def read_block(block: str, *, path: str) -> dict[str, object]:
    """What the block says: str keys, values of str, bool, int, float, None, list and dict. *Errors*: BadPage."""
    size = len(block.encode("utf-8", "surrogatepass"))
    most = LIMITS["frontmatter"].most
    if size > most:
        raise BadPage(path, 1, f"the frontmatter has {size:,} bytes, at most {most:,} are read", hint="shorten it")
    found = read_simple(block)
    if found is None:
        # PyYAML takes 15 ms to import, and most pages have no block or a simple one (2026-11-30).
        from ai_memory.text.yaml_block import read_yaml

        found = read_yaml(block, path=path)
    return found
