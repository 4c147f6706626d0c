"""How this program was installed, and another version of it."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory import __version__
from ai_memory.errors import MemoryFault
from ai_memory.operations.field import Field
from ai_memory.operations.setup_agents import CheckRow
from ai_memory.wiring.here import launch_here
from ai_memory.wiring.installation import TITLES, Facts, Way, facts_here, installation, installer_script
from ai_memory.wiring.selfcheck import check_bridge, check_hook

if TYPE_CHECKING:
    from ai_memory.harnesses.launch import Launch
    from ai_memory.store.memory import Memory

TIMEOUT_S = 1_800.0
"""An installation takes about a minute, with models' libraries over a slow line many."""


@dataclass(frozen=True, slots=True)
class Upgraded:
    version: str
    """The one that ran this command."""
    way: str
    """installer, pipx, uv-tool, uvx, venv, pip-user, pip-system, editable, checkout."""
    about: str
    prefix: str
    """The environment that it runs in."""
    source: str
    """The checkout that it came from; empty where it was none."""
    command: str
    """What upgrades it, typed in a shell."""
    outcome: Literal["told", "would_upgrade", "upgraded"]
    version_after: str | None = None
    checks: tuple[CheckRow, ...] = ()
    """What agents start, run once with the new version."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0

    @property
    def exit_code(self) -> int:
        return 1 if any(one.fault for one in self.checks) else 0


def upgrade(
    memory: "Memory",
    *,
    confirm: Annotated[bool, Field("do it, where our installer made this environment")] = False,
) -> Upgraded:
    """Tell how this program was installed, which version runs, and the command that upgrades it. Uses no network.
    `--confirm` runs our own installer: a failure leaves what runs now. The memory is not touched.
    """
    facts = facts_here()
    found = installation(facts)
    is_ours = found.way is Way.INSTALLER and facts.platform != "win32"
    outcome: Literal["told", "would_upgrade"] = "would_upgrade" if is_ours else "told"
    told = (TITLES[found.way], facts.prefix, found.source, found.command)
    if not confirm:
        return Upgraded(__version__, found.way.value, *told, outcome)
    if not is_ours:
        raise MemoryFault(
            f"this program upgrades itself only where its own installer put it, on Linux and macOS; it came {told[0]}",
            hint=found.command,
        )
    launch = launch_here(memory.data_dir.root)
    _install(facts)
    after = _version(launch)
    checks, gaps = _checked(launch)
    return Upgraded(__version__, found.way.value, *told, "upgraded", after, checks, gaps)


def _install(facts: Facts) -> None:
    """Run our installer, which swaps in what it made only once that starts. Errors: MemoryFault with its last words."""
    script = installer_script(facts)
    if not Path(script).is_file():
        raise MemoryFault(f"the installer {script} is not there", hint="get install.sh anew and run it")
    app = Path(facts.prefix).parent
    words = ["sh", script, "--keep", Path(facts.prefix).resolve().name]
    words += ["--extras", ",".join(facts.extras)] if facts.extras else []
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
            env={**os.environ, "XDG_DATA_HOME": str(app.parent)},
        )
    except (OSError, subprocess.SubprocessError) as fault:
        raise MemoryFault(f"the installer failed: {fault}", hint="What was installed before still works.") from fault
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip())[-1000:]
        raise MemoryFault(f"the installer failed: {last}", hint="What was installed before still works.")


def _version(launch: "Launch") -> str | None:
    try:
        done = subprocess.run(
            [launch.python, "-I", "-m", "ai_memory", "--version"], capture_output=True, encoding="utf-8", check=False
        )
    except OSError:
        return None
    return done.stdout.strip().removeprefix("ai-memory ") or None


def _checked(launch: "Launch") -> tuple[tuple[CheckRow, ...], tuple[str, ...]]:
    """Whether what agents start is where they look for it, and answers."""
    if not (Path(launch.python).exists() and (Path(launch.package) / "hook.py").exists()):
        return (), ("what agents start lies elsewhere now: run `ai-memory setup` again",)
    checks = (CheckRow("", "hooks", check_hook(launch, "codex")), CheckRow("", "mcp", check_bridge(launch)))
    return checks, ()


def upgrade_text(result: Upgraded) -> str:
    """The version, how it came here, what upgrades it; or what was done."""
    if result.outcome == "upgraded":
        lines = [f"upgraded: {result.version} → {result.version_after or 'a version that does not tell its number'}"]
        lines += [f"{one.what}: {one.fault or 'answers'}" for one in result.checks]
        if result.checks:
            lines.append("hooks and MCP entries of your agents keep their paths; start running agents again")
        return "\n".join(lines)
    lines = [f"ai-memory {result.version}, installed {result.about}", f"environment  {result.prefix}"]
    lines += [f"from         {result.source}"] if result.source else []
    lines.append(f"upgrade      {result.command}")
    if result.outcome == "would_upgrade":
        lines.append("`ai-memory upgrade --confirm` runs the installer, not git; a failure leaves what runs now")
    else:
        lines.append("then `ai-memory doctor` says whether your agents still find it")
    return "\n".join(lines)
