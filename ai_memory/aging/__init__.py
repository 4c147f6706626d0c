"""How what is kept grows old: weights, what is left of a page, which pages say the same. Pure functions."""
