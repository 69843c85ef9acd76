"""Implementation of `dptext check`: exports, their reports and the policy."""
