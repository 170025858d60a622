"""Parents that do not exist, and parents in a circle. Only links are held in memory, not rows."""

from collections.abc import Callable, Collection, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from oria_runtime.catalog.loading.ledger import Ledger
from oria_runtime.db.pool import TenantDatabase

Links = Mapping[str, Sequence[str]]

LOOKUP_SIZE = 5_000

READ_KNOWN_IDS_SQL = """
select external_id from trainings
where tenant_id = current_setting('app.tenant')::uuid and external_id = any(%s)
"""
READ_LINKS_SQL = """
select child.external_id as child, array_agg(parent.external_id) as parents
from training_parents link
join trainings child on child.id = link.training_id
join trainings parent on parent.id = link.parent_id
where link.tenant_id = current_setting('app.tenant')::uuid
group by child.external_id
"""


async def find_broken_links(database: TenantDatabase, links: Links, ledger: Ledger) -> dict[str, str]:
    """The children of `links` (a file's child → parents) that cannot be written, each with the reason."""
    if not links:
        return {}
    named = list({*links, *(parent for parents in links.values() for parent in parents)})
    stored: set[str] = set()
    async with database.transaction() as connection:
        for start in range(0, len(named), LOOKUP_SIZE):
            cursor = await connection.execute(READ_KNOWN_IDS_SQL, (named[start : start + LOOKUP_SIZE],))
            stored |= {row["external_id"] for row in await cursor.fetchall()}
        cursor = await connection.execute(READ_LINKS_SQL)
        kept = {row["child"]: row["parents"] for row in await cursor.fetchall()}
    return break_links(links, kept, stored, ledger.accepts)


def break_links(links: Links, kept: Links, stored: Collection[str], accepts: Callable[[str], bool]) -> dict[str, str]:
    """The reasons by child. `kept` are the links in the database, `accepts` says that the file brings an id."""
    broken: dict[str, str] = {}
    reject_orphans(links, stored, accepts, broken)
    while cycles := find_cycles(merge_links(links, kept, accepts, broken)):
        for cycle in cycles:
            reason = f"its parents form a circle: {' > '.join([*cycle, cycle[0]])}"
            broken |= {child: reason for child in cycle if child in links}
        reject_orphans(links, stored, accepts, broken)
    return broken


def reject_orphans(
    links: Links, stored: Collection[str], accepts: Callable[[str], bool], broken: dict[str, str]
) -> None:
    """Add the children of unknown parents to `broken`, then the children of those."""
    children: dict[str, list[str]] = {}
    for child, parents in links.items():
        for parent in parents:
            children.setdefault(parent, []).append(child)
    lost = [parent for parent in children if parent not in stored and (parent in broken or not accepts(parent))]
    while lost:
        parent = lost.pop()
        for child in children.get(parent, ()):
            if child not in broken:
                broken[child] = f"unknown parent {parent!r}: neither in the catalog nor in an accepted row of this file"
                if child not in stored:
                    lost.append(child)


def merge_links(links: Links, kept: Links, accepts: Callable[[str], bool], broken: Mapping[str, str]) -> Links:
    """The links as they would be after the import."""
    written = {child: parents for child, parents in links.items() if child not in broken}
    return written | {c: p for c, p in kept.items() if c in broken or not accepts(c)}


def find_cycles(links: Links) -> list[list[str]]:
    """Cycles without a common member; none when there is no cycle. Some may only show when these are gone."""
    sorter = TopologicalSorter(links)
    try:
        sorter.prepare()
    except CycleError:
        return walk_cycles(links, remaining=set(links) - drain(sorter))
    return []


def drain(sorter: "TopologicalSorter[str]") -> set[str]:
    """Every node that is not behind a cycle."""
    done: set[str] = set()
    while ready := sorter.get_ready():
        done.update(ready)
        sorter.done(*ready)
    return done


def walk_cycles(links: Links, remaining: Collection[str]) -> list[list[str]]:
    """Go from parent to parent inside `remaining`, where each node has one, until a node comes again."""
    seen: set[str] = set()
    cycles = []
    for start in sorted(remaining):
        path: dict[str, int] = {}
        node = start
        while node not in path and node not in seen:
            path[node] = len(path)
            node = next(parent for parent in links[node] if parent in remaining)
        if node in path:
            cycles.append(list(path)[path[node] :])
        seen.update(path)
    return cycles
