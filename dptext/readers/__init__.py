"""Readers: what a public language model makes of released words, word by word.

One posterior for two uses: decoders write by it, and attacks guess by it.
"""
