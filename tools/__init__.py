"""Builders of the data that ship with dptext, run now and then in a checkout."""
