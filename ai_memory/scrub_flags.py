"""Secrets in the arguments of commands. Part of `ai_memory.scrub`, which loads it where a flag stands."""

_GAP = r"(?:[ \t]|\\\r?\n|\\{0,7}[\"'],\s{0,12}+\\{0,7}[\"']){1,8}+"
_ARGUMENT = (
    r"(?:''|\\{0,7}[\"'])?(?P<v>(?<=')[^'\n]{4,}+(?=')|(?<=\")(?!\$[A-Za-z_{(])[^\"\n\\]{4,}+(?=\\{0,7}\")"
    r"|[^\s\"'`<>|$({\[-][^\s\"'`<>|]{3,}+)"
)
"""What stands between a flag and its value: blanks, a line that goes on, the quotes of a list; the value."""

FLAGS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("cli-password", ("--pass",), rf"(?i)--pass(?:word|wd|phrase)?{_GAP}{_ARGUMENT}"),
    (
        "cli-password",
        ("curl",),
        rf"(?i)\bcurl\b[^\n]{{0,400}}?(?:-u|--user)(?:{_GAP}|=|(?=[\"']))(?P<q>''|\\{{0,3}}')?[^\s:\"'<>$]{{1,64}}+:"
        r"(?P<v>(?(q)[^'\n]|[^\s\"'<>$]){3,}+)",
    ),
    ("cli-password", ("sshpass",), rf"(?i)\bsshpass(?:{_GAP})-p(?:{_GAP})?{_ARGUMENT}"),
    ("cli-password", ("redis-cli",), rf"(?i)\bredis-cli\b[^\n|;&]{{0,200}}?-a{_GAP}{_ARGUMENT}"),
    ("cli-password", ("mysql",), rf"(?i)\bmysql[a-z]{{0,12}}\b[^\n|;&]{{0,200}}?[ \"']-p{_ARGUMENT}"),
    (
        "cli-password",
        ("login",),
        rf"(?i)(?:docker|podman|registry|skopeo|buildah|oras){_GAP}login\b[^\n|;&]{{0,200}}?-p{_GAP}{_ARGUMENT}",
    ),
    ("cli-password", ("ldap",), rf"(?i)\bldap[a-z]{{3,16}}\b[^\n|;&]{{0,300}}? -w(?:{_GAP})?{_ARGUMENT}"),
    (
        "cli-password",
        ("smbclient", "rpcclient"),
        rf"(?i)\b(?:smb|rpc)client\b[^\n|;&]{{0,200}}? -u(?:{_GAP})?[\"']?[^\s%\"']{{1,64}}+%"
        r"(?P<v>[^\s\"'`<>|$]{3,}+)",
    ),
    ("cli-password", ("pass:",), rf"(?i)-pass(?:in|out)?{_GAP}pass:(?P<v>[^\s\"'`<>|$]{{3,}}+)"),
    (
        "cli-password",
        ("htpasswd",),
        rf"(?i)\bhtpasswd -[a-z]{{0,6}}b[a-z]{{0,6}} (?:[^\s-]\S{{0,200}}{_GAP}){{1,2}}{_ARGUMENT}",
    ),
    (
        "cli-token",
        ("--token", "--secret", "--api-key", "--auth-token", "--access-token"),
        rf"(?i)--(?:token|secret|api-key|auth-token|access-token){_GAP}{_ARGUMENT}",
    ),
)
"""Arguments of commands, in a line of a shell or in a list: rules as `ai_memory.scrub` describes them."""
