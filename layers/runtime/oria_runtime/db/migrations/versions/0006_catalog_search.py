"""Searches of opportunities, people, trainings, jobs and skills.

Revision ID: 0006
"""

from pathlib import Path

from alembic import context, op

revision = "0006"
down_revision = "0005"

FACETS = {
    "declarations": "wanted tsquery := facet_query(tenant, groups);",
    "conditions": "'facets @@ ' || quote_literal(wanted)",
}
PEOPLE = FACETS | {
    "table": "people",
    "kind": "person",
    "parameters": "groups jsonb",
    "types": "jsonb",
    "arguments": "tenant, wanted",
}
OPPORTUNITIES = FACETS | {
    "table": "opportunities",
    "kind": "opportunity",
    "parameters": "groups jsonb, posted_after date, open_on date",
    "types": "jsonb, date, date",
    "arguments": "tenant, wanted, posted_after, open_on",
}
TRAININGS = {
    "table": "trainings",
    "kind": "training",
    "parameters": "languages text[], levels text[], formats text[], max_minutes int",
    "types": "text[], text[], text[], int",
    "arguments": "tenant, languages, levels, formats, max_minutes",
    "declarations": "",
    "conditions": """
        'language = any (' || quote_literal(languages) || ')', 'level = any (' || quote_literal(levels) || ')',
        'format = any (' || quote_literal(formats) || ')', 'duration_minutes <= ' || max_minutes""",
}


def upgrade() -> None:
    """Run the SQL beside this file; `{schema}`, `{app}` and `{cross}` are the schema and its two roles."""
    names = context.config.attributes["names"]
    op.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8").format(**names))
    pattern = Path(__file__).with_name("0006_ranked_search.sql").read_text(encoding="utf-8")
    for searched in (PEOPLE, OPPORTUNITIES, TRAININGS):
        op.execute(pattern.format(**names, **searched))
    op.execute("drop procedure publish_search")


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward: restore a backup to go back")
