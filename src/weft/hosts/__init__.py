"""Hosts of environments: the local tool host, and the standalone MCP server."""
