"""Secrets in addresses and cookies: `https://ann:…@host`, `https://<token>@host`, `Cookie: sid=…`.

Standard library only. Part of `ai_memory.scrub`, loaded where a text holds one of their literals.
"""

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Redact = Callable[[str, str], str]

_SLASHES = r"(://)"
_ESCAPED_SLASHES = r"(:(?://|\\{1,15}+/\\{1,15}+/))"
"""JSON may write `\\/`, and be written in JSON."""
_USERINFO = (
    r"([^\s/?#@:\[\"'<>`]{0,256}+)"
    r"(?::((?:[^\s/@\"'<>`]{0,512}+@){1,8}+)|@)"  # people write an `@` of a password as it is
)
_ORACLE = r"jdbc:oracle:[a-z0-9]{1,8}+:[^\s/@:\"']{1,64}+/([^\s@\"'/]{3,128}+)@"
_COOKIE = (
    r"(?:cookie2?[\"'\\]{0,4}+[ \t]{0,4}+[:=][ \t]{0,4}+|\bcurl\b[^\n]{0,200}? -b[ =]{0,2}+|--cookie[ =])[\"'\\]{0,4}+"
    r"([A-Za-z0-9_.$%-]{1,128}+=[^\r\n\"'\\(){}<>]{0,8192}+)"
)
_ATTRIBUTES = ("path", "domain", "expires", "max-age", "samesite", "version", "comment")
_EXAMPLES = ("password", "pass", "passwd", "pwd", "pw", "secret", "token", "x-oauth-basic")
"""What documents write where a password stands, and what GitHub's own do."""


def without_url_secrets(text: str, redact: "Redact", is_mixed: "Callable[[str], bool]") -> str:
    """The text without passwords, and tokens in the place of a user, in URLs and in the DSN of Go's MySQL driver."""

    def replace(match: "re.Match[str]") -> str:
        user, password = match[2], (match[3] or "")[:-1]
        kept_user, kept = user, password
        if len(user) >= 20 and _is_plain(user) and is_mixed(user):
            kept_user = redact("url-token", user)
        if len(password) >= 4 and not _is_example(password) and not _is_port(password):
            kept = redact("url-password", password)
        return f"{match[1]}{kept_user}{':' if match[3] else ''}{kept}@"

    text = re.sub((_ESCAPED_SLASHES if ":\\" in text else _SLASHES) + _USERINFO, replace, text)
    if "jdbc:oracle:" in text.lower():
        text = _replaced(_ORACLE, text, lambda secret: redact("url-password", secret))
    for literal in ("@tcp(", "@unix("):
        if literal in text:
            text = _without_dsn_passwords(text, literal, redact)
    return text


def without_cookies(text: str, redact: "Redact", is_mixed: "Callable[[str], bool]") -> str:
    """The text without the values of cookies that look made by a machine; their names stay."""

    def replace(match: "re.Match[str]") -> str:
        name, value = match[1], match[2]
        if name.lower().strip(" ;") in _ATTRIBUTES or value.startswith("[REDACTED:") or not is_mixed(value):
            return match[0]
        return f"{name}={redact('cookie', value)}"

    return _replaced(_COOKIE, text, lambda pairs: re.sub(r"([^\s;=,]{1,128}+)=([^\s;,]{8,}+)", replace, pairs))


def _replaced(pattern: str, text: str, replace: "Callable[[str], str]") -> str:
    """The text with the first group of each match, in whatever case, put through `replace`."""
    kept: list[str] = []
    at = 0
    low = text.lower()
    is_aligned = len(low) == len(text)  # then no letter changed its place, and the search is a fast one
    for match in re.finditer(pattern, low if is_aligned else text, 0 if is_aligned else re.IGNORECASE):
        kept += [text[at : match.start(1)], replace(text[slice(*match.span(1))])]
        at = match.end(1)
    return "".join([*kept, text[at:]])


def _is_plain(user: str) -> bool:
    return not any(sign in user for sign in "${}%()[]")


def _is_port(password: str) -> bool:
    """A port, with the parameters of JDBC behind it."""
    return password.replace(",", ";").partition(";")[0].isdecimal() and (";" in password or "," in password)


def _is_example(password: str) -> bool:
    if "[REDACTED:" in password or not password.strip("*xX.") or password.lower() in _EXAMPLES:
        return True
    if password.startswith("{"):
        return password.endswith("}")
    if password.startswith("$"):
        return password[1:2] in ("{", "(") or password[1:].replace("_", "a").isalnum()
    return password.startswith(("<", "%("))


def _without_dsn_passwords(text: str, literal: str, redact: "Redact") -> str:
    """`user:password@tcp(host)`: looked for from its end, since nothing stands before it."""
    kept: list[str] = []
    at = 0
    while (end := text.find(literal, at)) >= 0:
        word = re.split(r"[\s\"'`]", text[max(at, end - 256) : end])[-1]
        user, colon, password = word.partition(":")
        start = end - len(password)
        if user and colon and len(password) >= 4 and "/" not in user and not _is_example(password):
            kept += [text[at:start], redact("url-password", password)]
            at = end
        kept.append(text[at : end + len(literal)])
        at = end + len(literal)
    return "".join([*kept, text[at:]])
