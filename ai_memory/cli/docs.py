"""Reference pages made out of the tables.

`python -m ai_memory.cli.docs` writes them, `--check` says which are behind.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import cleandoc
from pathlib import Path

from ai_memory.cli.commands import ROWS, Command
from ai_memory.cli.completions import FILE_NAMES, flags_of, script
from ai_memory.cli.docs_harnesses import harnesses_page
from ai_memory.config import SETTINGS
from ai_memory.operations.signature import Parameter, parameters, tool_text
from ai_memory.operations.table import OPERATIONS, Operation
from ai_memory.settings import Setting
from ai_memory.text.limits import LIMITS

ROOT = Path(__file__).parents[2]
MADE = "<!-- Made by `python -m ai_memory.cli.docs` out of the code. Change it there. -->\n"

EXIT_CODES: tuple[tuple[str, str], ...] = (
    ("0", "done; also nothing to do, nothing relevant found, and a reader of stdout that left early"),
    ("1", "an expected fault: the message says what is wrong and what to do; also a stdout that is closed or full"),
    ("2", "the words of the call do not fit"),
    ("3", "what was named does not exist"),
    ("4", "another process held the lock for longer than `--lock-timeout`"),
    ("5", "conflict: the page changed meanwhile, exists already, or is pinned"),
    ("6", "refused: the project was only guessed; name it with `--project`"),
    ("70", "a bug; the message names the log file"),
    ("130", "interrupted"),
)


def cli_page() -> str:
    """`docs/cli.md`: every command with its parameters and examples."""
    parts = [
        "# Command line\n",
        MADE,
        cleandoc(
            """
            `--data-dir DIR`, `--lock-timeout SECONDS` and `--json` stand before or after the command. stdout holds the
            answer, stderr the resolved scope and notes. A page is named `path`, `project:path` or
            `workspace/project:path`, by place or with `-p`. Without `--workspace` and `--project` the folder that you
            stand in tells them (`ai-memory where` says why); a write whose project was only guessed is refused.

            With `--json` stdout holds one object: `v`, `ok`, `scope` (null where none applies: `list-projects`,
            `config`, `logs` and their like, or a call over all projects from a folder whose marker is broken), rows
            under a plural noun, `gaps` (what failed) and `omitted` (rows left out). A fault is
            `{"v":1,"ok":false,"error":{"code","message","hint"}}`, where `code` is `not_found`, `invalid`,
            `conflict`, `busy`, `refused_scope` or `internal`.
            Commands with rows take `--format md|json|toon|table`.
            """
        ),
        "\n| exit code | meaning |\n|---|---|",
        *(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES),
        "",
        *(_command(row) for row in ROWS.values()),
    ]
    return "\n".join(parts)


def _command(row: Operation | Command) -> str:
    if isinstance(row, Operation):
        function = row.load()
    elif row.is_raw:
        note = f"\n{row.note}" if row.note else ""
        flags = "".join(f"| `{flag}` | {meaning} |\n" for flag, meaning in row.flags)
        table = f"\n| parameter | meaning |\n|---|---|\n{flags}" if flags else ""
        return f"## `{row.name}`\n\n{row.title}.{note}\n{_examples(row.examples)}{table}"
    else:
        function = getattr(import_module(row.module), row.function)
    found = parameters(function, "cli")
    text = cleandoc(function.__doc__ or "")
    rows = "".join(f"| {_flags(one)} | {_meaning(one)}{_again(one)} |\n" for one in found)
    table = f"\n| parameter | meaning |\n|---|---|\n{rows}" if rows else ""
    return f"## `{row.name}`\n\n{text}\n{_examples(row.examples)}{table}"


def _examples(examples: tuple[str, ...]) -> str:
    lines = "".join(f"ai-memory {example}\n" for example in examples)
    return f"\n```sh\n{lines}```\n"


def _flags(parameter: Parameter) -> str:
    by_place = [f"`{parameter.name.upper()}`"] if parameter.field.positional else []
    return ", ".join([*by_place, *(f"`{flag}`" for flag in flags_of(parameter))])


def _meaning(parameter: Parameter) -> str:
    text = parameter.field.description.replace("|", "\\|")
    notes = []
    if parameter.choices:
        notes.append("one of " + ", ".join(f"`{choice}`" for choice in parameter.choices))
    if parameter.field.ge is not None and parameter.field.le is not None:
        notes.append(f"{parameter.field.ge} to {parameter.field.le}")
    if parameter.is_required:
        notes.append("required")
    elif parameter.default not in (None, False, (), ""):
        notes.append(f"default `{parameter.default}`")
    return "; ".join([text, *notes])


def _argument(parameter: Parameter) -> str:
    """What a tool's argument means, its other names, and whether `tools/list` names it."""
    aliases = ", ".join(f"`{alias}`" for alias in parameter.field.aliases)
    called = [f"also called {aliases}"] if aliases else []
    return "; ".join([_meaning(parameter), *called, *(["not listed"] if parameter.field.is_unlisted else [])])


