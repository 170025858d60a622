"""A local cloud over a small application of its own: no database, no model."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from local.cloud.cloud import LocalCloud
from local.cloud.options import CloudOptions

TEMPLATE = Path(__file__).parent / "application" / "template.yaml"


def build_options(folder: Path, **choices: Any) -> CloudOptions:
    """Options of a small cloud: short retries, no schedules, a 10 s function killed after one."""
    defaults: dict[str, Any] = {
        "data": folder,
        "template": TEMPLATE,
        "parameters": {"NotesFolder": str(folder)},
        "database": False,
        "sample_tenant": False,
        "offline_model": False,
        "schedules": False,
        "retry_delays": (0.05, 0.1),
        "timeouts": {"Misbehave": 1.0},
    }
    return CloudOptions(**defaults | choices)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cloud(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalCloud]:
    """One cloud for the tests of a module."""
    async with LocalCloud(build_options(tmp_path_factory.mktemp("cloud"))) as cloud:
        yield cloud
