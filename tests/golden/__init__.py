"""The golden net: what the program gave before a change, and gives after it."""
