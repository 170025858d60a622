"""`make token`: prints a bearer token and nothing else, whether the cloud runs or not."""

import argparse
import sys
from pathlib import Path

from local.cloud.issuer import Issuer
from local.cloud.tenants import Tenants, UnknownTenantError
from local.sample_tenant.load import DEMO_USER, SLUG


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m local.cloud.token", description=__doc__)
    parser.add_argument("--user", default=DEMO_USER, help="the person's external id")
    parser.add_argument("--tenant", default=SLUG, help="a tenant's id, or the slug of one loaded here")
    parser.add_argument("--scope", default="", help="admin: may administer the tenant's knowledge")
    parser.add_argument("--data", type=Path, default=Path(".local"), help="the cloud's data folder")
    parsed = parser.parse_args()
    try:
        claims = {"scope": parsed.scope} if parsed.scope else {}
        print(Issuer(parsed.data).sign(parsed.user or DEMO_USER, Tenants(parsed.data).find(parsed.tenant), **claims))
    except UnknownTenantError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
