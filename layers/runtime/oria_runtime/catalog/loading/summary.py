"""What an import did, and how fast."""

from dataclasses import dataclass


@dataclass
class Summary:
    """Rows by what became of them. `embedded` counts texts sent to the embedding model, of new and old rows."""

    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: int = 0
    embedded: int = 0
    seconds: float = 0.0

    @property
    def rows(self) -> int:
        return self.inserted + self.updated + self.unchanged + self.failed

    @property
    def rows_per_second(self) -> float:
        return self.rows / self.seconds if self.seconds else 0.0
