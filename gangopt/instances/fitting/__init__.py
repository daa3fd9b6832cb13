"""From measurements to what a decision needs: loss curves, speed functions, stragglers and data chunks.

Logs are read by `tables`, checked in `loss_log` and `speed_samples`, fitted in `loss` and `speed`; `probes` says which
pairs to measure next, `jobs` puts fitted functions into allocation instances.
"""
