"""`make migrate`: bring a database to the schema of this release."""

import argparse
import asyncio
import os
import sys

from oria_runtime.db.migrator import migrate
from oria_runtime.errors import ConfigurationError


def main() -> int:
    parser = argparse.ArgumentParser(prog="make migrate", description=__doc__)
    parser.add_argument(
        "--database-url", default=os.environ.get("MIGRATION_DATABASE_URL"), help="the owner's URL (postgresql://…)"
    )
    parser.add_argument("--schema", default=os.environ.get("PG_SCHEMA", "oria"), help="default: oria")
    parser.add_argument(
        "--app-password",
        default=os.environ.get("APP_DATABASE_PASSWORD"),
        help="set the application role's password (default: $APP_DATABASE_PASSWORD, else leave it)",
    )
    arguments = parser.parse_args()
    if not arguments.database_url:
        parser.error("no database: call `make migrate DATABASE_URL=postgresql://owner:…@host/database`")
    try:
        versions = asyncio.run(
            migrate(arguments.database_url, schema=arguments.schema, app_password=arguments.app_password)
        )
    except ConfigurationError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 1
    sys.stdout.write(f"migrated: {', '.join(f'{name} {version}' for name, version in versions.items())}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
