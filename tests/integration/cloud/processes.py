"""Processes as Linux shows them."""

from pathlib import Path


def read_state(pid: int) -> str:
    """The state letter of a process (R, S, T, Z…), nothing when there is none."""
    fields = _read_fields(pid)
    return fields[0] if fields else ""


def lives(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for yet does not."""
    return read_state(pid) not in ("", "Z")


def descendants(pid: int) -> list[int]:
    """The processes below one."""
    pids = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
    parents = {child: int(fields[1]) for child in pids if (fields := _read_fields(child))}
    found = [pid]
    for parent in found:
        found += [child for child, above in parents.items() if above == parent]
    return found[1:]


def _read_fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
