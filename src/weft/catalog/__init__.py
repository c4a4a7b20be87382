"""Specs in: what tool servers declare, read from dumps and live servers and normalised (Weft 3.1.1).

Everything that comes from outside passes :mod:`weft.catalog.normalise` and is from then on a valid
:class:`~weft.records.spec.McpSpec`, with a typed reason for each tool that is not usable.
"""
