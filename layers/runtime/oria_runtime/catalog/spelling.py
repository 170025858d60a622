"""Comparing texts whatever their case and accents, in code. The database's own way is `fold_text` (migration 0006)."""

import unicodedata


def fold_letters(text: str) -> str:
    """The text in lower case with every letter at its base form."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
