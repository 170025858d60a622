"""Migrations at deploy: a CloudFormation custom resource around the migrator that `make migrate` calls, too."""

from collections.abc import Mapping
from typing import Any

from functions.migrate.custom_resource import answer
from oria_runtime.db.migrator import migrate, role_names
from oria_runtime.observability import instrument
from oria_runtime.sandbox import get_sandbox
from oria_runtime.settings import require


@instrument
def handler(event: dict[str, Any], context: Any) -> None:
    """Answer a custom resource event: migrate on Create and Update."""
    answer(event, context.log_stream_name, run_migrations)


def run_migrations(event: Mapping[str, Any]) -> dict[str, str]:
    """Bring the database to the schema of this deployment. Returns the resource's attributes.

    Delete keeps the data: a stack may go while its database stays.
    """
    if event["RequestType"] == "Delete":
        return {}
    sandbox = get_sandbox()
    schema = sandbox.settings.schema
    password = read_password(sandbox.settings.database_url, role_names(schema)["app"])
    owner_url = require(sandbox.environ, "MIGRATION_DATABASE_URL")
    versions = sandbox.run(migrate(owner_url, schema=schema, app_password=password))
    return {"SchemaVersion": str(versions["schema"])}


def read_password(url: str, role: str) -> str | None:
    """The password of the application role, or None when the functions connect as another role than the migrator's."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(url)
    password = parts.get("password")
    return str(password) if parts.get("user") == role and password else None
