"""What ai-memory does: typed functions over a memory, listed in one table."""
