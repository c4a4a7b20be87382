"""The rules author of environments: from any MCP spec to a relational schema and executable contracts (Weft 3.1.1).

Deterministic and offline. It reads the whole tool set before it drafts any tool, so that a column that one tool
writes is the column that another filters by. What it drafts is proven by execution elsewhere.
"""
