"""Which regular expressions of a person may take for ever: a repetition of what repeats itself, as in `(a+)+b`.

*Source*: backtracking tries every way to share the text out between the two, which is exponential in its length.
"""

MANY = 16
"""A repetition of at most so many does little harm inside another one."""


def repeats_a_repetition(pattern: str) -> bool:
    """Whether a group that holds an open repetition is itself repeated without bound.

    One that gives nothing back does no harm, neither inside (`(?:a++b)+`) nor outside (`(?:a+)++`). Looks at the text
    of a pattern that compiles; the shape is what counts, so `(?:\\w+,)+` is one too, though it is slow on no text.
    """
    holds_one = [False]  # of the groups that are open here, from the outermost
    was_group = False  # whether the item before this place is a group that holds one
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        item_end = _end_of_item(pattern, at)
        if sign == "(":
            holds_one.append(False)
            was_group = False
        elif sign == ")" and len(holds_one) > 1:
            was_group = holds_one.pop()
            holds_one[-1] |= was_group
        elif sign in "*+{" and (length := _open_repetition(pattern, at)):
            item_end = at + length
            if pattern[item_end : item_end + 1] == "+":
                item_end += 1
            elif was_group:
                return True
            else:
                holds_one[-1] = True
            was_group = False
        elif sign != "?":
            was_group = False
        at = item_end
    return False


def _end_of_item(pattern: str, at: int) -> int:
    """Index behind the escape, the class, the opening of a group or the single sign at `at`."""
    if pattern[at] == "\\":
        return at + 2
    if pattern.startswith("(?", at):
        return at + 2
    if pattern[at] != "[":
        return at + 1
    at += 2 if pattern.startswith("[^", at) else 1
    at += 1  # a bracket that comes first is a sign of the class
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _open_repetition(pattern: str, at: int) -> int:
    """Length of the quantifier at `at` when it allows for more than a few, else 0."""
    if pattern[at] in "*+":
        return 1
    inner, close, _ = pattern[at + 1 :].partition("}")
    least, comma, most = inner.partition(",")
    if not close or not (least or comma) or not (least + most).isdecimal():
        return 2 + len(inner) if close and inner == "," else 0
    most = most if comma else least
    return 0 if most and int(most) <= MANY else 2 + len(inner)
