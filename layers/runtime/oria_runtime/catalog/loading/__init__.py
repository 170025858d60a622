"""Loading customers' files: reading, checking, embedding and writing rows (docs/import.md)."""
