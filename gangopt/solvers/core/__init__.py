"""What all methods share: results, judging, incumbents, the clock, executors and the journal."""
