"""Migrations at deploy: a CloudFormation custom resource around the migrator that `make migrate` calls, too."""

import os
from typing import Any

from functions.migrate.custom_resource import answer
from oria_runtime.db.migrator import migrate
from oria_runtime.observability import instrument
from oria_runtime.secrets import read_secret


@instrument
def handler(event: dict[str, Any], context: Any) -> None:
    """Migrate on Create and Update. Delete keeps the data: a stack may go while its database stays."""
    answer(event, context.log_stream_name, run_migrations)


def run_migrations(event: dict[str, Any]) -> dict[str, str]:
    """Bring the database to the schema of this deployment. Returns the resource's attributes."""
    if event["RequestType"] == "Delete":
        return {}
    url = os.environ.get("MIGRATION_DATABASE_URL") or read_secret(os.environ["MIGRATION_DATABASE_SECRET_ARN"])
    result = migrate(url, schema=os.environ["PG_SCHEMA"])
    return {"SchemaVersion": str(result["version"])}
