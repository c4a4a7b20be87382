"""Environments from specs: drafted by an author, validated by running, certified (Weft 3.1.1)."""
