"""Editing config.toml in place: one value changes, every other byte stays."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_memory.config import SETTINGS, file_values, set_value, unset_value
from ai_memory.errors import MemoryFault, NotFound
from ai_memory.settings import Kind
from ai_memory.toml_text import layout

FILE = """\
# my settings

log_level = "warning"  # for now

# what is kept
[capture]
prompts = false# tight comment
  assistant = 'excerpt'

[ingest] # noise
drop_tool_names = [
    "Bash", # [not] the end
    "x = 1",
    '''a
b''',
]

[search]
fts.stopwords = ["a"]
"""


def test_a_value_is_replaced_where_it_stands() -> None:
    assert set_value(FILE, "log_level", "info") == FILE.replace('"warning"', '"info"')
    assert set_value(FILE, "capture.prompts", "on") == FILE.replace("prompts = false", "prompts = true")
    assert set_value(FILE, "search.fts.stopwords", "[]") == FILE.replace('["a"]', "[]")


def test_a_list_over_several_lines_is_replaced_whole() -> None:
    edited = set_value(FILE, "ingest.drop_tool_names", "Read")
    assert 'drop_tool_names = ["Read"]\n\n[search]' in edited


def test_a_new_value_stands_below_its_sibling_with_its_indent() -> None:
    edited = set_value(FILE, "ingest.drop_events", "stop")
    assert ']\ndrop_events = ["stop"]\n\n[search]' in edited
    text = "[handoff]\n  expire_after_days = 3"
    assert set_value(text, "handoff.create_on_session_end", "no") == (
        "[handoff]\n  expire_after_days = 3\n  create_on_session_end = false\n"
    )


def test_a_new_value_stands_in_its_empty_table_or_in_a_new_one() -> None:
    assert set_value("[sessions] # x\n[capture]\n", "sessions.idle_end_after_hours", "1") == (
        "[sessions] # x\nidle_end_after_hours = 1\n[capture]\n"
    )
    assert set_value("", "capture.prompts", "no") == "[capture]\nprompts = false\n"
    assert set_value(FILE, "hook_spool.max_files", "300") == FILE + "\n[hook_spool]\nmax_files = 300\n"


def test_a_top_level_value_stands_above_the_first_table_and_its_comment() -> None:
    assert set_value("# about\n\n# c\n[capture]\n", "log_level", "error") == (
        '# about\n\nlog_level = "error"\n\n# c\n[capture]\n'
    )
    assert set_value("", "log_level", "error") == 'log_level = "error"\n'


def test_dotted_keys_get_dotted_siblings() -> None:
    assert set_value("capture.prompts = true\n", "capture.assistant", "off") == (
        'capture.prompts = true\ncapture.assistant = "off"\n'
    )


def test_crlf_and_byte_order_mark_stay() -> None:
    assert set_value("\ufeff[capture]\r\nprompts = true\r\n", "capture.assistant", "off") == (
        '\ufeff[capture]\r\nprompts = true\r\nassistant = "off"\r\n'
    )


def test_an_inline_table_is_refused_with_a_way_out() -> None:
    with pytest.raises(MemoryFault) as caught:
        set_value("capture = { prompts = true }\n", "capture.assistant", "off")
    assert caught.value.hint == "write a [capture] table by hand"
    with pytest.raises(MemoryFault):
        unset_value("capture = { prompts = true }\n", "capture.prompts")


def test_unsetting_removes_only_the_value() -> None:
    assert unset_value(FILE, "log_level") == FILE.replace('log_level = "warning"  # for now\n', "")
    edited = unset_value(FILE, "ingest.drop_tool_names")
    assert "[ingest] # noise\n\n[search]" in edited
    assert unset_value(FILE, "hook_spool.max_files") == FILE
    assert unset_value("[capture]\nprompts = true", "capture.prompts") == "[capture]\n"


def test_a_bad_value_or_key_or_file_changes_nothing() -> None:
    with pytest.raises(MemoryFault, match="takes true or false"):
        set_value(FILE, "capture.prompts", "perhaps")
    with pytest.raises(NotFound):
        set_value(FILE, "capture.nonsense", "1")
    with pytest.raises(NotFound):
        unset_value(FILE, "capture.nonsense")
    with pytest.raises(MemoryFault, match="line 1"):
        set_value("nonsense = 1", "capture.prompts", "on")


def test_awkward_text_is_written_as_toml_reads_it() -> None:
    word = '"q"\\n\té\u2028\x7f#'
    edited = set_value(FILE, "sanitize.allowlist", [word.replace("\\n", "")])
    assert tomllib.loads(edited)["sanitize"]["allowlist"] == [word.replace("\\n", "")]


VALUES = {
    "capture.prompts": st.booleans(),
    "log_level": st.sampled_from(["warning", "error"]),
    "handoff.expire_after_days": st.integers(1, 3650),
    "search.fts.stopwords": st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=9), max_size=4),
    "ingest.drop_tool_names": st.lists(st.sampled_from(["a", "#", "]", "'", '"', "=", "[x]", "\n"]), max_size=4),
}
EDITS = st.sampled_from(sorted(VALUES)).flatmap(lambda key: st.tuples(st.just(key), st.one_of(st.none(), VALUES[key])))


@settings(max_examples=150)
@given(st.sampled_from(["", FILE, FILE.replace("\n", "\r\n"), "# only a comment"]), st.lists(EDITS, max_size=8))
def test_any_run_of_edits_leaves_what_was_asked_for(text: str, edits: list[tuple[str, object]]) -> None:
    expected = file_values(text, name="c")
    for key, value in edits:
        if value is None:
            text = unset_value(text, key)
            expected.pop(key, None)
        else:
            text = set_value(text, key, value)
            expected[key] = tuple(value) if isinstance(value, list) else value
        assert file_values(text, name="c") == expected
    assert "\r\n" not in text or "\n" not in text.replace("\r\n", "")


def test_every_setting_can_be_set_and_unset() -> None:
    text = FILE
    for one in SETTINGS:
        unset = one.choices[0] if one.kind is Kind.CHOICE else "x" if one.kind is Kind.TEXT else ("x",)
        value = one.default if one.default is not None else unset
        text = set_value(text, one.key, value)
    assert set(file_values(text, name="c")) == {one.key for one in SETTINGS}
    for one in SETTINGS:
        text = unset_value(text, one.key)
    assert file_values(text, name="c") == {}
    assert "# what is kept" in text


def test_lines_are_told_for_values_and_tables() -> None:
    found = layout(FILE)
    assert found.line_of(("log_level",)) == 3
    assert found.line_of(("capture",)) == 6
    assert found.line_of(("capture", "assistant")) == 8
    assert found.line_of(("search", "fts", "stopwords")) == 19
    assert found.line_of(("search", "fts", "stopwords", "deeper")) == 19
    assert found.line_of(("nowhere",)) is None
