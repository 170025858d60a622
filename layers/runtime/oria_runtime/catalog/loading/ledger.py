"""What the first reading of a file found, in a temporary file of SQLite's: a set in memory would grow with it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

CREATE_LEDGER_SQL = """
create table ids (external_id text primary key, row integer not null) without rowid;
create table rejected (row integer primary key);
"""


class Ledger:
    """The ids of a file and its rejected rows."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.rejected = 0

    def claim(self, external_id: str, row: int) -> int | None:
        """Note an id; returns the earlier row that has it, if there is one."""
        cursor = self.connection.execute("insert or ignore into ids values (?, ?)", (external_id, row))
        if cursor.rowcount:
            return None
        found = self.connection.execute("select row from ids where external_id = ?", (external_id,)).fetchone()
        return int(found[0])

    def reject(self, row: int) -> None:
        """Keep a row from being written."""
        self.rejected += self.connection.execute("insert or ignore into rejected values (?)", (row,)).rowcount

    def is_rejected(self, row: int) -> bool:
        """Was the row rejected?"""
        if not self.rejected:
            return False
        return self.connection.execute("select 1 from rejected where row = ?", (row,)).fetchone() is not None

    def accepts(self, external_id: str) -> bool:
        """Does the file bring this id in a row that was not rejected?"""
        found = self.connection.execute("select row from ids where external_id = ?", (external_id,)).fetchone()
        return found is not None and not self.is_rejected(found[0])


@contextmanager
def open_ledger() -> Iterator[Ledger]:
    """An empty ledger that disappears with the block; an empty name makes SQLite use a private temporary file."""
    with closing(sqlite3.connect("", isolation_level=None)) as connection:
        connection.executescript(f"pragma journal_mode = off; pragma synchronous = off; {CREATE_LEDGER_SQL}")
        yield Ledger(connection)
