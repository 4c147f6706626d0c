"""Harnesses are found by id and alias, none is named twice, and what they say of themselves holds together."""

import json
import shlex
from collections.abc import Callable, Iterable

import pytest
import yaml

from ai_memory import hook_harnesses
from ai_memory.capture.draining import TELL_NO_END, TELL_NO_PROMPT
from ai_memory.errors import NotFound
from ai_memory.harnesses import registry
from ai_memory.harnesses.edits import Element, Json, Member, Part, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Machine, Place
from ai_memory.harnesses.plugin_files import is_our_plugin
from ai_memory.harnesses.record import Form, Harness
from ai_memory.hook_harnesses import KINDS

PLATFORMS = ("linux", "darwin", "win32")
ALL = pytest.mark.parametrize("harness", registry.HARNESSES, ids=lambda one: one.id)
HOOKED = pytest.mark.parametrize(
    "harness", [one for one in registry.HARNESSES if one.hooks is not None], ids=lambda one: one.id
)


def machine(platform: str, **environ: str) -> Machine:
    home = "C:\\Users\\ada" if platform == "win32" else "/home/ada"
    return Machine(home, environ, platform, f"{home}/shop")


def launch(platform: str, *, capture_prompts: bool = True) -> Launch:
    if platform == "win32":
        return Launch("C:\\Py thon\\python.exe", "C:\\lib\\ai_memory", "C:\\da ta", platform, capture_prompts)
    return Launch("/opt/py thon/bin/python", "/opt/lib/ai_memory", "/home/ada/da ta", platform, capture_prompts)


def rendered(harness: Harness, target: Launch) -> list[str]:
    """What hooks put into its file, a text for each part or file."""
    hooks = harness.hooks
    assert hooks is not None
    if hooks.files is not None:
        return list(hooks.files(harness, target).values())
    if hooks.text is not None:
        return [hooks.text(harness, target)]
    assert hooks.parts is not None
    return [json.dumps(part.value) for part in hooks.parts(harness, target) if isinstance(part, (Element, Member))]


def places(harness: Harness) -> Iterable[Place]:
    hooks = [harness.hooks.place, harness.hooks.project] if harness.hooks else []
    mcp = [harness.mcp.place, harness.mcp.project] if harness.mcp else []
    own = [harness.instructions, harness.skills, harness.project_skills, harness.prompts_at]
    listed = [harness.must_list.place] if harness.must_list else []
    return [one for one in (*harness.homes, *hooks, *mcp, *own, *listed) if one is not None]


def test_ids_and_aliases_are_unique() -> None:
    names = [name for one in registry.HARNESSES for name in (one.id, *one.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "identifier"),
    [("claude", "claude-code"), ("Claude-Code", "claude-code"), ("open_code", "opencode"), ("agy", "antigravity-cli")],
)
def test_a_harness_is_found_by_any_of_its_names(name: str, identifier: str) -> None:
    found = registry.find(name)
    assert found is not None
    assert found.id == identifier


def test_an_unknown_name_gets_the_nearest_one() -> None:
    assert registry.find("cluade-code") is None
    with pytest.raises(NotFound, match="cluade") as raised:
        registry.get("cluade-code")
    assert "claude-code" in raised.value.hint


def test_the_hooks_tables_are_those_of_the_records() -> None:
    assert list(registry.BY_ID) == hook_harnesses.HARNESSES
    aliases = {alias: one.id for one in registry.HARNESSES for alias in one.aliases}
    assert aliases == hook_harnesses.ALIASES
    injections = {one.id: (one.inject_at, one.form.value) for one in registry.HARNESSES if one.form is not Form.NONE}
    assert injections == hook_harnesses.INJECTION
    variables = [(one.id, one.session_variable) for one in registry.HARNESSES if one.session_variable]
    assert variables == list(hook_harnesses.SESSION_VARIABLES.items())
    for one in registry.HARNESSES:
        for native, kind in one.events.items():
            assert hook_harnesses.canonical_event(native) == kind, (one.id, native)


