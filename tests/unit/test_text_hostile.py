"""A megabyte of hostile text is read in linear time by everything in `text/`."""

import time

import pytest

from ai_memory.errors import MemoryFault
from ai_memory.model import PageRef
from ai_memory.text.chunks import chunks
from ai_memory.text.excerpts import excerpt
from ai_memory.text.fences import fence, without_fences
from ai_memory.text.limits import check_text
from ai_memory.text.links import links, rewrite_links
from ai_memory.text.names import check_page_path, path_key, slug
from ai_memory.text.page import compose, parse, parse_leniently, splice
from ai_memory.text.plain import plain, printable
from ai_memory.text.times import parse_duration, parse_time

MIB = 1_000_000
DEADLINE_S = 20.0
"""CPU for a megabyte: linear readers need 1 to 6 s (2026-11-30), quadratic ones minutes."""
AT = PageRef("w", "p", "a.md")

UNITS = [
    "[",
    "]",
    "[[",
    "[a](",
    "[a](b",
    '[a](b "',
    "[a](<",
    "![",
    "[[a|",
    "[a]: ",
    "`",
    "``` ",
    "`a``b",
    "\\",
    "<",
    "<a ",
]
UNITS += [
    "<a b='",
    '<a b="',
    '<a b="" ',
    "<!--",
    "<!-- -",
    "<?",
    "<![CDATA[",
    "<!a",
    "<a:",
    "<a@",
    "*",
    "_a",
    "> ",
    "- ",
    "1. ",
]
UNITS += [
    "\n",
    "\n\n",
    "# ",
    "#",
    "\t",
    " ",
    "-",
    "=\n",
    "a\n=",
    "```\n",
    "~~~\n",
    "    a\n",
    "- a\n\n",
    "> - ",
    "a\n> ",
    "<div>\n",
]
UNITS += [
    "<!-- ai-memory:untrusted-history:start -->",
    "\x1b[",
    "\u202e",
    "word ",
    "é",
    "e\u0301",
    "(",
    "[a](b(",
    "[^1]",
    "](b)",
    "x" * 50,
]
UNITS += [
    "- a\n ",
    "* * ",
    "a: b\n",
    "a: [",
    "{a: ",
    "- - ",
    "'",
    '"',
    "&a ",
    "!!x ",
    "? ",
    "---\n",
    "%20",
    "#a",
    "a/",
    "../",
    ": ",
]


def read_all(text: str) -> None:
    links(text, at=AT)
    rewrite_links(text, at=AT, moved={}, now_at=PageRef("w", "p", "b/c.md"))
    chunks(text)
    excerpt(text, ["word", "a"])
    plain(text)
    printable(text)
    fence(text)
    without_fences(text)
    path_key(text)
    slug(text)
    for refuse in (check_page_path, parse_time, parse_duration, lambda one: check_text("body", one)):
        try:
            refuse(text)
        except MemoryFault as fault:
            assert len(fault.message) < 1000
    parse(text if not text.startswith("---") else f" {text}", path="a.md")


@pytest.mark.parametrize("size", [100_000, pytest.param(MIB, marks=pytest.mark.slow)])
@pytest.mark.parametrize("unit", UNITS, ids=[repr(unit)[1:13] for unit in UNITS])
def test_hostile_text_of_one_unit_is_read_in_time(unit: str, size: int) -> None:
    text = (unit * (size // len(unit) + 1))[:size]
    start = time.process_time()
    read_all(text)
    assert time.process_time() - start < DEADLINE_S * size / MIB + 1


@pytest.mark.parametrize("unit", UNITS, ids=[repr(unit)[1:13] for unit in UNITS])
def test_a_whole_block_of_one_unit_is_read_in_time(unit: str) -> None:
    block = (unit * 65_000)[:65_000].replace("---\n", "- -\n")
    text = f"---\n{block}\n---\nbody"
    start = time.process_time()
    parse_leniently(text, path="a.md")
    try:
        splice(text, {"title": "x"}, path="a.md")
    except MemoryFault as fault:
        assert len(fault.message) < 1000
    compose({"title": block}, block)
    assert time.process_time() - start < DEADLINE_S