def _again(parameter: Parameter) -> str:
    return "; may be repeated" if parameter.type == "array" else ""


def mcp_page() -> str:
    """`docs/mcp.md`: every tool of the bridge."""
    parts = [
        "# MCP tools\n",
        MADE,
        cleandoc(
            """
            `ai-memory mcp-bridge` serves these tools over stdio. Profile `core`, the default, is what most agents need,
            `full` has all; `--profile` also takes names of tools. Answers are text. Tools with rows take `format`:
            `md`, `json` or `toon`, which needs the extra `toon`. With `--structured` answers hold an object, too, and
            tools have output schemas, in which nothing is null: a member that has no value is left out.
            [mcp-protocol.md](mcp-protocol.md) tells of prompts, resources, scope and errors.

            An argument that is not listed is taken, though `tools/list` does not name it: what is seldom wanted costs
            no tokens. `max_bytes` gives the rows of an answer that much room, as compact JSON; a token is about four
            bytes. What has no room is counted in `omitted`, what is cut ends in `…`.

            A line that cannot be read as JSON is answered with the id null and -32700. A message that is no request,
            or is nested too deeply and has an id that can be found all the same, gets -32600 under its id.
            """
        ),
        "",
        *(_tool(row) for row in OPERATIONS if row.tool),
    ]
    return "\n".join(parts)


def _tool(row: Operation) -> str:
    found = parameters(row.load(), "bridge")
    hints = {"read-only": row.read_only, "destructive": row.destructive, "idempotent": row.idempotent}
    told = ", ".join([f"profile {row.profile}", *(word for word, holds in hints.items() if holds)])
    rows = "".join(f"| `{one.name}` | {one.type} | {_argument(one)} |\n" for one in found)
    text = tool_text(row.load())
    table = f"| argument | type | meaning |\n|---|---|---|\n{rows}"
    return f"## `{row.tool}`\n\n{text}\n\n{told}; command `{row.name}`\n\n{table}"


def configuration_page() -> str:
    """`docs/configuration.md`: every setting."""
    intro = cleandoc(
        """
        Defaults, then `config.toml` in the data dir, then the environment. `ai-memory config show --origin` says what
        holds and why; `config set KEY VALUE` keeps the comments of the file. An unknown key in the file is a fault
        that names the nearest one; an unknown variable only draws a note. Hooks read no such variable: what they keep
        of a session goes by the file alone (`capture`, `ingest`, `sanitize`, `hook_spool`, and
        `handoff.claim_on_session_start`).
        """
    )
    rows = "".join(f"| `{one.key}` | `{one.environment}` | {_setting_meaning(one)} |\n" for one in SETTINGS)
    return f"# Configuration\n\n{MADE}\n{intro}\n\n| key | variable | meaning |\n|---|---|---|\n{rows}"


def _setting_meaning(setting: Setting) -> str:
    default = f"`{setting.default_text}`" if setting.default is not None else setting.default_text
    return f"{setting.description} {setting.values}; default {default}.".replace("|", "\\|")


def limits_page() -> str:
    """`docs/limits.md`: the one table of limits."""
    rows = "".join(f"| `{name}` | {limit.what} | {limit.most:,} {limit.unit} |\n" for name, limit in LIMITS.items())
    text = "What is written must keep these limits. A refusal names the limit and the value; reading refuses nothing."
    return f"# Limits\n\n{MADE}\n{text}\n\n| limit | of | at most |\n|---|---|---|\n{rows}"


PAGES: Mapping[str, Callable[[], str]] = {
    "docs/cli.md": cli_page,
    "docs/mcp.md": mcp_page,
    "docs/configuration.md": configuration_page,
    "docs/limits.md": limits_page,
    "docs/harnesses.md": lambda: harnesses_page(MADE),
    "completions/" + FILE_NAMES["bash"]: lambda: script("bash"),
    "completions/" + FILE_NAMES["zsh"]: lambda: script("zsh"),
    "completions/" + FILE_NAMES["fish"]: lambda: script("fish"),
    "completions/" + FILE_NAMES["powershell"]: lambda: script("powershell"),
}
"""Every file that is made out of the code."""


def behind(root: Path) -> list[str]:
    """Names of the files that say something else than the code."""
    return [name for name, make in PAGES.items() if not _says(root / name, make())]


def _says(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def main(words: list[str]) -> int:
    """Write the files, or only name those that are behind."""
    if words == ["--check"]:
        late = behind(ROOT)
        for name in late:
            sys.stderr.write(f"{name} is behind the code: run python -m ai_memory.cli.docs\n")
        return 1 if late else 0
    for name, make in PAGES.items():
        path = ROOT / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(make(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
