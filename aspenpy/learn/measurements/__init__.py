"""Readers: the files that tools measure into, as sheets with a row for each run."""
