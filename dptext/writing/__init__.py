"""Writing drawn words as texts, and drawing anew what needs no budget."""
