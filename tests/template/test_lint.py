"""What SAM itself says of the template and of the deployments' configuration."""

import re
import subprocess
import tomllib

from local.packaging.build import sam_environment
from local.packaging.requirements import ROOT
from tests.support.template import read_source, require_sam

GIVEN_AT_DEPLOY = {
    "DatabaseSecretArn",
    "MigrationDatabaseSecretArn",
    "PublicOrigin",
    "JwtIssuer",
    "JwtAudience",
    "JwtJwksUrl",
}


def test_sam_validates_and_lints() -> None:
    command = [str(require_sam()), "validate", "--lint"]
    done = subprocess.run(command, cwd=ROOT, env=sam_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_deployments_set_parameters_that_exist() -> None:
    parameters = read_source()["Parameters"]
    for environment in ("dev", "prod"):
        overrides = read_samconfig()[environment]["deploy"]["parameters"]["parameter_overrides"]
        names = {override.partition("=")[0] for override in overrides}
        assert names <= set(parameters), f"{environment} names parameters that the template does not have"
        assert not names & GIVEN_AT_DEPLOY


def test_parameters_without_a_default_are_what_only_an_account_knows() -> None:
    required = {name for name, body in read_source()["Parameters"].items() if "Default" not in body}
    assert required == GIVEN_AT_DEPLOY


def test_samconfig_holds_no_account_and_no_secret() -> None:
    text = (ROOT / "samconfig.toml").read_text(encoding="utf-8")
    assert not re.search(r"\d{12}|arn:aws|sk-[A-Za-z0-9]", text)


def read_samconfig() -> dict[str, dict[str, dict[str, dict[str, list[str]]]]]:
    return tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
