"""What reaches workers of the user's environment, and by which way."""

from pathlib import Path

from local.cloud.configuration import Configuration, override_environment
from local.cloud.database import DatabaseUrls
from local.cloud.environment import build_function_environment, select_user_variables
from local.cloud.options import ROOT, CloudOptions
from local.cloud.resources import FunctionSpec
from local.cloud.template import Template


def configure(user: dict[str, str], model_url: str = "") -> Configuration:
    """A configuration for a user's environment."""
    options = CloudOptions(data=Path(), user=user, base_path="/live")
    return Configuration(options, "http://127.0.0.1:1", DatabaseUrls("owner", "app"), model_url)


def test_the_offline_model_replaces_every_setting_of_a_provider() -> None:
    configuration = configure({"OPENAI_ORG_ID": "org", "EMBEDDING_MODEL": "mine"}, "http://127.0.0.1:2/v1")

    assert configuration.secrets()["OpenAiSecretArn"] == "offline"
    assert configuration.parameters()["OpenAiBaseUrl"] == "http://127.0.0.1:2/v1"
    assert configuration.parameters()["EmbeddingModel"] == "offline-use-multilingual"
    assert configuration.model_environment()["OPENAI_BASE_URL"] == "http://127.0.0.1:2/v1"


def test_the_provider_of_the_user_goes_through_the_template() -> None:
    user = {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": "https://models.example/v1", "MINI_MODEL": "small"}
    configuration = configure(user)

    assert configuration.secrets()["OpenAiSecretArn"] == "key"
    assert configuration.parameters()["OpenAiBaseUrl"] == "https://models.example/v1"
    assert configuration.parameters()["MiniModel"] == "small"
    assert "EmbeddingModel" not in configuration.parameters()
    assert not CloudOptions(data=Path(), user=user).needs_offline_model
    assert CloudOptions(data=Path(), user={}).needs_offline_model


def test_the_local_cloud_fills_every_parameter_without_a_default() -> None:
    declared = {name for name, _ in Template(ROOT / "template.yaml").missing_parameters()}
    configuration = configure({})

    assert declared <= configuration.secrets().keys() | configuration.parameters().keys()


def test_loopback_is_a_source_of_knowledge_in_the_local_cloud_alone() -> None:
    assert configure({}).parameters()["KnowledgeLoopback"] == "true"
    assert Template(ROOT / "template.yaml").parameters["KnowledgeLoopback"] == "false"
    assert "Loopback" not in (ROOT / "samconfig.toml").read_text()


def test_only_what_is_named_passes_to_workers() -> None:
    user = {"AWS_PROFILE": "mine", "PYTHONPATH": "mine", "OPENAI_API_KEY": "key", "SSL_CERT_FILE": "certificates"}

    assert select_user_variables(user) == {"SSL_CERT_FILE": "certificates"}


def test_addresses_of_this_machine_never_go_through_a_proxy() -> None:
    passed = select_user_variables({"HTTPS_PROXY": "http://proxy", "NO_PROXY": "intern"})

    assert passed["NO_PROXY"] == "intern,127.0.0.1,localhost"


def test_options_override_the_template_which_overrides_lambda(tmp_path: Path) -> None:
    options = CloudOptions(data=tmp_path, environ={"A": "all"}, function_environ={"One": {"B": "one"}})
    environ = override_environment({"A": "template", "B": "template", "C": "template"}, options, "One")
    spec = FunctionSpec("one", "app.handler", tmp_path, environ=environ)
    built = build_function_environment(spec, {"C": "base", "AWS_REGION": "here"})

    assert [built[name] for name in ("A", "B", "C", "AWS_REGION")] == ["all", "one", "template", "here"]
    assert built["PYTHONPATH"] == str(tmp_path)
