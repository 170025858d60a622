"""`python -m local.packaging build | lock`: what `make build` and `make lock` run."""

import argparse
import sys

from local.packaging.build import build, report_sizes
from local.packaging.interpreters import MissingProgramError
from local.packaging.lock import lock


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m local.packaging", description="Packaging for AWS Lambda")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="cross-build functions and layers with SAM")
    commands.add_parser("lock", help="pin the requirements again").add_argument("--upgrade", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "lock":
        lock(upgrade=arguments.upgrade)
        return
    try:
        build()
    except MissingProgramError as missing:
        # A machine without a Python 3.13 can do everything else; it must see that this did not happen.
        print(f"SKIPPED: {missing}", file=sys.stderr)
        return
    report_sizes()


if __name__ == "__main__":
    main()
