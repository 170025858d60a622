"""The environment of worker processes: built up from nothing, so that the user's shell cannot leak into them.

AWS_PROFILE, AWS_ENDPOINT_URL_* or OPENAI_API_BASE of a developer would send a worker to a real account or past the
configured model server. Only what is named here passes.
"""

import os
import time
import uuid
from collections.abc import Mapping

from local.cloud.resources import REGION, FunctionSpec

LOOPBACK = "127.0.0.1,localhost"
# How this machine reaches the internet. What configures the product itself goes through the template's parameters.
PASSED_NAMES = frozenset(
    {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
    | {"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "LANGSMITH_PROJECT", "LANGSMITH_ENDPOINT"}
)


def select_user_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of the user's shell that workers may see; addresses of this machine never go through a proxy."""
    passed = {name: environ[name] for name in PASSED_NAMES if environ.get(name)}
    if not any(name.lower().endswith("_proxy") for name in passed):
        return passed
    no_proxy = ",".join(filter(None, [environ.get("NO_PROXY") or environ.get("no_proxy", ""), LOOPBACK]))
    return passed | {"NO_PROXY": no_proxy, "no_proxy": no_proxy}


def build_base_environment(user: Mapping[str, str], endpoints: Mapping[str, str]) -> dict[str, str]:
    """What every worker starts from: tools, locale, AWS access to the local `endpoints`, and what passes of the
    user's own variables.

    No PYTHONPYCACHEPREFIX: pip has compiled site-packages in place, and a prefix would hide that from the workers.
    """
    return {
        **select_user_variables(user),
        "PATH": user.get("PATH", os.defpath),
        "HOME": user.get("HOME", "/"),
        "LANG": "C.UTF-8",
        "TZ": ":UTC",
        "PYTHONNOUSERSITE": "1",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_EC2_METADATA_DISABLED": "true",
        **endpoints,
    }


def build_function_environment(spec: FunctionSpec, base: Mapping[str, str]) -> dict[str, str]:
    """The variables that Lambda defines, and those of the template, which win."""
    return {
        **base,
        "PYTHONPATH": os.pathsep.join(str(path) for path in (spec.code_root, *spec.layers)),
        "LAMBDA_TASK_ROOT": str(spec.code_root),
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "AWS_LAMBDA_FUNCTION_NAME": spec.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(spec.memory),
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{spec.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": time.strftime("%Y/%m/%d/[$LATEST]") + uuid.uuid4().hex,
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "_HANDLER": spec.handler,
        **spec.environ,
    }
