"""What the api function loads before its first request; the stream function loads the same."""

import json
import subprocess
import sys

import pytest

FORBIDDEN = ["langgraph", "langchain_core", "langsmith", "openai", "boto3", "eld", "alembic", "sqlalchemy", "uvicorn"]
SCRIPT = """
import json, sys
sys.path[:0] = [".", "layers/runtime"]
from oria_runtime.http.app import create_app
from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.assistants import load_registry
registry = load_registry("graph.registry:ASSISTANTS")
create_app(Sandbox({"DATABASE_URL": "postgresql://nowhere"}, registry=registry), stream=STREAM)
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("stream", [False, True])
def test_app_starts_without_what_a_request_rarely_needs(stream: bool) -> None:
    script = SCRIPT.replace("STREAM", str(stream))
    # Nothing of the environment is needed, either: no connection, no key, no clock at import.
    done = subprocess.run([sys.executable, "-c", script], env={}, capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert [name for name in FORBIDDEN if name in loaded] == []
