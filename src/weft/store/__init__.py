"""Durable storage: files that are never half written."""
