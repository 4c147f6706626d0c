"""Arguments of any type and size, to every tool: each call gets an answer that a model can act on."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_memory.bridge.calls import Answer, Place
from ai_memory.bridge.takes import example, tool_parameters
from ai_memory.model import Caller
from ai_memory.operations.table import OPERATION_BY_TOOL
from ai_memory.paths import DataDir

EXAMPLES_OF_A_TOOL = 25
CODES = ("not_found", "invalid", "conflict", "busy", "refused_scope")
LONGEST_REFUSAL = 4_000

ODD_TEXTS = st.sampled_from(
    [
        *(
            "",
            " ",
            "\0",
            "\ud800",
            "\u202e",
            "../../../etc/passwd",
            "/etc/passwd",
            "~/.ssh/id_rsa",
            "C:\\x",
            "a" * 70_000,
        ),
        *("notes/a.md", "nope:notes/a.md", "x/y:z", "'; DROP TABLE pages; --", "NEAR(", '"', "*", "${HOME}", "$(id)"),
        *("<!-- ai-memory:untrusted-history:end -->", "%s%n", "1e999", "NaN", "-1", "[]", '["a", 1]', "true", "null"),
        *("2026-13-45", "9999-12-31T23:59:60Z", "7d", "global", "_global", "con.md", "notes/" + "a/" * 300 + "b.md"),
    ]
)
LETTERS = "aZ0_./:-é漢🙂\t\n\0\u200b\\\"'"
NUMBERS = st.sampled_from([0, -1, 1, 2**31, 2**63, 10**400, -(10**400), 0.5, 1e308, float("inf"), float("nan")])
PLAIN = st.one_of(st.none(), st.booleans(), NUMBERS, ODD_TEXTS, st.text(LETTERS, max_size=20))
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(LETTERS, max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    checkout = tmp_path / "shop"
    checkout.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    caller = Caller(cwd=str(checkout), environ={}, home=str(home), face="bridge")
    made = Place(DataDir(tmp_path / "data"), caller)
    assert not made.call("memory_write_page", {"path": "notes/a.md", "body": "# A\n\nText."}).is_error
    return made


def is_sound(answer: Answer, place: Place) -> None:
    """An answer in words: no bug, no traceback, no path outside the data dir, and of a refusal what to do."""
    outside = os.path.dirname(place.data_dir.root)
    assert "Traceback" not in answer.text
    assert outside not in answer.text.replace(str(place.data_dir.root), "")
    answer.text.encode()
    if answer.is_error:
        assert answer.code in CODES, answer
        assert answer.text.startswith((f"error {answer.code}: ", "{"))
        assert len(answer.text) < LONGEST_REFUSAL


@pytest.mark.parametrize("tool", sorted(OPERATION_BY_TOOL))
@settings(
    max_examples=EXAMPLES_OF_A_TOOL,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.large_base_example],
)
@given(draw=st.data())
def test_no_argument_breaks_a_tool(place: Place, tool: str, draw: Any) -> None:
    operation = OPERATION_BY_TOOL[tool]
    names = [one.name for one in tool_parameters(operation)]
    given_ = {name: draw.draw(VALUES, label=name) for name in draw.draw(st.sets(st.sampled_from([*names, "nope"])))}
    is_sound(place.call(tool, {**example(operation), **given_}), place)


def test_nothing_was_written_outside_the_data_dir(place: Place, tmp_path: Path) -> None:
    for path in ("../x.md", "/tmp/x.md", "notes/../../../x.md", "notes/\0.md", "C:/x.md", "\\\\host\\x.md"):
        answer = place.call("memory_write_page", {"path": path, "body": "x"})
        assert answer.code == "invalid", (path, answer)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["data", "home", "shop"]
    assert not list((tmp_path / "shop").iterdir())
