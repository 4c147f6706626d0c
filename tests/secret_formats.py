"""Secrets made up at run time from what each service publishes about the form of its own.

Shares no pattern and no constant with the scrubber, so that the two can be wrong apart. Every value is random and
seeded. No prefix stands here in one piece where a scanner could take it for the beginning of a live secret: they are
joined when they are used (`_p`).
"""

import base64
import json
import random
import string
import uuid
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

DIGITS = string.digits
LOWER = string.ascii_lowercase
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
URL_SAFE = BASE62 + "-_"
BASE64 = BASE62 + "+/"
BASE32 = string.ascii_uppercase + "234567"
UPPER = string.ascii_uppercase + string.digits
LOWER_ALNUM = LOWER + DIGITS
HEX = "0123456789abcdef"
PASSWORD_SIGNS = BASE62 + "!#%*-_.+?^~"
WORDS = ("summer", "harbor", "monkey", "copper", "rocket", "velvet", "winter", "falcon", "orange", "marble", "tunnel")


@dataclass(frozen=True)
class Made:
    """One secret: `text` as it stands in the world, `secret` the part of it that must not survive."""

    kind: str
    text: str
    secret: str
    name: tuple[str, ...] = ()
    """Words of the name under which it is kept, where nothing else gives it away: the surroundings spell them."""
    is_word: bool = False
    """Of lower-case letters alone: only its place tells it from a word."""


class Maker:
    """Makes secrets from one seed."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def of(self, signs: str, length: int) -> str:
        return "".join(self.pick.choices(signs, k=length))

    def mixed(self, signs: str, length: int) -> str:
        """As random tokens of that length are: digits and letters of both cases, where there are such signs."""
        wanted = [group for group in (DIGITS, LOWER, string.ascii_uppercase) if set(group) & set(signs)]
        while True:
            found = self.of(signs, length)
            if all(set(group) & set(found) for group in wanted) and found[0].isalnum() and found[-1].isalnum():
                return found

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.pick.getrandbits(128), version=4))

    def number(self, digits: int) -> str:
        return str(self.pick.randrange(10 ** (digits - 1), 10**digits))

    def checked(self, lead: str, length: int) -> str:
        """GitHub's and npm's form: random base 62, then its CRC-32 in six signs of base 62."""
        body = self.mixed(BASE62, length - 6)
        rest, check = zlib.crc32(body.encode()), ""
        for _ in range(6):
            rest, digit = divmod(rest, 62)
            check = BASE62[digit] + check
        return lead + body + check

    def jwt(self, *, more: int = 0) -> str:
        """RFC 7519 with HS256: header, claims, 32 bytes of signature."""
        claims = {"sub": self.of(BASE62, 12), "iat": int(self.number(10)), "scope": self.of(LOWER, more)}
        return ".".join(map(_url64, ({"alg": "HS256", "typ": "JWT"}, claims))) + "." + self.of(URL_SAFE, 43)

    def pem(self, name: str, lines: int) -> str:
        """RFC 7468: 64 signs of base 64 a line."""
        body = "\n".join(self.of(BASE64, 64) for _ in range(lines))
        dashes = "-" * 5
        return f"{dashes}BEGIN {name}{dashes}\n{body}\n{self.of(BASE62, 21)}=\n{dashes}END {name}{dashes}"

    def human(self) -> str:
        """A password as people make them: words, a number, a sign."""
        one, two = self.pick.sample(WORDS, 2)
        return self.pick.choice((f"{one.title()}{self.number(4)}!", f"{one}-{two}-{self.number(2)}", f"{one}{two}#1"))

    def discord(self) -> str:
        user = base64.b64encode(self.number(self.pick.choice((17, 18, 19))).encode()).decode().rstrip("=")
        return f"{user}.{self.mixed(URL_SAFE, 6)}.{self.mixed(URL_SAFE, self.pick.choice((27, 38)))}"


Build = Callable[[Maker], str]


@dataclass(frozen=True)
class Format:
    """One published form. `kind` groups them in tables; it need not be the scrubber's label."""

    kind: str
    make: Callable[[Maker], Made]


