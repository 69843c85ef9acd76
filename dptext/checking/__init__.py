"""The work of `dptext check`: exports, their reports, and the policy for them."""
