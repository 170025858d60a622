"""Locations: one spelling for one URL, and a scope that no spelling leaves."""

import posixpath
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oria_runtime.knowledge.locations import LocationError, Scope, default_scope, is_public, normalize
from oria_runtime.knowledge.refresh.run import choose_policy

ONE = "https://example.com/hr/leave%20rules?b=2&a=1"
SPELLINGS = [
    "https://example.com/hr/leave%20rules?b=2&a=1",
    "HTTPS://EXAMPLE.com/hr/leave%20rules?b=2&a=1",
    "https://example.com:443/hr/leave%20rules?b=2&a=1",
    "https://example.com./hr/leave%20rules?b=2&a=1",
    "https://example.com/hr/leave%20rules?b=2&a=1#top",
    "https://example.com/hr/leave%20rules?b=2&a=1#",
    "https://example.com/./hr/x/../leave%20rules?b=2&a=1",
    "https://example.com/hr/%6ceave%20rules?b=2&a=%31",
    "https://example.com/%2e/hr/leave%20rules?b=2&a=1",
    "  https://example.com/hr/leave%20rules?b=2&a=1\n",
]
OTHERS = {
    "https://bücher.example/é": "https://xn--bcher-kva.example/%C3%A9",
    "https://Straße.example/": "https://xn--strae-oqa.example/",
    "https://example.com": "https://example.com/",
    "https://example.com?": "https://example.com/",
    "https://example.com/a/..": "https://example.com/",
    "https://example.com/../../a": "https://example.com/a",
    "https://example.com/a//b": "https://example.com/a//b",
    "https://example.com/100%": "https://example.com/100%25",
    "https://example.com/a%2Fb": "https://example.com/a%2Fb",
    "https://example.com/%e4%bd%a0": "https://example.com/%E4%BD%A0",
    "http://0x7f.0.0.1:8080/": "http://127.0.0.1:8080/",
    "http://[0:0:0:0:0:0:0:1]/": "http://[::1]/",
    "http://①②⑦.0.0.1/": "http://127.0.0.1/",
    "http://１２７。０。０。１/": "http://127.0.0.1/",
    "http://example.com:80/": "http://example.com/",
    "http://example.com:443/": "http://example.com:443/",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_one_url_are_one_location(spelling: str) -> None:
    assert normalize(spelling) == ONE


@pytest.mark.parametrize(("url", "location"), OTHERS.items())
def test_urls_are_normalized(url: str, location: str) -> None:
    assert normalize(url) == location


@pytest.mark.parametrize(
    "different", ["https://example.com/hr/Leave%20rules?b=2&a=1", "https://example.com/hr/leave%20rules?a=1&b=2"]
)
def test_what_may_mean_something_else_stays_another_location(different: str) -> None:
    assert normalize(different) != ONE


BROKEN = {
    "": "scheme",
    "example.com": "scheme",
    "//example.com/": "scheme",
    "javascript:alert(1)": "scheme",
    "file:///etc/passwd": "scheme",
    "data:text/html,x": "scheme",
    "https://": "host",
    "https://-": "host",
    "https://a..b/": "host",
    "https://exa%6dple.com/": "host",
    "https://user@example.com/": "credentials",
    "https://@example.com/": "credentials",
    "https://a:b@127.0.0.1@example.com/": "credentials",
    "https://example.com:x/": "port",
    "https://example.com:70000/": "port",
    "https://example.com:0/": "port",
    "https://example.com\\@other.com/": "characters",
    "https://exam\tple.com/": "characters",
    "https://example.com/a\x00b": "characters",
    "https://example.com/a b": "characters",
    "http://1.2.3.4.5/": "address",
    "http://256.1.1.1/": "address",
    "http://0x/": None,
    "https://example.com/" + "a" * 2_000: "length",
    "https://example.com/" + "休" * 300: "length",
    "http://[::1": "host",
    "http://[fe80::1%25eth0]/": None,
}


@pytest.mark.parametrize("url", BROKEN)
def test_a_broken_url_names_its_rule(url: str) -> None:
    expected = BROKEN[url]
    if expected is None:
        assert not is_public(normalize(url), allow_loopback=True)
        return
    with pytest.raises(LocationError) as error:
        normalize(url)
    assert error.value.rule == expected


@given(st.text(max_size=60))
def test_a_location_is_its_own_spelling(text: str) -> None:
    for url in (text, f"https://example.com/{text}", f"https://{text}/", f"https://example.com/?{text}"):
        try:
            location = normalize(url)
        except LocationError:
            continue
        assert normalize(location) == location
        assert location.isascii()
        assert "#" not in location


@given(st.lists(st.sampled_from(["..", ".", "%2e%2e", "%2F", "hr", "hrx", "x", "%2e", "..%2f", ""]), max_size=8))
def test_no_path_leaves_the_scope(segments: list[str]) -> None:
    location = normalize("https://example.com/" + "/".join(segments))
    if Scope(("https://example.com",), ("/hr",)).admits(location):
        for path in (location, unquote(location)):
            plain = posixpath.normpath(path.removeprefix("https://example.com"))
            assert plain == "/hr" or plain.startswith("/hr/")


SCOPE = Scope(("https://example.com", "https://docs.example.com:8443"), ("/hr", "/it/"))
ADMITTED = {
    "https://example.com/hr": True,
    "https://example.com/hr/": True,
    "https://example.com/hr/leave": True,
    "https://example.com/it": True,
    "https://docs.example.com:8443/it/x?y": True,
    "https://example.com/hrx": False,
    "https://example.com/": False,
    "http://example.com/hr": False,
    "https://example.com:8443/hr": False,
    "https://docs.example.com/hr": False,
    "https://example.com.evil.com/hr": False,
    "https://example.com/hr/%2F..%2F..%2Fsecret": False,
    "https://example.com/hr/%2F/..%2F": False,
    "https://example.com/hr/%252e%252e/secret": False,
    "https://example.com/hr/..;/secret": False,
    "https://example.com/hr/%252e%252e%253bv=1/secret": False,
    "https://example.com/hr/..%5C..%5Csecret": False,
    "https://example.com/hr/leave;v=1/days": True,
}


@pytest.mark.parametrize("location", ADMITTED)
def test_a_scope_ends_at_segments_and_origins(location: str) -> None:
    assert SCOPE.admits(location) is ADMITTED[location]


@pytest.mark.parametrize("folder", ["Human%20Resources", "%C3%BCber", "a%2Fb", "100%25", "x%2520y", "v;1"])
def test_a_folder_whose_name_is_escaped_is_a_scope(folder: str) -> None:
    scope = default_scope(normalize(f"https://example.com/{folder}/start.html"))
    assert scope.admits(f"https://example.com/{folder}/leave/days.html")
    assert not scope.admits(f"https://example.com/{folder}x/days.html")
    assert not scope.admits(f"https://example.com/{folder}/%2e%2e/days.html")


def test_without_limits_a_source_reads_its_own_folder() -> None:
    assert default_scope("https://example.com/hr/start.html") == Scope(("https://example.com",), ("/hr/",))
    assert default_scope("https://example.com/") == Scope(("https://example.com",), ("/",))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://017700000001/", "http://0x7f000001/",
        "http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://[::1]/", "http://[::ffff:7f00:1]/",
        "http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1/", "http://169.254.169.254/", "http://0.0.0.0/",
        "http://100.64.0.1/", "http://[fd00::1]/", "http://[fe80::1]/", "http://[64:ff9b::a00:1]/",
        "http://[2002:a00:1::]/",
    ],
)  # fmt: skip
def test_hosts_that_are_not_public_are_told(url: str) -> None:
    assert not is_public(normalize(url), allow_loopback=False)


def test_loopback_is_let_through_only_where_it_is_allowed() -> None:
    assert is_public(normalize("http://127.0.0.1:8090/"), allow_loopback=True)
    assert is_public(normalize("http://localhost:8090/"), allow_loopback=True)
    assert not is_public(normalize("http://10.0.0.1/"), allow_loopback=True)
    assert not is_public(normalize("http://169.254.169.254/"), allow_loopback=True)


def test_a_persons_own_machine_is_asked_without_pauses() -> None:
    assert choose_policy("http://127.0.0.1:8090/", allow_loopback=True).delay_seconds == 0
    assert choose_policy("http://localhost:8090/", allow_loopback=True).delay_seconds == 0
    for location, allowed in (("https://example.com/", True), ("http://127.0.0.1/", False)):
        assert choose_policy(location, allow_loopback=allowed).delay_seconds > 0
