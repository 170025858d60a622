"""A stage that calls no model must not pay for the SDK's import."""

import subprocess
import sys


def test_the_client_module_imports_no_sdk() -> None:
    code = (
        "import sys; import oria_runtime.models.client; "
        "print([name for name in ('openai', 'langchain_openai', 'langchain_core', 'httpx2') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ())
    assert shown.stdout.strip() == "[]"


def environ() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(sys.path)}
