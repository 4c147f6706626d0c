"""Labels of secrets inside frontmatter: unquoted, `[REDACTED:…]` would be read as a YAML list."""

import re

from ai_memory.scrub import MARK
from ai_memory.text.frontmatter import split
from ai_memory.text.splice import one_line_yaml

_LABEL = re.compile(r"\[REDACTED:([a-z0-9-]+)\]")
_STAND_IN = re.compile(r"REDACTEDx([a-z0-9-]+?)xLABEL")
"""A word that YAML takes anywhere, in place of a label while the block is read."""


def quote_labels(text: str) -> str:
    """The page with every unquoted value or key of its frontmatter that holds a label in quotes; no other byte changes.

    A block that is no YAML stays as it is: whoever parses the page says what is wrong with it.
    """
    parts = split(text)
    block = text[parts.block_start : parts.block_end]
    if MARK not in block:
        return text
    from ai_memory.text.yaml_block import plain_scalars  # PyYAML, 15 ms: only where a secret stood in frontmatter

    block = _LABEL.sub(r"REDACTEDx\1xLABEL", block)
    for scalar in reversed(plain_scalars(block)):
        if _STAND_IN.search(scalar.text):
            block = block[: scalar.start] + one_line_yaml(_restored(scalar.text)) + block[scalar.end :]
    return text[: parts.block_start] + _restored(block) + text[parts.block_end :]


def _restored(text: str) -> str:
    return _STAND_IN.sub(r"[REDACTED:\1]", text)
