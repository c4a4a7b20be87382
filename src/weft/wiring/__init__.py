"""The one place that joins ports to adapters and parts to each other."""
