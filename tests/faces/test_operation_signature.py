"""An operation's parameters, derived once: schema, checks, coercion."""

import json
from typing import Annotated, Any, Literal

import pytest

from ai_memory.errors import UsageFault
from ai_memory.operations.field import Field, Limit, Workspace
from ai_memory.operations.signature import bind, json_schema, parameters, takes_progress
from ai_memory.operations.table import OPERATIONS


def sample(
    memory: object,
    *,
    path: Annotated[str, Field("page path", max_length=20)],
    tags: Annotated[tuple[str, ...], Field("tags", aliases=("tag",), max_length=3)] = (),
    tier: Annotated[Literal["working", "semantic"] | None, Field("tier")] = None,
    weight: Annotated[float, Field("weight")] = 1.5,
    pinned: Annotated[bool | None, Field("pinned")] = None,
    line: Annotated[bool, Field("one line", face="cli")] = False,
    limit: Limit = 10,
    workspace: Workspace = None,
    progress: Any = None,
) -> None:
    """Only its signature counts."""


BRIDGE = parameters(sample, "bridge")


def test_a_schema_is_flat_and_knows_no_null() -> None:
    schema = json_schema(BRIDGE)
    assert schema["required"] == ["path"]
    assert schema["properties"]["limit"] == {
        "type": "integer",
        "description": "rows at most",
        "minimum": 1,
        "maximum": 100,
        "default": 10,
    }
    assert schema["properties"]["tier"] == {"type": "string", "enum": ["working", "semantic"], "description": "tier"}
    assert schema["properties"]["tags"]["items"] == {"type": "string"}


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.tool], ids=lambda o: o.name)
def test_no_tool_schema_holds_what_some_providers_refuse(operation: Any) -> None:
    text = json.dumps(json_schema(parameters(operation.load(), "bridge")))
    assert not [word for word in ("$ref", "anyOf", "oneOf", "allOf", "null", "$defs") if word in text]


def test_a_face_sees_only_its_own_parameters() -> None:
    assert "line" not in {p.name for p in BRIDGE}
    assert "line" in {p.name for p in parameters(sample, "cli")}


def test_memory_and_progress_are_no_words_of_the_user() -> None:
    assert {"memory", "progress"}.isdisjoint(p.name for p in parameters(sample, "cli"))
    assert takes_progress(sample)


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({"n": "7"}, "limit", 7),
        ({"limit": 7.0}, "limit", 7),
        ({"top_k": 3}, "limit", 3),
        ({"limit": None}, "limit", 10),
        ({"tag": "a"}, "tags", ("a",)),
        ({"tags": '["a", "b"]'}, "tags", ("a", "b")),
        ({"tags": "[draft"}, "tags", ("[draft",)),
        ({"tags": []}, "tags", ()),
        ({"pinned": "yes"}, "pinned", True),
        ({"pinned": False}, "pinned", False),
        ({"weight": "2"}, "weight", 2.0),
        ({"weight": 2}, "weight", 2),
        ({"tier": "working"}, "tier", "working"),
    ],
)
def test_a_clear_meaning_is_taken_in_whatever_form_it_comes(given: dict[str, Any], name: str, value: object) -> None:
    assert bind(BRIDGE, {"path": "x", **given})[name] == value


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "path is missing: page path"),
        ({"path": "x" * 21}, "path is longer than 20: 21"),
        ({"path": 3}, "path is text, not 3"),
        ({"path": "\udcff"}, "path is not valid UTF-8"),
        ({"path": "x", "limit": 101}, "limit is at most 100, not 101"),
        ({"path": "x", "limit": 0}, "limit is at least 1, not 0"),
        ({"path": "x", "limit": 1.5}, "limit is a whole number, not 1.5"),
        ({"path": "x", "limit": True}, "limit is a whole number, not True"),
        ({"path": "x", "limit": "nan"}, "limit is a whole number, not 'nan'"),
        ({"path": "x", "limit": "1" * 400}, "limit is at most 100, not one of over 80 digits"),
        ({"path": "x", "tier": "hot"}, "tier is one of working, semantic, not 'hot'"),
        ({"path": "x", "tags": ["a", 1]}, "tags is a list of texts, not ['a', 1]"),
        ({"path": "x", "tags": list("abcd")}, "tags is longer than 3: 4"),
        ({"path": "x", "pinned": "maybe"}, "pinned is true or false, not 'maybe'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageFault) as refused:
        bind(BRIDGE, given)
    assert refused.value.message.startswith(message)


def test_an_unknown_argument_names_the_nearest_one() -> None:
    with pytest.raises(UsageFault, match="unknown argument 'workspce'") as refused:
        bind(BRIDGE, {"path": "x", "workspce": "y"})
    assert refused.value.hint == "did you mean 'workspace'?"


def test_a_name_wins_over_its_alias() -> None:
    assert bind(BRIDGE, {"path": "x", "limit": 5, "n": 9})["limit"] == 5
    assert bind(BRIDGE, {"path": "x", "n": 9, "limit": 5})["limit"] == 5


def test_every_operation_tells_its_user_when_to_use_it() -> None:
    for operation in OPERATIONS:
        lines = (operation.load().__doc__ or "").strip().splitlines()
        assert 1 <= len(lines) <= 3, operation.name
        assert callable(operation.load_text())


def test_every_parameter_of_every_operation_says_what_it_is() -> None:
    silent = [
        f"{operation.name} {one.name}"
        for operation in OPERATIONS
        for face in ("cli", "bridge")
        for one in parameters(operation.load(), face)
        if not one.field.description.strip()
    ]
    assert silent == []
