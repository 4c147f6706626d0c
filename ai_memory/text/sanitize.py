"""The only place that makes `Sanitized` text: private parts out, secrets out, then cut to length, in this order."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from ai_memory.model import Sanitized
from ai_memory.scrub import BETWEEN, cut_middle, scrub, strip_private
from ai_memory.text.labels import quote_labels


def sanitize(text: str, *, extra: Iterable[str] = (), allow: Iterable[str] = ()) -> Sanitized:
    """The text as it may be stored: without `<private>` parts, secrets, control characters. Idempotent.

    `extra` and `allow` are the regular expressions of `[sanitize]` in the configuration.
    """
    return Sanitized(scrub(strip_private(text), extra=extra, allow=allow))


def sanitize_together(texts: Sequence[str]) -> list[Sanitized]:
    """Each text as `sanitize` gives it, at the price of one look where none holds anything.

    Nearly every pattern of a look only finds that its literal is not there, which costs the same for one text as for
    three short ones. Where the look changes anything, each text is sanitised by itself.
    """
    joined = BETWEEN.join(texts)
    if sanitize(joined) == joined:
        return [Sanitized(text) for text in texts]
    return [sanitize(text) for text in texts]


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
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    pieces = []
    for tag, _, _, start, end in matcher.get_opcodes():
        lines = "".join(new[start:end])
        pieces.append(lines if tag == "equal" else scrub(lines, extra=extra, allow=allow))
    return _readable("".join(pieces), after)


def sanitize_page(text: str) -> Sanitized:
    """A whole page of our own making, as `sanitize` gives it, and its frontmatter still YAML."""
    return _readable(sanitize(text), text)


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
