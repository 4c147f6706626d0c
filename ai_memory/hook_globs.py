"""Globs of `ignore_paths`: `*`, `?`, `**`. Part of the hook, loaded where paths are ignored; bounded work.

Out of steps, a glob fits: what cannot be told is not kept.
"""


def fits(pattern: str, path: str, steps: "list[int]") -> bool:
    """Whether a glob of `*`, `?`, `**` names the path or a folder above it. A pattern without `/` fits at any depth."""
    names = [name for name in path.split("/") if name]
    parts = [part for part in pattern.strip("/").split("/") if part]
    if not parts:
        return False
    if "/" not in pattern.strip("/") and not pattern.startswith("/"):
        parts = ["**", *parts]
    reached = _closure({0}, parts)
    for name in names:
        ahead: set[int] = set()
        for at in reached:
            if at >= len(parts):
                return True  # a folder above matched whole
            if parts[at] == "**":
                ahead.add(at)
            elif _fits(parts[at], name, steps):
                ahead.add(at + 1)
            if steps[0] <= 0:
                return True
        reached = _closure(ahead, parts)
        if not reached:
            return False
    return len(parts) in reached


def _closure(reached: "set[int]", parts: "list[str]") -> "set[int]":
    """`**` also stands for no name at all."""
    more = set(reached)
    for at in reached:
        while at < len(parts) and parts[at] == "**":
            at += 1
            more.add(at)
    return more


def _fits(part: str, name: str, steps: "list[int]") -> bool:
    """One name against one part; a star restarts at most once a sign, so the work is their product."""
    at = here = 0
    star, mark = -1, 0
    while here < len(name):
        steps[0] -= 1
        if steps[0] <= 0:
            return True
        if at < len(part) and (part[at] == "?" or part[at] == name[here]) and part[at] != "*":
            at, here = at + 1, here + 1
        elif at < len(part) and part[at] == "*":
            star, mark, at = at, here, at + 1
        elif star >= 0:
            mark += 1
            at, here = star + 1, mark
        else:
            return False
    return not part[at:].strip("*")
