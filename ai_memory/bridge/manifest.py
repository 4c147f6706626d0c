"""The tools and the greeting, made from the operation table.

`python -m ai_memory.bridge.manifest` writes them to `manifest.json`, out of which the front door answers.
"""

import json
import sys
from pathlib import Path
from typing import Any

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from ai_memory import __version__
from ai_memory.bridge.calls import tool_parameters
from ai_memory.bridge.instructions import INSTRUCTIONS
from ai_memory.bridge.options import MANIFEST_FORMAT
from ai_memory.operations.signature import json_schema
from ai_memory.operations.table import OPERATIONS, Operation

MANIFEST = Path(__file__).with_name("manifest.json")
METHODS = ("initialize", "ping", "tools/call", "tools/list")
"""What the server serves; anything else is no method of it."""


def tool(operation: Operation) -> dict[str, Any]:
    """One entry of tools/list: flat schema, title and all four hints, no output schema (decision C11)."""
    description = " ".join((operation.load().__doc__ or "").split())
    return {
        "name": operation.tool,
        "description": description,
        "inputSchema": json_schema(tool_parameters(operation)),
        "annotations": {
            "title": operation.title,
            "readOnlyHint": operation.read_only,
            "destructiveHint": operation.destructive,
            "idempotentHint": operation.idempotent,
            "openWorldHint": operation.open_world,
        },
    }


def tool_rows() -> list[dict[str, Any]]:
    """`{profile, tool}` of every operation that the bridge serves, in the order of the table."""
    return [{"profile": operation.profile, "tool": tool(operation)} for operation in OPERATIONS if operation.tool]


def manifest() -> dict[str, Any]:
    """All that the front door answers by itself."""
    return {
        "format": MANIFEST_FORMAT,
        "version": __version__,
        "protocol_versions": list(HANDSHAKE_PROTOCOL_VERSIONS),
        "methods": list(METHODS),
        "initialize": {
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "ai-memory", "version": __version__},
            "instructions": INSTRUCTIONS,
        },
        "tools": tool_rows(),
    }


def main() -> None:
    """Writes the file beside this module."""
    MANIFEST.write_text(json.dumps(manifest(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{MANIFEST.name}: {len(manifest()['tools'])} tools\n")


if __name__ == "__main__":
    main()
