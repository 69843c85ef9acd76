"""Reports: one document, shown in a terminal, kept as JSON, told to the public."""
