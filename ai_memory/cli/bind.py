"""From a row of the table to a Typer command: loaded by name, when it is called."""

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from inspect import Parameter as SignatureParameter
from inspect import Signature, cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from ai_memory.cli.call import FORMATS, Call
from ai_memory.cli.commands import ROWS, Command
from ai_memory.cli.invoke import run_operation
from ai_memory.errors import UsageFault, echo
from ai_memory.operations.signature import Parameter, bind, parameters
from ai_memory.operations.table import Operation
from ai_memory.text.limits import LARGEST_PAGE_BYTES, LIMITS, TooLarge

GLOBAL_FLAGS: tuple[tuple[str, str, str, str], ...] = (
    ("data_dir", "--data-dir", "DIR", "Data dir (else AI_MEMORY_DATA_DIR, else the platform's)."),
    ("lock_timeout", "--lock-timeout", "SECONDS", "How long to wait for another writer [10]."),
    ("json", "--json", "", "One JSON object on stdout."),
)
"""Flags that stand before or after the command: name, flag, what it takes, help."""

PROGRAM = "ai-memory"
CHOICES_CHARS = 60
"""Choices that are longer side by side stand in the text of an option: a terminal has 80 columns."""


def words_as_they_stand(found: list[Any]) -> list[Any]:
    """The same parameters without Typer's check of their values.

    Our own `bind` checks words of the command line and JSON alike; Typer's check would import pydantic, 100 ms CPU
    a call (2026-11-30, typer 0.29.2).
    """
    for parameter in found:
        if parameter.param_type_name == "argument":
            parameter.display_type = _no_type
        parameter.process_value = partial(_as_it_stands, parameter)
    return found


def _no_type(ctx: Any) -> str:  # noqa: ARG001
    return ""


def _as_it_stands(parameter: Any, ctx: Any, value: Any) -> Any:
    return parameter.callback(ctx, parameter, value) if parameter.callback else value


