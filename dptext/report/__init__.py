"""Reports: one document, shown in a terminal, kept as JSON, released to the public."""
