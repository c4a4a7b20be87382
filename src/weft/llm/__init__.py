"""Model clients: an OpenAI-compatible endpoint, and a model in this process (they implement ``ports.ModelClient``)."""
