"""Secrets by ARN: `X_SECRET_ARN` in the environment becomes the variable that the product and the SDKs read.

The environment of a function holds no secret itself; whoever may read its configuration learns only an ARN.
"""

from collections.abc import MutableMapping

SECRETS = {
    "DATABASE_SECRET_ARN": "DATABASE_URL",
    "MIGRATION_DATABASE_SECRET_ARN": "MIGRATION_DATABASE_URL",
    "OPENAI_SECRET_ARN": "OPENAI_API_KEY",
    "AZURE_OPENAI_SECRET_ARN": "AZURE_OPENAI_API_KEY",
    "OVH_SECRET_ARN": "OVH_AI_ENDPOINTS_ACCESS_TOKEN",
    "COMPATIBLE_SECRET_ARN": "COMPATIBLE_API_KEY",
    "ANTHROPIC_SECRET_ARN": "ANTHROPIC_API_KEY",
    "LANGSMITH_SECRET_ARN": "LANGSMITH_API_KEY",
    "LANGFUSE_SECRET_ARN": "LANGFUSE_SECRET_KEY",
}


def resolve_secrets(environ: MutableMapping[str, str]) -> None:
    """Fetch every named secret whose variable is not set yet. Raises botocore's ClientError when one can't be read."""
    wanted = {name: arn for arn_name, name in SECRETS.items() if (arn := environ.get(arn_name)) and name not in environ}
    if not wanted:
        return
    import boto3

    client = boto3.client("secretsmanager")
    for name, arn in wanted.items():
        environ[name] = client.get_secret_value(SecretId=arn)["SecretString"]
