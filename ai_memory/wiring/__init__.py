"""Wiring agents: what is ours into their settings, and out again. No other room writes outside the data dir."""
