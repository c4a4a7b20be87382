"""Atomic tasks, their certification, and their composition into task graphs (Weft 3.1.2)."""
