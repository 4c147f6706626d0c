"""JSON with comments is read with places, and spliced without touching anything else."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ai_memory.text.jsonc import MAX_DEPTH, JsonFault, read
from ai_memory.text.jsonc_edit import append, remove, set_member, value_at

GROUP = {"hooks": [{"type": "command", "command": "x"}]}
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6).filter(lambda one: one != "ours")
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=3),
    max_leaves=12,
)
ODD_COMMENTS = ("/* // c */", "// c /* \n")
COMMENTS = st.sampled_from(
    ["", "", " ", "\n", "\n\n", "/* c */", ' /* { " [ */ ', "// c, }\n", "\n  // c\n  ", "\t", *ODD_COMMENTS]
)


@st.composite
def written(draw: st.DrawFn, value: object) -> str:
    """The value as somebody writes it by hand: with comments, odd blanks, trailing commas."""

    def gap() -> str:
        return draw(COMMENTS)

    def text(one: object) -> str:
        if isinstance(one, dict | list):
            rows = (
                [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{text(below)}{gap()}" for key, below in one.items()]
                if isinstance(one, dict)
                else [f"{gap()}{text(below)}{gap()}" for below in one]
            )
            end = draw(st.sampled_from(["", ","])) if rows else ""
            opening, closing = ("{", "}") if isinstance(one, dict) else ("[", "]")
            return f"{opening}{','.join(rows)}{end}{gap()}{closing}"
        return json.dumps(one, ensure_ascii=draw(st.booleans()))

    return f"{gap()}{text(value)}{gap()}"


def documents() -> st.SearchStrategy[tuple[dict[str, object], str]]:
    objects = st.dictionaries(NAMES, PLAIN, max_size=4)
    return objects.flatmap(lambda one: st.tuples(st.just(one), written(one)))


@given(documents())
@settings(max_examples=100)
def test_what_is_written_by_hand_means_what_it_says(document: tuple[dict[str, object], str]) -> None:
    value, text = document
    root = read(text)
    assert root is not None
    assert root.plain == value


@given(documents(), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\ufeff"]))
@example(({"": [{"": None, "0": None}]}, '{\n"":[{"":null,"0":null}]/* c *//* c */}'), "\n", "")
@example(({"a": 1}, '{\n"a": 1/* http://c */}'), "\n", "")
@example(({"a": 1}, '{\n"a": 1// c \n}'), "\n", "")
@example(({"a": 1}, '{\n"a": 1// c\n}'), "\r", "")
@settings(max_examples=100)
def test_a_member_that_comes_and_goes_leaves_every_other_byte(
    document: tuple[dict[str, object], str], newline: str, mark: str
) -> None:
    value, text = document
    text = mark + text.replace("\n", newline)
    made = set_member(text, ("ours",), GROUP)
    root = read(made)
    assert root is not None
    assert root.plain == value | {"ours": GROUP}
    assert set_member(made, ("ours",), GROUP) == made
    left = remove(made, ("ours",))
    assert left == text or (not value and read(left).plain == {})  # type: ignore[union-attr]
    assert left.count("c") == text.count("c"), "a comment is gone"


@given(documents(), st.integers(0, 3))
@settings(max_examples=100)
def test_an_element_of_a_list_of_others_comes_and_goes(document: tuple[dict[str, object], str], place: int) -> None:
    value, text = document
    lists = [key for key, one in value.items() if isinstance(one, list)]
    if not lists:
        return
    key = lists[place % len(lists)]
    made = append(text, (key,), GROUP)
    root = read(made)
    assert root is not None
    assert root.plain == value | {key: [*value[key], GROUP]}  # type: ignore[misc]
    left = remove(made, (key, len(value[key])))  # type: ignore[arg-type]
    assert read(left).plain == value  # type: ignore[union-attr]
    assert left == text or not value[key]


@given(documents(), st.integers(0, 5))
@settings(max_examples=100)
def test_any_member_can_go_and_the_rest_stays_valid(document: tuple[dict[str, object], str], place: int) -> None:
    value, text = document
    if value:
        key = list(value)[place % len(value)]
        root = read(remove(text, (key,)))
        assert root is not None
        assert root.plain == {name: one for name, one in value.items() if name != key}


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "expected ',' or '}'"),
        ('{"a": [1, 2}', 1, 12, "expected ',' or ']'"),
        ('{"a": nope}', 1, 7, "expected a value, found 'nope'"),
        ('{"a": "x\ny"}', 1, 7, "is not closed"),
        ("{'a': 1}", 1, 2, "a name in double quotes"),
        ('{"a" 1}', 1, 6, "expected ':'"),
        ('{"a": 1} x', 1, 10, "after the end"),
        ('{"a": /* no end', 1, 7, "expected a value"),
        ('{"a": 1', 1, 8, "ends too early"),
        ("\ufeff{,}", 1, 2, "a name in double quotes"),
        ("[" * (MAX_DEPTH + 1), 1, MAX_DEPTH + 1, "nested deeper"),
        (f'{{"a": {"9" * 5000}}}', 1, 7, "too long"),
    ],
)
def test_what_is_no_json_is_told_with_line_and_column(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(JsonFault) as raised:
        read(text)
    assert (raised.value.line, raised.value.column) == (line, column)
    assert reason in raised.value.reason


def test_of_two_members_of_one_name_the_last_one_counts() -> None:
    text = '{"hooks": {"a": 1}, "hooks": {"b": 2}}'
    root = read(text)
    assert value_at(root, ("hooks", "b")) is not None
    assert set_member(text, ("hooks", "c"), 3) == '{"hooks": {"a": 1}, "hooks": {"b": 2, "c": 3}}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n  "a": 1 // one\n}\n', '{\n  "a": 1, // one\n  "b": 2\n}\n'),
        ('{\n  "a": 1, // one\n}\n', '{\n  "a": 1, // one\n  "b": 2,\n}\n'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"b": 2\r\n}'),
        ('{"a": 1}', '{"a": 1, "b": 2}'),
        ("", '{\n  "b": 2\n}\n'),
        ("// only this\n", '// only this\n{\n  "b": 2\n}\n'),
        ("{}", '{\n  "b": 2\n}'),
    ],
)
def test_a_new_member_is_written_as_its_neighbours_are(text: str, expected: str) -> None:
    assert set_member(text, ("b",), 2) == expected


def test_a_way_through_what_is_no_object_is_refused() -> None:
    with pytest.raises(JsonFault, match="hooks is no object, line 1, column 11"):
        set_member('{"hooks": [1]}', ("hooks", "Stop"), [])
    with pytest.raises(JsonFault, match="hooks is no list"):
        append('{"hooks": {}}', ("hooks",), 1)
