"""Parents that cannot be, in a file and together with what is stored."""

from oria_runtime.catalog.loading.lineage import Links, break_links


def broken(links: Links, kept: Links | None = None, stored: tuple[str, ...] = (), file: str = "") -> dict[str, str]:
    """The reasons; `file` are the ids (letters) that the file brings besides the children."""
    return break_links(links, kept or {}, stored, lambda name: name in links or name in file)


def test_a_forest_has_no_broken_links() -> None:
    assert broken({"b": "a", "c": "a", "d": "bc"}, file="a") == {}


def test_the_children_of_an_orphan_are_orphans_unless_it_is_stored() -> None:
    assert set(broken({"b": "x", "c": "b", "d": "c"})) == {"b", "c", "d"}
    assert set(broken({"b": "x", "c": "b", "d": "c"}, stored=("b",))) == {"b"}


def test_every_circle_is_found_and_named() -> None:
    found = broken({"a": "b", "b": "c", "c": "a", "x": "y", "y": "x", "z": "x", "s": "s"})
    assert set(found) == {"a", "b", "c", "x", "y", "z", "s"}
    assert found["a"].endswith(("a > b > c > a", "b > c > a > b", "c > a > b > c"))
    assert found["s"].endswith("s > s")
    assert "unknown parent 'x'" in found["z"]


def test_a_second_circle_behind_the_first_is_found() -> None:
    assert set(broken({"a": "bc", "b": "a", "c": "a"})) == {"a", "b", "c"}


def test_a_stored_link_can_close_a_circle_and_a_new_one_can_open_it() -> None:
    assert set(broken({"a": "b"}, kept={"b": "a"}, stored=("a", "b"))) == {"a"}
    assert broken({"a": "b"}, kept={"b": "a"}, stored=("a", "b"), file="b") == {}


def test_long_chains_and_many_circles_stay_fast() -> None:
    chain = {f"n{n}": [f"n{n - 1}"] for n in range(1, 20_000)}
    circles = {f"c{n}": [f"c{n ^ 1}"] for n in range(20_000)}
    links = chain | circles
    found = break_links(links, {}, (), lambda name: name in links)
    assert len(found) == len(links)
