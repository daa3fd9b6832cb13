"""Named instances of `time_share`."""
