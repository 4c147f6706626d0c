"""TOML of others is edited in place: comments, order and every other byte stay."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_memory.text.toml_edit import TomlFault, append, read, remove, set_value

ENTRY = {"command": "/opt/python", "args": ["-I", "x y"]}
WAY = ("mcp_servers", "ai-memory")
PIECES = st.lists(
    st.sampled_from(
        [
            'model = "x" # why\n',
            "\n",
            "# a comment\n",
            "numbers = [\n  1, # one\n  2,\n]\n",
            "dotted.key = 1\n",
            "text = '''\n[not.a.table]\n'''\n",
        ]
    ),
    max_size=4,
    unique=True,
)
TABLES = st.lists(
    st.sampled_from(
        [
            '[mcp_servers.other]\ncommand = "y" # keep\n',
            "\n[profiles.fast]\na = 1\n",
            "[mcp_servers.more]\n# nothing yet\n",
            '\n[[hooks]]\nevent = "Stop"\ncommand = "say done"\n',
            '[[hooks]]\nevent = "Start"\n# last\n',
        ]
    ),
    max_size=5,
    unique=True,
)


@given(PIECES, TABLES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]), st.booleans())
@settings(max_examples=80)
def test_a_table_that_comes_and_goes_leaves_every_byte(
    pieces: list[str], tables: list[str], newline: str, mark: str, is_open: bool
) -> None:
    text = mark + "".join((*pieces, *tables)).replace("\n", newline)
    text = text.rstrip("\r\n") if is_open else text
    before = tomllib.loads(text.removeprefix("\ufeff"))
    made = set_value(text, WAY, ENTRY)
    assert read(made) == before | {"mcp_servers": before.get("mcp_servers", {}) | {"ai-memory": ENTRY}}
    assert set_value(made, WAY, ENTRY) == made
    assert remove(made, WAY) == text or text[-1:] != "\n"
    assert remove(made, WAY).rstrip("\r\n") == text.rstrip("\r\n")
    twice = append(append(text, ("hooks",), {"event": "A"}), ("hooks",), {"event": "B"})
    assert read(twice)["hooks"] == [*before.get("hooks", []), {"event": "A"}, {"event": "B"}]
    count = len(before.get("hooks", []))
    assert remove(remove(twice, ("hooks", count + 1)), ("hooks", count)).rstrip("\r\n") == text.rstrip("\r\n")


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = {other = {command = "y"}} # inline\nq = 1\n',
        'mcp_servers.other.command = "y"\n',
        '[mcp_servers]\nother = {command = "y"}\n\n# end\n',
        "hooks = []\n",
    ],
)
def test_what_stands_inline_is_edited_inline(text: str) -> None:
    made = set_value(text, WAY, ENTRY)
    assert read(made)["mcp_servers"]["ai-memory"] == ENTRY
    assert remove(made, WAY) == text
    made = append(text, ("hooks",), {"event": "A"})
    assert read(made)["hooks"] == [{"event": "A"}]
    assert remove(made, ("hooks", 0)) == text


def test_what_a_program_added_below_our_table_goes_with_it() -> None:
    made = set_value('model = "x"\n', WAY, ENTRY) + '\n[mcp_servers.ai-memory.tools.memory_query]\napproval = "auto"\n'
    assert remove(made, WAY) == 'model = "x"\n'


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a = 1\nb = nope\n", 2, 5), ("a = [1,", 1, 8)],
)
def test_what_is_no_toml_is_told_with_line_and_column(text: str, line: int, column: int) -> None:
    with pytest.raises(TomlFault) as raised:
        read(text)
    assert (raised.value.line, raised.value.column) == (line, column)
    with pytest.raises(TomlFault, match="line 2"):
        read("a = 1\na = 2\n")


def test_a_way_through_what_is_no_table_is_refused() -> None:
    with pytest.raises(TomlFault, match="mcp_servers is no table"):
        set_value("mcp_servers = 1\n", WAY, ENTRY)
    with pytest.raises(TomlFault, match="hooks is no list"):
        append("[hooks]\n", ("hooks",), {"event": "A"})
