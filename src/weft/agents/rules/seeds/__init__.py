"""Seed rows and files of an environment, by the rules (Weft 3.1.1): believable, coherent and valid."""

from weft.agents.rules.seeds.state import seed_state

__all__ = ["seed_state"]
