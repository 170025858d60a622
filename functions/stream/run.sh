#!/bin/sh
# Started by the Web Adapter's /opt/bootstrap; the adapter turns API Gateway's events into requests to this port.
# boto3 is the runtime's own, in LAMBDA_RUNTIME_DIR. exec: a SIGTERM must reach uvicorn and not this shell.
export PYTHONPATH="${LAMBDA_TASK_ROOT}:/opt/python${PYTHONPATH:+:$PYTHONPATH}:${LAMBDA_RUNTIME_DIR}"
exec python -m uvicorn --factory functions.stream.app:build_app \
    --host 127.0.0.1 --port "${AWS_LWA_PORT}" --no-access-log --timeout-graceful-shutdown 2
