"""Remote URLs as identities: `host/owner/repo`, the same for every way to write one remote.

*Source*: git-clone(1), "GIT URLS". Only strings are read: `url.<base>.insteadOf` is not applied, so that one remote has
one identity on every machine.
"""

import re
import unicodedata

MAX_URL = 2048
_FOLDING_HOSTS = frozenset(("github.com", "gitlab.com", "bitbucket.org", "codeberg.org"))
"""Hosts that take `Acme/API` and `acme/api` for one repository; elsewhere case may tell two apart."""
_HOST_ALIASES = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Doors of one host for networks that close port 22, as the hosts document them."""

_SCHEME = re.compile(r"(?i)(https?|ssh|git|ftps?|git\+ssh|ssh\+git|git\+https?)://(.*)", re.DOTALL)
_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.%]+\]|[^\s\[\]:/\\@?#]+)(?::(?P<port>[0-9]*))?", re.IGNORECASE)
_SCP_HOST = re.compile(r"\[(?P<bare>[^\s\[\]@/]+)\]:(?P<path1>.*)|(?P<host>[^\s\[\]@/:]+):(?P<path2>.*)", re.DOTALL)
_PATH = re.compile(r"[^\s\x7f\\@?#]+")


def normalise_remote(url: str) -> str | None:
    """The identity that a remote URL gives; None for a local path and for what is not plainly a remote.

    Credentials, scheme, port, query, `.git` and final slashes go; the host is lower case. A URL whose parts cannot be
    told apart for sure (an `@` left in the path may end a password) gives None: better no identity than a secret.
    """
    text = unicodedata.normalize("NFC", url.strip())
    if not text or len(text) > MAX_URL or any(unicodedata.category(c) in ("Cc", "Cs") for c in text):
        return None
    if scheme := _SCHEME.fullmatch(text):
        plain = re.split(r"[?#]", scheme[2], maxsplit=1)[0]
        authority, _, path = plain.partition("/")
        if "@" in scheme[2][len(plain) :] and "@" not in authority:
            return None
        parts = _AUTHORITY.fullmatch(authority.rpartition("@")[2])
        return _identity(parts["host"], path) if parts else None
    is_helper = "://" in text or "::" in re.sub(r"\[[^\]]*\]", "", text, count=1)  # `ext::command` and its like
    return None if is_helper else _from_scp(text)


def normalise_identity(text: str) -> str | None:
    """The identity that a person wrote into a marker: a remote URL, or `host/owner/repo` as it is shown."""
    if _SCHEME.fullmatch(text.strip()):
        return normalise_remote(text)
    host, slash, path = text.strip().partition("/")
    is_host = "@" not in host and (":" not in host or (host[0] == "[" and host[-1] == "]"))
    if slash and is_host and host.strip(".~"):
        return normalise_remote(f"https://{host}/{path}")
    return normalise_remote(text)


def _from_scp(text: str) -> str | None:
    """`user@host:path`, as ssh has it; a colon after a slash, or a one-letter host (a drive), is a local path."""
    head, slash, tail = text.partition("/")
    parts = _SCP_HOST.fullmatch(head.rpartition("@")[2] + slash + tail)
    if not parts:
        return None
    if parts["host"]:
        return None if len(parts["host"]) == 1 else _identity(parts["host"], parts["path2"])
    host = parts["bare"]
    is_port = re.fullmatch(r"[^:]+:[0-9]+", host)
    return _identity(host.partition(":")[0] if is_port else f"[{host}]" if ":" in host else host, parts["path1"])


def _identity(host: str, path: str) -> str | None:
    host = unicodedata.normalize("NFC", host.lower()).rstrip(".")
    host = _HOST_ALIASES.get(host, host)
    segments = [part for part in path.split("/") if part not in ("", ".")]
    while segments and segments[-1].lower().endswith(".git"):
        segments[-1:] = [rest for rest in (segments[-1][:-4],) if rest not in ("", ".")]
    trimmed = "/".join(segments)
    if host in _FOLDING_HOSTS:
        trimmed = unicodedata.normalize("NFC", trimmed.lower())
    is_name = any(character.isalnum() for character in host)
    if ".." in segments or not is_name or not _AUTHORITY.fullmatch(host) or not _PATH.fullmatch(trimmed):
        return None
    return f"{host}/{trimmed}"
