"""Budgets that last: a file that records what was released about each subject.

A release is recorded before it leaves: its charges are reserved while the output is
still hidden, each in a transaction that is on the disk when it returns. What a run
reserved and did not release is given back, by itself or, where it was killed, by the
next one that opens the ledger; what may have left stays charged.
"""

from dptext.ledger.entries import Charge, Entry, begin
from dptext.ledger.store import Amount, Ledger, Limit, opened

__all__ = ["Amount", "Charge", "Entry", "Ledger", "Limit", "begin", "opened"]
