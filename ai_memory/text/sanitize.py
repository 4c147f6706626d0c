"""The only place that makes `Sanitized` text: private parts out, secrets out, then cut to length, in this order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ai_memory.model import Sanitized
from ai_memory.scrub import BETWEEN, UNSCANNED, TooSlow, cut_middle, holds_none, scrub, strip_private
from ai_memory.text.labels import quote_labels


@dataclass(frozen=True, slots=True)
class OwnPatterns:
    """The regular expressions of `[sanitize]` in the configuration."""

    extra: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


NO_PATTERNS = OwnPatterns()


def sanitize(text: str, *, extra: Iterable[str] = (), allow: Iterable[str] = ()) -> Sanitized:
    """The text as it may be stored: without `<private>` parts, secrets, control characters. Idempotent.

    `extra` and `allow` are the regular expressions of `[sanitize]` in the configuration. Errors: TooSlow, for those.
    """
    return Sanitized(scrub(strip_private(text), extra=extra, allow=allow))


def sanitize_together(texts: Sequence[str], own: OwnPatterns = NO_PATTERNS) -> list[Sanitized]:
    """Each text as `sanitize` gives it, at the price of one look where none holds anything.

    Nearly every pattern of a look only finds that its literal is not there, which costs the same for one text as for
    three short ones. Where the look changes anything, each text is sanitised by itself. Of a text over which a
    person's own patterns take too long nothing is left.
    """
    joined = BETWEEN.join(texts)
    is_clean = sanitize(joined) == joined
    return [_sanitized_in_time(text, own, is_clean=is_clean) for text in texts]


def _sanitized_in_time(text: str, own: OwnPatterns, *, is_clean: bool) -> Sanitized:
    try:
        if is_clean and holds_none(text, own.extra):
            return Sanitized(text)
        return sanitize(text, extra=own.extra, allow=own.allow)
    except TooSlow:
        return Sanitized(UNSCANNED)


def sanitize_line(text: str) -> Sanitized:
    """The text on one line, as a name, a commit's subject or a log keeps it: blanks and line ends become one blank."""
    return Sanitized(" ".join(sanitize(text).split()))


def sanitize_edit(before: str, after: str, *, extra: Iterable[str] = (), allow: Iterable[str] = ()) -> Sanitized:
    """`after` as it may replace the stored `before`: what is new in it without secrets, what stood there untouched.

    `<private>` parts stay: a page is written on purpose, and may speak of the tag. Lines are compared, so a stored line
    that is only moved keeps its bytes.
    """
    if not before:
        return _readable(scrub(after, extra=extra, allow=allow), after)
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    # Comparing all lines of a page of which one link changed took a sixth of a rename (2026-11-30).
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    pieces = new[:head]
    for tag, _, _, start, end in matcher.get_opcodes():
        lines = "".join(new[head + start : head + end])
        pieces.append(lines if tag == "equal" else scrub(lines, extra=extra, allow=allow))
    return _readable("".join([*pieces, *new[len(new) - tail :]]), after)


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines at the beginning are the same."""
    pairs = zip(old, new, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new)))


def sanitize_again(text: str, own: OwnPatterns) -> Sanitized:
    """A text made of sanitised ones, as `sanitize` gives it; where a person's own patterns take too long, they saw the
    parts already."""
    try:
        return sanitize(text, extra=own.extra, allow=own.allow)
    except TooSlow:
        return sanitize(text, allow=own.allow)


def sanitize_page(text: str, own: OwnPatterns = NO_PATTERNS) -> Sanitized:
    """A whole page of our own making, as `sanitize_again` gives it, and its frontmatter still YAML."""
    return _readable(sanitize_again(text, own), text)


def _readable(clean: str, text: str) -> Sanitized:
    return Sanitized(clean if clean == text else quote_labels(clean))


def first(text: Sanitized, length: int) -> Sanitized:
    """At most so many characters of its beginning."""
    return Sanitized(text[:length])


def cap(text: Sanitized, limit_bytes: int) -> Sanitized:
    """The text in at most `limit_bytes` of UTF-8: head and tail kept, what was cut counted between them.

    Takes only what was sanitised: cutting first would split a secret and leave half of it.
    """
    return Sanitized(cut_middle(text, limit_bytes))
