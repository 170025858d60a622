"""Knowledge: sources, their refreshes and documents, chunks, and versions of the vector index.

Revision ID: 0009
"""

from pathlib import Path

from alembic import context, op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Run the SQL beside this file; `{schema}`, `{app}` and `{cross}` are the schema and its two roles."""
    names = context.config.attributes["names"]
    op.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").format(**names))


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward: restore a backup to go back")
