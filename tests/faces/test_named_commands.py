"""Whatever a text of ours tells a person to run can be run: hints, pages, handoffs, help, docs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ai_memory
from ai_memory.cli.commands import GROUPS, ROWS
from ai_memory.cli.docs import PAGES, ROOT

PACKAGE = Path(ai_memory.__file__).parent
NAMED = re.compile(r"\bai-memory((?: --[a-z][\w-]*(?:[ =][A-Z]+)?)*) ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")
QUOTED = re.compile(r"`ai-memory\s([^`]*)`")
PROSE = frozenset(
    {"failed", "plugin", "runs", "does", "wrote", "made", "says", "reads", "writes", "state", "ai-memory"}
)
"""Words that follow the program's name in a sentence about it."""


def literals(text: str) -> Iterator[str]:
    """Every literal of a module, docstrings too; an f-string whole, with `X` for what it fills in."""
    tree = ast.parse(text)
    parts = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "X" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in parts:
            yield node.value


def unknown(text: str) -> list[str]:
    """What the text names as a command and is none."""
    found = []
    for match in NAMED.finditer(text):
        first, second = match[2], match[3] or ""
        is_known = f"{first} {second}" in ROWS if first in GROUPS else first in ROWS
        if not is_known and first not in PROSE:
            found.append(match[0])
    quoted = [match[1].split() for match in QUOTED.finditer(text)]
    found += [words[0] for words in quoted if words and words[0] in PROSE]
    return found


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_command_that_a_text_of_the_package_names_exists(path: Path) -> None:
    assert [name for text in literals(path.read_text(encoding="utf-8")) for name in unknown(text)] == []


@pytest.mark.parametrize("name", sorted(name for name in PAGES if name.endswith(".md")))
def test_every_command_that_a_made_page_names_exists(name: str) -> None:
    assert unknown((ROOT / name).read_text(encoding="utf-8")) == []


def test_a_command_that_is_none_is_found() -> None:
    assert unknown("`ai-memory sesion 0b5c` shows all") == ["ai-memory sesion"]
    assert unknown("run ai-memory --data-dir DIR frobnicate") == ["ai-memory --data-dir DIR frobnicate"]
    assert unknown("`ai-memory config shwo`") == ["ai-memory config shwo"]
    assert unknown("ai-memory pages lists them; ai-memory config show, too") == []
    filled = """f"see `ai-memory session {x}` for {'more'}\""""
    assert list(literals(filled))[:1] == ["see `ai-memory session X` for X"]
