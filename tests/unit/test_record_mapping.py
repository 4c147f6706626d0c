"""Mappings of JSON records: what they refuse, how paths and rules read, which revision counts."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.errors import UsageFault
from ai_memory.text.json_paths import Path, parse_path, values_at
from ai_memory.text.json_strict import BadJson, read_json
from ai_memory.text.mapped_records import BadRecord, Revision, latest, mapped, revision
from ai_memory.text.record_mapping import read_mapping

HEAD = 'namespace = "tickets"\n'
RULE = 'select = {{ keep = [{{ field = "a", {} }}] }}\n'


def refused(text: str) -> str:
    with pytest.raises(UsageFault) as fault:
        read_mapping(text, name="m.toml")
    return fault.value.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "m.toml: namespace is missing"),
        ('namespace = "../x"', "m.toml: namespace cannot be '../x'"),
        (HEAD + 'titel = "a"', "m.toml: titel is no key of a mapping"),
        (HEAD + 'kind = "rule"', "m.toml: kind cannot be 'rule'"),
        (HEAD + 'as = "pages"\nkind = "handoff"', "m.toml: kind cannot be 'handoff'"),
        (HEAD + 'kind = { fall = "fact" }', "m.toml: kind.fall is no key of a mapping"),
        (HEAD + 'select = { kep = [] }', "m.toml: select.kep is no key of a mapping"),
        (HEAD + RULE.format('equal = 1'), "m.toml: select.keep.0.equal is no key of a mapping"),
        (HEAD + 'select = { keep = [{ field = "a" }] }', "m.toml: select.keep.0.field has no condition"),
        (
            HEAD + RULE.format("matches = '(a+)+b'"),
            "m.toml: select.keep.0.matches repeats a repetition and may take for ever",
        ),
        (HEAD + RULE.format("absent = true, equals = 1"), "m.toml: select.keep.0.absent goes with no other condition"),
        (HEAD + 'id = "a..b"', "m.toml: id is no dotted path: 'a..b'"),
        (HEAD + 'contentFrom = { dir = "../x", field = "a" }', "m.toml: contentFrom.dir leads out of the root: '../x'"),
        (HEAD + 'contentFrom = { dir = "/etc", field = "a" }', "m.toml: contentFrom.dir leads out of the root: '/etc'"),
        (HEAD + 'metadata = { "a b" = "c" }', "m.toml: metadata.a b is no name for a key"),
        (HEAD + "maxChars = 1000000000", "m.toml: maxChars is no number from 0 to 500,000"),
        (HEAD + "depth = true", "m.toml: depth is no number from 0 to 16"),
        (HEAD + f"depth = {'9' * 5000}", None),
        ("namespace = ", "m.toml, line 1: Invalid value"),
    ],
)  # fmt: skip
def test_a_mapping_that_is_wrong_names_the_key(text: str, told: str | None) -> None:
    message = refused(text)
    assert message == told or (told is None and message.startswith("m.toml: "))


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader_of_mappings(text: str) -> None:
    for whole in (text, HEAD + text, f"{HEAD}id = {json.dumps(text)}\n"):
        try:
            read_mapping(whole, name="m.toml")
        except UsageFault as fault:
            assert fault.message.startswith("m.toml")


TOML = st.recursive(
    st.one_of(st.integers(-5, 5), st.booleans(), st.sampled_from(["a", "a.*", "fact", "(", "imported", ""])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["field", "equals", "oneOf", "from", "when", "kind", "dir"]), inner, max_size=3
        ),
    ),
    max_leaves=8,
)
KEYS = ("id", "kind", "trust", "append", "metadata", "select", "contentFrom", "latestPerId", "maxChars", "container")


def inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {inline(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value)


@given(st.sampled_from(KEYS), TOML)
def test_a_value_of_any_shape_is_taken_or_refused_by_the_name_of_its_key(key: str, value: Any) -> None:
    try:
        read_mapping(f"{HEAD}{key} = {inline(value)}\n", name="m.toml")
    except UsageFault as fault:
        assert fault.message.startswith(f"m.toml: {key}")


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab0"), inner, max_size=3)
    ),
    max_leaves=12,
)  # fmt: skip


def naively(value: Any, path: Path) -> list[Any]:
    """Level by level, as the documentation says it."""
    level = [value]
    for step in path:
        found: list[Any] = []
        for one in level:
            if step == "*" and isinstance(one, dict):
                found += one.values()
            elif step == "*" and isinstance(one, list):
                found += one
            elif isinstance(one, dict):
                found += [one[step]] if step in one else []
            elif isinstance(one, list) and step == "0":
                found += one[:1]
        level = found
    return [one for one in level if isinstance(one, (str, int)) and one != ""]


@given(JSON, st.lists(st.sampled_from(["a", "b", "0", "*"]), min_size=1, max_size=3))
def test_a_path_leads_where_a_walk_by_levels_leads(value: Any, steps: list[str]) -> None:
    assert values_at(value, parse_path(".".join(steps))) == naively(value, tuple(steps))


@given(JSON)
def test_json_is_read_as_the_library_reads_it(value: Any) -> None:
    assert read_json(json.dumps(value).encode("utf-8", "surrogatepass")) == value


@given(st.binary(max_size=40))
def test_no_bytes_break_the_reader_of_json(content: bytes) -> None:
    try:
        read_json(content)
    except BadJson as fault:
        assert fault.message


@pytest.mark.parametrize(
    ("rule", "value", "holds"),
    [
        ("equals = 1", 1, True),
        ("equals = 1", True, False),
        ("equals = 1", 1.0, True),
        ("equals = 'x'", ["y", "x"], False),
        ("oneOf = ['x', 2]", 2, True),
        ("oneOf = ['x', 2]", "2", False),
        ("matches = '^AD'", "ADR", True),
        ("matches = '^AD'", "RAD", False),
        ("exists = true", None, False),
        ("exists = true", False, True),
        ("absent = true", None, True),
        ("absent = true", "", True),
        ("absent = true", 0, False),
        ("gt = 3", 4, True),
        ("gt = 3", "4", False),
        ("gt = 3, lt = 5", 5, False),
        ("gt = '2026-01-01'", "2026-01-02T00:00:00Z", True),
        ("lt = '2026-01-01'", "2026-01-02", False),
        ("gt = 3, exists = true", None, False),
    ],
)
def test_a_rule_holds_as_documented(rule: str, value: object, holds: bool) -> None:
    (one,) = read_mapping(HEAD + RULE.format(rule), name="m.toml").keep
    assert one.holds({"a": value}) is holds


@pytest.mark.parametrize(
    ("given_time", "at_us"),
    [
        ("2026-05-01", 1_777_593_600_000_000),
        ("2026-05-01T02:00:00+02:00", 1_777_593_600_000_000),
        (1_777_593_600, 1_777_593_600_000_000),
        (1_777_593_600.5, 1_777_593_600_500_000),
        (1_777_593_600_000, 1_777_593_600_000_000),
        (99_999_999_999, 99_999_999_999_000_000),
        (100_000_000_000, 100_000_000_000_000),
    ],
)
def test_a_time_is_iso_or_seconds_or_milliseconds(given_time: object, at_us: int) -> None:
    rules = read_mapping(HEAD, name="m.toml")
    assert revision(rules, {"id": 1, "at": given_time}).observed_at_us == at_us


@pytest.mark.parametrize("record", [{"id": 1, "at": True}, {"id": 1, "at": 1e16}, {"id": ""}, {"id": [1]}, [], 3, None])
def test_a_record_without_an_id_or_with_no_time_is_none(record: object) -> None:
    with pytest.raises(BadRecord):
        revision(read_mapping(HEAD, name="m.toml"), record)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 3)), max_size=8))
def test_the_newest_of_each_id_counts_and_of_equal_ones_the_last(told: list[tuple[str, int | None]]) -> None:
    revisions = [Revision(name, at, number) for number, (name, at) in enumerate(told)]
    found = latest(revisions)
    assert [one.id for one in found] == list(dict.fromkeys(one.id for one in revisions))
    for one in found:
        rivals = [other for other in revisions if other.id == one.id]
        assert one == max(
            rivals, key=lambda other: (-1 if other.observed_at_us is None else other.observed_at_us, other.record)
        )


@pytest.mark.parametrize(
    ("dates", "start", "end"),
    [
        ({"at": 100}, 100, None),
        ({"at": 100, "from": 50}, 50, None),
        ({"at": 100, "to": 60}, None, 60),
        ({"from": 60, "to": 60}, 60, 60),
        ({}, None, None),
    ],
)
def test_without_a_start_it_holds_since_it_was_observed(
    dates: dict[str, int], start: int | None, end: int | None
) -> None:
    rules = read_mapping(HEAD + 'validFrom = "from"\nvalidTo = "to"\n', name="m.toml")
    holds = mapped(rules, revision(rules, {"id": 1, "text": "x", **dates}), None).holds
    assert (holds.start_us, holds.end_us) == tuple(None if one is None else one * 1_000_000 for one in (start, end))