@pytest.mark.parametrize(
    ("told", "table"),
    [
        (lambda one: one.tells, hook_harnesses.TELLING),
        (lambda one: one.reloads, hook_harnesses.RELOADING),
        (lambda one: one.is_silent, hook_harnesses.SILENT),
        (lambda one: one.retells, hook_harnesses.RETELLING),
        (lambda one: one.is_anonymous, hook_harnesses.ANONYMOUS),
        (lambda one: one.drains_itself, hook_harnesses.DRAINING),
        (lambda one: one.prompts_at is not None, TELL_NO_PROMPT),
    ],
    ids=["tells", "reloads", "silent", "retells", "anonymous", "drains itself", "prompts elsewhere"],
)
def test_a_list_of_peculiar_harnesses_is_that_of_the_records(
    told: Callable[[Harness], bool], table: Iterable[str]
) -> None:
    assert {one.id for one in registry.HARNESSES if told(one)} == set(table)


def test_the_drain_knows_who_tells_no_end() -> None:
    silent = {one.id for one in registry.HARNESSES if one.events and "session-end" not in one.events.values()}
    assert silent <= TELL_NO_END
    telling = {one.id for one in registry.HARNESSES if "session-end" in one.events.values()}
    assert telling & TELL_NO_END == {"opencode"}, "it tells of a session only when somebody deletes it"


@ALL
def test_every_event_is_of_a_known_kind_and_every_injection_has_a_form_and_an_event(harness: Harness) -> None:
    assert set(harness.events.values()) <= set(KINDS)
    assert (harness.form is Form.NONE) == (harness.inject_at == "")
    if harness.hooks is not None and harness.inject_at:
        assert harness.inject_at in harness.events.values()


@ALL
def test_a_harness_that_is_not_captured_says_so(harness: Harness) -> None:
    if not harness.events and harness.id not in ("opencode", "pi", "omp", "openclaw"):  # captured by plugins
        assert any("not captured" in reason for reason in harness.refuses)


@ALL
def test_what_is_said_is_a_sentence(harness: Harness) -> None:
    for sentence in (*harness.refuses, *harness.notes, *([harness.restart] if harness.restart else [])):
        assert sentence.endswith("."), sentence
        assert sentence[0].isupper() or sentence[0] == "`", sentence


@ALL
@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_place_is_below_a_base_of_the_machine(harness: Harness, platform: str) -> None:
    here = machine(platform)
    for place in places(harness):
        assert place.at(here).is_absolute(), place
        assert not place.moved or place.path.startswith(place.moved)
        if place.variable:
            moved = machine(platform, **{place.variable: "D:\\elsewhere" if platform == "win32" else "/elsewhere"})
            assert "elsewhere" in str(place.at(moved)), place


@HOOKED
@pytest.mark.parametrize("platform", PLATFORMS)
def test_each_event_is_wired_with_our_command(harness: Harness, platform: str) -> None:
    if (harness.id, platform) == ("cline", "win32"):
        assert rendered(harness, launch(platform)) == []
        return
    whole = "\n".join(rendered(harness, launch(platform)))
    if is_our_plugin(whole):  # it tells each event by its own code: tests/capture/test_plugins.py
        assert all(native in whole for native in harness.events)
        return
    assert whole.count("hook.py") >= len(harness.events)
    assert "da ta" in whole
    for native, kind in harness.events.items():
        words = [f"--event {name}" for name in (native, kind)] + [f'"--event", "{name}"' for name in (native, kind)]
        assert any(one in whole for one in words), native
    assert f"--agent {harness.shares or harness.id}" in whole or f'"--agent", "{harness.id}"' in whole


@HOOKED
@pytest.mark.parametrize("platform", PLATFORMS)
def test_our_parts_are_known_as_ours_and_others_are_not(harness: Harness, platform: str) -> None:
    if harness.hooks is None or harness.hooks.parts is None:
        return
    target = launch(platform)
    for part in harness.hooks.parts(harness, target):
        if isinstance(part, Element):
            assert part.is_ours(_inner(part))
            assert not part.is_ours({"command": "make lint", "hooks": [{"command": "notify --event Stop"}]})


