"""Measures by public data: best guesses, readers of texts, N_w and S_w, calibration."""
