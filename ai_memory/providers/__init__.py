"""Models behind small protocols. Each module imports its packages when a model is really asked for."""
