"""Rollouts: views, harnesses, segments and whole rollouts (Weft 3.1.3)."""
