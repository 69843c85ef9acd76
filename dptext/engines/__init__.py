"""Engines: how a run is carried out; the same bytes from each."""
