"""What a terminal gets to see."""

import pytest

from ai_memory.cli.display import one_line, shown
from ai_memory.cli.render import plain_table, width


@pytest.mark.parametrize("character", ["\x1b", "\x00", "\x07", "\r", "\x9b", "\u202e", "\u2066", "\u2028", "\x7f"])
def test_a_control_character_of_a_page_never_reaches_the_terminal(character: str) -> None:
    assert character not in shown(f"a{character}[31mb")
    assert character not in one_line(f"a{character}b")


def test_text_of_every_script_stays_as_it_is() -> None:
    text = "Grüße · 你好 · مرحبا · 👩‍💻\n\tindented\n"
    assert shown(text) == text


def test_windows_line_ends_become_plain_ones() -> None:
    assert shown("a\r\nb") == "a\nb"


def test_a_cell_is_one_line() -> None:
    assert one_line("two\nlines\tand  blanks") == "two lines and blanks"


def test_columns_line_up_for_wide_characters_too() -> None:
    table = plain_table(("path", "title"), [("a.md", "你好"), ("longer.md", "x")])
    assert table == "path       title\na.md       你好\nlonger.md  x"
    assert width("你好") == 4
    assert width("e\u0301") == 1


def test_an_empty_table_is_its_head() -> None:
    assert plain_table(("path", "title"), []) == "path  title"


def test_a_very_long_cell_breaks_only_its_own_line() -> None:
    _, short, long = plain_table(("id", "text", "end"), [("1", "x", "e"), ("2", "y" * 9000, "e")]).split("\n")
    assert (len(short), len(long)) == (len("1   ") + 120 + len("  e"), len("2   ") + 9000 + len("  e"))
