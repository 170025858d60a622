#!/bin/sh
exec python -m uvicorn web:app --host 127.0.0.1 --port "${AWS_LWA_PORT}" --log-level warning
