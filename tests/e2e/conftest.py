"""One lab cloud for the tests of a module: starting it takes seconds."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.lab_cloud import LabCloud, start_lab_cloud


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def lab(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LabCloud]:
    data: Path = tmp_path_factory.mktemp("lab")
    async with start_lab_cloud(data, rates={"SweepFunction": 2}) as lab:
        yield lab
