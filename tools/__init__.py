"""What makes the data that ship with dptext: run once in a while, in a checkout."""
