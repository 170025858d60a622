"""Fetching what strangers serve: bounded in time and size, and never from an address that is not public."""
