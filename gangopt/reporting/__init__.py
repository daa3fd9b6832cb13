"""Results, comparisons, replays, workloads and experiments as text, plots and HTML reports."""
