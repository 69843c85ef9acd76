"""Privacy reports: shown in a terminal, stored as JSON, published."""
