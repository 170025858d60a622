"""Refreshing sources: what is due, one source at a time, one document after the other, resumable at any point."""
