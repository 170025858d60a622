"""SAM to CloudFormation: a template as JSON on stdin, its translation on stdout. Runs in SAM's own environment."""

import json
import sys

from samtranslator.translator.transform import transform


class ManagedPolicies:
    """The managed policies that SAM attaches by itself; the real list needs an account."""

    def load(self) -> dict[str, str]:
        return {}


if __name__ == "__main__":
    json.dump(transform(json.load(sys.stdin), {}, ManagedPolicies()), sys.stdout)
