"""The rules authors: deterministic, offline, free."""
