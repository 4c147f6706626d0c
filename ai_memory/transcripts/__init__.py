"""Agents' own records of their sessions: where they lie, and what they tell, in one form for all harnesses."""
