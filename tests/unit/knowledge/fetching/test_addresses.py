"""Addresses in every spelling, and which of them may be connected to."""

from ipaddress import ip_address

import pytest

from oria_runtime.knowledge.fetching.addresses import is_reachable, read_address

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]
INTERNAL = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),
    *("168.63.129.16", "169.254.0.1", "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255"),
    *("192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
    *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1", "2001:db8::1", "3fff::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::8.8.8.8"),
    *("64:ff9b::a00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808", "2002:a9fe:a9fe::1", "2002:7f00:1::1"),
    *("2001:0:4136:e378:8000:63bf:f5ff:fffe", "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:192.168.0.1"),
    *("fe80::1%eth0", "2606:4700::1111%1", "::ffff:0:127.0.0.1"),
]
LOOPBACK = ["127.0.0.1", "127.8.8.8", "::1"]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_reachable(address: str) -> None:
    assert is_reachable(ip_address(address))


@pytest.mark.parametrize("address", INTERNAL)
def test_internal_addresses_are_not_reachable(address: str) -> None:
    assert not is_reachable(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC + INTERNAL + LOOPBACK)
def test_the_setting_for_loopback_adds_plain_loopback_and_nothing_else(address: str) -> None:
    plain = address.startswith("127.") or address == "::1"
    assert is_reachable(ip_address(address), allow_loopback=True) == (address in PUBLIC or plain)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0x7F.0.0.1",
        "017700000001",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "127.0.0.1.",
    ],
)
def test_every_spelling_of_an_ipv4_address_is_read_as_the_address(host: str) -> None:
    assert read_address(host) == ip_address("127.0.0.1")


@pytest.mark.parametrize("host", ["[::1]", "::1", "[0:0:0:0:0:0:0:1]", "0000::0001"])
def test_every_spelling_of_an_ipv6_address_is_read_as_the_address(host: str) -> None:
    assert read_address(host) == ip_address("::1")


@pytest.mark.parametrize("host", ["example.com", "1.example", "0x7f.example.com", "a1", "", "1.2.3.4.com"])
def test_a_name_is_no_address(host: str) -> None:
    assert read_address(host) is None


@pytest.mark.parametrize(
    "host", ["1.2.3.4.5", "256.0.0.1", "1.2.3.256", "4294967296", "09.0.0.1", "example.1", "1..2", "9" * 100, "::g"]
)
def test_what_is_meant_as_an_address_and_is_none_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_address(host)