def _url64(value: object) -> str:
    text = json.dumps(value, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _p(*parts: str) -> str:
    return "".join(parts)


def _alone(kind: str, build: Build) -> Format:
    """A secret that its own shape gives away."""

    def make(maker: Maker) -> Made:
        text = build(maker)
        return Made(kind, text, text)

    return Format(kind, make)


def _run(kind: str, lead: str, signs: str, length: int, end: str = "") -> Format:
    return _alone(kind, lambda m: lead + m.mixed(signs, length) + end)


def _placed(kind: str, template: str, build: Build) -> Format:
    """A secret that its place gives away: `@@` in the template."""

    def make(maker: Maker) -> Made:
        secret = build(maker)
        return Made(kind, template.replace("@@", secret), secret)

    return Format(kind, make)


def _named(kind: str, name: str, build: Build) -> Format:
    """A secret that only its name gives away."""

    def make(maker: Maker) -> Made:
        secret = build(maker)
        return Made(kind, secret, secret, tuple(name.split()))

    return Format(kind, make)


def _signs(signs: str, length: int) -> Build:
    return lambda maker: maker.mixed(signs, length)


_FORGES = (
    *(_alone("github", lambda m, s=sign: m.checked(_p("gh", s, "_"), 36)) for sign in "pousr"),  # type: ignore[misc]
    _alone("github", lambda m: _p("github", "_pat_") + m.mixed(BASE62, 22) + "_" + m.mixed(BASE62, 59)),
    _alone("github", lambda m: _p("gh", "s_") + m.number(6) + "_" + m.jwt(more=90)),
    _run("gitlab", _p("glp", "at-"), URL_SAFE, 20),
    _alone("gitlab", lambda m: f"{_p('glp', 'at-')}{m.mixed(URL_SAFE, 36)}.01.{m.mixed(LOWER_ALNUM, 9)}"),
    *(_run("gitlab", _p("gl", lead, "-"), URL_SAFE, 20) for lead in ("dt", "rt", "ptt", "soat", "ft", "imt", "agent")),
    _alone("gitlab", lambda m: f"{_p('glc', 'bt-')}{m.of(HEX, 2)}_{m.mixed(URL_SAFE, 20)}"),
    _run("bitbucket", _p("ATB", "B"), BASE62, 32),
    _run("atlassian", _p("ATA", "TT3xFfGF0"), URL_SAFE, 171, "=" + "4F2A9C1E"),
)

_PACKAGES = (
    _alone("npm", lambda m: m.checked(_p("np", "m_"), 36)),
    _run("pypi", _p("pyp", "i-AgEIcHlwaS5vcmc"), URL_SAFE, 150),
    _run("pypi", _p("pyp", "i-AgENdGVzdC5weXBpLm9yZw"), URL_SAFE, 150),
    _run("rubygems", _p("ruby", "gems_"), HEX, 48),
    _run("docker", _p("dckr", "_pat_"), URL_SAFE, 27),
    _run("crates-io", _p("ci", "o"), BASE62, 32),
)

_CLOUDS = (
    _run("aws-key", _p("AK", "IA"), BASE32, 16),
    _run("aws-key", _p("AS", "IA"), BASE32, 16),
    _named("aws-secret", "aws secret access key", _signs(BASE64, 40)),
    _named("aws-secret", "aws session token", lambda m: "IQoJb3JpZ2luX2Vj" + m.mixed(BASE64, 300) + "=="),
    _run("google", _p("AI", "za"), URL_SAFE, 35),
    _run("google", _p("AQ", ".Ab8RN6"), URL_SAFE, 44),
    _run("google", _p("ya", "29.a0"), URL_SAFE, 160),
    _run("google", _p("1", "//0"), URL_SAFE, 100),
    _run("google", _p("GOC", "SPX-"), URL_SAFE, 28),
    _placed(
        "azure", "AccountName=shop;AccountKey=@@;EndpointSuffix=core.windows.net", lambda m: m.of(BASE64, 86) + "=="
    ),
    _placed(
        "azure",
        "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=@@",
        lambda m: m.of(BASE64, 43) + "=",
    ),
    _placed(
        "azure",
        "AccountEndpoint=https://shop.documents.azure.com:443/;AccountKey=@@;",
        lambda m: m.of(BASE64, 86) + "==",
    ),
    _placed(
        "azure",
        "https://shop.blob.core.windows.net/c/f?sv=2024-11-04&sr=b&sp=r&sig=@@",
        lambda m: m.of(BASE62, 43) + "%3D",
    ),
    _alone("azure", lambda m: f"{m.mixed(BASE62, 3)}8Q~{m.mixed(URL_SAFE, 34)}"),
    _alone(
        "azure",
        lambda m: f"{m.mixed(BASE62, 52)}{_p('JQQJ9', '9')}{m.mixed(BASE62, 18)}{_p('AZ', 'DO')}{m.of(BASE62, 4)}",
    ),
    _run("digitalocean", _p("dop", "_v1_"), HEX, 64),
    _run("databricks", _p("da", "pi"), HEX, 32),
    _run("supabase", _p("sb", "p_"), HEX, 40),
    _run("planetscale", _p("pscale", "_tkn_"), URL_SAFE, 43),
    _run("vault", _p("hv", "s."), URL_SAFE, 95),
    _alone("terraform", lambda m: f"{m.mixed(BASE62, 14)}{_p('.atlas', 'v1.')}{m.mixed(URL_SAFE, 67)}"),
    _run("pulumi", _p("pu", "l-"), HEX, 40),
    _alone("doppler", lambda m: _p("dp", ".pt.") + m.mixed(BASE62, 43)),
    _run("netlify", _p("nf", "p_"), BASE62, 36),
    _alone("heroku", lambda m: _p("HR", "KU-") + m.uuid()),
    _run("fly-io", _p("fo", "1_"), URL_SAFE, 43),
    _alone("tailscale", lambda m: f"{_p('ts', 'key-auth-')}{m.mixed(BASE62, 12)}CNTRL-{m.mixed(BASE62, 32)}"),
    _run("alibaba", _p("LT", "AI5t"), BASE62, 20),
)

_MODELS = (
    _alone(
        "openai", lambda m: f"{_p('s', 'k-proj-')}{m.mixed(URL_SAFE, 74)}{_p('T3Blbk', 'FJ')}{m.mixed(URL_SAFE, 74)}"
    ),
    _alone("openai", lambda m: f"{_p('s', 'k-')}{m.mixed(BASE62, 20)}{_p('T3Blbk', 'FJ')}{m.mixed(BASE62, 20)}"),
    _run("anthropic", _p("s", "k-ant-api03-"), URL_SAFE, 93, "AA"),
    _run("anthropic", _p("s", "k-ant-oat01-"), URL_SAFE, 93, "AA"),
    _run("openrouter", _p("s", "k-or-v1-"), HEX, 64),
    _run("deepseek", _p("s", "k-"), HEX, 32),
    _run("huggingface", _p("h", "f_"), string.ascii_letters, 34),
    _run("groq", _p("gs", "k_"), BASE62, 52),
    _run("xai", _p("xa", "i-"), BASE62, 80),
    _run("perplexity", _p("ppl", "x-"), BASE62, 48),
    _run("replicate", _p("r", "8_"), BASE62, 37),
    _run("nvidia", _p("nv", "api-"), URL_SAFE, 64),
    _alone("langsmith", lambda m: f"{_p('lsv', '2_pt_')}{m.of(HEX, 32)}_{m.of(HEX, 10)}"),
    _alone("pinecone", lambda m: f"{_p('pc', 'sk_')}{m.mixed(BASE62, 6)}_{m.mixed(BASE62, 63)}"),
    _named("provider-variable", "mistral api key", _signs(BASE62, 32)),
    _named("provider-variable", "voyage api key", lambda m: "pa-" + m.mixed(URL_SAFE, 43)),
    _named("provider-variable", "gemini api key", _signs(URL_SAFE, 39)),
    _named("provider-variable", "ollama api key", lambda m: f"{m.of(HEX, 32)}.{m.mixed(URL_SAFE, 24)}"),
    _named("provider-variable", "cohere api key", _signs(BASE62, 40)),
    _named("provider-variable", "wandb api key", _signs(HEX, 40)),
)

_SERVICES = (
    _run("stripe", _p("s", "k_live_"), BASE62, 24),
    _run("stripe", _p("r", "k_test_"), BASE62, 99),
    _run("stripe", _p("wh", "sec_"), BASE62, 32),
    _run("meta", _p("EA", "A"), BASE62, 180),
    _alone("telegram", lambda m: f"{m.number(10)}:AA{m.mixed(URL_SAFE, 33)}"),
    _alone("pit", lambda m: _p("pi", "t-") + m.uuid()),
    _alone("slack", lambda m: f"{_p('xo', 'xb-')}{m.number(12)}-{m.number(13)}-{m.mixed(BASE62, 24)}"),
    _alone("slack", lambda m: f"{_p('xo', 'xp-')}{m.number(12)}-{m.number(12)}-{m.number(12)}-{m.of(HEX, 32)}"),
    _alone("slack", lambda m: f"{_p('xa', 'pp-1-')}A{m.of(UPPER, 10)}-{m.number(13)}-{m.of(HEX, 64)}"),
    _alone("slack", lambda m: f"{_p('xo', 'xe.xo', 'xp-1-')}{m.mixed(BASE62, 160)}"),
    _placed(
        "slack-webhook",
        "https://hooks.slack.com/services/@@",
        lambda m: f"T{m.of(UPPER, 10)}/B{m.of(UPPER, 10)}/{m.mixed(BASE62, 24)}",
    ),
    _alone("discord", Maker.discord),
    _placed("discord-webhook", "https://discord.com/api/webhooks/112233445566778899/@@", _signs(URL_SAFE, 68)),
    _alone("sendgrid", lambda m: f"{_p('S', 'G.')}{m.mixed(URL_SAFE, 22)}.{m.mixed(URL_SAFE, 43)}"),
    _run("twilio", _p("S", "K"), HEX, 32),
    _run("mailgun", _p("ke", "y-"), HEX, 32),
    _alone("mailchimp", lambda m: f"{m.of(HEX, 32)}-us{m.number(2)}"),
    _run("brevo", _p("xkey", "sib-"), HEX, 64, "-" + "aB3dE5gH7jK9mN1p"),
    _run("shopify", _p("shp", "at_"), HEX, 32),
    _alone("square", lambda m: _p("sq", "0csp-") + m.mixed(URL_SAFE, 43)),
    _run("linear", _p("lin", "_api_"), BASE62, 40),
    _run("notion", _p("nt", "n_"), BASE62, 46),
    _run("figma", _p("fi", "gd_"), URL_SAFE, 40),
    _alone("hubspot", lambda m: _p("pa", "t-na1-") + m.uuid()),
    _alone("postman", lambda m: f"{_p('PM', 'AK-')}{m.of(HEX, 24)}-{m.of(HEX, 34)}"),
    _run("new-relic", _p("NR", "AK-"), UPPER, 27),
    _alone("grafana", lambda m: f"{_p('gl', 'sa_')}{m.mixed(BASE62, 32)}_{m.of(HEX, 8)}"),
    _alone(
        "grafana",
        lambda m: _p("gl", "c_") + _url64({"o": m.number(6), "n": "shop", "k": m.mixed(BASE62, 24), "m": {"r": "eu"}}),
    ),
    _alone(
        "sentry",
        lambda m: f"{_p('snt', 'rys_')}{_url64({'iat': 1.5, 'url': 'https://sentry.io'})}_{m.mixed(BASE62, 43)}",
    ),
    _run("sentry", _p("snt", "ryu_"), HEX, 64),
    _alone("dynatrace", lambda m: f"{_p('dt', '0c01.')}{m.of(BASE32, 24)}.{m.of(BASE32, 64)}"),
    _run("sonar", _p("sq", "p_"), HEX, 40),
    _alone(
        "1password",
        lambda m: _p("op", "s_") + _url64({"signInAddress": "x.1password.com", "secretKey": m.mixed(UPPER, 80)}),
    ),
    _run("age", _p("AGE-SECRET", "-KEY-1"), "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
)

_STANDARDS = (
    _alone("jwt", Maker.jwt),
    _alone("jwt", lambda m: _url64({"alg": "dir", "enc": "A256GCM", "kid": m.of(BASE62, 20)})),
    *(
        _alone("private-key", lambda m, n=name, c=lines: m.pem(_p(n, " KEY", " BLOCK" if "PGP" in n else ""), c))  # type: ignore[misc]
        for name, lines in (
            ("RSA PRIVATE", 24),
            ("OPENSSH PRIVATE", 6),
            ("PRIVATE", 3),
            ("EC PRIVATE", 2),
            ("ENCRYPTED PRIVATE", 27),
            ("PGP PRIVATE", 20),
        )
    ),
    _placed("bearer", "Authorization: Bearer @@", _signs(URL_SAFE, 40)),
    _placed("bearer", "authorization: bearer @@", _signs(BASE64, 64)),
    _placed("bearer", "curl -H 'Authorization: Bearer @@' https://api.example.org", lambda m: m.of(HEX, 40)),
    _placed(
        "basic", "Authorization: Basic @@", lambda m: base64.b64encode(f"ann:{m.mixed(BASE62, 14)}".encode()).decode()
    ),
    _placed("auth-header", "X-Api-Key: @@", _signs(BASE62, 32)),
    _placed("auth-header", "PRIVATE-TOKEN: @@", _signs(URL_SAFE, 20)),
    _placed("auth-header", "X-Amz-Security-Token: @@", lambda m: m.mixed(BASE64, 300) + "=="),
    _placed("auth-header", "X-Auth-Token: @@", lambda m: m.uuid().replace("-", "")),
    _placed("auth-header", "X-Vault-Token: @@", _signs(BASE62, 26)),
    _placed("auth-header", "X-Shop-Secret: @@", _signs(BASE62, 12)),
    _placed("auth-header", "Authorization: token @@", _signs(HEX, 40)),
    _placed("auth-header", "Ocp-Apim-Subscription-Key: @@", _signs(HEX, 32)),
    _placed("url-password", "https://deploy:@@@git.example.org/x.git", _signs(BASE62, 20)),
    _placed("url-password", "amqps://guest:@@@mq.example.org/vhost", _signs(BASE62, 8)),
    _placed("url-password", "ftp://ann:@@@files.example.org", Maker.human),
    _placed("database", "postgresql+psycopg://app:@@@db:5432/shop?sslmode=require", _signs(PASSWORD_SIGNS, 14)),
    _placed("database", "mongodb+srv://root:@@@cluster0.ab1cd.mongodb.net/?retryWrites=true", _signs(BASE62, 16)),
    _placed("database", "redis://:@@@cache:6379/0", _signs(BASE62, 24)),
    _placed("database", "mysql://root:@@@127.0.0.1:3306/shop", Maker.human),
    _placed("database", "Server=tcp:shop.database.windows.net,1433;User ID=sa;Password=@@;Encrypt=True;", Maker.human),
    _placed("database", "Server=db;Database=shop;Uid=root;Pwd=@@;", _signs(BASE62, 10)),
    _placed("database", "host=db port=5432 dbname=shop user=app password=@@ sslmode=require", _signs(BASE62, 12)),
    _placed("database", "jdbc:postgresql://db/shop?user=app&password=@@&ssl=true", _signs(BASE62, 12)),
    _placed("database", "jdbc:sqlserver://db:1433;databaseName=shop;user=sa;password=@@;", _signs(PASSWORD_SIGNS, 14)),
    _placed("cli-password", "mysqldump --password=@@ shop", Maker.human),
    _placed("cli-password", "mysql -u root -p@@ shop", _signs(BASE62, 12)),
    _placed("cli-password", "sshpass -p @@ ssh ann@example.org", Maker.human),
    _placed("cli-password", "docker login -u ann -p @@ registry.example.org", _signs(BASE62, 14)),
    _placed("cli-password", "curl -sS -u ann:@@ https://example.org", _signs(BASE62, 12)),
    _placed("cli-password", "curl --user ann:@@ https://example.org", Maker.human),
    _placed("cli-password", "redis-cli -h cache -a @@ ping", _signs(BASE62, 16)),
    _placed("cli-password", "PGPASSWORD=@@ psql -h db", _signs(BASE62, 11)),
    _placed("cli-password", "gh auth login --token @@", _signs(BASE62, 40)),
    _placed("netrc", "machine example.org login ann password @@", _signs(BASE62, 12)),
    _placed("npmrc", "//registry.example.org/:_authToken=@@", lambda m: m.uuid()),
    _placed("npmrc", "//registry.example.org/:_password=@@", lambda m: base64.b64encode(m.human().encode()).decode()),
    _placed("xml", "<password>@@</password>", Maker.human),
    _placed("xml", '<add key="ApiSecret" value="@@" />', _signs(BASE62, 32)),
    _placed("secret-path", "cat ~/.ssh/@@", lambda m: f"id_{m.of(LOWER, 8)}"),
    _placed("secret-path", "/home/ann/.aws/@@", lambda m: f"credentials-{m.of(LOWER_ALNUM, 6)}"),
    _placed("secret-path", "C:\\Users\\ann\\.kube\\@@", lambda m: f"config-{m.of(LOWER_ALNUM, 6)}"),
    _placed("secret-path", "~/.config/gcloud/@@", lambda m: f"{m.of(LOWER, 8)}.json"),
    _placed("secret-path", "ls /home/ann/.gnupg/@@", lambda m: f"{m.of(LOWER, 8)}.kbx"),
)

_NAMES = (
    _named("password", "password", _signs(BASE62, 12)),
    _named("password", "password", Maker.human),
    _named("password", "db password", _signs(PASSWORD_SIGNS, 16)),
    _named("password", "smtp pass", _signs(BASE62, 10)),
    _named("password", "user passwd", _signs(BASE62, 9)),
    _named("password", "ssh passphrase", Maker.human),
    _named("secret", "session secret", _signs(BASE62, 16)),
    _named("secret", "client secret", _signs(URL_SAFE, 40)),
    _named("secret", "jwt secret", _signs(HEX, 64)),
    _named("secret", "jwt secret key", Maker.human),
    _named("secret", "signing key", _signs(BASE64, 44)),
    _named("secret", "private key", lambda m: "0x" + m.of(HEX, 64)),
    _named("secret", "encryption key", _signs(HEX, 32)),
    _named("secret", "access token", _signs(URL_SAFE, 40)),
    _named("secret", "refresh token", _signs(BASE62, 64)),
    _named("secret", "bot token", _signs(BASE62, 30)),
    _named("secret", "api key", _signs(BASE62, 32)),
    _named("secret", "api key", Maker.uuid),
    _named("secret", "datadog api key", _signs(HEX, 32)),
    _named("secret", "account key", _signs(BASE64, 44)),
    _named("secret", "service credential", _signs(BASE62, 24)),
    _named("secret", "access key id", _signs(UPPER, 20)),
    _named("secret", "twilio auth token", _signs(HEX, 32)),
    _named("secret", "hash salt", _signs(BASE62, 16)),
    _named("secret", "password pepper", _signs(BASE62, 24)),
)

FORMATS: Sequence[Format] = (*_FORGES, *_PACKAGES, *_CLOUDS, *_MODELS, *_SERVICES, *_STANDARDS, *_NAMES)
"""Every form that is made here."""
