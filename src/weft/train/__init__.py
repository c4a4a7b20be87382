"""Stable post-training: prefix-preserving rejection sampling, SFT data, and atomic-turn credit (Weft 3.3)."""
