"""Execution-driven self-evolution: attribute failures by evidence, revise what is broken, re-prove it (Weft 3.2.2)."""
