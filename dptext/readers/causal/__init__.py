"""A reader with a causal language model: beams over the candidates of drawn words."""
