"""The stdio MCP face."""
