"""Verification from execution evidence (Weft 3.2.1): pure data in, verdicts out."""
