"""Long-term memory for coding agents: one wiki, many harnesses, no server."""

__version__ = "0.1.0"
