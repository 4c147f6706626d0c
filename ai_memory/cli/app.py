"""The Typer app: a group that knows every name, and builds a command when it is called."""

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ai_memory import __version__
from ai_memory.cli.bind import GLOBAL_FLAGS, PROGRAM, build, words_as_they_stand
from ai_memory.cli.call import Call
from ai_memory.cli.commands import GROUPS, ROWS, names_below
from ai_memory.cli.faults import guarded
from ai_memory.errors import UsageFault, echo


class LazyGroup(TyperGroup):
    """Commands by name out of the table: the list of them imports none of their modules."""

    prefix = ""

    def get_params(self, ctx: Any) -> list[Any]:
        return words_as_they_stand(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return names_below(self.prefix)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        name = f"{self.prefix} {cmd_name}".strip()
        if name in ROWS:
            return build(name)
        return _group(name) if name in GROUPS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the first word names. Errors: UsageFault with the nearest name."""
        name, rest = args[0], args[1:]
        if rest and name not in GROUPS and f"{self.prefix} {name}".strip() + f" {rest[0]}" in ROWS:
            name, rest = f"{name} {rest[0]}", rest[1:]  # a command of its own behind a word that is one, too
        command: TyperCommand | TyperGroup | None = self.get_command(ctx, name)
        if command is None:
            near = get_close_matches(name, self.list_commands(ctx), 1, 0.5)
            hint = f"did you mean {f'{self.prefix} {near[0]}'.strip()!r}?" if near else f"see {ctx.command_path} --help"
            raise UsageFault(f"no command {echo(f'{self.prefix} {name}'.strip())}", hint=hint)
        return name, command, rest

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or ["--help"])

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        rows = [
            (name, GROUPS.get(name) or ROWS[f"{self.prefix} {name}".strip()].title) for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Root(LazyGroup):
    """The whole program; every fault ends in one handler."""

    def main(self, args: Sequence[str] | None = None, *ignored: Any, **extra: Any) -> Any:  # noqa: ARG002
        words = list(sys.argv[1:] if args is None else args)
        extra |= {"standalone_mode": False, "prog_name": PROGRAM}
        _speak_utf8()
        sys.exit(guarded(words, lambda: super(Root, self).main(words, **extra) or 0))


def _group(name: str) -> LazyGroup:
    group = LazyGroup(name=name.rpartition(" ")[2], help=GROUPS[name], context_settings=_CONTEXT)
    group.rich_markup_mode = None
    group.prefix = name
    return group


def _speak_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _show_version(is_asked: bool) -> None:
    if is_asked:
        print(f"{PROGRAM} {__version__}")
        raise typer.Exit


_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

app = typer.Typer(
    cls=Root,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_CONTEXT,
)


@app.callback()
def root(
    ctx: typer.Context,
    data_dir: Annotated[str | None, typer.Option("--data-dir", metavar="DIR", help=GLOBAL_FLAGS[0][3])] = None,
    lock_timeout: Annotated[
        str | None, typer.Option("--lock-timeout", metavar="SECONDS", help=GLOBAL_FLAGS[1][3])
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Long-term memory for coding agents."""
    flags = {"data_dir": data_dir, "lock_timeout": lock_timeout, "json": json}
    ctx.obj = Call(command=ctx.invoked_subcommand or "").with_flags(flags)


def main(words: Sequence[str]) -> int:
    """The exit code of the command line."""
    try:
        app(list(words))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0
