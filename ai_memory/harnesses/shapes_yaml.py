"""Fragments of YAML, printed for a person to paste: no file of that syntax is written."""

import json
from collections.abc import Mapping

from ai_memory.harnesses.edits import Json, Syntax
from ai_memory.harnesses.launch import Launch
from ai_memory.harnesses.machine import Place
from ai_memory.harnesses.record import McpFile
from ai_memory.harnesses.shapes_events import stdio


def yaml(value: Mapping[str, Json]) -> str:
    """The value in block form. Texts are quoted as JSON does it, which is YAML, too."""
    return "\n".join(_lines(value, 0)) + "\n"


def _lines(value: Json, depth: int) -> list[str]:
    indent = "  " * depth
    if isinstance(value, Mapping):
        return [line for key, inner in value.items() for line in _pair(key, inner, depth)]
    if isinstance(value, (list, tuple)):
        lines = []
        for one in value:
            first, *rest = _lines(one, depth + 1)
            lines += [f"{indent}- {first.strip()}", *rest]
        return lines
    return [f"{indent}{json.dumps(value, ensure_ascii=False)}"]


def _pair(key: str, inner: Json, depth: int) -> list[str]:
    indent = "  " * depth
    if isinstance(inner, (Mapping, list, tuple)):
        return [f"{indent}{key}:", *_lines(inner, depth + 1)]
    return [f"{indent}{key}: {json.dumps(inner, ensure_ascii=False)}"]


def printed_server(place: Place) -> McpFile:
    """Our MCP server in a file of YAML, for a person to paste."""
    return McpFile(
        place, keys=("mcp_servers", "ai-memory"), entry=stdio, syntax=Syntax.WHOLE, is_printed=True, text=yaml_server
    )


def yaml_server(launch: Launch) -> str:
    """Our MCP server under `mcp_servers`."""
    program, *rest = launch.bridge_argv()
    return yaml({"mcp_servers": {"ai-memory": {"command": program, "args": rest}}})
