"""Measures by public data: best guesses, attackers, N_w and S_w, calibration."""
