"""Event-driven replay of a workload under an online policy."""
