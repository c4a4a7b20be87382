"""The rules author of compositions (Weft 3.1.2, 3.1.3): coherence, objectives, briefs and requests, offline."""
