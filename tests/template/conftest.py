"""template.yaml, translated once for the whole suite."""

from pathlib import Path

import pytest

from local.packaging.build import build
from local.packaging.interpreters import MissingProgramError, find_python
from tests.support.template import Stack, refuse, require_sam, translate


@pytest.fixture(scope="session")
def stack() -> Stack:
    """The CloudFormation resources that SAM makes of template.yaml."""
    return translate()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every function and layer as `sam build` leaves them, in folders named by logical id."""
    require_sam()
    try:
        find_python()
    except MissingProgramError as missing:
        refuse(missing)
    folder = tmp_path_factory.mktemp("built")
    build(folder)
    return folder
