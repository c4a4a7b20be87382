"""The rules author of atomic tasks (Weft 3.1.2, A.1): offline, from contracts, schema and seed state alone."""
