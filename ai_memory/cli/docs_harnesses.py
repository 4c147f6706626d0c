"""`docs/harnesses.md`, made out of the records: what is wired for each harness, and what is not, and why."""

from inspect import cleandoc

from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import Form, Harness, HookFile, McpFile
from ai_memory.harnesses.registry import HARNESSES

_INTRO = """
How each agent program is wired: which of its events are captured, where what waits is told, how it gets the tools of
memory, and what is left alone.

- **hooks**: how many of its events are captured, and the file that says so; the section of each names them.
- **told at**: the event at which a handoff, a brief and notices reach the model; `—`: it takes none, and the tool
  `memory_handoff_accept` or `ai-memory handoff accept` takes what waits.
- **not done**: how much is refused or missing; the section says what and why.
- **proof**: *program*: the real program ran with what is installed; *payloads*: events that the real program sent were
  replayed; *documentation*: its maker's pages say so, and payloads made after them were replayed.

A path stands for the person's own file. `~` is the home folder, `$CONFIG` is `XDG_CONFIG_HOME` or `~/.config`, `$DATA`
is `XDG_DATA_HOME` or `~/.local/share`; a section names other platforms and the variable that moves a folder.
"""

_FORMS = {
    Form.ENVELOPE: '`{"hookSpecificOutput": {"hookEventName": …, "additionalContext": …}}`',
    Form.CAMEL: '`{"additionalContext": …}`',
    Form.SNAKE: '`{"additional_context": …}`',
    Form.CONTEXT: '`{"context": …}`',
    Form.STEPS: '`{"injectSteps": [{"ephemeralMessage": …}]}`',
    Form.CLINE: '`{"cancel": false, "contextModification": …}`',
    Form.TEXT: "plain text, and nothing at all where there is none",
    Form.NONE: "",
}
_BASES = {
    "{home}": "~",
    "{config}": "$CONFIG",
    "{data}": "$DATA",
    "{checkout}/": "",
    "{appdata}": "%APPDATA%",
    "{localappdata}": "%LOCALAPPDATA%",
}


def harnesses_page(made: str) -> str:
    """The page. `made`: the line that says where it comes from."""
    names = ("harness", "hooks", "told at", "MCP", "instructions", "skills", "restart", "not done", "proof")
    head = f"| {' | '.join(names)} |\n|{'---|' * len(names)}"
    rows = "\n".join(_row(one) for one in HARNESSES)
    return "\n".join(
        [f"# Harnesses\n\n{made}", cleandoc(_INTRO), "", head, rows, "", *(_section(one) for one in HARNESSES)]
    )


def _row(one: Harness) -> str:
    cells = (
        f"[{one.title}](#{one.title.lower().replace(' ', '-')}) `{one.id}`",
        _captured(one),
        ", ".join(f"`{name}`" for name in _told_at(one)) or "—",
        _short(one.mcp),
        _joined(_path(one.instructions), one.project_instructions),
        _joined(_path(one.skills), _path(one.project_skills)),
        one.restart or "—",
        str(len(one.refuses) or "—"),
        one.proof.value,
    )
    return f"| {' | '.join(cells)} |"


def _captured(one: Harness) -> str:
    if one.hooks is None:
        return str(len(one.events) or "—")
    return f"{len(one.events)}: `{_path(one.hooks.place)}`{' (printed)' if one.hooks.is_printed else ''}"


def _told_at(one: Harness) -> list[str]:
    """Without a resumed task, which was told when it began, and the failure of a tool, which stands for its result."""
    told = [native for native, kind in one.events.items() if kind == one.inject_at]
    return [native for native in told if not native.endswith(("Resume", "Failure"))]


def _short(mcp: McpFile | None) -> str:
    if mcp is None:
        return "—"
    return f"`{_path(mcp.place)}`{' (printed)' if mcp.is_printed else ''}"


def _joined(*paths: str) -> str:
    return ", ".join(f"`{path}`" for path in paths if path) or "—"


def _path(place: Place | None) -> str:
    return _named(place.path) if place is not None else ""


def _named(path: str) -> str:
    for base, name in _BASES.items():
        path = path.replace(base, name)
    return path


def _section(one: Harness) -> str:
    lines = [f"## {one.title}\n"]
    lines += [f"- Also called {', '.join(f'`{alias}`' for alias in one.aliases)}."] if one.aliases else []
    if one.hooks is not None:
        lines.append(f"- Hooks: {_hook_file(one.hooks)}.")
    if one.events:
        lines.append(f"- Events: {', '.join(f'`{native}` → {kind}' for native, kind in one.events.items())}.")
    if one.form is not Form.NONE:
        lines.append(f"- Context: {_FORMS[one.form]}.")
    if one.mcp is not None:
        lines.append(f"- MCP: `{'.'.join(one.mcp.keys)}` in {_places(one.mcp.place, one.mcp.project)}.")
    lines += [f"- Its session is named by `{one.session_variable}`."] if one.session_variable else []
    lines += [f"- {note}" for note in one.notes]
    lines += [f"- After a change: {one.restart}"] if one.restart else []
    lines += [f"- Not done: {reason}" for reason in one.refuses]
    lines += [f"- Source: <{one.source}>"] if one.source else []
    return "\n".join(lines) + "\n"


def _hook_file(hooks: HookFile) -> str:
    where = _places(hooks.place, hooks.project)
    if hooks.is_printed:
        return f"lines for {where}, printed to paste"
    if hooks.is_folder:
        return f"each file in {where}"
    if hooks.files is not None:
        return f"an executable file an event in {where}"
    return where


def _places(place: Place, project: Place | None) -> str:
    """The path, its like on other platforms, the variable that moves it, and the checkout's own file."""
    others = [f"{name} `{_named(path)}`" for name, path in (("macOS", place.darwin), ("Windows", place.win32)) if path]
    moved = [f"`{place.variable}` stands for `{_named(place.moved)}`"] if place.variable else []
    own = [f"with `--scope project` `{_path(project)}`"] if project is not None and project != place else []
    more = "; ".join([*others, *moved, *own])
    return f"`{_path(place)}`{f' ({more})' if more else ''}"
