"""The command line: one module per noun, and the only package that reads the environment."""
