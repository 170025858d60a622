"""A stage pays for the SDKs that it calls and for no other."""

import subprocess
import sys

SDKS = ("openai", "langchain_openai", "langchain_core", "httpx2", "anthropic", "langchain_anthropic")
BUILD = """
import asyncio, sys
from oria_runtime.models.client import build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig

async def build(profile, environ):
    config = TenantConfig.model_validate({"models": {"mini": profile}})
    build_models(ModelSettings(), config, environ=environ).chat("mini", "x")
"""


def test_the_client_module_imports_no_sdk() -> None:
    assert run(f"import oria_runtime.models.client\n{show(*SDKS)}") == "[]"


def test_openai_and_azure_do_not_pay_for_anthropic() -> None:
    azure = "{'provider': 'azure', 'deployment': 'd', 'model': 'gpt-6-luna'}"
    code = f"""{BUILD}
asyncio.run(build({{}}, {{"OPENAI_API_KEY": "k"}}))
asyncio.run(build({azure}, {{"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://x.example"}}))
{show("openai", "anthropic", "langchain_anthropic")}"""
    assert run(code) == "['openai']"


def test_a_provider_whose_layer_is_missing_is_a_configuration_error_that_names_it() -> None:
    code = f"""{BUILD}
from oria_runtime.errors import ConfigurationError
sys.modules["langchain_anthropic"] = sys.modules["anthropic"] = None
try:
    asyncio.run(build({{"provider": "anthropic", "model": "claude-haiku-5-5"}}, {{"ANTHROPIC_API_KEY": "k"}}))
except ConfigurationError as error:
    print(error.detail)
"""
    assert "layers/dependencies/anthropic.in" in run(code)


def show(*names: str) -> str:
    return f"import sys; print([name for name in {names!r} if name in sys.modules])"


def run(code: str) -> str:
    environ = {"PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout.strip()