class BoundCommand(TyperCommand):
    """A command whose help ends with examples."""

    examples: tuple[str, ...] = ()

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, --help too, whose words Typer leaves as they stand."""
        return words_as_they_stand(super().get_params(ctx))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the examples, one a line."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"  {PROGRAM} {example}\n")


def build(name: str) -> TyperCommand:
    """The Typer command of that row. Imports its module and nothing else of ours."""
    row = ROWS[name]
    if isinstance(row, Command):
        function = getattr(import_module(row.module), row.function)
        if row.is_raw:
            return _raw(row, function)
        found = parameters(function, "cli")
        return _command(row, function.__doc__, found, lambda call, given: int(function(call, **bind(found, given))))
    function = row.load()
    found = parameters(function, "cli")
    return _command(row, function.__doc__, found, lambda call, given: run_operation(row, function, found, call, given))


def _command(
    row: Operation | Command,
    text: str | None,
    found: tuple[Parameter, ...],
    run: Callable[[Call, dict[str, Any]], int],
) -> TyperCommand:
    def callback(ctx: typer.Context, **given: Any) -> int:
        flags = {name: given.pop(name) for name in list(given) if name in _FLAG_NAMES}
        call: Call = ctx.obj or Call()
        return run(call.with_flags(flags), _folded(found, given))

    options = [option for parameter in found for option in _options(parameter)]
    options += [_flag(*flag) for flag in GLOBAL_FLAGS]
    if isinstance(row, Operation) and row.noun:
        options.append(_flag("format", "--format", "|".join(FORMATS), "Form of the rows."))
    context = SignatureParameter("ctx", SignatureParameter.KEYWORD_ONLY, annotation=typer.Context)
    _annotate(callback, [context, *options])
    return _typer_command(row, text, callback)


def _typer_command(row: Operation | Command, text: str | None, callback: Callable[..., Any]) -> TyperCommand:
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    app.command(row.name.rpartition(" ")[2], cls=BoundCommand, help=cleandoc(text or ""), context_settings=settings)(
        callback
    )
    command = get_command(app)
    assert isinstance(command, BoundCommand)
    command.examples = row.examples
    return command


def _raw(row: Command, function: Callable[[list[str]], int]) -> TyperCommand:
    """A command with an own front door: reached only when its name does not stand first on the command line."""

    def callback(ctx: typer.Context) -> int:
        call: Call = ctx.obj or Call()
        flags = ["--data-dir", call.data_dir] if call.data_dir else []
        if call.is_json:
            flags.append("--json")
        return int(function([row.name, *flags, *ctx.args]))

    _annotate(callback, [SignatureParameter("ctx", SignatureParameter.KEYWORD_ONLY, annotation=typer.Context)])
    command = _typer_command(row, f"{row.title}.", callback)
    command.ignore_unknown_options = command.allow_extra_args = True
    return command


_FLAG_NAMES = frozenset((*(flag[0] for flag in GLOBAL_FLAGS), "format"))


def _annotate(callback: Callable[..., Any], signature: list[SignatureParameter]) -> None:
    """Give the callback the signature that Typer reads."""
    callback.__signature__ = Signature(signature)  # type: ignore[attr-defined]
    callback.__annotations__ = {parameter.name: parameter.annotation for parameter in signature}


def _flag(name: str, flag: str, takes: str, text: str) -> SignatureParameter:
    option = typer.Option(flag, help=text, metavar=takes or None, show_default=False)
    default = None if takes else False
    annotation: Any = Annotated[str | None, option] if takes else Annotated[bool, option]
    return SignatureParameter(name, SignatureParameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _options(parameter: Parameter) -> list[SignatureParameter]:
    """The flag of a parameter, the word by place, and `--file` where a text may come from one."""
    field = parameter.field
    found = []
    if field.positional:
        text = None if _has_flag(parameter) else _help(parameter)
        argument = typer.Argument(metavar=_metavar(parameter), help=text, show_default=False, hidden=text is None)
        is_several = field.joined or parameter.type == "array"
        by_place: Any = Annotated[list[str] | None, argument] if is_several else Annotated[str | None, argument]
        found.append(_word(f"{parameter.name}__word", by_place))
    if _has_flag(parameter):
        found.append(_named(parameter))
    if field.piped:
        option = typer.Option("--file", metavar="FILE", help="Read it from a file; - is stdin.", show_default=False)
        found.append(_word(f"{parameter.name}__file", Annotated[str | None, option]))
    return found


def _has_flag(parameter: Parameter) -> bool:
    return bool(parameter.field.flags) or not parameter.field.positional


def _word(name: str, annotation: Any, default: Any = None) -> SignatureParameter:
    return SignatureParameter(name, SignatureParameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _named(parameter: Parameter) -> SignatureParameter:
    flags = parameter.field.flags or (f"--{parameter.name.replace('_', '-')}",)
    is_flag = parameter.type == "boolean"
    if is_flag and parameter.is_nullable and not any("/" in flag for flag in flags):
        flags = (*flags[:-1], f"{flags[-1]}/--no-{flags[-1].removeprefix('--')}")
    option = typer.Option(
        *flags, help=_help(parameter), show_default=False, metavar=None if is_flag else _metavar(parameter)
    )
    if parameter.type == "array":
        return _word(parameter.name, Annotated[list[str] | None, option])
    if not is_flag:
        return _word(parameter.name, Annotated[str | None, option])
    annotation = bool | None if parameter.is_nullable else bool
    return _word(
        parameter.name, Annotated[annotation, option], None if parameter.is_nullable else bool(parameter.default)
    )


def _metavar(parameter: Parameter) -> str:
    if parameter.field.metavar:
        return parameter.field.metavar
    if parameter.choices and not _fills_a_line(parameter):
        return "|".join(parameter.choices)
    by_type = {"integer": "N", "number": "N"}
    return by_type.get(parameter.type, parameter.name.upper().rstrip("S") if parameter.type == "array" else "") or (
        parameter.name.upper()
    )


def _fills_a_line(parameter: Parameter) -> bool:
    """Whether its choices side by side are too long to stand behind the flag: its text names them then."""
    return len("|".join(parameter.choices)) > CHOICES_CHARS


def _help(parameter: Parameter) -> str:
    text = parameter.field.description
    text = text[:1].upper() + text[1:]
    if _fills_a_line(parameter):
        text += f": {', '.join(parameter.choices)}"
    if parameter.field.piped:
        text += "; - is stdin"
    if parameter.is_required:
        return f"{text} (required)."
    if parameter.default not in (None, False, True, (), ""):
        return f"{text} [{parameter.default}]."
    return f"{text}."


def _folded(found: tuple[Parameter, ...], given: dict[str, Any]) -> dict[str, Any]:
    """One value a parameter: of the word by place, the flag, or the file. Errors: UsageFault when two were given."""
    values: dict[str, Any] = {}
    for parameter in found:
        name = parameter.name
        by_place = given.get(f"{name}__word")
        ways = [given.get(name), by_place if parameter.type == "array" else _joined(by_place)]
        if parameter.field.piped:
            ways = [_piped(given.get(name)), _read(given.get(f"{name}__file"))]
        told = [value for value in ways if value is not None and value != () and value != []]
        if len(told) > 1:
            raise UsageFault(f"{name} is given twice", hint="give it once: by place, by flag, or as a file")
        if told:
            values[name] = told[0]
    return values


def _joined(words: str | list[str] | None) -> str | None:
    return " ".join(words) or None if isinstance(words, list | tuple) else words


def _piped(value: str | None) -> str | None:
    if value != "-":
        return value
    if sys.stdin is None:
        raise UsageFault("stdin is closed, so there is nothing to read from it", hint="pass a text, or pipe one in")
    try:
        content = sys.stdin.buffer.read(LARGEST_PAGE_BYTES + 1)
    except OSError as fault:
        raise UsageFault(f"cannot read stdin: {fault.strerror}", hint="pass a text, or pipe one in") from fault
    return _text(content, "stdin")


def _read(file: str | None) -> str | None:
    if file is None or file == "-":
        return _piped(file)
    try:
        with open(file, "rb") as stream:
            content = stream.read(LARGEST_PAGE_BYTES + 1)
    except OSError as fault:
        raise UsageFault(
            f"cannot read {echo(file)}: {fault.strerror}", hint="name a file that can be read, or pass - to pipe it in"
        ) from fault
    return _text(content, echo(file))


def _text(content: bytes, source: str) -> str:
    """The text that was read. Errors: TooLarge; UsageFault when there is none, since it would empty a page unseen."""
    most = LIMITS["body"].most
    if len(content) > LARGEST_PAGE_BYTES:
        raise TooLarge(f"{source} is longer than a page: a body has at most {most:,} bytes", hint="make it shorter")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise UsageFault(f"{source} is not UTF-8 text: byte {fault.start}", hint="convert it to UTF-8") from fault
    if not text.strip():
        raise UsageFault(f"{source} is empty", hint="if you mean an empty text, say so: -b ''")
    return text
