"""Takes secrets out of text: `[REDACTED:<kind>]` stands where one was. The same code in the hook and in the store.

Standard library only. A pattern is compiled only when one of its literals occurs in the text: compiling all of them
costs a hook more than everything else it does (decision B4). Every pattern is linear: it starts at a literal, behind a
border, and its repetitions neither nest nor give back. No entropy is guessed: a hash, a UUID, a lock file is no secret.

Names with values (`password=…`, `"api_key": "…"`) are the business of `scrub_named`.
*Source*: the published formats of each service; why no library does it, decision B13.
"""

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    T = TypeVar("T")

MARK = "[REDACTED:"
UNSCANNED = "[REDACTED:unscanned]"
"""What stands where there was no time to look."""

MAX_PATTERN = 1_024
"""Characters of one pattern from the configuration."""

_W = "[A-Za-z0-9_-]"
_X = "[A-Za-z0-9]"
_HEX = "[0-9a-f]"
TOKENS: dict[str, tuple[str, str]] = {
    "sk-": ("api-key", rf"{_W}{{16,}}+"),
    "sk_live_": ("stripe-key", rf"{_X}{{16,}}+"),
    "sk_test_": ("stripe-key", rf"{_X}{{16,}}+"),
    "rk_live_": ("stripe-key", rf"{_X}{{16,}}+"),
    "rk_test_": ("stripe-key", rf"{_X}{{16,}}+"),
    "whsec_": ("stripe-key", r"[A-Za-z0-9+/=]{16,}+"),
    "ghp_": ("github-token", rf"{_X}{{20,}}+"),
    "gho_": ("github-token", rf"{_X}{{20,}}+"),
    "ghu_": ("github-token", rf"{_X}{{20,}}+"),
    "ghs_": ("github-token", r"[A-Za-z0-9_.-]{20,}+"),
    "ghr_": ("github-token", rf"{_X}{{20,}}+"),
    "github_pat_": ("github-token", r"[A-Za-z0-9_]{20,}+"),
    "glpat-": ("gitlab-token", r"[A-Za-z0-9_.-]{20,}+"),
    "gldt-": ("gitlab-token", rf"{_W}{{20,}}+"),
    "glrt-": ("gitlab-token", r"[A-Za-z0-9_.-]{20,}+"),
    "glptt-": ("gitlab-token", rf"{_W}{{20,}}+"),
    "glcbt-": ("gitlab-token", rf"{_W}{{20,}}+"),
    "glsoat-": ("gitlab-token", rf"{_W}{{20,}}+"),
    "glft-": ("gitlab-token", rf"{_W}{{20,}}+"),
    "glimt-": ("gitlab-token", rf"{_W}{{20,}}+"),
    "gloas-": ("gitlab-token", rf"{_W}{{20,}}+"),
    "glwt-": ("gitlab-token", rf"{_W}{{20,}}+"),
    "glffct-": ("gitlab-token", rf"{_W}{{20,}}+"),
    "glagent-": ("gitlab-token", rf"{_W}{{20,}}+"),
    "ATBB": ("bitbucket-token", rf"{_X}{{28,}}+"),
    "AIza": ("google-key", rf"{_W}{{30,}}+"),
    "AQ.Ab": ("google-key", rf"{_W}{{20,}}+"),
    "ya29.": ("google-token", r"[A-Za-z0-9_.-]{20,}+"),
    "1//": ("google-token", rf"{_W}{{20,}}+"),
    "GOCSPX-": ("google-secret", rf"{_W}{{20,}}+"),
    "pit-": ("pit-token", rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"),
    "xoxa-": ("slack-token", r"[A-Za-z0-9-]{10,}+"),
    "xoxb-": ("slack-token", r"[A-Za-z0-9-]{10,}+"),
    "xoxc-": ("slack-token", r"[A-Za-z0-9-]{10,}+"),
    "xoxd-": ("slack-token", r"[A-Za-z0-9%-]{10,}+"),
    "xoxe-": ("slack-token", r"[A-Za-z0-9-]{10,}+"),
    "xoxe.": ("slack-token", r"[A-Za-z0-9.-]{10,}+"),
    "xoxo-": ("slack-token", r"[A-Za-z0-9-]{10,}+"),
    "xoxp-": ("slack-token", r"[A-Za-z0-9-]{10,}+"),
    "xoxr-": ("slack-token", r"[A-Za-z0-9-]{10,}+"),
    "xoxs-": ("slack-token", r"[A-Za-z0-9-]{10,}+"),
    "xapp-": ("slack-token", r"[A-Za-z0-9-]{10,}+"),
    "npm_": ("npm-token", rf"{_X}{{30,}}+"),
    "pypi-AgE": ("pypi-token", rf"{_W}{{40,}}+"),
    "rubygems_": ("rubygems-key", rf"{_HEX}{{48}}"),
    "dckr_pat_": ("docker-token", rf"{_W}{{20,}}+"),
    "dckr_oat_": ("docker-token", rf"{_W}{{20,}}+"),
    "cio": ("crates-io-token", rf"{_X}{{32}}(?!{_X})"),
    "oy2": ("nuget-key", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    "hf_": ("huggingface-token", rf"{_X}{{30,}}+"),
    "SG.": ("sendgrid-key", rf"{_W}{{16,32}}\.{_W}{{32,}}+"),
    "gsk_": ("groq-key", rf"{_X}{{40,}}+"),
    "xai-": ("xai-key", rf"{_X}{{40,}}+"),
    "pplx-": ("perplexity-key", rf"{_X}{{40,}}+"),
    "r8_": ("replicate-token", rf"{_X}{{36,}}+"),
    "nvapi-": ("nvidia-key", rf"{_W}{{40,}}+"),
    "pcsk_": ("pinecone-key", r"[A-Za-z0-9_]{40,}+"),
    "lsv2_pt_": ("langsmith-key", r"[0-9a-f_]{32,}+"),
    "lsv2_sk_": ("langsmith-key", r"[0-9a-f_]{32,}+"),
    "sk_": ("elevenlabs-key", rf"{_HEX}{{48}}"),
    "tvly-": ("tavily-key", rf"{_W}{{20,}}+"),
    "dop_v1_": ("digitalocean-token", rf"{_HEX}{{64}}"),
    "doo_v1_": ("digitalocean-token", rf"{_HEX}{{64}}"),
    "dor_v1_": ("digitalocean-token", rf"{_HEX}{{64}}"),
    "dapi": ("databricks-token", rf"{_HEX}{{32}}(?:-\d)?+"),
    "shpat_": ("shopify-token", r"[0-9a-fA-F]{32}"),
    "shpca_": ("shopify-token", r"[0-9a-fA-F]{32}"),
    "shppa_": ("shopify-token", r"[0-9a-fA-F]{32}"),
    "shpss_": ("shopify-token", r"[0-9a-fA-F]{32}"),
    "sq0atp-": ("square-token", rf"{_W}{{22,}}+"),
    "sq0csp-": ("square-token", rf"{_W}{{40,}}+"),
    "xkeysib-": ("brevo-key", r"[A-Za-z0-9-]{60,}+"),
    "xsmtpsib-": ("brevo-key", r"[A-Za-z0-9-]{60,}+"),
    "pat-na": ("hubspot-token", rf"\d-{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"),
    "pat-eu": ("hubspot-token", rf"\d-{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"),
    "lin_api_": ("linear-key", rf"{_X}{{32,}}+"),
    "ntn_": ("notion-token", rf"{_X}{{40,}}+"),
    "hvs.": ("vault-token", rf"{_W}{{24,}}+"),
    "hvb.": ("vault-token", rf"{_W}{{24,}}+"),
    "pul-": ("pulumi-token", rf"{_HEX}{{40}}"),
    "dp.pt.": ("doppler-token", rf"{_X}{{40,}}+"),
    "dp.st.": ("doppler-token", r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}+"),
    "dp.sa.": ("doppler-token", rf"{_X}{{40,}}+"),
    "nfp_": ("netlify-token", rf"{_X}{{36,}}+"),
    "HRKU-": ("heroku-key", rf"{_W}{{36,}}+"),
    "fo1_": ("fly-io-token", rf"{_W}{{40,}}+"),
    "fm2_": ("fly-io-token", r"[A-Za-z0-9+/=_-]{60,}+"),
    "tskey-": ("tailscale-key", r"[a-z]{3,16}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}+"),
    "LTAI": ("alibaba-key", rf"{_X}{{16,26}}(?!{_X})"),
    "AKCp": ("artifactory-key", rf"{_X}{{60,}}+"),
    "sbp_": ("supabase-token", rf"{_HEX}{{40}}"),
    "pscale_tkn_": ("planetscale-token", r"[A-Za-z0-9_.-]{32,}+"),
    "pscale_pw_": ("planetscale-token", r"[A-Za-z0-9_.-]{32,}+"),
    "PMAK-": ("postman-key", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    "NRAK-": ("newrelic-key", r"[A-Z0-9]{27}"),
    "glsa_": ("grafana-token", r"[A-Za-z0-9_]{32,}+"),
    "ATATT3": ("atlassian-token", r"[A-Za-z0-9_=-]{60,}+"),
    "figd_": ("figma-token", rf"{_W}{{40,}}+"),
    "sntrys_": ("sentry-token", r"[A-Za-z0-9_=+/-]{40,}+"),
    "sntryu_": ("sentry-token", rf"{_HEX}{{64}}"),
    "dt0c01.": ("dynatrace-token", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    "dt0s01.": ("dynatrace-token", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    "dt0s16.": ("dynatrace-token", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    "sqp_": ("sonar-token", rf"{_HEX}{{40}}"),
    "squ_": ("sonar-token", rf"{_HEX}{{40}}"),
    "sqa_": ("sonar-token", rf"{_HEX}{{40}}"),
    "CCIPAT_": ("circleci-token", r"[A-Za-z0-9_]{40,}+"),
    "key-": ("mailgun-key", rf"{_HEX}{{32}}"),
    "SK": ("twilio-key", rf"{_HEX}{{32}}"),
    "AGE-SECRET-KEY-1": ("age-key", r"[A-Z0-9]{50,}+"),
    "AKIA": ("aws-key", r"[A-Z0-9]{16}(?![A-Z0-9])"),
    "ASIA": ("aws-key", r"[A-Z0-9]{16}(?![A-Z0-9])"),
    "ABIA": ("aws-key", r"[A-Z0-9]{16}(?![A-Z0-9])"),
    "ACCA": ("aws-key", r"[A-Z0-9]{16}(?![A-Z0-9])"),
    "EAA": ("meta-token", rf"{_X}{{20,}}+(?![+/=])"),
    "eyJ": ("jwt", rf"{_W}{{13,}}+(?:\.{_W}{{2,}}+){{0,4}}+"),
}
"""Prefix of a token → its kind, and what follows the prefix. Only prefixes that occur come into the pattern."""

_MUST_MIX = frozenset(
    {
        *("api-key", "huggingface-token", "meta-token", "google-token", "npm-token", "tavily-key"),
        *("crates-io-token", "bitbucket-token", "alibaba-key"),
        *("bearer-token", "auth-header"),
    }
)
"""Kinds whose shape ordinary text can have (`sk-circle-fade-dot`, base64): they must look made by a machine."""

_LIKE_BASE64 = frozenset({"jwt", "meta-token", "twilio-key", "google-token"})
"""Kinds that turn up by chance inside base64."""

Rule = tuple[str, tuple[str, ...], str]
"""Kind, literals of which one must occur (in lower case, all of a rule: in any case), pattern. Its group `v`, if any,
is the secret."""

DENSE: tuple[Rule, ...] = (
    ("telegram-token", (":aa",), rf"(?<![A-Za-z0-9])\d{{6,10}}+:AA{_W}{{30,}}+"),
    (
        "discord-token",
        ("MT", "Mj", "Mz", "MD", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        rf"(?:M[TjzD]|N[DTjz]|O[DT])(?<![A-Za-z0-9_.]..)(?<![A-Za-z0-9_.]-..){_W}{{20,30}}+\.{_W}{{6}}\.{_W}{{27,}}+"
        r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9])",
    ),
    ("slack-webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows)/(?P<v>[A-Za-z0-9/_+-]{16,}+)"),
    ("discord-webhook", ("/api/webhooks/",), rf"/api/webhooks/\d{{10,24}}+/(?P<v>{_W}{{40,}}+)"),
    ("azure-secret", ("Q~",), r"(?<![A-Za-z0-9_.~])[A-Za-z0-9_.~]{3}[0-9]Q~[A-Za-z0-9_.~-]{31,}+"),
    ("azure-key", ("JQQJ99",), rf"(?<!{_X}){_X}{{52}}JQQJ99{_X}{{20,}}+"),
    ("mailchimp-key", ("-us",), rf"(?<![A-Za-z0-9]){_HEX}{{32}}-us\d{{1,2}}(?![A-Za-z0-9])"),
    ("azure-sas", ("sig=",), r"(?i)[?&]sig=(?P<v>[A-Za-z0-9%+/=_-]{20,}+)"),
    ("terraform-token", (".atlasv1.",), rf"{_X}{{14}}\.atlasv1\.{_W}{{60,}}+"),
)
"""Secrets without a blank in them."""

HEADERS: tuple[Rule, ...] = (
    ("bearer-token", ("bearer",), r"(?i)bearer[\s:=\"']{1,8}+(?P<v>[A-Za-z0-9._~+/=|-]{16,}+)"),
    (
        "basic-auth",
        ("basic",),
        r"(?i)authorization[\"'\\]{0,4}+\s{0,4}+[:=]\s{0,4}+[\"'\\]{0,4}+basic\s{1,4}+(?P<v>[A-Za-z0-9+/=_-]{6,}+)",
    ),
    (
        "registry-auth",
        ("_auth", '"auth"', '"auth\\', ":_password"),
        r"(?:(?<![A-Za-z0-9])_auth|:_password|\"auth)[\"'\\]{0,8}+[ \t]{0,4}+[:=][ \t]{0,4}+[\"'\\]{0,8}+"
        r"(?P<v>[A-Za-z0-9+/]{8,}+={0,2}+)"
        r"(?![A-Za-z0-9_(\[-]|\.[A-Za-z0-9_])",
    ),
    (
        "netrc-password",
        ("machine ",),
        r"(?i)\bmachine\s{1,4}+\S{1,200}+\s{1,4}+login\s{1,4}+\S{1,200}+\s{1,4}+password\s{1,4}+(?P<v>[^\s\"'\\]{4,}+)",
    ),
    (
        "auth-header",
        ("x-", "api-key", "private-token", "auth-token", "authorization", "-security-token"),
        r"(?i)(?:x-api-key|api-key|private-token|deploy-token|job-token|authorization"
        r"|x-amz-security-token|x-[a-z0-9-]{0,30}+(?:(?<=auth)|(?<=key)|(?<=oken)|(?<=cret)))"
        r"[\"'\\]{0,4}+\s{0,4}+[:=]\s{0,4}+[\"'\\]{0,4}+(?:token\s{1,4}+)?(?P<v>[A-Za-z0-9._~+/=|-]{8,}+)",
    ),
)
"""What follows a name of a protocol, with blanks between."""

_PATHS = ("/.ssh/", "/.aws/", "/.kube/", "/.gnupg/", "/gcloud/", "\\.ssh\\", "\\.aws\\", "\\.kube\\", "\\.gnupg\\")
_SECRET_PATH = (
    r"(?i)[\\/](?:\.(?:ssh|aws|kube|gnupg)|\.config[\\/]{1,8}+gcloud)(?:/|\\{1,8}+(?=[a-z0-9_][a-z0-9_.-]))"
    r"(?P<v>[^\s\"'`<>|;,)]++)"
)
"""A file in a folder of secrets; behind a backslash its name must look like one, since `\\.aws\\.` is a regular
expression."""
_NAMED = ("pass", "pwd", "secret", "token", "credential", "key", "pepper", "salt")


_SHORTEST = 15
"""Characters of the shortest token with its prefix: literals are looked for in words of that length only, since to find
that none occurs is most of the work."""

OWN_CPU_S = 0.3
OWN_CPU_S_A_CHARACTER = 2e-6
"""CPU that the patterns of a person may take for one text. The configuration refuses those of which it can see that
they take for ever; this stops the others."""

_ROUNDS = 8
"""Secrets written without a gap come out one a round; nobody writes more in a row."""


class TooSlow(Exception):
    """The patterns of the configuration took too long over a text, so nobody knows what is in it."""


def scrub(text: str, *, extra: "Iterable[str]" = (), allow: "Iterable[str]" = ()) -> str:
    """The text without secrets, terminal escapes and control characters. Idempotent, linear in the text's length.

    `extra`: further regular expressions; group `v`, where there is one, is the secret. `allow`: regular expressions;
    a single secret in which one is found stays. Expressions that do not compile play no part: the configuration
    refuses them where a person can see it. Errors: TooSlow, for those expressions only.
    """
    text = strip_controls(text)
    if extra or allow:
        return within_cpu_s(OWN_CPU_S + OWN_CPU_S_A_CHARACTER * len(text), lambda: _settled(text, extra, allow))
    return _settled(text, (), ())


def _settled(text: str, extra: "Iterable[str]", allow: "Iterable[str]") -> str:
    for _ in range(_ROUNDS):
        before, text = text, _scrubbed(text, extra, allow)
        if text == before or not _has_touching_label(text):
            break
    return text


BETWEEN = "\n" * 32
"""Stands between texts that are looked at together. No pattern reaches over it: none takes more than 16 blanks."""


def scrub_together(texts: "list[str]", *, extra: "Iterable[str]" = (), allow: "Iterable[str]" = ()) -> "list[str]":
    """Each text as `scrub` gives it, at the price of one look where none holds anything.

    For short texts: nearly all of a look only finds that a literal is not there. Where it changes anything, each text
    is looked at by itself; a person's own patterns could tell the join from its parts, so they always look at each.
    Errors: as `scrub`.
    """
    joined = BETWEEN.join(texts)
    if scrub(joined) == joined:
        return [text if holds_none(text, extra) else scrub(text, extra=extra, allow=allow) for text in texts]
    return [scrub(text, extra=extra, allow=allow) for text in texts]


def holds_none(text: str, extra: "Iterable[str]") -> bool:
    """Whether none of the patterns of a person is found in the text. Errors: TooSlow."""
    if not extra or not text:
        return True
    own = _compiled(extra)
    return within_cpu_s(OWN_CPU_S + OWN_CPU_S_A_CHARACTER * len(text), lambda: not any(one.search(text) for one in own))


def within_cpu_s(limit_s: float, run: "Callable[[], T]") -> "T":
    """What `run` gives. Errors: TooSlow when it takes more CPU.

    A regular expression that backtracks can be stopped by a signal only: not on Windows, and only in the main thread.
    """
    try:
        # the module around it costs a hook 2 ms
        from _signal import ITIMER_VIRTUAL, SIGVTALRM, setitimer, signal  # type: ignore[import-not-found]
    except ImportError:
        return run()
    is_running = True

    def stop(*_: object) -> None:
        if is_running:
            raise TooSlow(f"the patterns of [sanitize] took more than {limit_s:.1f} s of CPU")

    try:
        before = signal(SIGVTALRM, stop)
    except ValueError:  # another thread
        return run()
    try:
        setitimer(ITIMER_VIRTUAL, limit_s)
        return run()
    finally:
        is_running = False
        setitimer(ITIMER_VIRTUAL, 0)
        signal(SIGVTALRM, before)


def _has_touching_label(text: str) -> bool:
    """Whether a label touches a word: it gave that word a border, and with it perhaps the shape of a secret."""
    at = text.find(MARK)
    while at >= 0:
        end = text.find("]", at) + 1
        before, after = text[at - 1 : at], text[end : end + 1]
        if before.isalnum() or before == "_" or after.isalnum() or after == "_":
            return True
        at = text.find(MARK, at + 1)
    return False


def _scrubbed(text: str, extra: "Iterable[str]", allow: "Iterable[str]") -> str:
    if len(text) < 8 and not extra:
        return text
    low = text.lower()
    allowed = _compiled(allow)
    redact = _redactor(allowed)
    if "PRIVATE KEY" in text:
        from ai_memory.scrub_keys import without_private_keys  # each of these modules only for texts that need it

        text = without_private_keys(text, redact)
    if "@" in text and (":/" in text or ":\\" in text or "@tcp(" in text or "@unix(" in text or "jdbc:oracle" in low):
        from ai_memory.scrub_web import without_url_secrets

        text = without_url_secrets(text, redact, is_mixed)
    if "cookie" in low or ("curl" in text and " -b" in text):
        from ai_memory.scrub_web import without_cookies

        text = without_cookies(text, redact, is_mixed)
    if long_words := " ".join([word for word in text.split() if len(word) >= _SHORTEST]):
        text = _without_tokens(text, long_words, redact)
        text = _without(DENSE, text, long_words, long_words.lower(), redact)
    if " -" in text or '"-' in text or "'-" in text:
        from ai_memory.scrub_flags import FLAGS

        text = _without(FLAGS, text, text, low, redact)
    text = _without(HEADERS, text, text, low, redact)
    if (":" in text or "=" in text or "</" in text or '",' in text or "'," in text) and _occurs(_NAMED, low):
        from ai_memory.scrub_named import scrub_named

        text = scrub_named(text, redact)
    if ("/." in text or "\\." in text) and _occurs(_PATHS, low):
        text = _apply(_SECRET_PATH, "secret-path", text, redact)
    for own in _compiled(extra):
        text = _replace(own, "custom", text, text, redact)
    return text


def strip_controls(text: str) -> str:
    """The text without terminal escapes, control characters other than tab and line end, and bidi overrides."""
    if text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable():
        return text  # of what goes, nothing is printable
    from ai_memory.scrub_shape import without_controls  # one more module, for the texts that hold one

    return without_controls(text)


def strip_private(text: str) -> str:
    """The text without what stands in `<private>…</private>`; a tag that is never closed takes the rest with it.

    A tag may have attributes, and tags nest. A closing tag alone is removed, the text before it stays. Idempotent: what
    would become a tag by the removal is removed as well.
    """
    if "private" not in text.lower():
        return text
    from ai_memory.scrub_shape import without_private  # only where the word stands

    return without_private(text)


def cut_middle(text: str, limit_bytes: int, *, tail: str | None = None, missing_bytes: int = 0) -> str:
    """The text in at most `limit_bytes` of UTF-8: two thirds head, one third tail, and between them what was cut.

    `tail`: the end of the text, where `text` is only its beginning and `missing_bytes` lie between the two. Sanitise
    first: cutting would split a secret and leave half of it.
    """
    if tail is None and len(text) * 4 <= limit_bytes:
        return text
    from ai_memory.scrub_shape import cut  # only for what is long

    return cut(text, limit_bytes, tail=tail, missing_bytes=missing_bytes)


def _compiled(patterns: "Iterable[str]") -> "list[re.Pattern[str]]":
    found = []
    for pattern in patterns:
        try:
            if len(pattern) <= MAX_PATTERN:
                found.append(re.compile(pattern))
        except (re.error, RecursionError, OverflowError):
            continue
    return found


def _redactor(allowed: "list[re.Pattern[str]]") -> "Callable[[str, str], str]":
    def redact(kind: str, secret: str) -> str:
        """What stands in place of one secret: the label, or the secret itself when the configuration allows it."""
        if any(pattern.search(secret) for pattern in allowed):
            return secret
        return f"{MARK}{kind}]"

    return redact


def _without(rules: "Iterable[Rule]", text: str, where: str, low: str, redact: "Callable[[str, str], str]") -> str:
    """The text without what the rules find. `where`: the part of it that holds a literal of each rule that can, and the
    same in lower case."""
    for kind, literals, pattern in rules:
        if _occurs(literals, low if literals[0].islower() else where):
            text = _apply(pattern, kind, text, redact)
    return text


def _apply(pattern: str, kind: str, text: str, redact: "Callable[[str, str], str]") -> str:
    if pattern.startswith("(?i)"):
        low = text.lower()
        if len(low) == len(text):  # then no letter changed its place, and a literal start is searched for fast
            return _replace(re.compile(pattern[4:].replace("A-Z", "")), kind, text, low, redact)
    return _replace(re.compile(pattern), kind, text, text, redact)


def _replace(
    pattern: "re.Pattern[str]", kind: str, text: str, subject: str, redact: "Callable[[str, str], str]"
) -> str:
    """The text with group `v`, or the whole of each match, replaced. `subject`: what the pattern is applied to."""
    part = "v" if "v" in pattern.groupindex else 0
    kept: list[str] = []
    at = 0
    for match in pattern.finditer(subject):
        start, end = match.span(part)
        secret = text[start:end]
        if not secret or MARK in text[match.start() : end] or _is_ordinary(kind, secret, match[0]):
            continue
        begin = match.start()
        if part and begin and text[begin].isalnum() and text[begin - 1].isalnum():
            continue  # in the middle of a word
        kept += [text[at:start], redact(kind, secret)]
        at = end
    if not at:
        return text
    kept.append(text[at:])
    return "".join(kept)


def _is_ordinary(kind: str, secret: str, whole: str) -> bool:
    """Whether what has the shape of that kind of secret is text of another sort."""
    if kind == "cli-password":
        return whole.startswith("--") and secret.isalpha() and secret.islower()  # "the --password option"
    if kind == "cli-token":
        return not (is_mixed(secret) or re.search(r"[A-Za-z]\d++[A-Za-z]", secret[:200]))
    if kind == "registry-auth":
        return not (is_mixed(secret) or _is_userinfo(secret))
    return kind in _MUST_MIX and not is_mixed(secret)


def _is_userinfo(value: str) -> bool:
    """Whether it is base 64 of `user:password`."""
    from binascii import Error, a2b_base64  # built in

    try:
        plain = a2b_base64(value[: len(value) // 4 * 4])
    except Error:
        return False
    return b":" in plain[1:] and plain.isascii() and plain.decode().isprintable()


def is_mixed(value: str) -> bool:
    """Looks made by a machine: digits among letters in one long run, or both cases in no word's order."""
    run = max(re.split(r"[^A-Za-z0-9]++", value), key=len)
    has_digit = any(sign.isdigit() for sign in run)
    has_letter = any(sign.isalpha() for sign in run)
    if len(run) >= 12 and has_digit and has_letter:
        return True
    turns = sum(1 for a, b in zip(run, run[1:], strict=False) if a.islower() and b.isupper())  # noqa: RUF007 itertools is not loaded
    if len(run) >= 16 and turns >= 3 and not run.isupper():
        return True
    return len(value) >= 20 and any(c.isdigit() for c in value) and any(c.isupper() for c in value)


def _occurs(literals: "Iterable[str]", text: str) -> bool:
    """Whether one of the literals stands in the text. A plain loop: half the time."""
    for literal in literals:  # noqa: SIM110
        if literal in text:
            return True
    return False


def _without_tokens(text: str, long_words: str, redact: "Callable[[str, str], str]") -> str:
    present = [prefix for prefix in TOKENS if prefix in long_words]
    if not present:
        return text
    present.sort(key=len, reverse=True)
    shapes = "|".join(f"{_bordered(re.escape(prefix))}{TOKENS[prefix][1]}" for prefix in present)

    def replace(match: "re.Match[str]") -> str:
        token = match[0]
        prefix = next(one for one in present if token.startswith(one))
        kind = TOKENS[prefix][0]
        if kind in _MUST_MIX and not is_mixed(token[len(prefix) :]):
            return token
        if kind == "jwt" and len(token) < 40:
            return token
        if kind in _LIKE_BASE64 and "." not in token and _is_within_base64(text, match.start()):
            return token
        return redact(kind, token)

    return re.sub(shapes, replace, text)


def _bordered(literal: str) -> str:
    """The literal, and behind it that no word goes on into it: so the search still starts at a literal."""
    return rf"{literal}(?<![A-Za-z0-9]{literal})"


def _is_within_base64(text: str, at: int) -> bool:
    """Whether what stands before looks like the earlier part of an image or a source map."""
    before = text[max(0, at - 7) : at]
    return before == "base64," or (before[-1:] in ("+", "/") and before[-2:-1].isalnum())
