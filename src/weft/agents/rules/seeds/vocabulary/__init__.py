"""Word lists of the seed rows: people, places, businesses and the topics of common domains."""
