"""Secrets that only their place or their name gives away, in every way in which that place is written down.

Passwords are of letters alone, of what password managers put together, and of all signs that print; each place spells
them as its own specification says: .NET's and ODBC's connection strings, libpq, JDBC, URLs (RFC 3986), cookies (RFC
6265), npmrc, docker's config.json, PHP's `json_encode`, dotenv, the shell. Shares no pattern with the scrubber.
"""

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

from secret_formats import (
    BASE62,
    BASE64,
    DIGITS,
    FORMATS,
    HEX,
    LOWER,
    LOWER_ALNUM,
    UPPER,
    Build,
    Format,
    Made,
    Maker,
    string,
)

LETTERS = string.ascii_letters
MANAGED = BASE62 + "!@#$%^&*()-_=+[]{}"
"""What password managers choose from."""
PRINTED = "".join(map(chr, range(33, 127)))
DJANGO = LOWER_ALNUM + "!@#$%^&*(-_=+)"
"""`django.core.management.utils.get_random_secret_key`."""
WORDPRESS = BASE62 + "!@#$%^&*()-_ []{}<>~`+=,.;:/?|"
"""`wp_generate_password(64, true, true)`, as wp-config.php has it."""

Spelt = Callable[[str], str]


def letters(maker: Maker) -> str:
    return maker.mixed(LETTERS, maker.pick.randint(8, 16))


def lower(maker: Maker) -> str:
    return maker.of(LOWER, maker.pick.randint(8, 16))


def managed(maker: Maker) -> str:
    while True:
        found = maker.of(MANAGED, maker.pick.randint(12, 20))
        if all(set(group) & set(found) for group in (DIGITS, LETTERS, "!@#$%^&*()-_=+[]{}")):
            return found


def printed(maker: Maker) -> str:
    while True:
        found = maker.of(PRINTED, maker.pick.randint(14, 24))
        if all(set(group) & set(found) for group in (DIGITS, LOWER, string.ascii_uppercase, string.punctuation)):
            return found


TYPED = (letters, lower, managed, printed)


def _without(build: Build, signs: str) -> Build:
    """A secret that holds none of those signs: for places that have no way to spell them."""

    def made(maker: Maker) -> str:
        while set(found := build(maker)) & set(signs):
            pass
        return found

    return made


def _placed(kind: str, template: str, build: Build, spelt: Spelt = str) -> Format:
    """`@@` in the template is the secret as that place spells it; quotes around it belong to the place."""

    def make(maker: Maker) -> Made:
        value = spelt(build(maker))
        secret = value[1:-1] if spelt in QUOTING and value[0] in "'\"{" else value
        return Made(kind, template.replace("@@", value, 1), secret)

    return Format(kind, make)


def _named(kind: str, name: str, build: Build) -> Format:
    def make(maker: Maker) -> Made:
        secret = build(maker)
        return Made(kind, secret, secret, tuple(name.split()), is_word=secret.isalpha() and secret.islower())

    return Format(kind, make)


def dotnet(value: str) -> str:
    """A value of `DbConnectionStringBuilder`: quoted where it holds a semicolon or a quote."""
    if not set(value) & set(";'\"") and value[0] not in "={" and value == value.strip():
        return value
    return f'"{value}"' if '"' not in value else "'" + value.replace("'", "''") + "'"


def braced(value: str) -> str:
    """A value of an ODBC or SQL Server JDBC connection string that may hold any sign."""
    return "{" + value.replace("}", "}}") + "}"


def libpq(value: str) -> str:
    """A value of libpq's `keyword = value`."""
    if not set(value) & set(" '\\"):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def percent(value: str) -> str:
    """Userinfo of a URL with everything escaped that is not unreserved."""
    return quote(value, safe="")


def delimited(value: str) -> str:
    """Userinfo with the sub-delimiters as they are, RFC 3986 section 3.2.1; `'` ends the string around it too often."""
    return quote(value, safe="!$&()*+,;=")


QUOTING = (dotnet, braced, libpq)


def _basic(build: Build) -> Build:
    return lambda maker: base64.b64encode(f"ann:{build(maker)}".encode()).decode()


def _signs(signs: str, length: int) -> Build:
    return lambda maker: maker.mixed(signs, length)


