"""Job logs: columns, formats, checks and summaries."""
