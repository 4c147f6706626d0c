"""Completion scripts, generated from the table and shipped as files: a key press starts no Python."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Literal

from ai_memory.cli.call import FORMATS, Call
from ai_memory.cli.commands import GROUPS, ROWS, Command, names_below
from ai_memory.cli.invoke import json_text
from ai_memory.operations.answer import JSON_FORMAT
from ai_memory.operations.field import Field
from ai_memory.operations.signature import Parameter, parameters
from ai_memory.operations.table import Operation

Shell = Literal["bash", "zsh", "fish", "powershell"]
GLOBAL_WORDS = ("--data-dir", "--lock-timeout", "--json", "--help")
FILE_NAMES: Mapping[str, str] = {
    "bash": "ai-memory.bash",
    "zsh": "_ai-memory",
    "fish": "ai-memory.fish",
    "powershell": "ai-memory.ps1",
}


def completions(call: Call, *, shell: Annotated[Shell, Field("which shell", positional=True)]) -> int:
    """Print the completion script of a shell; it is static, so a key press costs nothing.
    For bash: ai-memory completions bash > ~/.local/share/bash-completion/completions/ai-memory
    """
    text = script(shell)
    answer: dict[str, object] = {"v": JSON_FORMAT, "ok": True, "scope": None, "script": text, "gaps": [], "omitted": 0}
    sys.stdout.write(json_text(answer) + "\n" if call.is_json else text)
    return 0


@dataclass(frozen=True, slots=True)
class Entry:
    """What completes after one command: flags with their help, and the words that some flags take."""

    name: str
    title: str
    flags: tuple[tuple[str, str], ...]
    choices: Mapping[str, tuple[str, ...]]


def script(shell: Shell) -> str:
    """The whole script."""
    return _WRITERS[shell](entries())


def entries() -> list[Entry]:
    """One entry a command, in the order of help. Imports every operation."""
    return [_entry(row) for row in ROWS.values()]


def _entry(row: Operation | Command) -> Entry:
    found = _parameters(row)
    flags = [(flag, parameter.field.description) for parameter in found for flag in flags_of(parameter)]
    if isinstance(row, Operation) and row.noun:
        flags.append(("--format", f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"))
    choices = {flag: parameter.choices for parameter in found for flag in flags_of(parameter) if parameter.choices}
    if isinstance(row, Operation) and row.noun:
        choices["--format"] = FORMATS
    words = {"": next((p.choices for p in found if p.field.positional and p.choices), ())}
    return Entry(row.name, row.title, tuple(flags), choices | words)


def _parameters(row: Operation | Command) -> tuple[Parameter, ...]:
    if isinstance(row, Operation):
        return parameters(row.load(), "cli")
    return () if row.is_raw else parameters(getattr(import_module(row.module), row.function), "cli")


def flags_of(parameter: Parameter) -> list[str]:
    """Every spelling of the parameter's flag on the command line."""
    field = parameter.field
    if field.positional and not field.flags:
        return []
    flags = [word for flag in field.flags for word in flag.split("/")] or [f"--{parameter.name.replace('_', '-')}"]
    if parameter.type == "boolean" and parameter.is_nullable and not any("/" in flag for flag in field.flags):
        flags.append(f"--no-{flags[-1].removeprefix('--')}")
    return [*flags, "--file"] if field.piped else flags


def _bash(found: list[Entry]) -> str:
    groups = "".join(f'        {name}) words="{" ".join(names_below(name))}" ;;\n' for name in GROUPS)
    cases = "".join(_bash_case(entry) for entry in found)
    values = "".join(
        f'        "{entry.name} {flag}") COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur")); return ;;\n'
        for entry in found
        for flag, words in entry.choices.items()
        if flag and words
    )
    top = " ".join((*names_below(""), "--version", *GLOBAL_WORDS))
    return f"""\
# bash completion for ai-memory; made by `ai-memory completions bash`
_ai_memory() {{
    local cur prev words="" command="" word at
    cur="${{COMP_WORDS[COMP_CWORD]}}"
    prev="${{COMP_WORDS[COMP_CWORD-1]}}"
    COMPREPLY=()
    for ((at = 1; at < COMP_CWORD; at++)); do
        word="${{COMP_WORDS[at]}}"
        case "$word" in
        --data-dir | --lock-timeout) ((at++)) ;;
        -*) ;;
        *)
            if [[ -z $command ]]; then
                command="$word"
                case "$command" in {" | ".join(GROUPS)}) ;; *) break ;; esac
            else
                command="$command $word"
                break
            fi
            ;;
        esac
    done
    case "$prev" in
    --data-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    --file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    esac
    case "$command $prev" in
{values}    esac
    case "$command" in
        "") words="{top}" ;;
{groups}{cases}    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -F _ai_memory ai-memory
"""


def _bash_case(entry: Entry) -> str:
    words = (*entry.choices[""], *(flag for flag, _ in entry.flags), *GLOBAL_WORDS)
    return f'        "{entry.name}") words="{" ".join(words)}" ;;\n'


