"""Whether outputs make sense to those who receive them: python -m benchmarks sense."""
