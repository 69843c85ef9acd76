"""Measurements on public data: best guesses, attackers, N_w and S_w, calibration."""