def _inner(part: Element) -> Json:
    if not part.inner:
        return part.value
    assert isinstance(part.value, dict)
    (only,) = part.value[part.inner]
    checked: Json = only
    return checked


@HOOKED
def test_without_prompts_their_event_is_not_wired_unless_context_is_given_there(harness: Harness) -> None:
    native = next((name for name, kind in harness.events.items() if kind == "user-prompt"), None)
    if native is None:
        return
    whole = "\n".join(rendered(harness, launch("linux", capture_prompts=False)))
    needed = harness.inject_at == "user-prompt" or harness.retells
    assert (f"--event {native}" in whole or f'"--event", "{native}"' in whole) is needed


@ALL
def test_the_mcp_entry_starts_our_bridge_over_stdio(harness: Harness) -> None:
    if harness.mcp is None:
        return
    assert harness.mcp.keys[-1] == "ai-memory"
    entry = harness.mcp.entry(launch("linux"))
    assert isinstance(entry, dict)
    command, args = entry["command"], entry.get("args", [])
    words = [*([command] if isinstance(command, str) else command), *args]  # type: ignore[misc,list-item]
    assert words[0] == "/opt/py thon/bin/python"
    assert str(words[2]).endswith("mcp_bridge.py")
    assert words[words.index("--data-dir") + 1] == "/home/ada/da ta"
    assert harness.mcp.syntax is not Syntax.WHOLE or harness.mcp.is_printed


@pytest.mark.parametrize("identifier", ["hermes", "pool"])
def test_a_printed_fragment_is_yaml_that_says_what_was_meant(identifier: str) -> None:
    harness = registry.get(identifier)
    assert harness.hooks is not None
    assert harness.hooks.is_printed
    hooks = yaml.safe_load(rendered(harness, launch("linux"))[0])["hooks"]
    assert list(hooks) == list(harness.events)
    for (entry,) in hooks.values():
        assert "hook.py" in entry["command"]
        assert entry["timeout"] == 20
    assert harness.mcp is not None
    assert harness.mcp.text is not None
    server = yaml.safe_load(harness.mcp.text(launch("linux")))["mcp_servers"]["ai-memory"]
    assert [server["command"], *server["args"]] == list(launch("linux").bridge_argv())


def test_hermes_splits_its_command_into_the_words_that_were_meant() -> None:
    harness = registry.get("hermes")
    (fragment,) = rendered(harness, launch("linux"))
    line = yaml.safe_load(fragment)["hooks"]["pre_llm_call"][0]["command"]
    assert tuple(shlex.split(line)) == launch("linux").hook_argv("hermes", "pre_llm_call")


def test_kimis_hooks_have_no_member_that_it_does_not_know() -> None:
    harness = registry.get("kimi-code")
    assert harness.hooks is not None
    assert harness.hooks.parts is not None
    parts: tuple[Part, ...] = harness.hooks.parts(harness, launch("linux"))
    assert {frozenset(part.value) for part in parts if isinstance(part, Element) and isinstance(part.value, dict)} == {
        frozenset({"event", "command", "timeout"})
    }


def test_copilot_cli_and_vs_code_get_one_file() -> None:
    both = [registry.get("copilot-cli"), registry.get("vscode")]
    assert rendered(both[0], launch("linux")) == rendered(both[1], launch("linux"))
    assert {one.hooks.place for one in both if one.hooks} == {both[0].hooks.place if both[0].hooks else None}


def test_powershell_calls_a_program_whose_name_has_a_space() -> None:
    for identifier in ("cursor", "windsurf", "copilot-cli"):
        first = rendered(registry.get(identifier), launch("win32"))[0]
        assert '& \\"C:\\\\Py thon\\\\python.exe\\"' in first, identifier
