"""Online replay: a workload under a policy, event by event."""
