"""Services for all methods: results, checking, incumbents, the clock, executors and the journal."""
