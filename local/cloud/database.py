"""The database of a local cloud: a server, migrated, with the URLs of the owner and of the application role."""

from dataclasses import dataclass

from local.cloud.options import CloudOptions
from local.cloud.postgres import EmbeddedPostgres, app_url, read_app_password


@dataclass(frozen=True)
class DatabaseUrls:
    """`owner` migrates; everything else connects as `app`, under row-level security."""

    owner: str
    app: str


class Database:
    """Starts, migrates and stops what the options name."""

    def __init__(self, options: CloudOptions) -> None:
        self._options = options
        self.embedded: EmbeddedPostgres | None = None
        if options.database_url is None:
            self.embedded = EmbeddedPostgres(options.data / "postgres", throwaway=options.throwaway)

    async def start(self) -> DatabaseUrls:
        """A migrated database. Raises ConfigurationError when the owner may not migrate and the schema is outdated."""
        from oria_runtime.db.migrator import migrate

        if self.embedded is not None:
            await self.embedded.start()
        owner = self._options.database_url or (self.embedded.url if self.embedded is not None else "")
        password = read_app_password(self._options.data, owner)
        await migrate(owner, app_password=password)
        return DatabaseUrls(owner, app_url(owner, password))

    async def stop(self) -> None:
        if self.embedded is not None:
            await self.embedded.stop()
