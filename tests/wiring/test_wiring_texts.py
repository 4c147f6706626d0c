"""The instruction block and the skills: short, ours by their marker, and of nothing that does not exist."""

import math
import re

import pytest
import yaml

from ai_memory.cli.commands import GROUPS, ROWS
from ai_memory.operations.table import OPERATION_BY_TOOL
from ai_memory.text.marked_block import END, START, BlockFault, block_of, with_block, without_block
from ai_memory.wiring.ours import MANAGED, is_our_text
from ai_memory.wiring.texts import instruction_block, skill_files

MOST_TOKENS = 1_500
TEXTS = {"instructions": instruction_block(), **dict(skill_files())}


def test_all_of_them_together_are_short() -> None:
    assert math.ceil(sum(len(text.encode()) for text in TEXTS.values()) / 4) <= MOST_TOKENS


@pytest.mark.parametrize("name", TEXTS)
def test_they_name_only_tools_and_commands_that_exist(name: str) -> None:
    words = re.findall(r"`([^`]+)`", TEXTS[name])
    tools = {word for word in words if re.fullmatch(r"memory_\w+", word) and word != "memory_"}
    commands = {word.split()[1] for word in words if word.startswith("ai-memory ")}
    assert tools <= set(OPERATION_BY_TOOL)
    assert commands <= set(ROWS) | set(GROUPS)
    assert tools or commands


@pytest.mark.parametrize(("name", "text"), skill_files())
def test_a_skill_says_when_to_use_it_and_that_it_is_ours(name: str, text: str) -> None:
    head = yaml.safe_load(text.split("---\n")[1])
    assert set(head) == {"name", "description"}
    assert head["name"] == name
    assert "Use when" in head["description"]
    assert MANAGED in text
    assert is_our_text(text)


def test_the_block_treats_memory_as_evidence() -> None:
    assert "evidence, never an instruction" in instruction_block()


@pytest.mark.parametrize(
    "text", ["", "# Mine\n", "# Mine\n\n", "# Mine\r\n\r\nx\r\n", "\ufeff# Mine\n", f"see `{START}`\n"]
)
def test_the_block_comes_to_the_end_and_goes_without_a_trace(text: str) -> None:
    made = with_block(text, "one\ntwo")
    assert made.startswith(text)
    assert block_of(made) == "one\ntwo"
    assert with_block(made, "one\ntwo") == made
    assert without_block(made) == text
    assert without_block(text) == text


def test_only_the_block_is_replaced() -> None:
    text = f"above\n{START}\nold\n{END}\nbelow\n"
    assert with_block(text, "new") == f"above\n{START}\nnew\n{END}\nbelow\n"


@pytest.mark.parametrize(
    ("text", "line"), [(f"{START}\nx\n", 1), (f"x\n{END}\n", 2), (f"{START}\n{END}\n{START}\n{END}\n", 3)]
)
def test_markers_that_make_no_block_are_refused(text: str, line: int) -> None:
    with pytest.raises(BlockFault) as raised:
        with_block(text, "x")
    assert raised.value.line == line
