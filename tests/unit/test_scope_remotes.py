"""Remotes become identities."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_memory.scope.naming import NoProjects, fit_name, is_free_to_use, name_of_remote, settle_name
from ai_memory.scope.remotes import normalise_identity, normalise_remote

SPELLINGS = [
    "https://github.com/acme/api",
    "https://github.com/acme/api.git",
    "https://github.com/acme/api.git/",
    "https://GitHub.com/Acme/API//",
    "https://me:ghp_secret@github.com/acme/api.git",
    "https://oauth2:tok@en@github.com:443/acme/api.git?private_token=abc#x",
    "http://github.com/acme/api",
    "git://github.com/acme/api.git",
    "ssh://git@github.com/acme/api.git",
    "ssh://git@github.com:22/acme/api.git",
    "ssh://git@ssh.github.com:443/acme/api.git",
    "git+ssh://git@github.com/acme/api",
    "git@github.com:acme/api.git",
    "git@github.com:/acme/api.git",
    "github.com:acme/api",
    "git@[github.com:22]:acme/api",
    "user:tok@github.com:acme/api",
    "  https://github.com./acme/./api.git\n",
]


@pytest.mark.parametrize("url", SPELLINGS)
def test_every_spelling_of_one_remote_has_one_identity(url: str) -> None:
    assert normalise_remote(url) == "github.com/acme/api"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/git/api.git",
        "./api",
        "../api.git",
        "api",
        "~/api",
        "foo/bar:baz",
        "C:\\code\\api",
        "C:/code/api",
        "c:api",
        "\\\\server\\share\\api",
        "file:///srv/git/api.git",
        "ext::sh -c whoami",
        "codecommit::us-east-1://api",
        "https://",
        "https://github.com",
        "https://github.com/",
        "https://github.com/.git",
        "https://github.com/acme/../other",
        "https://user:pa/ss@github.com/acme/api",
        "https://to/ken@github.com/acme/api",
        "https://host:port/acme/api",
        "https://git hub.com/acme/api",
        "git@github.com:acme/a\0pi",
        "https://github.com/" + "a" * 5000,
    ],
)
def test_a_local_path_or_an_unclear_url_is_no_identity(url: str) -> None:
    assert normalise_remote(url) is None


def test_case_of_the_path_counts_on_hosts_where_it_may() -> None:
    assert normalise_remote("https://git.example.org/Acme/API.git") == "git.example.org/Acme/API"


def test_ports_and_ipv6_hosts() -> None:
    assert normalise_remote("ssh://git@[fe80::1]:2222/srv/api.git") == "[fe80::1]/srv/api"
    assert normalise_remote("git@[fe80::1]:srv/api.git") == "[fe80::1]/srv/api"
    assert normalise_remote("ssh://git.example.org:2222/api") == "git.example.org/api"


def test_an_identity_in_a_marker_may_be_written_as_it_is_shown() -> None:
    for written in ("github.com/acme/api", "GitHub.com/Acme/api.git", "git@github.com:acme/api"):
        assert normalise_identity(written) == "github.com/acme/api"
    assert normalise_identity("/srv/api") is None
    assert normalise_identity("just-a-word") is None


TEXTS = st.text(st.sampled_from("aB9.-_~/:@?#%[]\\ \téß"), max_size=30) | st.text(max_size=30)
PREFIXES = st.sampled_from(["", "https://", "ssh://", "SSH://git@", "git@host:", "https://h/", "github.com:", "[::1]:"])


@settings(max_examples=200)
@given(PREFIXES, TEXTS)
def test_normalising_twice_changes_nothing(prefix: str, text: str) -> None:
    identity = normalise_remote(prefix + text)
    if identity is not None:
        assert normalise_remote(f"https://{identity}") == identity
        assert normalise_identity(identity) == identity


SECRETS = st.text(st.sampled_from("abcXYZ0189-_.~!$&'()*+,;=:@/%?#"), max_size=20).map(lambda tail: f"S3CR3T{tail}")


@settings(max_examples=200)
@given(
    SECRETS,
    st.sampled_from(
        [
            "https://{s}@git.example.org/acme/api.git",
            "https://user:{s}@git.example.org/acme/api.git",
            "https://user:{s}@git.example.org:8443/acme/api",
            "ssh://user:{s}@git.example.org/acme/api",
            "user:{s}@git.example.org:acme/api",
            "https://git.example.org/acme/api?token={s}",
            "https://git.example.org/acme/api#{s}",
        ]
    ),
)
def test_credentials_never_survive(secret: str, form: str) -> None:
    assert "s3cr3t" not in (normalise_remote(form.format(s=secret)) or "").lower()


@settings(max_examples=200)
@given(st.text(max_size=90))
def test_whatever_a_folder_is_called_its_project_has_a_valid_name(text: str) -> None:
    assert is_free_to_use(settle_name("default", fit_name(text), f"/x/{text}", NoProjects()))
    assert fit_name(fit_name(text)) == fit_name(text)


def test_names_of_remotes_leave_out_the_host() -> None:
    assert name_of_remote("github.com/acme/api") == "acme-api"
    assert name_of_remote("gitlab.com/Group/sub.group/My Tool") == "group-sub.group-my-tool"
    assert name_of_remote("github.com/acme/api", with_host=True) == "github.com-acme-api"
    assert fit_name("Größe & Weite") == "grosse-weite"


@pytest.mark.parametrize("name", ["scratch", "con", "", "aux.x"])
def test_a_name_that_may_not_be_used_gets_digits(name: str) -> None:
    settled = settle_name("default", name, "/srv/x", NoProjects())
    assert settled != name
    assert is_free_to_use(settled)
