"""The hook's policy is compiled from settings and markers, the same from the same."""

from ai_memory.config import combine
from ai_memory.scope.hook_policy import MAX_MARKERS, compile_policy
from ai_memory.scope.markers import Source
from ai_memory.scope.policy import CapturePolicy


def test_settings_and_markers_stand_in_it_as_json() -> None:
    values = combine('[ingest]\ndrop_tool_names = ["X"]\n', {}, {}, name="c").values
    policy = CapturePolicy(ignore_paths=("a/**",), prompts=False, drop_subagent_captures=True)
    found = compile_policy(values, config=Source("/c", 3, 4), markers=[(Source("/m/.ai-memory.toml", 1, 2), policy)])
    assert found["v"] == 1
    assert found["config"] == {"size": 3, "mtime_ns": 4}
    settings = found["settings"]
    assert isinstance(settings, dict)
    assert (settings["prompts"], settings["assistant"], settings["drop_tools"]) == (True, "off", ["X"])
    assert found["markers"] == {
        "/m/.ai-memory.toml": {
            "size": 1,
            "mtime_ns": 2,
            "valid": True,
            "ignore_paths": ["a/**"],
            "prompts": False,
            "assistant": None,
            "claim": None,
            "drop_subagents": True,
        }
    }


def test_an_invalid_policy_drops_subagents_too() -> None:
    found = compile_policy({}, config=None, markers=[(Source("/m", 1, 2), CapturePolicy(is_valid=False))])
    marker = found["markers"]["/m"]  # type: ignore[index]
    assert (marker["valid"], marker["drop_subagents"], found["config"]) == (False, True, None)


def test_order_plays_no_part_and_the_newest_markers_stay() -> None:
    markers = [(Source(f"/m{at}", 1, at), CapturePolicy()) for at in range(MAX_MARKERS + 5)]
    one = compile_policy({}, config=None, markers=markers)
    other = compile_policy({}, config=None, markers=reversed(markers))
    assert list(one["markers"]) == list(other["markers"])  # type: ignore[call-overload]
    assert len(one["markers"]) == MAX_MARKERS  # type: ignore[arg-type]
    assert "/m0" not in one["markers"]  # type: ignore[operator]
