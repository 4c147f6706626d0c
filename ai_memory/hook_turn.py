"""One turn of a conversation that a client tells by itself, since its program runs no hooks.

It goes the way of a hook's event: policy, sanitiser and caps, the spool, the drain. At the first turn of a session the
client is given what a start hook would print.
"""

import hashlib

from ai_memory import hook_call, hook_packet, hook_spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KINDS = {"user": "user-prompt", "assistant": "stop"}
"""Role → what is captured: an answer ends a turn, and its text is kept only where answers are."""
SOURCE = "capture-turn"


class Turn:
    """What became of one turn. `outcome`: accepted, dropped or refused; `reason`: why not, or why without its text;
    `text`: what the session is told."""

    __slots__ = ("outcome", "reason", "text")

    def __init__(self, outcome: str, reason: str) -> None:
        self.outcome = outcome
        self.reason = reason
        self.text = ""


class Named:
    """A project that was named, whatever the folder. `keys`: of what is handed over to all of it; `told`: what a start
    there is told of."""

    __slots__ = ("keys", "project", "told", "workspace")

    def __init__(self, workspace: str, project: str, keys: "list[str]", told: str) -> None:
        self.workspace = workspace
        self.project = project
        self.keys = keys
        self.told = told


def take_turn(
    data_dir: str,
    environ: "Mapping[str, str]",
    *,
    agent: str,
    session: str,
    index: int,
    role: str,
    text: str,
    cwd: str,
    compile: "Callable[[str], None]",
    named: "Named | None" = None,
) -> Turn:
    """Leave the turn in the spool, start a drain, and give the session's first turn what waits for it.

    `compile` makes the policy in a folder known: no start hook brought a drain in before these words.
    `cwd` is empty where a project is `named` in which the caller does not stand.
    The same session and index twice are one turn. *Errors*: OSError when the spool cannot be written; nothing is taken
    then. *Crash*: the event lies there or not; a handoff that was taken and not confirmed is open again after a minute.
    """
    options = hook_call.Options([])
    options.event = KINDS[role]
    options.producer = {"source-event": SOURCE, "ingest-key": _key(agent, session, index)}
    said = {"prompt": text} if role == "user" else {"last_assistant_message": text}
    payload = {"session_id": session, "cwd": cwd, **said}
    is_off = hook_call.is_off(environ)
    call = hook_call.Call(options, payload, agent=agent, data_dir=data_dir, flags=[], is_off=is_off)
    call.is_staying = True
    call.compile = compile
    if named is not None:
        call.named = {"workspace": named.workspace, "project": named.project}
        call.cwd = cwd  # none is none: the folder of this process is no better
    is_alive = hook_spool.is_drain_alive(data_dir)
    turn = Turn(*call.put())
    if turn.outcome == "accepted":
        is_alive = hook_spool.kick(data_dir, call.kind, 0, is_staying=True) or is_alive
    if turn.outcome != "refused" and not is_off and not call.pause():
        turn.text = _told(call, named, is_alive=is_alive)
    return turn


def _told(call: "hook_call.Call", named: "Named | None", *, is_alive: bool) -> str:
    """What the start of the session is given; nothing at its later turns."""
    policy, around = call.policy()
    if not around.folders and named is None:
        return ""
    start = call.start_in(around)
    if named is not None:
        start.keys += named.keys
    start.source = "startup"
    was_pending = start.is_ending() or is_alive
    if not start.is_first():
        return ""
    told = named.told if named is not None and not around.folders else ""
    packet = hook_packet.Packet(
        start, base=policy.base, markers=around.markers(), told=told, most_bytes=policy.start_bytes
    )
    packet.at_start(claims=policy.claims, was_pending=was_pending, is_renewed=is_alive)
    if packet.handoff:
        call.confirm(packet.handoff, policy)
    return packet.text


def _key(agent: str, session: str, index: int) -> str:
    return hashlib.sha256(f"{agent}\0{session}\0{index}".encode("utf-8", "replace")).hexdigest()[:32]
