"""What `make build` does: layers cross-built for Lambda, around `sam build`, without Docker."""
