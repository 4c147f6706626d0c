"""What a scheduler is told, so that it starts `maintain` every ten minutes: a line, two units, or a property list."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from ai_memory.errors import UsageFault, echo
from ai_memory.harnesses.edits import FileEdit, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Machine, Place
from ai_memory.store.wired import Owner
from ai_memory.wiring.ours import MANAGED
from ai_memory.wiring.wishes import Wish

AGENT = "timer"
"""Stands for an agent in records of what was written."""
EVERY_MINUTES = 10
LABEL = "ai-memory.maintain"

SERVICE = Place("{config}/systemd/user/ai-memory.service")
TIMER = Place("{config}/systemd/user/ai-memory.timer")
PLIST = Place(f"{{home}}/Library/LaunchAgents/{LABEL}.plist")

_RUNS_ON = {"cron": "Linux, BSD and macOS", "systemd": "Linux", "launchd": "macOS"}
_HINT = "docs/cron.md has entries for cron, systemd, launchd and Task Scheduler"


@dataclass(frozen=True, slots=True)
class Commands:
    """What a scheduler is told by its own program, once files are written and before they go."""

    after_writing: tuple[tuple[str, ...], ...] = ()
    before_removing: tuple[tuple[str, ...], ...] = ()
    after_removing: tuple[tuple[str, ...], ...] = ()
    may_fail: tuple[tuple[str, ...], ...] = ()
    """They only clear what may be there already."""


def refuse_elsewhere(kind: str, machine: Machine) -> None:
    """Nothing, where the machine has such a scheduler. Errors: UsageFault."""
    fits = {"cron": not machine.is_windows, "systemd": machine.platform.startswith("linux")}
    if not fits.get(kind, machine.platform == "darwin"):
        raise UsageFault(f"{kind} is a scheduler of {_RUNS_ON[kind]}", hint=_HINT)


def argv(launch: Launch) -> tuple[str, ...]:
    """The command as a list of arguments. Errors: UsageFault for a path that no scheduler's file can hold."""
    separator = "\\" if launch.platform == "win32" else "/"
    words = (launch.python, "-I", f"{launch.package}{separator}timed.py", "--data-dir", launch.data_dir)
    for word in words:
        if not word.isprintable():
            raise UsageFault(f"{echo(word)} holds a character that no scheduler's file can hold", hint="move it")
    return words


def cron_line(launch: Launch) -> str:
    """The line of a crontab. It says and does nothing once the program is gone; faults are mailed, as cron does."""
    python, _, file, *rest = (shlex.quote(word) for word in argv(launch))
    run = f'exec "$P" -I "$F" {" ".join(rest)} >/dev/null'
    line = f'P={python} F={file}; [ -x "$P" ] && [ -r "$F" ] && {run} || exit 0'
    return f"*/{EVERY_MINUTES} * * * * " + line.replace("%", "\\%")  # a bare % ends the line


def wishes(kind: str, launch: Launch, machine: Machine) -> list[Wish]:
    """The files of that scheduler. That of cron is no file of ours: see `crontab.py`."""
    makers: dict[str, Callable[[], list[tuple[Place, str]]]] = {
        "systemd": lambda: [(SERVICE, _service(launch)), (TIMER, _timer())],
        "launchd": lambda: [(PLIST, _plist(launch))],
    }
    made = makers[kind]() if kind in makers else []
    return [Wish(Owner(AGENT, kind), FileEdit(place.at(machine), Syntax.WHOLE, text=text)) for place, text in made]


def commands(kind: str, machine: Machine, *, uid: int) -> Commands:
    """How its program takes the files up and lets them go."""
    match kind:
        case "systemd":
            reload = ("systemctl", "--user", "daemon-reload")
            name = TIMER.at(machine).name
            return Commands(
                (reload, ("systemctl", "--user", "enable", "--now", name)),
                (("systemctl", "--user", "disable", "--now", name),),
                (reload,),
            )
        case "launchd":
            out = ("launchctl", "bootout", f"gui/{uid}/{LABEL}")
            start = ("launchctl", "bootstrap", f"gui/{uid}", str(PLIST.at(machine)))
            return Commands((out, start), (out,), may_fail=(out,))
        case _:
            return Commands()


def _service(launch: Launch) -> str:
    program, *rest = argv(launch)
    if any(character in program for character in "\"'\\"):  # such a program systemd does not start itself
        program, rest = "/bin/sh", ["-c", 'exec "$0" "$@"', program, *rest]
    words = [_unit_word(program), *(_unit_word(word.replace("$", "$$")) for word in rest)]
    return (
        f"# {MANAGED}: `ai-memory maintain --remove-timer` takes it away\n"
        "[Unit]\n"
        "Description=Upkeep of ai-memory\n"
        "\n"
        "[Service]\n"
        "Type=oneshot\n"
        "Nice=10\n"
        f"ExecStart={' '.join(words)}\n"
    )


def _timer() -> str:
    return (
        f"# {MANAGED}: `ai-memory maintain --remove-timer` takes it away\n"
        "[Unit]\n"
        "Description=Upkeep of ai-memory\n"
        "\n"
        "[Timer]\n"
        f"OnCalendar=*:0/{EVERY_MINUTES}\n"
        "Persistent=true\n"
        "\n"
        "[Install]\n"
        "WantedBy=timers.target\n"
    )


def _unit_word(word: str) -> str:
    """A word of ExecStart: `%` begins a specifier, `\\` and quotes are taken as in C."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{plain}"' if any(character in word for character in " \"'\\;") else plain


def _plist(launch: Launch) -> str:
    words = "\n".join(f"    <string>{escape(word)}</string>" for word in argv(launch))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        f"<!-- {MANAGED}: written by `ai-memory maintain`, which takes it away, too -->\n"
        '<plist version="1.0">\n'
        "<dict>\n"
        f"  <key>Label</key>\n  <string>{LABEL}</string>\n"
        f"  <key>ProgramArguments</key>\n  <array>\n{words}\n  </array>\n"
        f"  <key>StartInterval</key>\n  <integer>{EVERY_MINUTES * 60}</integer>\n"
        "  <key>ProcessType</key>\n  <string>Background</string>\n"
        "</dict>\n"
        "</plist>\n"
    )
