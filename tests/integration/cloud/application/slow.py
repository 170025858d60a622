"""A module whose import takes longer than the init limit of the test."""

import time

time.sleep(1.0)


def handler(event: object, context: object) -> str:
    return "initialised"
