"""Rot in the pages: what is stale, broken, said twice, in conflict, or should not lie there."""
