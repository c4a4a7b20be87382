"""Scripted policies: model clients that need no model. What they sample is data named ``*.scripted.jsonl``."""