_STRINGS = (
    ("Server=tcp:db.example.org,1433;Initial Catalog=shop;User ID=sa;Password=@@;Encrypt=True;", dotnet),
    ("Data Source=db;Initial Catalog=shop;User Id=sa;Password=@@", dotnet),
    ("Server=db;Database=shop;Uid=root;Pwd=@@;", dotnet),
    ("Host=db;Username=app;Password=@@;Database=shop", dotnet),
    ("User Id=scott;Password=@@;Data Source=orcl", dotnet),
    ("Provider=MSOLEDBSQL;Data Source=db;User ID=sa;Password=@@;", dotnet),
    ("Driver={ODBC Driver 18 for SQL Server};Server=db;UID=sa;PWD=@@;Encrypt=yes", braced),
    ("jdbc:sqlserver://db:1433;databaseName=shop;user=sa;password=@@;encrypt=true", braced),
    ("host=db port=5432 dbname=shop user=app password=@@ sslmode=require", libpq),
)
_URLS = (
    "postgres://ann:@@@db:5432/shop",
    "mysql://ann:@@@127.0.0.1/shop",
    "amqp://ann:@@@mq/vhost",
    "https://ann:@@@git.example.org/x.git",
)

_CONNECTIONS = (
    *(
        _placed("connection-string", text, build, spelt)
        for text, spelt in _STRINGS
        for build in (*TYPED[:3], _without(printed, "'\"") if spelt is dotnet else printed)
    ),
    *(_placed("connection-string", text, printed, spelt) for text, spelt in _STRINGS[:2]),
    _placed("connection-string", "cache.example.org:6380,password=@@,ssl=True,abortConnect=False", _signs(BASE62, 16)),
    _placed("connection-string", "cache.example.org:6380,password=@@=,ssl=True", _signs(BASE64, 43)),
    _placed("connection-string", "jdbc:oracle:thin:scott/@@@db:1521/orcl", letters),
    _placed("connection-string", "jdbc:mysql://db/shop?user=app&password=@@&useSSL=true", managed, percent),
    _placed("connection-string", "app:@@@tcp(db:3306)/shop?parseTime=true", _without(managed, "@")),
    *(_placed("url", text, build, percent) for text in _URLS for build in TYPED),
    *(_placed("url", text, build, delimited) for text in _URLS for build in (managed, printed)),
    _placed("url", "postgres://ann:@@@db/shop", lambda m: f"p@{m.mixed(BASE62, 8)}:x"),
    *(
        _placed("url", json.dumps(text).strip('"').replace("/", "\\/"), build, percent)
        for text in _URLS
        for build in (lower, managed)
    ),
    *(
        _placed("url-token", text, build)
        for text in ("https://@@@github.com/acme/shop.git", "git+https://@@@git.example.org/x", "https://@@:@git/x")
        for build in (_signs(BASE62, 40), _signs(HEX, 40), Maker.uuid)
    ),
    _placed("url-token", "https://@@:x-oauth-basic@github.com/acme/shop.git", _signs(HEX, 40)),
)

_COOKIES = (
    _placed("cookie", "Cookie: theme=dark; sessionid=@@; lang=en", _signs(LOWER_ALNUM, 32)),
    _placed("cookie", "cookie: PHPSESSID=@@", _signs(LOWER_ALNUM, 26)),
    _placed("cookie", "Set-Cookie: JSESSIONID=@@; Path=/; HttpOnly", _signs("0123456789ABCDEF", 32)),
    _placed("cookie", "set-cookie: ASP.NET_SessionId=@@; path=/; SameSite=Lax", _signs(LOWER_ALNUM, 24)),
    _placed(
        "cookie", "Set-Cookie: connect.sid=s%3A@@; Path=/", lambda m: f"{m.mixed(BASE62, 32)}.{m.mixed(BASE62, 43)}"
    ),
    _placed("cookie", "Set-Cookie: csrftoken=@@; expires=Thu, 30 Sep 2027 10:00:00 GMT; Path=/", _signs(BASE62, 64)),
    _placed("cookie", "Cookie: a=1; _shop_session=@@%3D%3D--b", _signs(BASE62, 180)),
    _placed("cookie", "curl -b 'sid=@@' https://example.org", _signs(BASE62, 32)),
    _placed("cookie", "curl --cookie 'lang=en; auth=@@' https://example.org", _signs(HEX, 40)),
)

_REGISTRIES = (
    _placed("npmrc", "//registry.example.org/:_auth=@@", _basic(managed)),
    _placed("npmrc", '//registry.example.org/:_auth="@@"', _basic(letters)),
    _placed("npmrc", "_auth = @@", _basic(lower)),
    _placed("npmrc", "//registry.example.org/:_authToken=@@", _signs(BASE62, 40)),
    _placed("npmrc", "//registry.example.org/:_password=@@", lambda m: base64.b64encode(lower(m).encode()).decode()),
    _placed("docker-config", '{"auths": {"registry.example.org": {"auth": "@@"}}}', _basic(managed)),
    _placed("docker-config", '{"auths":{"registry.example.org":{"auth":"@@"}}}', _basic(lower)),
)

