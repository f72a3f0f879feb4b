"""A host as a machine model: its topology, what is measured on it, and what is assumed."""
