"""docs/lint.md tells of every finding of every check, below the check's name, and of none that is not there."""

import re
from pathlib import Path

import pytest

from ai_memory import linting
from ai_memory.linting.finding import Check
from ai_memory.linting.table import CHECKS, KINDS
from ai_memory.operations.lint import KindName

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "lint.md").read_text(encoding="utf-8")
FOLDER = Path(next(iter(linting.__path__)))
SOURCE = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("*.py") if file.name != "table.py")


def told() -> dict[str, tuple[str, ...]]:
    """Check → kinds of the table below its heading."""
    sections = re.split(r"^### `([^`\n]+)`\n", PAGE, flags=re.MULTILINE)[1:]
    return {
        name: tuple(re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE))
        for name, section in zip(sections[::2], sections[1::2], strict=True)
    }


def test_the_page_has_a_section_for_each_check_in_its_order_and_a_row_for_each_kind() -> None:
    assert list(told().items()) == [(check.name, check.kinds) for check in CHECKS]


def test_no_kind_means_two_things_and_the_flag_offers_each() -> None:
    assert len(KINDS) == len(set(KINDS))
    assert KindName.__args__ == KINDS  # type: ignore[attr-defined]


@pytest.mark.parametrize("check", CHECKS, ids=lambda one: one.name)
def test_a_check_finds_what_the_table_says(check: Check) -> None:
    assert [kind for kind in check.kinds if f'"{kind}"' not in SOURCE] == []