_COMMANDS = (
    _placed("command", "sshpass -p@@ ssh ann@example.org", letters),
    _placed("command", "sshpass -p '@@' ssh ann@example.org", _without(managed, "'")),
    _placed("command", "mysql -u root -p'@@' shop", _without(printed, "'")),
    _placed("command", "mysql -u root -p@@ shop", letters),
    _placed("command", "curl -sS -u 'ann:@@' https://example.org", _without(printed, "'")),
    _placed("command", "curl -sS -u ann:@@ https://example.org", letters),
    _placed("command", "mysqldump --password='@@' shop", _without(printed, "'")),
    _placed("command", "mysqldump --password=@@ shop", lower),
    _placed("command", "tool --password '@@' run", _without(managed, "'")),
    _placed("command", "tool --password @@ run", letters),
    _placed("command", "wget --http-password=@@ https://example.org", letters),
    _placed("command", "PGPASSWORD='@@' psql -h db", _without(printed, "'")),
    _placed("command", "PGPASSWORD=@@ psql -h db", lower),
    _placed("command", "docker login -u ann -p @@ registry.example.org", letters),
    _placed("command", "redis-cli -h cache -a @@ ping", letters),
    _placed("command", "ldapsearch -x -D cn=ann -w @@ -b dc=example", letters),
    _placed("command", "smbclient //files/share -U ann%@@", letters),
    _placed("command", "openssl enc -aes-256-cbc -in a -pass pass:@@", letters),
    _placed("command", "htpasswd -b .htpasswd ann @@", letters),
    _placed("command", "vault login --token @@", _signs(BASE62, 14)),
)
_LISTED = (
    '["mysql","-u","root","--password","@@"]',
    '["curl","-sS","-u","ann:@@","https://example.org"]',
    '["DB_PASSWORD","@@"]',
    '{"name":"DB_PASSWORD","value":"@@"}',
    '{"name": "SHOP_PASSWORD", "value": "@@"}',
)
_ARGUMENTS = tuple(
    _placed("argument", text, build)
    for text in _LISTED
    for build in (letters, _without(managed, "$"), _signs(BASE62, 11))
)

_FRAMEWORKS = (
    _placed("framework", "SECRET_KEY = 'django-insecure-@@'", _signs(DJANGO, 50)),
    _placed("framework", "SECRET_KEY = '@@'", lambda m: m.of(DJANGO, 50)),
    _placed("framework", "production:\n  secret_key_base: @@\n", _signs(HEX, 128)),
    _placed("framework", "config.secret_key_base = '@@'", _signs(HEX, 64)),
    *(
        _placed("framework", f"define({gap}'{name}',{wide}'@@'{gap});", lambda m: m.of(WORDPRESS, 64))
        for name, gap, wide in (("AUTH_KEY", " ", "         "), ("NONCE_SALT", "", " "), ("LOGGED_IN_KEY", "", ""))
    ),
    _placed("framework", "define( 'DB_PASSWORD', '@@' );", _without(printed, "'\\")),
    _placed("framework", "define('DB_PASSWORD', '@@');", letters),
    _placed("framework", 'os.environ.setdefault("DB_PASSWORD", "@@")', letters),
    _placed("framework", 'os.environ["DB_PASSWORD"] = "@@"', letters),
    _placed("framework", "'password' => env('DB_PASSWORD', '@@'),", _signs(BASE62, 12)),
    _placed("framework", "spring.datasource.password=@@", lower),
    _placed("framework", "ansible_become_password=@@", letters),
    _placed("framework", '$env:DB_PASSWORD = "@@"', letters),
    _placed("framework", "set DB_PASSWORD=@@", lower),
    _placed("framework", "ENV DB_PASSWORD=@@", lower),
    _placed("framework", "DB_PASSWORD = @@", lower),
    _placed("framework", "DB_PASSWORD: @@", letters),
    _placed("framework", '<add key="DbPassword" value="@@" />', letters),
    _placed("framework", '<user username="admin" password="@@" roles="manager"/>', lower),
)

_NAMES = (
    *(_named("password", name, build) for name in ("password", "db password", "user passwd") for build in TYPED),
    *(
        _named("password", name, build)
        for name in ("mail passphrase", "smtp pass")
        for build in (letters, managed, printed)
    ),
    *(
        _named("secret", name, build)
        for name in ("client secret", "secret key", "auth token", "api key", "signing key")
        for build in (managed, printed)
    ),
    _named("secret", "secret key base", _signs(HEX, 64)),
    _named("secret", "auth salt", lambda m: m.of(MANAGED, 32)),
    _named("secret", "session secret", _signs(LETTERS, 32)),
    _named("secret", "access key id", _signs(UPPER, 20)),
)

CHOSEN = (*_CONNECTIONS, *_COOKIES, *_REGISTRIES, *_COMMANDS, *_ARGUMENTS, *_FRAMEWORKS, *_NAMES)
ALL = (*FORMATS, *CHOSEN)
"""Every form that is made anywhere."""