def _zsh(found: list[Entry]) -> str:
    tops = "\n".join(f"        {_quoted(f'{name}:{_title(name)}')}" for name in names_below(""))
    cases = "".join(_zsh_case(entry) for entry in found)
    groups = "".join(
        f"    {name})\n        (( CURRENT == 2 )) && {{ compadd -- {' '.join(names_below(name))}; return }}\n"
        f'        command="$command $words[2]" ;;\n'
        for name in GROUPS
    )
    return f"""\
#compdef ai-memory
# zsh completion for ai-memory; made by `ai-memory completions zsh`
_ai-memory() {{
    local -a commands
    local command
    commands=(
{tops}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        compadd -- --version {" ".join(GLOBAL_WORDS)}
        return
    fi
    shift words
    (( CURRENT-- ))
    command=$words[1]
    case $command in
{groups}    esac
    case $words[CURRENT-1] in
    --data-dir) _files -/; return ;;
    --file) _files; return ;;
    esac
    case $command in
{cases}    esac
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _ai-memory "$@"
else
    compdef _ai-memory ai-memory
fi
"""


def _zsh_case(entry: Entry) -> str:
    values = "".join(
        f"        [[ $words[CURRENT-1] == {flag} ]] && {{ compadd -- {' '.join(words)}; return }}\n"
        for flag, words in entry.choices.items()
        if flag and words
    )
    words = (*entry.choices[""], *(flag for flag, _ in entry.flags), *GLOBAL_WORDS)
    return f"    {_quoted(entry.name)})\n{values}        compadd -- {' '.join(words)} ;;\n"


def _fish(found: list[Entry]) -> str:
    lines = [
        "# fish completion for ai-memory; made by `ai-memory completions fish`",
        "complete -c ai-memory -f",
        "complete -c ai-memory -l data-dir -x -a '(__fish_complete_directories)' -d 'Data dir'",
        "complete -c ai-memory -l lock-timeout -x -d 'Seconds to wait for another writer'",
        "complete -c ai-memory -l json -d 'One JSON object'",
        "complete -c ai-memory -s h -l help -d 'Help'",
        "complete -c ai-memory -n __fish_use_subcommand -l version -d 'Version'",
    ]
    lines += [
        f"complete -c ai-memory -n __fish_use_subcommand -a {name} -d {_quoted(_title(name))}"
        for name in names_below("")
    ]
    for group in GROUPS:
        below = " ".join(names_below(group))
        seen = f"__fish_seen_subcommand_from {group}; and not __fish_seen_subcommand_from {below}"
        lines += [
            f"complete -c ai-memory -n '{seen}' -a {name} -d {_quoted(ROWS[f'{group} {name}'].title)}"
            for name in names_below(group)
        ]
    return "\n".join([*lines, *(line for entry in found for line in _fish_lines(entry))]) + "\n"


def _fish_lines(entry: Entry) -> list[str]:
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in entry.name.split())
    lines = [f"complete -c ai-memory -n '{seen}' -a '{' '.join(entry.choices[''])}'"] if entry.choices[""] else []
    for flag, text in entry.flags:
        kind = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
        words = entry.choices.get(flag, ())
        takes = f" -x -a '{' '.join(words)}'" if words else " -r -F" if flag == "--file" else ""
        lines.append(f"complete -c ai-memory -n '{seen}' {kind}{takes} -d {_quoted(text)}")
    return lines


def _powershell(found: list[Entry]) -> str:
    def words(entry: Entry) -> str:
        flags = (*entry.choices[""], *(flag for flag, _ in entry.flags), *GLOBAL_WORDS)
        return f"    {_doubled(entry.name)} = {_array(flags)}\n"

    table = "".join(map(words, found)) + "".join(f"    '{name}' = {_array(names_below(name))}\n" for name in GROUPS)
    top = _array((*names_below(""), "--version", *GLOBAL_WORDS))
    return f"""\
# PowerShell completion for ai-memory; made by `ai-memory completions powershell`
$script:AiMemoryWords = @{{
    '' = {top}
{table}}}
Register-ArgumentCompleter -Native -CommandName ai-memory -ScriptBlock {{
    param($wordToComplete, $commandAst, $cursorPosition)
    $names = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object {{ $_.Extent.EndOffset -lt $cursorPosition }} |
        ForEach-Object {{ $_.ToString() }} | Where-Object {{ -not $_.StartsWith('-') }})
    $command = ''
    foreach ($length in 2, 1) {{
        if ($names.Count -ge $length) {{
            $candidate = ($names[0..($length - 1)]) -join ' '
            if ($script:AiMemoryWords.ContainsKey($candidate)) {{ $command = $candidate; break }}
        }}
    }}
    $script:AiMemoryWords[$command] | Where-Object {{ $_ -like "$wordToComplete*" }} |
        ForEach-Object {{ [System.Management.Automation.CompletionResult]::new($_) }}
}}
"""


_WRITERS: Mapping[str, Callable[[list[Entry]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
    "powershell": _powershell,
}


def _title(name: str) -> str:
    return GROUPS.get(name) or ROWS[name].title


def _quoted(text: str) -> str:
    """A word of a POSIX shell or of fish: in single quotes, its own single quotes outside them."""
    return "'" + text.replace("'", "'\\''") + "'"


def _doubled(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _array(words: tuple[str, ...] | list[str]) -> str:
    return f"@({', '.join(_doubled(word) for word in words)})"
