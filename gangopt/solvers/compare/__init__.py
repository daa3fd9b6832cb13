"""Many methods on many instances, as one table."""
