"""Who is at the other end: agent and session, the folder and roots it works in, the scope of calls that name none."""

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ai_memory.bridge.calls import Pins, Place
from ai_memory.bridge.options import Options
from ai_memory.harnesses.around import session_around
from ai_memory.hook_harnesses import canonical_agent
from ai_memory.hook_places import session_uuid
from ai_memory.model import Caller, never
from ai_memory.paths import find_data_dir

ROOTS_TIMEOUT_S = 2.0
"""A client that offers roots and does not answer costs this much, once."""

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "claude-ai": "claude-desktop",
        "codex-mcp-client": "codex",
        "cursor-vscode": "cursor",
        "gemini-cli-mcp-client": "gemini-cli",
        "visual studio code": "vscode",
    }
)
"""What clients call themselves where that is not the harness's id or an alias of it."""

SESSION_KEYS: Mapping[str, str] = MappingProxyType({"opencode": "ai.opencode/sessionID"})
"""Harness → key in a request's `_meta` that names its session."""


class Client:
    """One connection's other end. Roots are asked for once, and again when the client says that they changed."""

    def __init__(self, options: Options, served: frozenset[str]) -> None:
        self._data_dir = find_data_dir(options.data_dir, os.environ)
        self._agent = options.agent
        self._pins = Pins(options.workspace, options.project)
        self._served = served
        self._is_structured = options.structured
        self._cwd = _cwd()
        self._roots: tuple[str, ...] | None = None
        self._asking = anyio.Lock()

    async def place(self, context: ServerRequestContext[Any], is_given_up: Callable[[], bool] = never) -> Place:
        """Where this request is made; `is_given_up` says whether the client has cancelled it."""
        async with self._asking:
            if self._roots is None:
                self._roots = await _offered_roots(context.session)
        agent = self._agent or agent_named(context.session)
        caller = Caller(
            cwd=self._cwd,
            environ=os.environ,
            home=os.path.expanduser("~"),
            face="bridge",
            roots=self._roots,
            session_id=session_of(agent, context.meta, os.environ) or None,
            agent=agent or None,
            is_given_up=is_given_up,
        )
        name = client_named(context.session)
        return Place(self._data_dir, caller, self._pins, self._served, self._is_structured, name)

    def forget_roots(self) -> None:
        """Asks again before the next call."""
        self._roots = None


def agent_named(session: ServerSession) -> str:
    """The harness that the client says it is; empty for a client that is none."""
    name = client_named(session)
    agent = canonical_agent(NAMES.get(name, name)) if name else ""
    return "" if agent == "other" else agent


def client_named(session: ServerSession) -> str:
    """What the client calls itself, in small letters; empty where it does not say."""
    params = session.client_params
    return "" if params is None or params.client_info is None else params.client_info.name.strip().lower()


def session_of(agent: str, meta: Mapping[str, Any] | None, environ: Mapping[str, str]) -> str:
    """Id of the agent's session, by the request or by the variable of this agent: another's may be inherited."""
    told = (meta or {}).get(SESSION_KEYS.get(agent, ""))
    if isinstance(told, str) and told:
        return session_uuid(agent, told)
    return session_around(environ, agent=agent)[1] if agent else ""


async def _offered_roots(session: ServerSession) -> tuple[str, ...]:
    """URIs of the folders that the client works in; none when it offers none or does not answer."""
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or not session.can_send_request:
        return ()
    try:
        listed = await session.send_request(
            types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=ROOTS_TIMEOUT_S
        )
    except (MCPError, ValidationError):
        return ()
    return tuple(str(root.uri) for root in listed.roots)


def _cwd() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None
