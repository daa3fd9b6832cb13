"""Fits to measurements of jobs: loss curves, speed functions, stragglers and data chunks.

Logs are read by `tables`, checked in `loss_log` and `speed_samples`, and fitted in `loss` and `speed`. `probes` selects
the pairs to measure next; `jobs` writes fitted functions to allocation instances.
"""
