"""docs/doctor.md tells of every finding of every check, below the check's name, and of none that is not there."""

import re
from pathlib import Path

import pytest

from ai_memory import diagnosis
from ai_memory.diagnosis.finding import Check
from ai_memory.diagnosis.table import CHECKS, UNCHECKED

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "doctor.md").read_text(encoding="utf-8")
SOURCE = "".join(
    file.read_text(encoding="utf-8")
    for file in Path(next(iter(diagnosis.__path__))).glob("*.py")
    if file.name != "table.py"
)


def told() -> dict[str, tuple[str, ...]]:
    """Check → codes of the table below its heading."""
    sections = re.split(r"^### `?([^`\n]+)`?\n", PAGE, flags=re.MULTILINE)[1:]
    return {
        name: tuple(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE))
        for name, section in zip(sections[::2], sections[1::2], strict=True)
    }


def test_the_page_has_a_section_for_each_check_in_its_order_and_a_row_for_each_finding() -> None:
    *checks, (_, others) = told().items()
    assert checks == [(check.name, check.codes) for check in CHECKS]
    assert others == (UNCHECKED,)


def test_no_code_means_two_things() -> None:
    codes = [code for check in CHECKS for code in check.codes]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("check", CHECKS, ids=lambda one: one.name)
def test_a_check_finds_what_the_table_says(check: Check) -> None:
    assert [code for code in check.codes if f'"{code}"' not in SOURCE] == []


def test_what_is_found_stands_in_the_table() -> None:
    known = {code for check in CHECKS for code in check.codes}
    found = set(re.findall(r'Finding\(\s*"([a-z-]+)"', SOURCE))
    assert found - known == set()
    assert len(found) > 40
