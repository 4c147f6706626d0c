"""The tools and the greeting, made from the operation table.

`python -m ai_memory.bridge.manifest` writes them to `manifest.json`, out of which the front door answers.
"""

import json
import sys
from pathlib import Path
from typing import Any

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from ai_memory import __version__
from ai_memory.bridge.instructions import INSTRUCTIONS
from ai_memory.bridge.options import MANIFEST_FORMAT
from ai_memory.bridge.shapes import output_schema
from ai_memory.bridge.takes import tool_parameters
from ai_memory.operations.signature import json_schema, tool_text
from ai_memory.operations.table import OPERATIONS, Operation

MANIFEST = Path(__file__).with_name("manifest.json")
METHODS = (
    *("completion/complete", "initialize", "logging/setLevel", "ping", "prompts/get", "prompts/list"),
    *("resources/list", "resources/read", "resources/templates/list", "tools/call", "tools/list"),
)
"""What the server serves; anything else is no method of it."""

CAPABILITIES: dict[str, dict[str, bool]] = {
    "completions": {},
    "logging": {},
    "prompts": {"listChanged": False},
    "resources": {"subscribe": False, "listChanged": False},
    "tools": {"listChanged": False},
}


def tool(operation: Operation, *, structured: bool = False) -> dict[str, Any]:
    """One entry of tools/list: flat schema, title, all four hints; an output schema only on demand (decision C11)."""
    return {
        "name": operation.tool,
        "description": " ".join(tool_text(operation.load()).split()),
        **({"outputSchema": output_schema(operation)} if structured else {}),
        "inputSchema": json_schema(tool_parameters(operation)),
        "annotations": {
            "title": operation.title,
            "readOnlyHint": operation.read_only,
            "destructiveHint": operation.destructive,
            "idempotentHint": operation.idempotent,
            "openWorldHint": operation.open_world,
        },
    }


def tool_rows(*, structured: bool = False) -> list[dict[str, Any]]:
    """`{profile, tool}` of every operation that the bridge serves, in the order of the table."""
    offered = [operation for operation in OPERATIONS if operation.tool]
    return [{"profile": one.profile, "tool": tool(one, structured=structured)} for one in offered]


def manifest() -> dict[str, Any]:
    """All that the front door answers by itself."""
    return {
        "format": MANIFEST_FORMAT,
        "version": __version__,
        "protocol_versions": list(HANDSHAKE_PROTOCOL_VERSIONS),
        "methods": list(METHODS),
        "initialize": {
            "capabilities": CAPABILITIES,
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
