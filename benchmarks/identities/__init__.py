"""Identities that stand in private texts, of dptext and of its peers."""
