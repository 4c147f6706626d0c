"""How pages grow old: what they are worth, by what was said of them and how they are used. Pure functions."""
