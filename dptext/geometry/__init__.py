"""Public distances between the words of a space: of pairs, nearest and farthest."""
