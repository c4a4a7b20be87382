"""The agent roles of the papers, each a protocol with two authors: built-in rules, or a language model."""
