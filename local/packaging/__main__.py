"""`python -m local.packaging`: what `make build` runs. Without a Python 3.13 it says so and ends well."""

import sys

from local.packaging.build import build, report_sizes
from local.packaging.interpreters import MissingProgramError, install_sam

try:
    install_sam()
    build()
    report_sizes()
except MissingProgramError as missing:
    print(f"SKIPPED: {missing}", file=sys.stderr)
