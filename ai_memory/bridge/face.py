"""The handlers of one connection: tools, prompts, resources, completion, logging. Work runs in threads of its own."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ai_memory import __version__
from ai_memory.bridge import completion, prompts, resources
from ai_memory.bridge.calls import Answer, Place
from ai_memory.bridge.client import Client
from ai_memory.bridge.instructions import INSTRUCTIONS
from ai_memory.bridge.notices import Notices, Progress, Release
from ai_memory.bridge.options import Options
from ai_memory.errors import MemoryFault
from ai_memory.operations.rows import PageRow
from ai_memory.operations.signature import takes_progress
from ai_memory.operations.table import OPERATION_BY_TOOL

PARALLEL_CALLS = 8
RESOURCE_NOT_FOUND = -32002
"""What the protocols with a handshake have for it; the newer ones have the code of wrong parameters."""

Result = TypeVar("Result")
Context = ServerRequestContext[Any]


class Face:
    """The handlers of one connection."""

    def __init__(self, options: Options, tools: list[dict[str, Any]]) -> None:
        self._tools = tools
        self._names = [tool["name"] for tool in tools]
        self._client = Client(options, frozenset(self._names))
        self._limiter = anyio.CapacityLimiter(PARALLEL_CALLS)
        self._notices = Notices()
        self._release = Release()

    def server(self) -> "Server[Any]":
        """The SDK's server around the handlers."""
        server: Server[Any] = Server(
            "ai-memory",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
            on_completion=self.complete,
        )
        server.middleware.clear()
        # Both are given so, since the constructor warns of what the newest protocol has dropped.
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self.set_level)
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self.roots_changed
        )
        return server

    async def list_tools(self, _context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """All tools at once: there is no second page."""
        _refuse_cursor(params, "tools")
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in self._tools])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """The answer as one text. A cancelled call that has not begun to write writes nothing; else it finishes."""
        if params.name in self._names:
            answer = await self._called(context, params.name, params.arguments or {})
        else:
            answer = Answer(f"error invalid: no tool {params.name!r}\ntools: {', '.join(self._names)}", is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)],
            structured_content=answer.structured,
            is_error=answer.is_error,
        )

    async def _called(self, context: Context, name: str, arguments: dict[str, Any]) -> Answer:
        started = time.monotonic()
        given_up = threading.Event()
        place = await self._client.place(context, given_up.is_set)
        function = await self._in_thread(OPERATION_BY_TOOL[name].load)
        progress = Progress(context, counts=takes_progress(function))
        work = partial(place.call, name, arguments, progress.report)
        try:
            answer = await progress.during(partial(self._in_thread, work))
        finally:  # the thread goes on after a cancellation, and asks
            given_up.set()
        await self._tell_of(context, name, answer, time.monotonic() - started)
        return answer

    async def _tell_of(self, context: Context, name: str, answer: Answer, seconds: float) -> None:
        if answer.cause:
            await self._notices.tell(context, "error", f"{name} failed: {answer.cause}; a log in the data dir has it")
        await self._notices.tell(context, "debug", f"{name}: {answer.code or 'ok'} after {seconds * 1000:.0f} ms")
        if news := self._release.news():
            await self._notices.tell(context, "warning", news)

    async def list_prompts(
        self, _context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """All prompts at once."""
        _refuse_cursor(params, "prompts")
        return types.ListPromptsResult(prompts=[_prompt(one) for one in prompts.PROMPTS])

    async def get_prompt(self, _context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """One message, as the person's."""
        try:
            text = prompts.text_of(params.name, params.arguments or {}, self._names)
        except MemoryFault as fault:
            raise MCPError(code=types.INVALID_PARAMS, message=f"{fault.message}; {fault.hint}") from fault
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompts.BY_NAME[params.name].description, messages=[message])

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Pages of this project, newest first."""
        place = await self._client.place(context)
        cursor = params.cursor if params else None
        found = await self._asked(context, place, lambda: resources.listed(place, cursor))
        return types.ListResourcesResult(resources=[_resource(row) for row in found.rows], next_cursor=found.cursor)

    async def list_templates(
        self, _context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """The one form of a page's URI."""
        _refuse_cursor(params, "templates")
        template = types.ResourceTemplate(
            name="page",
            title="Page",
            uri_template=resources.TEMPLATE,
            description="One page of the memory, of any project.",
            mime_type=resources.MIME_TYPE,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """The page as a tool gives it, in its fence."""
        place = await self._client.place(context)
        text = await self._asked(context, place, lambda: resources.read_text(place, params.uri))
        content = types.TextResourceContents(uri=params.uri, mime_type=resources.MIME_TYPE, text=text)
        return types.ReadResourceResult(contents=[content])

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Names of workspaces and projects, paths of pages."""
        if isinstance(params.ref, types.PromptReference):
            is_ours = params.ref.name in prompts.BY_NAME
        else:
            is_ours = params.ref.uri == resources.TEMPLATE
        if not is_ours:
            raise MCPError(code=types.INVALID_PARAMS, message="nothing of ours has that name")
        place = await self._client.place(context)
        known = (params.context.arguments if params.context else None) or {}
        asked = params.argument
        found = await self._asked(context, place, lambda: completion.completed(place, asked.name, asked.value, known))
        told = types.Completion(values=list(found.values), total=found.total, has_more=found.total > len(found.values))
        return types.CompleteResult(completion=told)

    async def set_level(self, _context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        """How severe a log message must be."""
        self._notices.set_level(params.level)
        return types.EmptyResult()

    async def roots_changed(self, _context: Context, _params: types.NotificationParams) -> None:
        """Asks again before the next call."""
        self._client.forget_roots()

    async def _asked(self, context: Context, place: Place, question: Callable[[], Result]) -> Result:
        """The answer from a worker thread. Errors: MCPError for an expected fault."""
        try:
            return await self._in_thread(question)
        except MemoryFault as fault:
            message = resources.fault_line(fault, place)
            raise MCPError(code=_code(context, fault), message=message) from fault

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)


def _code(context: Context, fault: MemoryFault) -> int:
    if fault.code == "not_found" and context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return RESOURCE_NOT_FOUND
    return types.INTERNAL_ERROR if fault.code in ("busy", "internal") else types.INVALID_PARAMS


def _refuse_cursor(params: types.PaginatedRequestParams | None, what: str) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(code=types.INVALID_PARAMS, message=f"there is one page of {what}: leave out cursor")


def _prompt(prompt: prompts.Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=name, description=text, required=False) for name, text in prompt.arguments.items()
    ]
    return types.Prompt(name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments)


def _resource(row: PageRow) -> types.Resource:
    return types.Resource(
        name=row.path,
        title=resources.shown(row.title),
        uri=resources.uri_of(row.workspace, row.project, row.path),
        description=f"{row.kind} in {row.workspace}/{row.project}",
        mime_type=resources.MIME_TYPE,
        annotations=types.Annotations(last_modified=row.updated_at),
    )
