"""Which workspace and project a directory belongs to, read without starting git."""

from ai_memory.text.names import is_reserved_project as is_reserved

__all__ = ["is_reserved"]
