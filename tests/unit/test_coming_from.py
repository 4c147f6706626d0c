"""docs/coming-from.md answers for every name of the three systems, and says "here" only of what is here."""

import re
from pathlib import Path

import pytest

from ai_memory.cli.commands import GROUPS, ROWS
from ai_memory.config_table import SETTINGS
from ai_memory.operations.table import OPERATION_BY_TOOL

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "coming-from.md"
INVENTORY = ROOT / "tests" / "fixtures" / "coming_from"
HEADINGS = {"ai-memory": "ai-memory (the server)", "pi-memory": "pi-memory", "ai-memory-mcp": "ai-memory-mcp"}
STATES = ("here", "later", "not here")

Row = tuple[str, str, str, str]


def rows_below(heading: str, text: str) -> list[Row]:
    """(theirs, sort, state, ours) of the one table below a heading."""
    section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [(cells[0].strip("`"), cells[1], cells[2], cells[3]) for cells in map(cells_of, lines)]


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def promises(row: Row) -> set[str]:
    """Commands and tools of ours that the row names: `ai-memory search`, `memory_query`."""
    named = re.findall(r"`(ai-memory [a-z][^`]*|memory_\w+)`", row[3])
    return {name.split(" --")[0].strip() for name in named}


def exists(promise: str) -> bool:
    name = promise.removeprefix("ai-memory ")
    return name in ROWS or name in GROUPS if name != promise else name in OPERATION_BY_TOOL


TEXT = PAGE.read_text(encoding="utf-8")
ALL = [(system, row) for system, heading in HEADINGS.items() for row in rows_below(heading, TEXT)]


@pytest.mark.parametrize("system", HEADINGS)
def test_every_name_of_the_inventory_has_one_row_and_no_row_is_made_up(system: str) -> None:
    names = (INVENTORY / f"{system}.txt").read_text(encoding="utf-8").splitlines()
    assert [f"{row[1]} {row[0]}" for row in rows_below(HEADINGS[system], TEXT)] == names
    assert len(set(names)) == len(names)


def test_every_row_says_here_or_later_or_why_not() -> None:
    assert [row for _, row in ALL if row[2] not in STATES or not row[3]] == []
    assert [row for _, row in ALL if (row[2] == "not here") != row[3].startswith("because ")] == []


def test_what_is_called_here_exists() -> None:
    missing = [(system, row[0], name) for system, row in ALL if row[2] == "here" for name in promises(row)]
    assert [entry for entry in missing if not exists(entry[2])] == []


def test_commands_and_tools_that_are_here_name_what_replaces_them() -> None:
    bare = [row for _, row in ALL if row[2] == "here" and row[1] in ("command", "tool") and not promises(row)]
    assert bare == []


def test_what_is_called_later_is_not_here_already() -> None:
    """The first name of a row is the one that will replace theirs; names after a semicolon are what serves today."""
    come = []
    for system, row in ALL:
        first, _, today = row[3].partition(";")
        if row[2] == "later":
            come += [(system, row[0], name) for name in promises((*row[:3], first)) if exists(name)]
            come += [(system, row[0], name) for name in promises((*row[:3], today)) if not exists(name)]
    assert come == [], "call these rows here, or mend the name"


def test_settings_that_are_called_here_are_in_the_table_of_settings() -> None:
    keys = {found.key for found in SETTINGS}
    named = {word for _, row in ALL if row[1:3] == ("setting", "here") for word in re.findall(r"`([a-z_.]+)`", row[3])}
    assert named
    assert named - keys == set()


@pytest.mark.parametrize(
    ("promise", "is_here"),
    [("ai-memory search", True), ("memory_query", True), ("ai-memory serve", False), ("memory_store", False)],
)
def test_the_check_tells_what_exists_from_what_does_not(promise: str, is_here: bool) -> None:
    assert exists(promise) is is_here
